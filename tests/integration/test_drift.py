# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/drift.yml: whatever becomes of the nodes, there is a report, it counts rightly, and only a clean fleet ends with 0."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest

import stand_ins
from conftest import profile, right_machine, wrong_machine
from plays import Core, Done

DRIFT = "gpufleet.node.drift"
REPORTS = ("drift.json", "drift.html", "drift.md", "drift.junit.xml")
ODD_NAME = "rack 3/é%41'\""
SWAPPINESS = "sysctl/vm.swappiness"


@pytest.fixture(scope="module")
def mixed(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """One run over nodes of every kind."""
    folder = tmp_path_factory.mktemp("mixed")
    right, wrong = right_machine(folder / "right"), wrong_machine(folder / "wrong")
    unreadable = right_machine(folder / "unreadable")
    unreadable.fifo("/proc/sys/vm/swappiness")
    real = core.node_python
    hosts = {
        "right": {"gpufleet_root": right.root},
        "wrong": {"gpufleet_root": wrong.root},
        "wrong-no-pipelining": {"gpufleet_root": wrong.root, "ansible_connection": "no_pipelining"},
        "unreadable": {"gpufleet_root": unreadable.root},
        ODD_NAME: {"gpufleet_root": right.root},
        "talkative": {
            "gpufleet_root": right.root,
            "ansible_python_interpreter": stand_ins.put(folder / "talkative", stand_ins.TALKATIVE_PYTHON.format(python=real)),
        },
        "no-python": {"ansible_python_interpreter": "/nowhere/python"},
        "old-python": {"ansible_python_interpreter": stand_ins.put(folder / "old", stand_ins.OLD_PYTHON)},
        "dying": {"ansible_python_interpreter": stand_ins.put(folder / "dying", stand_ins.DYING_PYTHON)},
        "hanging": {
            "gpufleet_timeout_s": 2,
            "ansible_python_interpreter": stand_ins.put(folder / "hanging", stand_ins.HANGING_PYTHON),
        },
        "unreachable": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    }
    return core.play(folder, DRIFT, hosts, gpufleet_profile=profile(folder))


def test_every_kind_of_node_is_counted(mixed: Done) -> None:
    assert mixed.document["totals"]["nodes"] == {"asked": 11, "ok": 6, "unreachable": 1, "failed": 3, "timed_out": 1}
    assert mixed.document["totals"]["settings"]["by_state"] == {"ok": 9, "live_wrong": 2, "unknown": 11}
    assert mixed.document["totals"]["faults"] == 0
    assert mixed.document["verdict"] == "incomplete"
    assert mixed.status != 0


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("no-python", "failed", "there is no /nowhere/python on this node"),
        ("old-python", "failed", "needs Python 3.6 or newer"),
        ("dying", "failed", "out of memory"),
        ("hanging", "timed_out", "no answer in 2 s"),
        ("unreachable", "unreachable", "refused"),
    ],
)
def test_why_a_node_gave_no_answer_is_said(mixed: Done, name: str, outcome: str, words: str) -> None:
    node = next(node for node in mixed.document["nodes"] if node["name"] == name)
    assert node["outcome"] == outcome
    assert words in node["error"]


def test_the_packed_module_says_the_same_as_standard_input(mixed: Done) -> None:
    by_stdin, by_module = mixed.node("wrong"), mixed.node("wrong-no-pipelining")
    assert (by_stdin["transport"], by_module["transport"]) == ("stdin", "module")
    assert by_stdin["response"]["results"][SWAPPINESS]["state"] == "live_wrong"
    assert by_stdin["response"]["results"] == by_module["response"]["results"]
    assert by_stdin["response"]["node"] == by_module["response"]["node"]


def test_words_of_a_login_shell_do_not_matter(mixed: Done) -> None:
    assert mixed.node("talkative")["response"]["results"] == mixed.node("right")["response"]["results"]


def test_what_cannot_be_read_is_unknown(mixed: Done) -> None:
    result = mixed.node("unreadable")["response"]["results"][SWAPPINESS]
    assert result["state"] == "unknown"
    assert "/proc/sys/vm/swappiness" in result["views"]["live"]["from"]
    assert result["views"]["live"]["error"]


def test_all_reports_are_there_and_for_nobody_else_to_read(mixed: Done) -> None:
    written = [mixed.reports / name for name in REPORTS] + [path for path in mixed.spool.rglob("*") if path.is_file()]
    assert len(written) == len(REPORTS) + 1 + 1 + 11  # run.json, one profile, the nodes
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}


