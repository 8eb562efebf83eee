# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/site.yml and revert.yml on made machines: three nodes in waves, nothing written in check mode, nothing left to do the second time."""

from __future__ import annotations

from pathlib import Path

import pytest

import stand_ins
from conftest import profile
from machines import Machine, build
from plays import Core, Done, Hosts

SITE, REVERT = "gpufleet.node.site", "gpufleet.node.revert"
NAMES = ("canary", "second", "third")
# Runs leave behind what they are about: what was asked, what was done, and a lock.
OURS = ("/var/lib/gpufleet", "/run/gpufleet")


class Fleet:
    """Three made machines that differ from the profile training in many ways."""

    def __init__(self, core: Core, folder: Path) -> None:
        self.core = core
        self.folder = folder
        self.machines: dict[str, Machine] = {name: build(folder / name) for name in NAMES}

    def hosts(self) -> dict[str, dict[str, object]]:
        return {name: {"gpufleet_root": machine.root} for name, machine in self.machines.items()}

    def play(self, playbook: str, *words: str, hosts: Hosts | None = None) -> Done:
        return self.core.play(self.folder, playbook, hosts or self.hosts(), *words)

    def snapshot(self) -> dict[str, object]:
        return {name: machine.snapshot(but=OURS) for name, machine in self.machines.items()}

    def values(self) -> dict[str, dict[str, object]]:
        """All contents, whenever they were written. Blanks are one blank: the made kernel does not make tabs of them again."""
        return {
            name: {path: (entry[0], entry[1], str(entry[-1]).replace("\\t", " ")) for path, entry in machine.snapshot(but=OURS).items()}
            for name, machine in self.machines.items()
        }


@pytest.fixture
def fleet(core: Core, tmp_path: Path) -> Fleet:
    return Fleet(core, tmp_path)


@pytest.fixture
def newest_fleet(newest: Core, tmp_path: Path) -> Fleet:
    return Fleet(newest, tmp_path)


def changed(done: Done) -> dict[str, int]:
    """Host and its number of changed tasks, from the recap."""
    recap = [line.split() for line in done.output.splitlines() if " changed=" in line]
    return {words[0]: int(word.partition("=")[2]) for words in recap for word in words if word.startswith("changed=")}


def test_check_mode_says_what_it_would_do_and_writes_nothing(newest_fleet: Fleet) -> None:
    before = {name: machine.snapshot() for name, machine in newest_fleet.machines.items()}
    done = newest_fleet.play(SITE, "--check", "--diff")
    assert done.status == 0, done.output
    assert {name: machine.snapshot() for name, machine in newest_fleet.machines.items()} == before
    assert "+sysctl/vm.swappiness [live] /proc/sys/vm/swappiness: 1\n" in done.output
    assert "-sysctl/vm.swappiness [live] /proc/sys/vm/swappiness: 60\n" in done.output
    assert changed(done) == dict.fromkeys(NAMES, 1)
    assert done.document["verdict"] == "drift"


def test_there_and_back(fleet: Fleet) -> None:
    first_values = fleet.values()
    done = fleet.play(SITE)
    assert done.status == 0, done.output
    assert done.document["verdict"] == "clean"
    assert done.outcomes() == dict.fromkeys(NAMES, "ok")
    assert changed(done) == dict.fromkeys(NAMES, 1)
    assert done.output.index("changed: [canary]") < done.output.index("changed: [second]") < done.output.index("changed: [third]")
    assert {machine.read("/proc/sys/vm/swappiness") for machine in fleet.machines.values()} == {"1\n"}
    assert done.node("second", "applied")["response"]["changed"] is True

    before = fleet.snapshot()
    again = fleet.play(SITE)
    assert again.status == 0
    assert changed(again) == dict.fromkeys(NAMES, 0)
    assert fleet.snapshot() == before

    back = fleet.play(REVERT)
    assert back.status == 0, back.output
    assert changed(back) == dict.fromkeys(NAMES, 1)
    assert fleet.values() == first_values


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        ({"ansible_python_interpreter": "/nowhere/python"}, "failed"),
        ({"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}, "unreachable"),
    ],
)
def test_a_canary_that_fails_is_the_last_wave(newest_fleet: Fleet, broken: dict[str, object], outcome: str) -> None:
    before = newest_fleet.snapshot()
    done = newest_fleet.play(SITE, hosts={**newest_fleet.hosts(), "canary": broken})
    assert done.status != 0
    assert newest_fleet.snapshot() == before
    nodes = {node["name"]: node for node in done.document["nodes"]}
    assert nodes["canary"]["outcome"] == outcome
    assert "no answer was recorded" in nodes["third"]["error"]
    assert done.document["verdict"] == "incomplete"
    assert sorted(path.stem for path in (done.spool / "applied").iterdir()) == ["canary"]


def test_a_canary_that_cannot_be_persisted_is_the_last_wave(newest_fleet: Fleet) -> None:
    newest_fleet.machines["canary"].folder("/etc/sysctl.d/zz-gpufleet.conf")
    done = newest_fleet.play(SITE)
    assert done.status != 0
    assert "zz-gpufleet.conf" in done.node("canary", "applied")["error"]
    assert not (done.spool / "applied" / "second.json").exists()
    assert done.document["totals"]["nodes"] == {"asked": 3, "ok": 1, "unreachable": 0, "failed": 2, "timed_out": 0}


def test_a_wrong_profile_stops_before_the_canary(newest_fleet: Fleet) -> None:
    before = newest_fleet.snapshot()
    done = newest_fleet.core.play(newest_fleet.folder, SITE, newest_fleet.hosts(), gpufleet_profile=profile(newest_fleet.folder) + "x")
    assert done.status != 0
    assert newest_fleet.snapshot() == before
    assert not (done.spool / "applied").exists()


def test_nobody_to_change_is_said(newest_fleet: Fleet) -> None:
    for playbook in (SITE, REVERT):
        done = newest_fleet.play(playbook, "-e", "gpufleet_hosts=spare")
        assert done.status != 0
        assert "No host of the inventory, or of its limit, matches 'spare'" in done.output


def test_changes_below_a_root_are_for_tests_only(newest_fleet: Fleet) -> None:
    before = newest_fleet.snapshot()
    python = stand_ins.put(newest_fleet.folder / "python", f'unset GPUFLEET_APPLY_BELOW_ROOT\nexec {newest_fleet.core.node_python} "$@"\n')
    done = newest_fleet.core.play(newest_fleet.folder, SITE, newest_fleet.hosts(), ansible_python_interpreter=python)
    assert done.status != 0
    assert "for tests only" in done.output
    assert newest_fleet.snapshot() == before
