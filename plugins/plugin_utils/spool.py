# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spool of a run on the control node: one file for each node, so that a report needs no node's result in memory.

<spool>/run.json                   what the run is
<spool>/profiles/<key>.json        each compiled profile
<spool>/nodes/<quoted name>.json   what became of one node in an audit; this is what a report reads
<spool>/applied/, reverted/        the same of an apply and a revert
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

FOLDERS = {"audit": "nodes", "apply": "applied", "revert": "reverted"}


def stamp(seconds: float | None = None) -> str:
    """UTC, ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def new_run_id() -> str:
    """Sorts by time; two runs in one second differ."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(3).hex()}"


def node_file(spool: Path, node: str, what: str = "audit") -> Path:
    return spool / FOLDERS[what] / f"{quote(node, safe='')}.json"


def write(path: Path, content: Mapping[str, Any]) -> None:
    """In one step and for nobody else to read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
