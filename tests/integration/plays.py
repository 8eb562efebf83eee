# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook as a user would, and reads what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).resolve().parent

Hosts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Done:
    """One run of ansible-playbook."""

    status: int
    output: str
    reports: Path
    results: list[dict[str, Any]]  # of each task on each node, as Ansible has them

    @property
    def document(self) -> Any:
        return json.loads((self.reports / "drift.json").read_text(encoding="utf-8"))

    @property
    def spool(self) -> Path:
        """That of the latest run; run ids sort by time."""
        return sorted((self.reports / "spool").iterdir())[-1]

    def node(self, name: str, kind: str = "nodes") -> Any:
        """What the spool has of a node."""
        return json.loads((self.spool / kind / f"{quote(name, safe='')}.json").read_text(encoding="utf-8"))

    def outcomes(self) -> dict[str, str]:
        return {node["name"]: node["outcome"] for node in self.document["nodes"]}


@dataclass(frozen=True)
class Core:
    """An ansible-core, and the Python that its nodes have."""

    name: str
    commands: Path
    node_python: Path
    collections: Path

    def play(
        self, folder: Path, playbook: str | list[dict[str, Any]], hosts: Hosts, *words: str, callback: bool = False, **variables: Any
    ) -> Done:
        """Run a playbook of the collection by its name, or one that is given as plays; with the callback drift_report where asked for. Everything is
        written below `folder`.
        """
        inventory = folder / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": self._variables(folder, variables)}}), encoding="utf-8")
        if isinstance(playbook, list):
            path = folder / "play.json"
            path.write_text(json.dumps(playbook), encoding="utf-8")
            playbook = str(path)
        results = folder / "results.jsonl"
        results.write_text("", encoding="utf-8")
        command = [self.commands / "ansible-playbook", "-i", inventory, playbook, *words]
        environment = self._environment(folder)
        if callback:
            environment.update(ANSIBLE_CALLBACKS_ENABLED="gpufleet.node.drift_report", GPUFLEET_REPORT_DIR=str(folder / "reports"))
        done = subprocess.run(
            command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        lines = results.read_text(encoding="utf-8").splitlines()
        return Done(done.returncode, done.stdout, folder / "reports", [json.loads(line)["result"] for line in lines])

    def _variables(self, folder: Path, more: Mapping[str, Any]) -> dict[str, Any]:
        """Those of all nodes; None takes one away."""
        usual = {
            "ansible_connection": "local",
            "ansible_python_interpreter": str(self.node_python),
            "gpufleet_report_dir": str(folder / "reports"),
        }
        return {name: value for name, value in {**usual, **more}.items() if value is not None}

    def _environment(self, folder: Path) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
        configuration = folder / "ansible.cfg"
        configuration.touch()
        return {
            **plain,
            "ANSIBLE_BECOME_ALLOW_SAME_USER": "true",
            "ANSIBLE_CALLBACK_PLUGINS": str(HERE.parent / "vm" / "callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "task_results",
            "ANSIBLE_CONFIG": str(configuration),
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection_plugins"),
            "ANSIBLE_FORKS": "8",
            "ANSIBLE_HOST_KEY_CHECKING": "false",
            "ANSIBLE_INJECT_FACT_VARS": "false",
            "ANSIBLE_NOCOLOR": "1",
            # What came from a node must never be taken for a template.
            "_ANSIBLE_TEMPLAR_UNTRUSTED_TEMPLATE_BEHAVIOR": "error",
            "TASK_RESULTS": str(folder / "results.jsonl"),
            "GPUFLEET_APPLY_BELOW_ROOT": "1",
        }
