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
    winners: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
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
    if result.get("winner"):
        row.winners[winner(result["winner"])] += 1
    if "cause" in result:
        row.causes[result["cause"]] += 1
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


def winner(of: dict[str, str]) -> str:
    """`/etc/sysctl.d/x.conf:3 (systemd)`."""
    place, owner = of.get("from", "unnamed file"), of.get("owner")
    return f"{place} ({owner})" if owner else place


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
    """The verdict as a person would say it."""
    asked = document["totals"]["nodes"]["asked"]
    if not asked:
        return "No node was asked, so nothing is known."
    parts = []
    all_rows = rows(document)
    wrong = [row for row in all_rows if set(row.states) != {"unknown"}]
    if wrong:
        graver = [row for row in wrong if row.impact == "correctness"]
        of_these = "" if not graver else ", all of them correctness" if len(graver) == len(wrong) > 1 else f", {len(graver)} of them correctness"
        where = "on this node" if asked == 1 else f"on {number(len(_drifting(wrong)))} of {plural(asked, 'node')}"
        if graver and asked > 1 and len(wrong) > len(graver):
            of_these += f" on {number(len(_drifting(graver)))}"
        verb = "differs" if len(wrong) == 1 else "differ"
        parts.append(f"{plural(len(wrong), 'setting')} {verb} {where}{of_these}")
    unknown = [row for row in all_rows if "unknown" in row.states]
    if unknown:
        parts.append(f"{plural(len(unknown), 'setting')} could not be read" + ("" if asked == 1 else " everywhere"))
    silent = len(silent_nodes(document))
    if silent == asked:
        parts.append("the node did not answer" if asked == 1 else f"none of {plural(asked, 'node')} answered in full")
    elif silent:
        parts.append(f"{plural(silent, 'node')} did not answer in full")
    if document["totals"]["faults"]:
        parts.append(f"the tool itself failed {plural(document['totals']['faults'], 'time')}")
    if not parts:
        return "Every setting is right on this node." if asked == 1 else f"Every setting is right on all {plural(asked, 'node')}."
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


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


def groups_of(document: dict[str, Any]) -> dict[str, list[str]]:
    """Group -> its nodes in this run."""
    groups: dict[str, list[str]] = {}
    for node in document["nodes"]:
        for group in node["groups"]:
            groups.setdefault(group, []).append(node["name"])
    return groups
