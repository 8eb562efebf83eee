# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since when a setting of a node is in its state: the first run of the unbroken series that the spools of earlier runs still show."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from . import spool as spool_files
from .words import STATES

MOST_RUNS = 30  # earlier runs that are read for one report: a month of daily audits


def add_since(document: dict[str, Any], history: Path, own_spool: str) -> None:
    """Give each result that is not as it should be its `since`: {run, started} of the first run of its series, and the state `before` it.

    A run that saw nothing of a setting (the node did not answer or was not asked, the value could not be read) neither begins nor ends a series.
    Without `before` no end of the series was seen: it may be longer. Runs are read newest first, and of each only the nodes whose series may go on.
    """
    open_series: dict[str, dict[str, dict[str, Any]]] = {}
    run = document["run"]
    for node in document["nodes"]:
        for setting, result in node["results"].items():
            if STATES[result["state"]].counts != "nothing":
                result["since"] = {"run": run["id"], "started": run["started"]}
                open_series.setdefault(node["name"], {})[setting] = result
    for spool in islice(_earlier(history, own_spool), MOST_RUNS):
        if not open_series:
            return
        begun = spool_files.begun(spool)
        for name in list(open_series) if begun else ():
            states = spool_files.states_of(spool, name)
            open_series[name] = {
                setting: result for setting, result in open_series[name].items() if not _ends(result, states.get(setting), begun)
            }
            if not open_series[name]:
                del open_series[name]


def _ends(result: dict[str, Any], earlier: str | None, begun: dict[str, str]) -> bool:
    """Whether the series of this result begins after an earlier run with this state; where it goes back to that run, that is noted."""
    if earlier == result["state"]:
        result["since"] = dict(begun)
        return False
    if earlier in (None, "unknown"):
        return False
    result["since"]["before"] = earlier
    return True


def _earlier(history: Path, own_spool: str) -> Iterable[Path]:
    """The spools of earlier runs in which nodes were audited, newest first: the names of runs sort by time."""
    spools = history.iterdir() if history.is_dir() else ()
    return (spool for spool in sorted(spools, reverse=True) if spool.name < own_spool and (spool / "nodes").is_dir())
