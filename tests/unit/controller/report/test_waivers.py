# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waivers that end soon, that have ended, and that nothing needs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import spools
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, html, markdown, schema, terminal
from spools import SWAPPINESS, answer, result

TODAY = spools.FINISHED[:10]


def profile(key: str = "k1", **waive: str) -> dict[str, Any]:
    """The profile with a waiver on one setting."""
    made = copy.deepcopy(spools.PROFILE)
    made["key"] = key
    made["subsystems"]["sysctl"]["vm.swappiness"]["waive"] = {"reason": "a benchmark", "ticket": "OPS-1", **waive}
    return made


def assemble(folder: Path, nodes: list[dict[str, Any]], *profiles: dict[str, Any], days: int = 14) -> dict[str, Any]:
    made = document.assemble(spools.write(folder, nodes, profiles=profiles), finished=spools.FINISHED, waiver_days=days)
    jsonschema.Draft202012Validator(schema.DOCUMENT).validate(made)
    return made


WRONG = {SWAPPINESS: result("live_wrong", "60", waived={"reason": "a benchmark", "ticket": "OPS-1", "until": "2026-12-03"})}
UNWAIVED = {SWAPPINESS: result("live_wrong", "60")}

ENDS: dict[str, tuple[str, int, int | None, str]] = {
    "long ago": ("2026-10-31", 14, -30, "ended 30 days ago, on 2026-10-31"),
    "yesterday": ("2026-11-29", 14, -1, "ended 1 day ago, on 2026-11-29"),
    "the last day counts": (TODAY, 14, 0, f"ends today, {TODAY}"),
    "the fourteenth day": ("2026-12-14", 14, 14, "ends in 14 days, on 2026-12-14"),
    "the fifteenth day": ("2026-12-15", 14, None, ""),
    "asked for more": ("2026-12-15", 30, 15, "ends in 15 days, on 2026-12-15"),
    "asked for none": ("2026-12-01", 0, None, ""),
}


@pytest.mark.parametrize("case", ENDS)
def test_ends(case: str, tmp_path: Path) -> None:
    until, days, left, words = ENDS[case]
    made = assemble(tmp_path, [answer("a", WRONG), answer("b")], profile(until=until), days=days)
    if left is None:
        assert made["waivers"] == []
        assert "Waivers that end" not in markdown.render(made)
        return
    waiver = {"setting": SWAPPINESS, "reason": "a benchmark", "ticket": "OPS-1", "until": until}
    assert made["waivers"] == [{**waiver, "days": left, "nodes": 2, "needed_by": ["a"]}]
    line = next(line for line in terminal.render(made, width=200).split("\n") if line.startswith("waiver"))
    assert line == f"waiver       {SWAPPINESS}: {words}; differs on 1 of 2 nodes; a benchmark, OPS-1"
    assert words in markdown.render(made).replace("\\", "")
    assert [one["when"] for one in html.interned(made)["waivers"]] == [words]


def test_an_ended_waiver_counts_no_more_and_is_told(tmp_path: Path) -> None:
    made = assemble(tmp_path, [answer("a", UNWAIVED)], profile(until="2026-11-01"))
    assert made["verdict"] == "drift"
    assert made["waivers"][0]["needed_by"] == ["a"]


NEEDS: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "nothing differs": ([answer("a")], 1, "nothing differs: it can go"),
    "nobody answered": ([spools.silence("a", "unreachable")], 0, "no node that it is for has answered"),
    "not applicable": ([answer("a", {SWAPPINESS: result("not_applicable")})], 0, "no node that it is for has answered"),
}


@pytest.mark.parametrize("case", NEEDS)
def test_what_nothing_needs(case: str, tmp_path: Path) -> None:
    nodes, count, words = NEEDS[case]
    made = assemble(tmp_path, nodes, profile(until=TODAY))
    assert (made["waivers"][0]["nodes"], made["waivers"][0]["needed_by"]) == (count, [])
    assert words in terminal.render(made, width=200)


def test_a_waiver_for_one_serial_is_about_that_machine(tmp_path: Path) -> None:
    nodes = [answer(name, WRONG) for name in ("a", "b")]
    for node in nodes:
        node["response"]["node"]["serial"] = f"S-{node['node']}"
    made = assemble(tmp_path, nodes, profile(until=TODAY, serial="S-b"))
    assert (made["waivers"][0]["nodes"], made["waivers"][0]["needed_by"]) == (1, ["b"])


def test_the_same_waiver_in_two_profiles_is_one(tmp_path: Path) -> None:
    nodes = [answer("a", WRONG), answer("b", WRONG, profile_key="k2")]
    made = assemble(tmp_path, nodes, profile(until=TODAY), profile("k2", until=TODAY))
    assert [waiver["needed_by"] for waiver in made["waivers"]] == [["a", "b"]]


def test_the_terminal_names_the_one_that_hurts_first(tmp_path: Path) -> None:
    both = profile(until="2026-12-02")
    both["subsystems"]["sysctl"]["vm.overcommit_memory"]["waive"] = {"reason": "old", "until": "2026-11-01"}
    line = next(line for line in terminal.render(assemble(tmp_path, [answer("a", WRONG)], both), 200).split("\n") if "waiver" in line)
    assert line.startswith(f"waiver       {SWAPPINESS}: ends in 2 days, on 2026-12-02  (and 1 more waiver); differs on 1 of 1 node")


@pytest.mark.parametrize("waive", [7, {}, {"reason": "x"}, {"reason": "x", "until": "soon"}, {"reason": "x", "until": None}])
def test_a_malformed_waiver_does_no_harm(waive: Any, tmp_path: Path) -> None:
    bad = copy.deepcopy(spools.PROFILE)
    bad["subsystems"]["sysctl"]["vm.swappiness"]["waive"] = waive
    assert assemble(tmp_path, [answer("a")], bad)["waivers"] == []
