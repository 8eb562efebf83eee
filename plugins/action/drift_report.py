# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..plugin_utils.report import document, redact, terminal, waivers, write

OPTIONS = {
    "spool": {"type": "path", "required": True},
    "report_dir": {"type": "path", "required": True},
    "history": {"type": "path"},
    "waiver_days": {"type": "int", "default": waivers.SOON_DAYS},
    "redact": {"type": "bool", "default": False},
}
# By what names and addresses a node is reached, beside its name.
ALIASES = ("ansible_host", "ansible_ssh_host")


class ActionModule(ActionBase):
    """drift_report: see the module of the same name for its options. Runs on the control node only, in check mode too: it changes no node."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.validate_argument_spec(OPTIONS)[1]
        report_dir = Path(str(options["report_dir"])).absolute()
        history = Path(str(options["history"])) if options["history"] else report_dir / "spool"
        made = document.assemble(
            Path(str(options["spool"])), _groups_of(task_vars or {}), history=history, waiver_days=int(options["waiver_days"])
        )
        if options["redact"]:
            made = redact.redact(made, _aliases_of(made, task_vars or {}))
        paths = write.write_all(made, report_dir)
        display = Display()
        colour = not constants.ANSIBLE_NOCOLOR and bool(constants.ANSIBLE_FORCE_COLOR or _on_a_terminal())
        for line in terminal.render(made, width=max(100, display.columns), colour=colour).split("\n"):
            display.display(line)
        result.update(changed=False, verdict=made["verdict"], totals=made["totals"], paths=paths)
        return result


def _groups_of(task_vars: dict[str, Any]) -> dict[str, list[str]]:
    """Host -> its groups, for the hosts that left no word of their own. Plain strings, whatever the core hands out."""
    groups_of: dict[str, list[str]] = {}
    for group, hosts in (task_vars.get("groups") or {}).items():
        if group not in ("all", "ungrouped"):
            for host in hosts:
                groups_of.setdefault(str(host), []).append(str(group))
    return groups_of


def _aliases_of(made: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, list[str]]:
    """Node -> the other names by which it is reached."""
    hostvars = task_vars.get("hostvars") or {}
    known = {node["name"]: hostvars[node["name"]] for node in made["nodes"] if node["name"] in hostvars}
    return {name: [str(its[alias]) for alias in ALIASES if its.get(alias)] for name, its in known.items()}


def _on_a_terminal() -> bool:
    """Whether Ansible itself would use colours."""
    from ansible.utils.color import ANSIBLE_COLOR

    return bool(ANSIBLE_COLOR)