def test_a_clean_fleet_ends_with_0(core: Core, tmp_path: Path) -> None:
    hosts = {name: {"gpufleet_root": right_machine(tmp_path / name).root} for name in ("one", "two")}
    done = core.play(tmp_path, DRIFT, hosts, gpufleet_profile=profile(tmp_path))
    assert done.document["verdict"] == "clean", done.output
    assert done.status == 0


def test_drift_on_one_node_that_the_limit_names_in_check_mode(newest: Core, tmp_path: Path) -> None:
    machines = {"one": right_machine(tmp_path / "one"), "two": wrong_machine(tmp_path / "two")}
    before = {name: machine.snapshot() for name, machine in machines.items()}
    hosts = {name: {"gpufleet_root": machine.root} for name, machine in machines.items()}
    done = newest.play(tmp_path, DRIFT, hosts, "--limit", "two", "--check", gpufleet_profile=profile(tmp_path))
    assert done.outcomes() == {"two": "ok"}
    assert done.document["verdict"] == "drift"
    assert done.status != 0
    assert {name: machine.snapshot() for name, machine in machines.items()} == before


@pytest.mark.parametrize(
    ("node", "outcome"),
    [
        ({"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}, "unreachable"),
        ({"ansible_python_interpreter": "/nowhere/python"}, "failed"),
    ],
)
def test_a_fleet_of_which_no_node_answers_has_a_report(newest: Core, tmp_path: Path, node: dict[str, object], outcome: str) -> None:
    done = newest.play(tmp_path, DRIFT, {"one": node, "two": node}, gpufleet_profile=profile(tmp_path))
    assert done.outcomes() == {"one": outcome, "two": outcome}
    assert done.document["totals"]["settings"]["by_state"] == {"unknown": 4}
    assert done.document["verdict"] == "incomplete"
    assert done.status != 0
    assert all((done.reports / name).stat().st_size for name in REPORTS)


def test_a_wrong_profile_is_refused_before_any_node_is_touched(core: Core, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    python = stand_ins.put(tmp_path / "python", f'echo touched >>{trace}\nexec {core.node_python} "$@"\n')
    hosts = {"one": {"gpufleet_overrides_site": {"sysctl": {"vm.swapiness": 1}}}, "two": {}}
    done = core.play(tmp_path, DRIFT, hosts, gpufleet_profile=profile(tmp_path), ansible_python_interpreter=python)
    assert done.status != 0
    assert "vm.swappiness" in done.output  # the nearest valid name
    assert not trace.exists()
    assert not (done.spool / "nodes").exists()


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ({"one": {}}, ["-e", "gpufleet_hosts=spare"]),
        ({"one": {}, "two": {}}, ["-e", "gpufleet_hosts=one", "--limit", "two"]),
        ({}, []),
    ],
    ids=["an empty group", "a limit beside it", "an empty inventory"],
)
def test_nobody_to_ask_is_not_clean(newest: Core, tmp_path: Path, hosts: dict[str, dict[str, object]], words: list[str]) -> None:
    done = newest.play(tmp_path, DRIFT, hosts, *words, "-e", f"gpufleet_report_dir={tmp_path}/reports")
    assert done.document["totals"]["nodes"]["asked"] == 0
    assert done.document["verdict"] == "incomplete"
    assert "No host of the inventory, or of its limit, matches" in done.output
    assert done.status != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user without a password")
def test_an_unprivileged_user_gets_a_report_with_what_it_may_not_read_as_unknown(newest: Core, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:  # not below a folder of pytest's, which is for one user only
        folder = Path(name)
        folder.chmod(0o755)
        machine = right_machine(folder / "node")
        machine.write("/etc/sysctl.d/60-secret.conf", "vm.swappiness = 1\n", 0o600)
        become = {
            "ansible_become": True,
            "ansible_become_user": "nobody",
            "ansible_become_exe": stand_ins.put(folder / "sudo", stand_ins.SUDO_TO_NOBODY),
            "ansible_python_interpreter": "auto",  # the tests' own may lie where only its user may look
        }
        done = newest.play(tmp_path, DRIFT, {"one": {"gpufleet_root": machine.root}}, gpufleet_profile=profile(tmp_path), **become)
    assert done.node("one")["transport"] == "stdin"
    result = done.node("one")["response"]["results"][SWAPPINESS]
    assert result["state"] == "unknown", json.dumps(result)
    assert "60-secret.conf" in json.dumps(result["views"]["persisted"])
    assert done.document["verdict"] == "incomplete"
