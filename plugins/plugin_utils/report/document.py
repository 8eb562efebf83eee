# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the document of a run from its spool: every asked node, every asked setting, the totals and the verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

from . import history as earlier_runs
from . import spool as spool_files
from . import waivers
from .words import IMPACTS, OF_A_TASK, OUTCOMES, STATES, TASK, counts_as

SCHEMA = "gpufleet.node/drift/1"


def assemble(
    spool: Path,
    groups_of: Mapping[str, Sequence[str]] | None = None,
    finished: str | None = None,
    history: Path | None = None,
    waiver_days: int = waivers.SOON_DAYS,
) -> dict[str, Any]:
    """The document of the run whose spool this is.

    `groups_of` gives the groups of nodes that left no answer of their own. `finished` is the time of the document, now if not given. `history` is the
    directory with the spools of earlier runs. Waivers that end within `waiver_days` are told.
    """
    finished = finished or _now()
    read = spool_files.read(spool)
    entries = dict(read.nodes)
    for name in _asked(read.run):
        if name not in entries:
            entries[name] = spool_files.failed("no answer was recorded: the task did not end")
    catalogue = _Catalogue(read.profiles)
    nodes = []
    for name, entry in sorted(entries.items()):
        groups = entry["groups"] or [str(group) for group in (groups_of or {}).get(name, [])]
        nodes.append(_node(name, sorted(groups), entry, catalogue))
    faults = list(read.faults)
    for key in sorted({node["profile_key"] for node in nodes if "profile_key" in node} - set(read.profiles)):
        faults.append(f"profile {key} is not in the spool: what was asked under it is not known")
    document: dict[str, Any] = {
        "version": 1,
        "schema": SCHEMA,
        "run": _run(read, spool.name, finished, faults),
        "settings": dict(sorted(catalogue.settings.items())),
        "rules": catalogue.rules,
        "waivers": waivers.ending(read.profiles, nodes, date.fromisoformat(finished[:10]), waiver_days),
        "nodes": nodes,
    }
    if history is not None:
        earlier_runs.add_since(document, history, spool.name)
    document["totals"] = totals(document, catalogue.asked)
    document["verdict"] = verdict(document)
    return document


def totals(document: dict[str, Any], asked_of: Mapping[str, set[str]]) -> dict[str, Any]:
    """What was asked, what was answered. An asked setting of a node that gave no result for it counts as unknown."""
    outcomes = dict.fromkeys(OUTCOMES, 0)
    by_state = dict.fromkeys(STATES, 0)
    waived = 0
    faults = len(document["run"].get("faults", []))
    for node in document["nodes"]:
        outcomes[node["outcome"]] += 1
        faults += len(node["faults"])
        for result in node["results"].values():
            by_state[result["state"]] += 1
            waived += "waived" in result
        asked = asked_of.get(_profile_of(node, asked_of), set())
        by_state["unknown"] += len(asked - set(node["results"]))
    asked_settings = sum(by_state.values())
    return {
        "nodes": {"asked": len(document["nodes"]), **outcomes},
        "settings": {
            "asked": asked_settings,
            "judged": asked_settings - by_state["unknown"],
            "by_state": {state: count for state, count in by_state.items() if count},
            "waived": waived,
        },
        "faults": faults,
    }


def verdict(document: dict[str, Any]) -> str:
    """error > incomplete > drift > clean. A run that asked nobody has shown nothing and is incomplete."""
    if document["totals"]["faults"]:
        return "error"
    nodes = document["nodes"]
    if not nodes or any(node["outcome"] != "ok" for node in nodes):
        return "incomplete"
    counted = {counts_as(result) for node in nodes for result in node["results"].values()}
    if "incomplete" in counted:
        return "incomplete"
    return "drift" if "drift" in counted else "clean"


