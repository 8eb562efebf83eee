# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the limits of sessions and those of services are judged by in the same way: pure, and the two reads that both need."""

from typing import Any, Dict, List, NamedTuple, Optional

from . import limit_values, owners, settings
from .host import Reader
from .limit_values import NOTHING, UNLIMITED, Limit
from .settings import Change, Entry, Finding


class Ours(NamedTuple):
    """Our own file: where it is, what it gives to this setting, and where a link in its place leads."""

    file: str
    limit: Limit
    link: Optional[str]


# -- reads ------------------------------------------------------------------------------------------------------


def nr_open(host: Reader) -> int:
    """The most open files that the kernel gives to a process. Read live: an apply has raised it before it comes to limits."""
    found = limit_values.number(host.read_or("/proc/sys/fs/nr_open"))
    return UNLIMITED if found is None else found


def owners_of(host: Reader, files: List[str]) -> Dict[str, str]:
    """file -> owner, for the few files that are worth a question."""
    return {file: owners.owner(host, file) for file in sorted(set(files))}


# -- judging ----------------------------------------------------------------------------------------------------


def begin(desired: Limit) -> Finding:
    return {"holds": [], "desired": limit_values.spell(desired), "views": {}, "needs": "nothing", "detail": [], "changes": []}


def floor(rule: Dict[str, Any], foreign: Limit, reach: int) -> Limit:
    """What to write: a larger limit of others is not lowered, unless it is more than the kernel gives."""
    return limit_values.target(rule, *([foreign] if limit_values.highest(foreign) <= reach else []))


def right(entry: Entry, filed: Limit, wanted: Limit, ours: bool) -> bool:
    """Whether the files are right. What is only checked need not be in a file."""
    if filed == NOTHING:
        return not settings.mends(entry)
    if not limit_values.holds(entry["rule"], filed):
        return False
    # a floor of ours that hides a larger limit of somebody else's file would lower it
    return not (ours and "at_least" in entry["rule"] and any((have or 0) < (want or 0) for have, want in zip(filed, wanted)))


def files_are_wrong(finding: Finding, entry: Entry, wanted: Limit, ours: Ours, winner: str, rivals: List[Change]) -> None:
    """Add the state of files that are not right, and the change that mends them. `winner` is the foreign place that wins, if one does."""
    after = limit_values.spell(wanted)
    change: Change = {"view": "persisted", "target": ours.file, "after": after}
    if ours.link is not None:
        finding["holds"].append("overridden")
        finding["detail"].append(f"a link to {ours.link} stands in the place of {ours.file}")
        finding["changes"].append(dict(change, take_over=True))
    elif winner and limit_values.holds(entry["rule"], ours.limit):
        finding["holds"].append("overridden")
        finding["detail"].append(f"{ours.file} gives {limit_values.spell(ours.limit)}, but {winner} wins")
        finding["changes"].extend(rivals)
    else:
        finding["holds"].append("unpersisted")
        finding["changes"].append(change if ours.limit == NOTHING else dict(change, before=limit_values.spell(ours.limit)))


def refuse(finding: Finding, wanted: Limit, reach: int) -> None:
    finding["holds"].append("refused")
    finding["detail"].append(f"{limit_values.spell(wanted)} open files are more than fs.nr_open = {reach}, the most that the kernel gives")


def place(one: Any) -> str:
    return f"{one.file}:{one.line}"
