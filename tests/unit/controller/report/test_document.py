# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the spool to the document: what becomes of every node, what is counted, which verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import spools
from ansible_collections.gpufleet.node.plugins.module_utils.engine import states
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, schema, words
from spools import ENABLED, OVERCOMMIT, SWAPPINESS, answer, assemble, result, silence

WAIVER = {"reason": "a benchmark", "ticket": "OPS-1", "until": "2027-01-31"}


def valid(made: dict[str, Any]) -> dict[str, Any]:
    """The document, once the schema has agreed."""
    jsonschema.Draft202012Validator(schema.DOCUMENT).validate(made)
    return made


VERDICTS = {
    "all right": ([answer("a"), answer("b")], "clean"),
    "one drifts": ([answer("a", {SWAPPINESS: result("live_wrong", "60")}), answer("b")], "drift"),
    "not persisted": ([answer("a", {SWAPPINESS: result("unpersisted")})], "drift"),
    "waits for time": ([answer("a", {SWAPPINESS: result("pending", needs="time")})], "clean"),
    "waits for a reboot": ([answer("a", {SWAPPINESS: result("pending", needs="reboot")})], "drift"),
    "waived drift": ([answer("a", {SWAPPINESS: result("live_wrong", "60", waived=WAIVER)})], "clean"),
    "waived unknown": ([answer("a", {SWAPPINESS: result("unknown", waived=WAIVER)})], "clean"),
    "not applicable": ([answer("a", {SWAPPINESS: result("not_applicable"), ENABLED: result("kernel_managed")})], "clean"),
    "unknown": ([answer("a", {SWAPPINESS: result("unknown")})], "incomplete"),
    "unknown beats drift": ([answer("a", {SWAPPINESS: result("unknown"), OVERCOMMIT: result("live_wrong", "2")})], "incomplete"),
    "one unreachable": ([answer("a"), silence("b", "unreachable")], "incomplete"),
    "all unreachable": ([silence("a", "unreachable"), silence("b", "unreachable")], "incomplete"),
    "all failing": ([silence("a", "failed"), silence("b", "failed")], "incomplete"),
    "one hanging": ([answer("a"), silence("b", "timed_out", "not finished after 60 s")], "incomplete"),
    "nobody asked": ([], "incomplete"),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_verdict(case: str, tmp_path: Path) -> None:
    nodes, verdict = VERDICTS[case]
    assert valid(assemble(tmp_path, nodes))["verdict"] == verdict


def test_a_fault_of_the_tool_beats_everything(tmp_path: Path) -> None:
    broken = answer("a", {SWAPPINESS: result("unknown")})
    broken["response"]["faults"] = [{"subsystem": "sysctl", "error": "KeyError"}]
    made = valid(assemble(tmp_path, [broken, silence("b", "unreachable")]))
    assert made["verdict"] == "error"
    assert made["totals"]["faults"] == 1


def test_totals(tmp_path: Path) -> None:
    waived = result("live_wrong", "60", waived=WAIVER)
    nodes = [
        answer("a"),
        answer("b", {SWAPPINESS: waived, ENABLED: result("unknown")}),
        silence("c", "unreachable"),
        silence("d", "timed_out"),
    ]
    totals = valid(assemble(tmp_path, nodes, asked=["a", "b", "c", "d", "e"]))["totals"]
    assert totals["nodes"] == {"asked": 5, "ok": 2, "unreachable": 1, "failed": 1, "timed_out": 1}
    # Three settings a node: two nodes answered with five judged and one unknown, three nodes with nothing.
    assert totals["settings"] == {"asked": 15, "judged": 5, "by_state": {"ok": 4, "live_wrong": 1, "unknown": 10}, "waived": 1}


def test_an_asked_node_without_a_file_failed(tmp_path: Path) -> None:
    spool = spools.write(tmp_path, [answer("a")], asked=["a", "b/c"])
    made = valid(document.assemble(spool, {"b/c": ["rack3"]}, spools.FINISHED))
    missed = made["nodes"][1]
    assert missed["name"] == "b/c"
    assert missed["outcome"] == "failed"
    assert missed["error"] == "no answer was recorded: the task did not end"
    assert missed["groups"] == ["rack3"]
    assert made["verdict"] == "incomplete"


def test_a_timed_out_node_keeps_what_was_ready(tmp_path: Path) -> None:
    slow = answer("a", outcome="timed_out", error="not finished after 60 s")
    slow["response"]["outcome"] = "timed_out"
    del slow["response"]["results"][ENABLED]
    made = valid(assemble(tmp_path, [slow]))
    results = made["nodes"][0]["results"]
    assert results[SWAPPINESS]["state"] == "ok"
    assert results[ENABLED]["state"] == "unknown"
    assert results[ENABLED]["detail"] == "the time was up before it was read"
    assert made["totals"]["settings"]["judged"] == 2


def test_the_engine_knows_better_than_the_transport(tmp_path: Path) -> None:
    entry = answer("a")
    entry["response"].update(outcome="failed", error="no lock")
    made = valid(assemble(tmp_path, [entry]))
    assert (made["nodes"][0]["outcome"], made["nodes"][0]["error"]) == ("failed", "no lock")


def test_an_asked_setting_without_a_result_is_unknown(tmp_path: Path) -> None:
    entry = answer("a")
    del entry["response"]["results"][SWAPPINESS]
    made = valid(assemble(tmp_path, [entry]))
    assert made["nodes"][0]["results"][SWAPPINESS]["state"] == "unknown"
    assert made["verdict"] == "incomplete"


def test_a_result_that_nobody_asked_for_is_kept_and_said(tmp_path: Path) -> None:
    made = valid(assemble(tmp_path, [answer("a", {"sysctl/vm.extra": result()})]))
    assert made["settings"]["sysctl/vm.extra"] == {"subsystem": "sysctl"}
    assert made["nodes"][0]["notes"] == ["sysctl/vm.extra was answered and not asked"]


def test_settings_and_rules_stand_once(tmp_path: Path) -> None:
    made = valid(assemble(tmp_path, [answer("a"), answer("b")]))
    assert made["settings"][SWAPPINESS] == {
        "subsystem": "sysctl",
        "impact": "performance",
        "disturbs": "nothing",
        "owner": "gpufleet",
        "mend": "always",
        "why": "disks are slow",
        "source": "a document",
    }
    assert sorted(map(json.dumps, made["rules"].values())) == ['{"between": [0, 10], "set": 1}', '{"exact": "madvise"}', '{"exact": 0}']
    names = {node["results"][SWAPPINESS]["rule"] for node in made["nodes"]}
    assert [made["rules"][name] for name in names] == [{"between": [0, 10], "set": 1}]


def test_of_two_profiles_the_worse_impact_stands(tmp_path: Path) -> None:
    other = json.loads(json.dumps(spools.PROFILE))
    other.update(key="k2", profile="shared")
    other["subsystems"]["sysctl"]["vm.swappiness"].update(impact="correctness", rule={"exact": 0})
    nodes = [answer("a"), answer("b", profile_key="k2")]
    made = valid(assemble(tmp_path, nodes, profiles=(spools.PROFILE, other)))
    assert made["settings"][SWAPPINESS]["impact"] == "correctness"
    rules = [made["rules"][node["results"][SWAPPINESS]["rule"]] for node in made["nodes"]]
    assert rules == [{"between": [0, 10], "set": 1}, {"exact": 0}]


BROKEN = {
    "empty": b"",
    "half": b'{"version": 1, "outcome": "ok", "resp',
    "binary": b"\x00\xff\xfe",
    "a list": b"[]",
    "null": b"null",
    "nested": b"[" * 100_000,
    "no outcome": b'{"version": 1}',
    "outcome of a wrong type": b'{"outcome": ["ok"]}',
    "ok without a response": b'{"outcome": "ok"}',
    "response of a wrong type": b'{"outcome": "ok", "response": 7}',
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_of_a_node_is_a_failed_node(case: str, tmp_path: Path) -> None:
    spool = spools.write(tmp_path, [answer("a")], asked=["a", "b"])
    (spool / "nodes" / "b.json").write_bytes(BROKEN[case])
    made = valid(document.assemble(spool, finished=spools.FINISHED))
    assert [node["outcome"] for node in made["nodes"]] == ["ok", "failed"]
    assert "b.json" in made["nodes"][1]["error"]
    assert made["verdict"] == "incomplete"


@pytest.mark.parametrize("bad", [None, 7, [], {}, {"state": "fine"}, {"state": ["ok"]}, {"state": None}])
def test_a_malformed_result_is_unknown_and_a_fault(bad: Any, tmp_path: Path) -> None:
    made = valid(assemble(tmp_path, [answer("a", {SWAPPINESS: bad})]))
    assert made["nodes"][0]["results"][SWAPPINESS]["state"] == "unknown"
    assert made["nodes"][0]["faults"][0]["subsystem"] == "sysctl"
    assert made["verdict"] == "error"


def test_oddities_inside_a_good_answer_do_no_harm(tmp_path: Path) -> None:
    entry = answer(
        "a",
        {
            SWAPPINESS: result(
                views={"live": {"value": 7, "from": None}, "boot": "?", "novel": {}},
                cause=["x"],
                winner=3,
                blocked_by="x",
                changes=[1, {"done": True, "before": 4}],
            )
        },
    )
    entry["response"].update(notes="none", faults=[3], node={"cpus": 4, "list": [], "virtualised": False})
    entry.update(groups="x", duration_s="long")
    made = valid(assemble(tmp_path, [entry]))
    assert made["nodes"][0]["results"][SWAPPINESS]["views"] == {"live": {"value": "7", "from": "None"}}
    assert made["nodes"][0]["facts"] == {"cpus": 4, "virtualised": False}


@pytest.mark.parametrize("name", ["run.json", "profiles/k1.json"])
def test_a_broken_file_of_the_run_is_a_fault(name: str, tmp_path: Path) -> None:
    spool = spools.write(tmp_path, [answer("a")])
    (spool / name).write_bytes(b'{"half')
    made = valid(document.assemble(spool, finished=spools.FINISHED))
    assert made["verdict"] == "error"
    assert made["run"]["faults"]
    assert made["nodes"][0]["results"][SWAPPINESS]["state"] == "ok"


def test_a_profile_without_rules_is_a_fault(tmp_path: Path) -> None:
    bad = {**spools.PROFILE, "subsystems": {"sysctl": {"vm.swappiness": {"impact": "performance"}}}}
    made = valid(assemble(tmp_path, [answer("a")], profiles=(bad,)))
    assert made["verdict"] == "error"
    assert "has no rule" in made["run"]["faults"][0]


def test_a_spool_that_is_not_there(tmp_path: Path) -> None:
    made = valid(document.assemble(tmp_path / "nowhere", finished=spools.FINISHED))
    assert made["verdict"] == "error"
    assert made["run"]["id"] == "nowhere"


def test_the_states_are_those_of_the_engine() -> None:
    assert {state: about.counts for state, about in words.STATES.items()} == states.STATES
    letters = [about.letter for about in words.STATES.values()]
    assert len(set(letters)) == len(letters)


def test_the_schema_refuses(tmp_path: Path) -> None:
    made = assemble(tmp_path, [answer("a")])
    made["nodes"][0]["results"][SWAPPINESS]["views"]["live"] = {}
    with pytest.raises(jsonschema.ValidationError):
        valid(made)
