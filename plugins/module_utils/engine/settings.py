# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How one setting is judged from its views: pure. All subsystems that have a live and a persisted value share this.

entry    one entry of a compiled profile: rule, impact, disturbs, owner, mend
view     {"value", "from"}, {"error", "from"} or {"unset": why}
finding  {"holds": [states], "desired", "views", "winner", "needs", "detail": [sentences], "changes": [change]};
         `again` is true where a change that failed in this boot may be tried again
change   {"view": "live" | "persisted" | "foreign", "target", "before", "after"}; `before` is absent when there was nothing;
         `line` is the name under which our file has it, where that is not the setting's name; `take_over` is true when the change
         takes something from others and wants the user's word
"""

from typing import Any, Dict, List, NamedTuple, Optional

from . import rules
from .configfiles import ConfigFile
from .ownfile import MARK

Entry = Dict[str, Any]
View = Dict[str, str]
Change = Dict[str, Any]
Finding = Dict[str, Any]


class Winner(NamedTuple):
    """Who gives the persisted value. `ours` is true for our own file."""

    origin: str
    owner: str
    ours: bool


class Ours(NamedTuple):
    """Our own file: where it is, the value that it gives to this setting (None when it gives none), and where a
    link in its place leads (None when there is none): such a link hides whatever we would write.
    """

    file: str
    value: Optional[str]
    link: Optional[str]


OWNER = "gpufleet"


def value_of(view: View) -> Optional[str]:
    return view.get("value")


def mends(entry: Entry) -> bool:
    """Whether an apply may write this setting at all."""
    return entry.get("mend", "always") == "always" and entry.get("owner", OWNER) == OWNER and not entry.get("waived")


def put_aside(files: List[ConfigFile], path: str, line: int) -> Change:
    """The change that makes a comment of a line of another file, which wins over ours."""
    text = next(file.text for file in files if file.path == path).split("\n")[line - 1]
    return {"view": "foreign", "target": f"{path}:{line}", "before": text, "after": MARK + text, "take_over": True}


def may_take_over(entry: Entry, finding: Finding) -> bool:
    """Whether lines of others stand in the way of a value that we persist, or are about to."""
    holds = set(finding["holds"])
    return mends(entry) and bool(holds & {"overridden", "unpersisted"}) and "refused" not in holds


def not_applicable(reason: str, views: Optional[Dict[str, View]] = None) -> Finding:
    return {"holds": ["not_applicable"], "views": views or {}, "needs": "nothing", "detail": [reason], "changes": []}


def unknown(reason: str) -> Finding:
    return {"holds": ["unknown"], "views": {}, "needs": "nothing", "detail": [reason], "changes": []}


def judge(
    entry: Entry,
    live: View,
    live_target: str,
    persisted: View,
    ours: Ours,
    winner: Optional[Winner],
    hidden: Optional[str] = None,
    default: Optional[str] = None,
    refusal: str = "",
    detail: Any = (),
) -> Finding:
    """Judge a setting with a live and a persisted view.

    `live_target` is the file that a live write would go to. `hidden` is what other files give, `default` what the kernel gives (None: not
    known): a floor that is persisted never lowers them. `refusal` is the reason why the kernel or the environment is known not to take
    a live value.
    """
    rule = entry["rule"]
    finding: Finding = {
        "holds": [],
        "desired": rules.target(rule, value_of(live)),
        "views": {"persisted": persisted, "live": live},
        "needs": "nothing",
        "detail": list(detail),
        "changes": [],
    }
    holds, changes = finding["holds"], finding["changes"]
    if winner is not None:
        finding["winner"] = {"from": winner.origin, "owner": winner.owner}

    if "error" in live:
        holds.append("unknown")
        finding["detail"].append("the live value could not be read: {}".format(live["error"]))
        return finding
    live_right = rules.satisfied(rule, live.get("value", ""))
    if not live_right:
        holds.append("refused" if refusal else "live_wrong")
        if refusal:
            finding["detail"].append(refusal)
        else:
            changes.append({"view": "live", "target": live_target, "before": live.get("value", ""), "after": finding["desired"]})
    if entry.get("owner", OWNER) != OWNER:
        finding["detail"].append("the profile leaves this to another owner: only the live value is compared")
        changes.clear()
        return finding
    wanted = rules.target(rule, hidden, value_of(live) if default is None else default)
    _judge_persisted(finding, entry, persisted, ours, winner, wanted, rules.target(rule, hidden))
    if (refusal and not live_right) or not mends(entry):
        changes.clear()  # what the kernel will not take must not wait for the next boot
    return finding


def _judge_persisted(
    finding: Finding, entry: Entry, persisted: View, ours: Ours, winner: Optional[Winner], wanted: str, floor: str
) -> None:
    """Add what is wrong with the persisted view, and the change that mends it."""
    holds, detail = finding["holds"], finding["detail"]
    if "error" in persisted:
        holds.append("unknown")
        detail.append("what the next boot gives is not known: {}".format(persisted["error"]))
    elif _persisted_right(entry, persisted, winner, floor):
        return
    elif ours.link is not None:
        holds.append("overridden")
        detail.append(f"a link to {ours.link} stands in the place of {ours.file}")
        finding["changes"].append({"view": "persisted", "target": ours.file, "after": wanted, "take_over": True})
    elif ours.value is not None and rules.satisfied(entry["rule"], ours.value) and winner is not None and not winner.ours:
        holds.append("overridden")
        detail.append(f"{ours.file} gives {ours.value}, but {winner.origin} wins")
    else:
        holds.append("unpersisted")
        change = {"view": "persisted", "target": ours.file, "after": wanted}
        if ours.value is not None:
            change["before"] = ours.value
        finding["changes"].append(change)


def _persisted_right(entry: Entry, persisted: View, winner: Optional[Winner], floor: str) -> bool:
    if "unset" in persisted:
        # what is only checked need not be in a file: the kernel's own value is then what every boot gives
        return not mends(entry)
    value = persisted.get("value", "")
    if not rules.satisfied(entry["rule"], value):
        return False
    # a floor of ours that hides a larger value of somebody else's file would lower it
    lowers = "at_least" in entry["rule"] and winner is not None and winner.ours and not rules.satisfied({"at_least": floor}, value)
    return not lowers
