# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door: requests that are none, parts that fail, the deadline, roots; on a node a child does the work."""

import os
import signal
import time
from pathlib import Path
from typing import Any, Dict

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import outcome, run
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Host, Reader
from ansible_collections.gpufleet.node.plugins.module_utils.engine.subsystems import sysctl, transparent_hugepage

import shape
from asking import FILE, SYSCTL, THP, ask, ask_child, ask_well, request, states
from machines import Machine, build
from machines.kernel import Kernel


@pytest.mark.parametrize("action", run.ACTIONS)
def test_a_child_says_what_this_process_says(converged: Machine, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    converged.sysctl("vm.swappiness", 60)
    twin = converged.copy(converged.root + "-twin")
    responses = []
    for asked, machine in ((ask, converged), (ask_child, twin)):
        monkeypatch.setattr(Host, "write_live", Kernel(machine).write_live)
        response = asked(machine, action, SYSCTL, THP)
        response.update(duration_s=0, started="")
        responses.append(response)
    assert responses[0] == responses[1]
    assert "sysctl/vm.swappiness" in responses[0]["results"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"action": "destroy"}, "no such action: destroy"),
        ({"action": None}, "no such action: None"),
        ({"subsystems": {"bios": {}}}, "no such subsystem: bios"),
        ({"subsystems": []}, "not a request"),
        ({"subsystems": {"sysctl": 3}}, "not a request"),
        ({"deadline_s": "soon"}, "not a request: could not convert string to float"),
    ],
)
def test_what_is_no_request_is_a_failure_and_no_exception(machine: Machine, changed: Dict[str, Any], error: str) -> None:
    before = machine.snapshot()
    response = run.handle(dict(request(machine, "audit", {"vm.swappiness": 1}), **changed))
    assert (response["outcome"], response["results"]) == ("failed", {})
    assert error in response["error"]
    assert machine.snapshot() == before


def test_a_request_for_nothing_tells_the_facts(machine: Machine) -> None:
    response = ask_well(machine, "audit")
    assert response["results"] == {}
    assert response["node"]["hostname"] == "node-1"


def test_both_spellings_are_one_setting(machine: Machine) -> None:
    assert list(states(ask_well(machine, "audit", {"vm/swappiness": 60, "/net/core/somaxconn": 1}))) == [
        "sysctl/vm.swappiness",
        "sysctl/net.core.somaxconn",
    ]


def test_a_fault_in_one_subsystem_is_told_and_leaves_the_others_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: Any) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(sysctl, "observe", broken)
    for action in ("audit", "check", "apply"):
        response = ask_child(machine, action, {"vm.swappiness": 1}, {"enabled": "always"})
        assert response["outcome"] == "ok"
        assert states(response) == {"sysctl/vm.swappiness": "unknown", "transparent_hugepage/enabled": response_state(action)}
        assert [fault["subsystem"] for fault in response["faults"]] == ["sysctl"]
        assert "ZeroDivisionError: a fault of ours" in response["faults"][0]["error"]
        assert "a fault of ours" in outcome.problem(response)


def response_state(action: str) -> str:
    return "ok" if action == "apply" else "unpersisted"


def test_what_was_ready_before_the_deadline_is_told_and_the_rest_is_unknown(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transparent_hugepage, "observe", lambda *_arguments: signal.pause())
    started = time.monotonic()
    response = ask_child(machine, "audit", {"vm/swappiness": 60}, {"enabled": "never"}, deadline_s=1)
    assert time.monotonic() - started < 15
    assert (response["outcome"], response["error"]) == ("timed_out", "not finished after 1 s")
    assert states(response) == {"sysctl/vm.swappiness": "ok", "transparent_hugepage/enabled": "unknown"}
    assert response["results"]["transparent_hugepage/enabled"]["detail"] == "not read before the time was up"
    assert response["node"]["hostname"] == "node-1"


def test_failures_of_two_subsystems_are_both_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Host.write

    def write(self: Host, path: str, *arguments: Any) -> None:
        if path.startswith("/etc/"):
            raise run.HostError(path, "no")
        real(self, path, *arguments)

    monkeypatch.setattr(Host, "write", write)
    error = ask(machine, "apply", {"vm.swappiness": 60, "vm.max_map_count": 1}, {"enabled": "never"})["error"]
    assert "/etc/sysctl.d/zz-gpufleet.conf: no" in error
    assert "/etc/tmpfiles.d/00-gpufleet.conf: no" in error


