# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes all reports of a document, and comparisons: each file in one step, readable by its owner only."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from . import compare_words, html, junit, markdown


def write_all(document: dict[str, Any], report_dir: Path) -> dict[str, str]:
    """Write `drift.json`, `.html`, `.md` and `.junit.xml`; kind -> path."""
    texts = {
        "json": ("drift.json", json.dumps(document, separators=(",", ":")) + "\n"),
        "html": ("drift.html", html.render(document)),
        "markdown": ("drift.md", markdown.render(document)),
        "junit": ("drift.junit.xml", junit.render(document)),
    }
    return _write_texts(texts, report_dir)


def write_comparison(comparison: dict[str, Any], report_dir: Path) -> dict[str, str]:
    """Write `drift-compare.json` and `.md`; kind -> path."""
    texts = {
        "json": ("drift-compare.json", json.dumps(comparison, separators=(",", ":")) + "\n"),
        "markdown": ("drift-compare.md", compare_words.markdown(comparison)),
    }
    return _write_texts(texts, report_dir)


def _write_texts(texts: dict[str, tuple[str, str]], report_dir: Path) -> dict[str, str]:
    report_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {kind: str(_write(report_dir / name, text)) for kind, (name, text) in texts.items()}


def _write(path: Path, text: str) -> Path:
    # A temporary file is made with mode 0600 and keeps it when it takes its place.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
