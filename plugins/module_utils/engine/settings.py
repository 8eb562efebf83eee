# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How one setting is judged from its views: pure. All subsystems that have a live and a persisted value share this.

    entry    one entry of a compiled profile: rule, impact, disturbs, owner, mend
    view     {"value", "from"}, {"error", "from"} or {"unset": why}
    finding  {"holds": [states], "desired", "views", "winner", "needs", "detail": [sentences], "changes": [change]}
    change   {"view": "live" | "persisted" | "foreign", "target", "before", "after"}; `before` is absent when there was nothing;
             `line` is the name under which our file has it, where that is not the setting's name
"""
from typing import Any, Dict, NamedTuple, Optional

from . import rules

Entry = Dict[str, Any]
View = Dict[str, str]
Change = Dict[str, Any]
Finding = Dict[str, Any]

#: Who gives the persisted value. `ours` is true for our own file.
Winner = NamedTuple("Winner", [("origin", str), ("owner", str), ("ours", bool)])
#: Our own file: where it is, the value that it gives to this setting (None when it gives none), and where a link in its place leads
#: (None when there is none): such a link hides whatever we would write.
Ours = NamedTuple("Ours", [("file", str), ("value", Optional[str]), ("link", Optional[str])])
#: A line of another file that wins over ours.
Rival = NamedTuple("Rival", [("file", str), ("line", int)])

OWNER = "gpufleet"


def value_of(view):
    # type: (View) -> Optional[str]
    return view.get("value")


def mends(entry):
    # type: (Entry) -> bool
    """Whether an apply may write this setting at all."""
    return entry.get("mend", "always") == "always" and entry.get("owner", OWNER) == OWNER and not entry.get("waived")


def not_applicable(reason, views=None):
    # type: (str, Optional[Dict[str, View]]) -> Finding
    return {"holds": ["not_applicable"], "views": views or {}, "needs": "nothing", "detail": [reason], "changes": []}


def unknown(reason):
    # type: (str) -> Finding
    return {"holds": ["unknown"], "views": {}, "needs": "nothing", "detail": [reason], "changes": []}


def judge(entry, live, live_target, persisted, ours, winner, hidden=None, default=None, refusal="", detail=()):
    # type: (Entry, View, str, View, Ours, Optional[Winner], Optional[str], Optional[str], str, Any) -> Finding
    """Judge a setting with a live and a persisted view.

    `live_target` is the file that a live write would go to. `hidden` is what other files give, `default` what the kernel gives (None: not
    known): a floor that is persisted never lowers them. `refusal` is the reason why the kernel or the environment is known not to take
    a live value.
    """
    rule = entry["rule"]
    finding = {
        "holds": [], "desired": rules.target(rule, value_of(live)), "views": {"persisted": persisted, "live": live}, "needs": "nothing",
        "detail": list(detail), "changes": []}  # type: Finding
    holds, changes = finding["holds"], finding["changes"]
    if winner is not None:
        finding["winner"] = {"from": winner.origin, "owner": winner.owner}

    if "error" in live:
        holds.append("unknown")
        finding["detail"].append("the live value could not be read: {0}".format(live["error"]))
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
    if "error" in persisted:
        holds.append("unknown")
        finding["detail"].append("what the next boot gives is not known: {0}".format(persisted["error"]))
    elif not _persisted_right(entry, persisted, winner, rules.target(rule, hidden)):
        ours_right = ours.value is not None and rules.satisfied(rule, ours.value)
        if ours.link is not None:
            holds.append("overridden")
            finding["detail"].append("a link to {0} stands in the place of {1}".format(ours.link, ours.file))
        elif ours_right and winner is not None and not winner.ours:
            holds.append("overridden")
            finding["detail"].append("{0} gives {1}, but {2} wins".format(ours.file, ours.value, winner.origin))
        else:
            holds.append("unpersisted")
            if not refusal or live_right:
                change = {"view": "persisted", "target": ours.file, "after": wanted}
                if ours.value is not None:
                    change["before"] = ours.value
                changes.append(change)
    if not mends(entry):
        changes.clear()
    return finding


def _persisted_right(entry, persisted, winner, floor):
    # type: (Entry, View, Optional[Winner], str) -> bool
    if "unset" in persisted:
        # what is only checked need not be in a file: the kernel's own value is then what every boot gives
        return not mends(entry)
    value = persisted.get("value", "")
    if not rules.satisfied(entry["rule"], value):
        return False
    # a floor of ours that hides a larger value of somebody else's file would lower it
    lowers = "at_least" in entry["rule"] and winner is not None and winner.ours and not rules.satisfied({"at_least": floor}, value)
    return not lowers
