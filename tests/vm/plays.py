# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the collection's playbooks and roles as a user does, and reads what they say. Knows the documented shapes, nothing of the engine."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ROOT / "molecule" / "vars.yml"

Results = dict[str, dict[str, Any]]


class Run(NamedTuple):
    status: int
    output: str
    document: dict[str, Any]  # the drift report, where the playbook writes one

    @property
    def results(self) -> Results:
        (node,) = self.document["nodes"]
        results: Results = node["results"]
        return results

    @property
    def drift(self) -> Results:
        """What is not as it should be, by setting."""
        return {name: result for name, result in self.results.items() if result["state"] not in ("ok", "not_applicable", "kernel_managed")}


def audit() -> Run:
    return playbook("drift")


def converge(**variables: Any) -> Run:
    """The playbook site looks at the nodes again when it has changed them: that is the report."""
    return playbook("site", **variables)


def playbook(name: str, **variables: Any) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        done = ansible_playbook(f"gpufleet.node.{name}", "-e", json.dumps({**variables, "gpufleet_report_dir": folder}))
        report = Path(folder) / "drift.json"
        return Run(done.returncode, done.stdout, json.loads(report.read_text()) if report.exists() else {})


def roles_in_check_mode(*names: str) -> dict[str, Results]:
    """What each of these roles says on its own, without changing anything."""
    with tempfile.TemporaryDirectory() as folder:
        play = Path(folder) / "play.yml"
        play.write_text(json.dumps([{"hosts": "machines", "gather_facts": False, "roles": [f"gpufleet.node.{name}" for name in names]}]))
        lines = Path(folder) / "results"
        callbacks = {
            "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("callbacks")),
            "ANSIBLE_CALLBACKS_ENABLED": "task_results",
            "TASK_RESULTS": str(lines),
        }
        done = ansible_playbook("--check", str(play), environment=callbacks)
        if done.returncode:
            raise AssertionError(done.stdout)
        told = [json.loads(line) for line in lines.read_text().splitlines()]
    return {name: one["result"]["settings"] for one in told for name in names if one["task"] == f"gpufleet.node.{name}"}


def ansible_playbook(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = ["ansible-playbook", "-i", str(ROOT / "tests" / "vm" / "vm"), "-e", f"@{VARIABLES}", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)  # fmt: skip