def test_bytes_that_are_no_text_are_shown_as_such(machine: Machine) -> None:
    machine.write("/etc/sysctl.d/10.conf", b"vm.swappiness = \xe4\xff\nkernel.core_pattern = \xc3\xa4\n\xfe\n")
    response = ask_child(machine, "audit", {"vm.swappiness": 1})
    assert response["results"]["sysctl/vm.swappiness"]["views"]["persisted"]["value"] == "\\xe4\\xff"


# -- a root other than / --------------------------------------------------------------------------------------------


def test_everything_comes_from_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path that is opened, listed or looked at lies in the tree; and the tree tells of another machine than the one that runs this."""
    machine = build(tmp_path / "tree", "gh200", "rocky-8")
    machine.link("/etc/sysctl.d/50-absolute.conf", "/etc/theirs.conf")
    machine.write("/etc/theirs.conf", "vm.swappiness = 33\n")
    machine.package("/etc/sysctl.d/50-absolute.conf", "theirs")
    seen = []
    for name in ("open", "listdir", "stat", "lstat", "readlink"):
        real = getattr(os, name)

        def spy(path: Any, *arguments: Any, real: Any = real, **named: Any) -> Any:
            seen.append(str(path))
            return real(path, *arguments, **named)

        monkeypatch.setattr(os, name, spy)
    response = ask_well(machine, "audit", {"vm.swappiness": 1}, {"enabled": "madvise"})
    monkeypatch.undo()
    assert len(seen) > 50
    assert [path for path in seen if not path.startswith(machine.root)] == []
    assert (response["node"]["architecture"], response["node"]["page_size"]) == ("aarch64", 65536)
    assert response["results"]["sysctl/vm.swappiness"]["winner"] == {"from": "/etc/sysctl.d/50-absolute.conf:1", "owner": "package theirs"}


@pytest.mark.parametrize("action", ["apply", "revert"])
def test_changes_below_a_root_are_refused_outside_tests(machine: Machine, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    monkeypatch.delenv("GPUFLEET_APPLY_BELOW_ROOT")
    before = machine.snapshot()
    response = ask(machine, action, {"vm.swappiness": 1})
    assert (response["outcome"], response["error"]) == ("failed", "changes below a root other than / are for tests only")
    assert machine.snapshot() == before


def test_this_machine_can_be_looked_at() -> None:
    """Whatever it is: no fault, and every setting has a result."""
    subsystems = {"sysctl": SYSCTL, "transparent_hugepage": THP}
    response = run.handle({"version": 1, "action": "check", "run_id": "r", "subsystems": subsystems})
    shape.check(response)
    assert (response["outcome"], response["faults"]) == ("ok", [])
    assert len(response["results"]) == len(SYSCTL) + len(THP)
    assert response["node"]["hostname"] == Reader().uname()["nodename"]


# -- what a task makes of a response ------------------------------------------------------------------------------

RESPONSE: Dict[str, Any] = {"action": "apply", "outcome": "ok", "faults": [], "results": {}}
LEFT = {"changes": [{"view": "live", "target": "/x", "before": "1", "after": "2"}]}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, ""),
        ({"outcome": "failed", "error": "why"}, "failed: why"),
        ({"outcome": "timed_out", "error": "late"}, "timed_out: late"),
        ({"faults": [{"subsystem": "sysctl", "error": "e"}]}, "sysctl: e"),
        ({"results": {"sysctl/a": dict(LEFT, state="live_wrong")}}, "still not right after the change: sysctl/a"),
        (
            {"results": {"sysctl/a": dict(LEFT, state="unpersisted"), "sysctl/b": {"state": "refused"}}},
            "still not right after the change: sysctl/a",
        ),
        ({"results": {"sysctl/a": {"state": "live_wrong"}}}, ""),
        ({"results": {"sysctl/a": {"state": "blocked"}, "sysctl/b": {"state": "overridden"}}}, ""),
        ({"action": "check", "results": {"sysctl/a": dict(LEFT, state="live_wrong")}}, ""),
    ],
)
def test_what_makes_a_task_fail(changed: Dict[str, Any], problem: str) -> None:
    assert outcome.problem(dict(RESPONSE, **changed)) == problem


def test_the_difference_that_ansible_shows() -> None:
    results = {
        "sysctl/b": {"changes": [{"view": "persisted", "target": FILE, "after": "1"}]},
        "sysctl/a": {"changes": [{"view": "live", "target": "/x", "before": "1", "after": "2"}]},
        "sysctl/c": {},
    }
    assert outcome.difference(results) == {
        "before": f"sysctl/a [live] /x: 1\nsysctl/b [persisted] {FILE}: (nothing)\n",
        "after": f"sysctl/a [live] /x: 2\nsysctl/b [persisted] {FILE}: 1\n",
    }