class _Catalogue:
    """The settings and rules of all profiles of a run, each once."""

    def __init__(self, profiles: Mapping[str, Any]):
        self.settings: dict[str, dict[str, str]] = {}
        self.rules: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, set[str]] = {}
        self.rule_of: dict[str, dict[str, str]] = {}
        self._known: dict[str, str] = {}
        for key, profile in sorted(profiles.items()):
            self._add(key, profile)

    def _add(self, key: str, profile: dict[str, Any]) -> None:
        self.asked[key] = set()
        self.rule_of[key] = {}
        about = profile["about"]
        for subsystem, entries in profile["subsystems"].items():
            for name, entry in entries.items():
                setting = f"{subsystem}/{name}"
                self.asked[key].add(setting)
                self.rule_of[key][setting] = self._rule(entry["rule"])
                self._describe(setting, subsystem, entry, about.get(setting, {}))

    def _describe(self, setting: str, subsystem: str, entry: dict[str, Any], about: dict[str, Any]) -> None:
        """The first profile that names a setting describes it; the worst impact that any of them gives it stands."""
        new = {"subsystem": subsystem}
        new.update({key: str(entry[key]) for key in ("impact", "disturbs", "owner", "mend") if key in entry})
        new.update({key: str(about[key]) for key in ("why", "source") if about.get(key)})
        old = self.settings.setdefault(setting, new)
        if impact_rank(new) < impact_rank(old):
            old["impact"] = new["impact"]

    def _rule(self, rule: dict[str, Any]) -> str:
        text = json.dumps(rule, sort_keys=True)
        if text not in self._known:
            self._known[text] = f"r{len(self._known) + 1}"
            self.rules[self._known[text]] = rule
        return self._known[text]


def impact_rank(setting: Mapping[str, str]) -> int:
    """0 is the worst. A setting whose impact nobody gave is treated as performance."""
    impact = setting.get("impact", "performance")
    return IMPACTS.index(impact) if impact in IMPACTS else IMPACTS.index("performance")


def _node(name: str, groups: list[str], entry: dict[str, Any], catalogue: _Catalogue) -> dict[str, Any]:
    response = entry.get("response", {"results": {}, "facts": {}, "notes": [], "faults": []})
    node: dict[str, Any] = {"name": name, "groups": groups, "outcome": entry["outcome"]}
    node.update({key: entry[key] for key in ("error", "transport", "profile_key", "duration_s") if key in entry})
    node.update({"facts": response["facts"], "results": {}, "notes": list(response["notes"]), "faults": response["faults"]})
    key = _profile_of(node, catalogue.asked)
    rules = catalogue.rule_of.get(key, {})
    results = dict(response["results"])
    if "response" in entry:
        # A node that answered owes a word on each setting that it was asked for.
        for setting in catalogue.asked.get(key, set()) - set(results):
            why = "the time was up before it was read" if entry["outcome"] == "timed_out" else "the node gave no result for it"
            results[setting] = {"state": "unknown", "needs": "nothing", "views": {}, "detail": why}
    for setting, result in sorted(results.items()):
        subsystem = setting.split("/", maxsplit=1)[0]
        if setting in rules:
            result = {**result, "rule": rules[setting]}
        elif subsystem != TASK and key in catalogue.asked:
            node["notes"].append(f"{setting} was answered and not asked")
        catalogue.settings.setdefault(setting, dict(OF_A_TASK) if subsystem == TASK else {"subsystem": subsystem})
        node["results"][setting] = result
    return node


def _profile_of(node: Mapping[str, Any], profiles: Mapping[str, Any]) -> str:
    """The profile that a node was asked under; where it left no word and there is only one, that one."""
    if "profile_key" in node:
        return str(node["profile_key"])
    return next(iter(profiles)) if len(profiles) == 1 else ""


def _asked(run: dict[str, Any]) -> list[str]:
    names = run.get("asked", [])
    return [str(name) for name in names] if isinstance(names, list) else []


def _run(read: spool_files.Spool, spool_name: str, finished: str, faults: list[str]) -> dict[str, Any]:
    controller = read.run.get("controller")
    run: dict[str, Any] = {
        "id": str(read.run.get("run_id", spool_name)),
        "action": str(read.run.get("action", "audit")),
        "started": str(read.run.get("started", finished)),
        "finished": finished,
        "controller": {str(key): str(value) for key, value in controller.items()} if isinstance(controller, dict) else {},
        "profiles": {key: {"profile": profile["profile"], "files": profile["files"]} for key, profile in sorted(read.profiles.items())},
    }
    if faults:
        run["faults"] = faults
    return run


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
