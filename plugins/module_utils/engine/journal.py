# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every change that was made on this node, one JSON object a line, written before the change is made.

{"time", "run", "setting", "disturbs", "view", "target", "before", "after"}    `before` is absent when there was nothing
{..., "link"}                         where a link pointed that stood in the place of our file
{..., "line"}                         the name that our file has it under, where it is not the setting's
{..., "undo": {"target", "value"}}    where going back means writing something else than `before` into `target`; without
                                      `value` where nothing can be given back
"""

import json
from typing import Any, Dict, List, NamedTuple, Optional

from .host import Host, HostError, Reader
from .states import DISTURBS

PATH = "/var/lib/gpufleet/journal.jsonl"
LIMIT = 256 << 20

Record = Dict[str, Any]


class Step(NamedTuple):
    """One step back: give `value` back to a view of a setting; None means that there was nothing."""

    setting: str
    line: str
    view: str
    target: str
    value: Optional[str]
    disturbs: str
    link: Optional[str]


def read(host: Reader) -> List[Record]:
    """The records in order. A line that was cut off by a crash is left out; everything before it counts."""
    try:
        text = host.read(PATH, limit=LIMIT)
    except HostError as error:
        if error.absent:
            return []
        raise
    records = []
    for line in text.split("\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if _is_record(record):
            records.append(record)
    return records


def _is_record(record: Any) -> bool:
    """Whether this is a line that we wrote: what is done with it later cannot fail."""
    if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in ("run", "setting", "view", "target")):
        return False
    undo = record.get("undo", {"target": "", "value": ""})
    return (
        all(isinstance(record.get(key, ""), str) for key in ("before", "after", "line", "link"))
        and record.get("disturbs", "nothing") in DISTURBS
        and isinstance(undo, dict)
        and isinstance(undo.get("target"), str)
        and isinstance(undo.get("value", ""), str)
    )


def append(host: Host, record: Record) -> None:
    host.append(PATH, json.dumps(record, sort_keys=True) + "\n")


def steps_back(records: List[Record], to: str, only: Any = ()) -> List[Step]:
    """The steps that lead back to the first value of each view, or to that from before the run `to`.

    The run must be in the journal. One step for each view of each setting and for each line of others.
    """
    if to != "first":
        begins = [number for number, record in enumerate(records) if record["run"] == to]
        if not begins:
            raise HostError(PATH, f"holds no run {to}")
        records = records[begins[0] :]
    steps: Dict[Any, Step] = {}
    for record in records:
        if only and record["setting"] not in only:
            continue
        # of a foreign file each line that was put aside is a step of its own, also when a file had the same line twice; of ours each
        # file is one, and live there is one value whatever was written to give it
        place = {"foreign": len(steps), "persisted": record["target"]}.get(record["view"], "")
        key = (record["setting"], record["view"], place)
        undo = record.get("undo") or {"target": record["target"], "value": record.get("before")}
        line = record.get("line", record["setting"].split("/", 1)[-1])
        steps.setdefault(
            key,
            Step(
                record["setting"],
                line,
                record["view"],
                undo["target"],
                undo.get("value"),
                record.get("disturbs", "nothing"),
                record.get("link"),
            ),
        )
    return list(steps.values())
