# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spools and documents for the tests, said in a few words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document

FINISHED = "2026-11-30T22:57:02Z"
SWAPPINESS = "sysctl/vm.swappiness"
OVERCOMMIT = "sysctl/vm.overcommit_memory"
ENABLED = "transparent_hugepage/enabled"
PROFILE = {
    "version": 1,
    "profile": "training",
    "key": "k1",
    "files": ["base.yml", "training.yml"],
    "subsystems": {
        "sysctl": {
            "vm.swappiness": {
                "rule": {"between": [0, 10], "set": 1},
                "impact": "performance",
                "disturbs": "nothing",
                "owner": "gpufleet",
                "mend": "always",
            },
            "vm.overcommit_memory": {
                "rule": {"exact": 0},
                "impact": "correctness",
                "disturbs": "nothing",
                "owner": "gpufleet",
                "mend": "always",
            },
        },
        "transparent_hugepage": {
            "enabled": {"rule": {"exact": "madvise"}, "impact": "hygiene", "disturbs": "jitter", "owner": "gpufleet", "mend": "always"}
        },
    },
    "about": {SWAPPINESS: {"why": "disks are slow", "source": "a document"}},
}


def result(state: str = "ok", live: str = "1", **more: Any) -> dict[str, Any]:
    """A result as the engine gives it."""
    made: dict[str, Any] = {
        "state": state,
        "desired": "1",
        "needs": "nothing",
        "views": {
            "persisted": {"value": "1", "from": "/etc/sysctl.d/zz-gpufleet.conf:4"},
            "live": {"value": live, "from": "/proc/sys/vm/swappiness"},
        },
    }
    if state in ("missing", "refused", "blocked", "partial", "overridden", "pending", "live_wrong", "unpersisted"):
        made["cause"] = "wandered"
    return {**made, **more}


def answer(name: str, results: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The spool file of a node that answered; settings that are not given are ok."""
    full = {setting: result() for setting in (SWAPPINESS, OVERCOMMIT, ENABLED)}
    full.update(results or {})
    response = {"version": 1, "outcome": "ok", "node": {"hostname": name, "kernel": "6.12.0"}, "results": full, "notes": [], "faults": []}
    return {
        "version": 1,
        "node": name,
        "groups": ["a100"],
        "profile_key": "k1",
        "transport": "stdin",
        "duration_s": 1.2,
        "outcome": "ok",
        "response": response,
        **more,
    }


def silence(name: str, outcome: str, error: str = "no route") -> dict[str, Any]:
    """The spool file of a node that gave no response."""
    return {
        "version": 1,
        "node": name,
        "groups": [],
        "profile_key": "k1",
        "transport": "none",
        "duration_s": 10,
        "outcome": outcome,
        "error": error,
    }


def write(
    directory: Path,
    nodes: list[dict[str, Any]],
    asked: list[str] | None = None,
    profiles: tuple[dict[str, Any], ...] = (PROFILE,),
    name: str = "run-1",
    started: str = "2026-11-30T22:55:20Z",
) -> Path:
    """A spool with these nodes."""
    spool = directory / name
    (spool / "nodes").mkdir(parents=True)
    (spool / "profiles").mkdir()
    run = {
        "run_id": name,
        "started": started,
        "action": "audit",
        "asked": asked if asked is not None else [node["node"] for node in nodes],
        "controller": {"ansible": "2.21.5"},
    }
    (spool / "run.json").write_text(json.dumps(run))
    for profile in profiles:
        (spool / "profiles" / f"{profile['key']}.json").write_text(json.dumps(profile))
    for node in nodes:
        (spool / "nodes" / f"{quote(node['node'], safe='')}.json").write_text(json.dumps(node))
    return spool


def assemble(directory: Path, nodes: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The document of a spool with these nodes."""
    return document.assemble(write(directory, nodes, **more), finished=FINISHED)
