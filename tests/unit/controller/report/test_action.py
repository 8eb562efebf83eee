# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action drift_report in a real play: no connection, in check mode too, whatever the core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spools

PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - name: Write the report
      gpufleet.node.drift_report:
        spool: "{{ spool }}"
        report_dir: "{{ folder }}"
        redact: "{{ redacted | default(false) }}"
      run_once: true
      register: report
    - name: Keep what it returned
      ansible.builtin.copy:
        content: "{{ report | to_json }}"
        dest: "{{ folder }}/returned.json"
        mode: "0600"
      check_mode: false
      run_once: true
      delegate_to: localhost
      vars: {ansible_connection: local}
"""
INVENTORY = """
[rack3]
silent ansible_host=192.0.2.1
"""


@pytest.fixture
def play(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """One run of the action for a spool with one good node and one that left no answer."""
    return run(tmp_path)


def run(tmp_path: Path, *words: str, silent: tuple[dict[str, Any], ...] = ()) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("ansible")
    good = spools.answer("good", {spools.SWAPPINESS: spools.result("live_wrong", "60")})
    spool = spools.write(tmp_path, [good, *silent], asked=["good", "silent"])
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "inventory").write_text(INVENTORY)
    (tmp_path / "ansible.cfg").write_text("")
    roots = [path for path in sys.path if (Path(path) / "ansible_collections" / "gpufleet" / "node").is_dir()]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(roots),
        "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg"),
        "LC_ALL": "C.UTF-8",
    }
    command = [
        sys.executable,
        "-m",
        "ansible",
        "playbook",
        "--check",
        "-i",
        "inventory",
        "-e",
        f"spool={spool}",
        "-e",
        f"folder={tmp_path / 'reports'}",
        *words,
        "play.yml",
    ]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


def test_the_action(play: subprocess.CompletedProcess[str], tmp_path: Path) -> None:
    assert play.returncode == 0, play.stdout + play.stderr
    returned = json.loads((tmp_path / "reports" / "returned.json").read_text())
    document = json.loads((tmp_path / "reports" / "drift.json").read_text())
    assert returned["verdict"] == document["verdict"] == "incomplete"
    assert returned["changed"] is False
    assert returned["totals"] == document["totals"]
    assert "rc" not in returned
    assert {Path(path).name for path in returned["paths"].values()} == {"drift.json", "drift.html", "drift.md", "drift.junit.xml"}
    assert [(node["name"], node["groups"], node["outcome"]) for node in document["nodes"]] == [
        ("good", ["a100"], "ok"),
        ("silent", ["rack3"], "failed"),
    ]
    assert "INCOMPLETE: 1 setting differs on 1 node; 1 node did not answer in full." in play.stdout


def test_a_redacted_report_knows_the_addresses_of_the_inventory(tmp_path: Path) -> None:
    node = spools.silence("silent", "unreachable", "ssh: connect to host 192.0.2.1 port 22: No route to host, says silent")
    spools.write(tmp_path / "reports" / "spool", [spools.answer("good")], name="earlier")
    done = run(tmp_path, "-e", "redacted=true", silent=(node,))
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "reports" / "drift.json").read_text())
    names = [node["name"] for node in document["nodes"]]
    assert all(name.startswith("node-") for name in names)
    assert document["nodes"][1]["error"] == f"ssh: connect to host {names[1]} port 22: No route to host, says {names[1]}"
    # The spool of the report directory is the history, and is looked at before names are taken out.
    assert document["nodes"][0]["results"][spools.SWAPPINESS]["since"]["before"] == "ok"
