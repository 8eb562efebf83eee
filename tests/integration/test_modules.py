# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules and roles for one subsystem, from a task, with settings from the lookup or written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from machines import Machine, build
from plays import Core

GROUP = "group/gpufleet.node.node"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return build(tmp_path / "node")


def tasks(machine: Machine, *listed: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    defaults = {GROUP: {"root": machine.root}}
    return [{"hosts": "all", "gather_facts": False, "module_defaults": defaults, "tasks": list(listed), **more}]


def test_roles_look_in_check_mode_and_then_mend(core: Core, tmp_path: Path, machine: Machine) -> None:
    roles = tasks(machine, roles=["gpufleet.node.sysctl", "gpufleet.node.transparent_hugepage"])
    machine.thp("enabled", "always")
    machine.thp("defrag", "always")
    before = machine.snapshot()
    looked = core.play(tmp_path, roles, {"one": {}}, "--check")
    assert looked.status == 0, looked.output
    assert "changed=2" in looked.output
    assert machine.snapshot() == before

    mended = core.play(tmp_path, roles, {"one": {}})
    assert mended.status == 0, mended.output
    assert "changed=2" in mended.output
    assert machine.read("/proc/sys/vm/swappiness") == "1\n"
    assert machine.thp_word("defrag") == "madvise"
    assert "vm.swappiness = 1" in machine.read("/etc/sysctl.d/zz-gpufleet.conf")


def test_results_of_modules(core: Core, tmp_path: Path, machine: Machine) -> None:
    settings = {"vm.swappiness": 1, "vm.max_map_count": {"at_least": 1048576}}
    call = {"gpufleet.node.sysctl": {"settings": settings}}
    done = core.play(tmp_path, tasks(machine, {**call, "check_mode": True}, call, call), {"one": {}})
    assert done.status == 0, done.output
    check, applied, again = done.results
    assert [result["changed"] for result in (check, applied, again)] == [True, True, False]
    assert check["diff"] == applied["diff"]
    assert check["settings"]["sysctl/vm.swappiness"]["state"] == "live_wrong"
    assert applied["settings"]["sysctl/vm.swappiness"]["state"] == "ok"
    assert {key for result in (check, applied, again) for key in result}.isdisjoint({"rc", "results"})  # Ansible reads meaning into these


REFUSED = {
    "write 0 or 1": {"vm.swappiness": True},
    "a rule has exactly one of": {"vm.swappiness": {"at_most": 10}},
    "is no whole number": {"vm.swappiness": 1.5},
}


def test_what_is_wrong_in_a_task_is_refused_in_words(newest: Core, tmp_path: Path, machine: Machine) -> None:
    settings = [{"gpufleet.node.sysctl": {"settings": one}, "ignore_errors": True} for one in REFUSED.values()]
    typing = {"gpufleet.node.node_audit": {"subsytems": ["sysctl"]}, "ignore_errors": True}
    unknown = {"gpufleet.node.node_audit": {"subsystems": ["firmware"]}, "ignore_errors": True}
    done = newest.play(tmp_path, tasks(machine, *settings, typing, unknown), {"one": {}})
    assert f"ignored={len(REFUSED) + 2}" in done.output
    for words in (*REFUSED, "subsytems", "the profile has no subsystem firmware"):
        assert words in done.output
    assert "Traceback" not in done.output


def test_results_of_an_audit_are_small_with_a_spool_and_whole_without(newest: Core, tmp_path: Path, machine: Machine) -> None:
    machine.thp("defrag", "always")  # what mends it can disturb a job, so the processes are looked at
    machine.process(4711, "python3", opens=["/dev/nvidia0"])
    machine.write("/proc/4711/cmdline", "train\0--token=s3cret\0")
    machine.write("/proc/4711/environ", "TOKEN=s3cret\0")
    audit: dict[str, Any] = {"gpufleet.node.node_audit": {}}
    spooled: dict[str, Any] = {"gpufleet.node.node_audit": {"spool": f"{tmp_path}/spool"}}
    apply: dict[str, Any] = {"gpufleet.node.node_apply": {"spool": f"{tmp_path}/spool"}, "check_mode": True}
    done = newest.play(tmp_path, tasks(machine, audit, spooled, apply), {"one": {}}, "-vvv")
    assert done.status == 0, done.output
    told, in_brief, applied = done.results
    kept = json.loads((tmp_path / "spool" / "nodes" / "one.json").read_text(encoding="utf-8"))
    assert told["response"]["results"] == kept["response"]["results"]
    assert "response" not in in_brief
    assert len(json.dumps(in_brief)) < 1500 < len(json.dumps(told))
    assert {key for result in done.results for key in result}.isdisjoint({"rc", "results"})
    assert in_brief["by_state"]["live_wrong"] == len([one for one in kept["response"]["results"].values() if one["state"] == "live_wrong"])
    assert "transparent_hugepage/defrag" in applied["differs"]
    applied_kept = (tmp_path / "spool" / "applied" / "one.json").read_text(encoding="utf-8")
    assert "pid 4711 (python3)" in applied_kept
    assert "s3cret" not in done.output + json.dumps([done.results, kept]) + applied_kept


def test_values_from_templates_reach_the_spool_as_plain_json(core: Core, tmp_path: Path, machine: Machine) -> None:
    hosts = {
        "one": {
            "swap": "{{ 3 + 4 }}",
            "gpufleet_overrides_site": {"sysctl": {"vm.swappiness": {"exact": "{{ swap }}", "why": "{{ 'a' ~ 'b' }}"}}},
        }
    }
    audit = {"gpufleet.node.node_audit": {"spool": f"{tmp_path}/spool", "run_id": "{{ 'run' ~ 1 }}", "subsystems": ["sysctl"]}}
    done = core.play(tmp_path, tasks(machine, audit), hosts)
    assert done.status == 0, done.output
    kept = json.loads((tmp_path / "spool" / "nodes" / "one.json").read_text(encoding="utf-8"))
    assert kept["response"]["run_id"] == "run1"
    assert kept["response"]["results"]["sysctl/vm.swappiness"]["desired"] == "7"
    assert {identity.split("/")[0] for identity in kept["response"]["results"]} == {"sysctl"}
