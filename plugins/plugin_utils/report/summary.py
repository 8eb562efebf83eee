# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the text reports say, as data: the sentence of the verdict, the coverage, one row a setting, worst first."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .document import impact_rank
from .mend import Mend, mend
from .words import IMPACTS, OUTCOME_TITLES, STATES, counts_as, number, plural


@dataclass
class Row:
    """A setting that counts as drift or is unknown on some nodes."""

    setting: str
    impact: str
    rank: int
    judged_nodes: int = 0
    states: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, list[str]] = field(default_factory=dict)  # state -> names
    wants: Counter[str] = field(default_factory=Counter)
    live: Counter[str] = field(default_factory=Counter)
    whose: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    since: list[dict[str, str]] = field(default_factory=list)
    mends: dict[Mend, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """All nodes on which it is wrong."""
        return [name for names in self.nodes.values() for name in names]

    @property
    def worst(self) -> int:
        """Place of its worst state in the table of states."""
        return min(list(STATES).index(state) for state in self.states)


def rows(document: dict[str, Any]) -> list[Row]:
    """One row a setting that is wrong or unknown somewhere: worst impact first, then worst state, then most nodes."""
    found: dict[str, Row] = {}
    reached: Counter[str] = Counter()
    for node in document["nodes"]:
        for setting, result in node["results"].items():
            reached[setting] += 1
            if counts_as(result) != "nothing":
                about = document["settings"][setting]
                rank = impact_rank(about)
                _add(found.setdefault(setting, Row(setting, IMPACTS[rank], rank)), node["name"], result, document)
    for setting, row in found.items():
        row.judged_nodes = reached[setting]
    return sorted(found.values(), key=lambda row: (row.rank, row.worst, -len(row.names), row.setting))


def _add(row: Row, name: str, result: dict[str, Any], document: dict[str, Any]) -> None:
    row.states[result["state"]] += 1
    row.nodes.setdefault(result["state"], []).append(name)
    if wants(result, document):
        row.wants[wants(result, document)] += 1
    row.live[seen(result)] += 1
    row.whose[whose_words(result)] += 1
    if "cause" in result:
        row.causes[result["cause"]] += 1
    if "since" in result:
        row.since.append(result["since"])
    row.mends.setdefault(mend(result, document["settings"][row.setting]), []).append(name)


def seen(result: dict[str, Any]) -> str:
    """What a reader wants to know first: the live value, and what the next boot gives where that is the matter."""
    if result["state"] == "unknown":
        return "unreadable"
    views = result["views"]
    now = next((views[view]["value"] for view in ("live", "effective", "boot", "persisted") if "value" in views.get(view, {})), None)
    if now is None:
        return "nothing"
    boots = views.get("persisted", {}).get("value", "unset")
    if result["state"] in ("unpersisted", "overridden", "pending") and boots != now:
        return f"{now} now, {boots} for the next boot"
    return str(now)


def wants(result: dict[str, Any], document: dict[str, Any]) -> str:
    """What the rule allows, or the desired value where no rule is known."""
    rule = document["rules"].get(result.get("rule"))
    return rule_words(rule) if rule else str(result.get("desired", ""))


def rule_words(rule: dict[str, Any]) -> str:
    """A rule as a person would say it."""
    if "at_least" in rule:
        return f"at least {rule['at_least']}"
    if "between" in rule:
        low, high = rule["between"]
        return f"{low} to {high}"
    if "one_of" in rule:
        return " or ".join(str(value) for value in rule["one_of"])
    return str(rule.get("exact", json.dumps(rule, sort_keys=True)))


def whose(result: dict[str, Any]) -> tuple[str, str]:
    """Whose doing it is: the place and its owner; where no place is to blame, no place and a sentence."""
    if result["state"] == "unknown":
        errors = [view["error"] for view in result["views"].values() if "error" in view]
        return "", next(iter([*errors, result.get("detail", "")]), "") or "no reason was given"
    winner = result.get("winner", {})
    if result["state"] in ("live_wrong", "blocked") and winner.get("owner") == "gpufleet":
        return "", "changed live, our file is right"
    changes = result.get("changes", [])
    if result["state"] == "live_wrong" and winner and changes and all(change["view"] == "live" for change in changes):
        return "", f"not what the files say, {winner['from']} is right"
    if winner.get("from"):
        return winner["from"], winner.get("owner", "")
    return "", "no file sets it"


def whose_words(result: dict[str, Any]) -> str:
    """`/etc/sysctl.d/x.conf:3 (package systemd)`."""
    place, owner = whose(result)
    return f"{place} ({owner})" if place and owner else place or owner


def since_words(row: Row, run: dict[str, Any]) -> str:
    """`since 2026-11-12, new on 3 nodes`; nothing where no earlier run saw the setting."""
    new = sum(since["run"] == run["id"] and "before" in since for since in row.since)
    old = [since for since in row.since if since["run"] != run["id"]]
    fresh = "" if not new else "new" if new == len(row.since) else f"new on {plural(new, 'node')}"
    if not old:
        return fresh
    first = min(old, key=lambda since: (since["started"], "before" in since))
    longer = "" if "before" in first else " or longer"
    return ", ".join(filter(None, [f"since {first['started'][:10]}{longer}", fresh]))


def silent_nodes(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes that did not answer in full."""
    return [node for node in document["nodes"] if node["outcome"] != "ok"]


def faults(document: dict[str, Any]) -> list[str]:
    """Every fault of ours with where it was."""
    found = list(document["run"].get("faults", []))
    for node in document["nodes"]:
        found += [f"{node['name']}: {fault['subsystem']}: {fault['error']}" for fault in node["faults"]]
    return found


def sentence(document: dict[str, Any]) -> str:
    """The verdict as a person would say it, the worst first."""
    asked = document["totals"]["nodes"]["asked"]
    if not asked:
        return "No node was asked, so nothing is known."
    all_rows = rows(document)
    wrong = [row for row in all_rows if set(row.states) != {"unknown"}]
    unread = [row for row in all_rows if "unknown" in row.states]
    silent, faulty = len(silent_nodes(document)), document["totals"]["faults"]
    parts = []
    if faulty:
        parts.append(f"gpufleet itself failed {plural(faulty, 'time')}")
    if wrong:
        parts.append(_differ(wrong, asked))
    if silent == asked:
        parts.append("the node did not answer in full" if asked == 1 else f"none of {plural(asked, 'node')} answered in full")
    elif silent:
        parts.append(f"{plural(silent, 'node')} did not answer in full")
    if unread:
        names = {name for row in unread for name in row.nodes["unknown"]}
        parts.append(f"{plural(len(unread), 'setting')} could not be read" + ("" if asked == 1 else f" on {plural(len(names), 'node')}"))
    if not parts:
        return "Every setting is right on this node." if asked == 1 else f"Every setting is right on all {plural(asked, 'node')}."
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


def _differ(wrong: list[Row], asked: int) -> str:
    """`1 correctness setting differs on 5 nodes, 3 others on 334`."""
    grave = [row for row in wrong if row.impact == "correctness"]
    others = [row for row in wrong if row.impact != "correctness"]
    first = grave or others
    verb = "differs" if len(first) == 1 else "differ"
    where = f" on {plural(len(_drifting(first)), 'node')}"
    text = f"{plural(len(first), 'correctness setting' if grave else 'setting')} {verb}{'' if asked == 1 else where}"
    if grave and others:
        more = plural(len(others), "other")
        text += f", and {more}" if asked == 1 else f", {more} on {number(len(_drifting(others)))}"
    return text


def _drifting(wrong: list[Row]) -> set[str]:
    """The nodes on which these settings are wrong, not only unknown."""
    return {name for row in wrong for state, names in row.nodes.items() if state != "unknown" for name in names}


def coverage(document: dict[str, Any]) -> tuple[str, str]:
    """Nodes asked and answered, settings asked and judged."""
    nodes, settings = document["totals"]["nodes"], document["totals"]["settings"]
    silent = [f"{number(nodes[outcome])} {OUTCOME_TITLES[outcome]}" for outcome in ("unreachable", "failed", "timed_out") if nodes[outcome]]
    waived = f", {number(settings['waived'])} waived" if settings["waived"] else ""
    return (
        f"{number(nodes['ok'])} of {plural(nodes['asked'], 'node')} answered" + (f" ({', '.join(silent)})" if silent else ""),
        f"{number(settings['judged'])} of {plural(settings['asked'], 'setting')} judged{waived}",
    )
