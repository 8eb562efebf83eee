# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""profile_check, explain and the lookup desired, with the ansible-core that runs these tests. The hosts have addresses that nothing answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import ansible_collections.gpufleet.node
import pytest

COLLECTIONS = Path(next(iter(ansible_collections.gpufleet.node.__path__))).parents[2]
EXPLAIN = COLLECTIONS / "ansible_collections" / "gpufleet" / "node" / "playbooks" / "explain.yml"

INVENTORY = """
[right]
n1
n2
n3 gpufleet_profile=./mine.yml
[wrong]
x1 gpufleet_profile=trainig
x2
x3
[wrong:vars]
gpufleet_overrides_wrong={"sysctl": {"vm.swapiness": 1}}
[all:vars]
ansible_host=192.0.2.1
floor=512MiB
"""
GROUP_VARS = """
gpufleet_overrides_10_fleet:
  sysctl:
    net.core.rmem_max: {at_least: "{{ floor }}"}
    kernel.pid_max: {waive: {reason: an old waiver, until: 2026-01-01}}
gpufleet_overrides_20_host: "{{ {'sysctl': {'vm.swappiness': 4}} if inventory_hostname == 'n2' else {} }}"
"""
PLAY = """
- hosts: "{{ those }}"
  gather_facts: false
  tasks:
    - gpufleet.node.profile_check:
        cache_dir: "{{ playbook_dir }}/cache"
      run_once: true
      register: checked
    - ansible.builtin.copy:
        content: "{{ {'checked': checked, 'asked': lookup('gpufleet.node.desired', 'sysctl')} | to_json }}"
        dest: "{{ playbook_dir }}/{{ inventory_hostname }}.json"
      delegate_to: localhost
      connection: local
      vars:
        ansible_python_interpreter: "{{ ansible_playbook_python }}"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "inventory").write_text(INVENTORY, encoding="utf-8")
    (folder / "group_vars").mkdir()
    (folder / "group_vars" / "all.yml").write_text(GROUP_VARS, encoding="utf-8")
    (folder / "mine.yml").write_text("extends: inference\nsysctl: {vm.swappiness: 3}\n", encoding="utf-8")
    (folder / "play.yml").write_text(PLAY, encoding="utf-8")
    return folder


def play(folder: Path, playbook: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_STDOUT_CALLBACK": "default",
    }
    command = [sys.executable, "-m", "ansible", "playbook", "-i", str(folder / "inventory"), str(playbook), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def right(project: Path) -> Path:
    done = play(project, project / "play.yml", "-e", "those=right")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def asked(folder: Path, host: str) -> dict[str, dict[str, object]]:
    settings: dict[str, dict[str, object]] = json.loads((folder / f"{host}.json").read_text(encoding="utf-8"))["asked"]
    return settings


def test_profile_check_counts_what_is_distinct(right: Path) -> None:
    checked = json.loads((right / "n1.json").read_text(encoding="utf-8"))["checked"]
    assert (checked["hosts"], checked["distinct"], checked["changed"]) == (3, 3, False)
    assert checked["notes"] == ["sysctl/kernel.pid_max: the waiver ended on 2026-01-01 (an old waiver)"]
    assert len(list((right / "cache").glob("*.json"))) == 3


def test_each_host_is_asked_for_its_own(right: Path) -> None:
    assert {host: asked(right, host)["vm.swappiness"]["rule"] for host in ("n1", "n2", "n3")} == {
        "n1": {"between": [0, 10], "set": 1},
        "n2": {"exact": 4},
        "n3": {"exact": 3},
    }
    assert all(asked(right, host)["net.core.rmem_max"]["rule"] == {"at_least": 536870912} for host in ("n1", "n2", "n3"))


def test_wrong_profiles_are_refused_together(project: Path) -> None:
    done = play(project, project / "play.yml", "-e", "those=all")
    assert done.returncode != 0
    assert "No node was touched" in done.stdout + done.stderr
    assert "x2 and 1 more with the same profile and overrides" in done.stdout + done.stderr
    assert "nearest valid name: vm.swappiness" in done.stdout + done.stderr
    assert "nearest valid name: training" in done.stdout + done.stderr
    assert not (project / "x1.json").exists()


def test_variables_of_the_play_count_as_those_of_hosts(project: Path) -> None:
    (project / "with-vars.yml").write_text(
        """
- hosts: n1,n3
  gather_facts: false
  vars: {gpufleet_overrides_90_play: {sysctl: {vm.swappiness: 201}}}
  tasks: [{gpufleet.node.profile_check: {}, run_once: true}]
""",
        encoding="utf-8",
    )
    done = play(project, project / "with-vars.yml")
    assert done.returncode != 0
    assert done.stdout.count("variable gpufleet_overrides_90_play: sysctl/vm.swappiness: 201 is outside") >= 2


def test_explain_prints_without_a_connection(project: Path) -> None:
    done = play(project, EXPLAIN, "--limit", "n3", "-e", "gpufleet_setting=vm.swappiness")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "n3, profile ./mine.yml\nsysctl/vm.swappiness\n  rule         exactly 3\n" in done.stdout
    assert "  given by     profile mine.yml (mine.yml:2)\n" in done.stdout
    assert "  lost         0 to 10, else write 1, profile base (roles/profile/files/base.yml:" in done.stdout


def test_explain_names_the_nearest_setting(project: Path) -> None:
    done = play(project, EXPLAIN, "--limit", "n1", "-e", "gpufleet_setting=sysctl/vm.swapiness")
    assert done.returncode != 0
    assert "the nearest is sysctl/vm.swappiness" in done.stdout + done.stderr


def test_the_lookup_knows_its_subsystems(project: Path) -> None:
    (project / "lookup.yml").write_text(
        """
- hosts: n1
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "{{ lookup('gpufleet.node.desired', 'sysctls') }}"}}]
""",
        encoding="utf-8",
    )
    done = play(project, project / "lookup.yml")
    assert done.returncode != 0
    assert "there is no subsystem sysctls (nearest valid name: sysctl)" in done.stdout + done.stderr
