# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: drift_report
type: aggregate
short_description: Write a drift report of any play in check mode
version_added: 0.1.0
description:
  - Makes the report of C(playbooks/drift.yml) from a play of your own that runs with C(--check) and in which modules or roles of this collection have
    a part. The answers of all these tasks together are the answer of a node.
  - Tasks of others that would change something are notes of the node. That is their own word, and not every module's word can be trusted there.
  - Tasks that check mode passes over, such as commands, count as unknown, for they have shown nothing. One that was skipped for its C(when) does not.
  - Writes nothing for a play that is not in check mode, or that writes a report of its own.
requirements:
  - enabled with C(callbacks_enabled = gpufleet.node.drift_report) in C(ansible.cfg), or in the environment
options:
  report_dir:
    description: Directory for the reports and their spool. The files are readable by their owner only.
    type: path
    default: reports
    env:
      - name: GPUFLEET_REPORT_DIR
    ini:
      - section: callback_drift_report
        key: report_dir
author:
  - gpufleet.node contributors (@gpufleet)
"""

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase
from ansible.release import __version__ as ansible_version

from ..module_utils.engine.run import VERSION
from ..plugin_utils import spool
from ..plugin_utils.report import document, plays, terminal, write


class CallbackModule(CallbackBase):
    """Hands what happens in a play on to `plays.Recorder`, in plain words that are the same for every core, and writes the reports in the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpufleet.node.drift_report"
    CALLBACK_NEEDS_ENABLED = True
    # Secrets are masked by us when something is kept, so that core need not copy every result for us first.
    ANSIBLE_SUPPORTS_MASKING = True

    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._play_name = Path(str(playbook._file_name)).name
        self._recorder = plays.Recorder(Path(str(self.get_option("report_dir"))).absolute() / "spool" / spool.new_run_id(), _masker())

    def v2_runner_on_ok(self, result: Any) -> None:
        self._record("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._record("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._record("skipped", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._record("unreachable", result)

    # The closing result of a loop says less than those of its items, so it is the items that count.
    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._record("ok", result, item=True)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._record("failed", result, item=True)

    def v2_runner_item_on_skipped(self, result: Any) -> None:
        self._record("skipped", result, item=True)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        if not self._recorder.has_something():
            return
        ends = {str(host): stats.summarize(host) for host in stats.processed}
        controller = {"ansible": str(ansible_version), "python": platform.python_version(), "collection": VERSION}
        folder = self._recorder.close(ends, self._play_name, controller)
        made = document.assemble(folder, history=folder.parent)
        paths = write.write_all(made, folder.parent.parent)
        colour = not constants.ANSIBLE_NOCOLOR and bool(constants.ANSIBLE_FORCE_COLOR or _on_a_terminal())
        for line in terminal.render(made, width=max(100, self._display.columns), colour=colour).split("\n"):
            self._display.display(line)
        self._display.display(f"The report is {paths['html']}")

    def _record(self, event: str, result: Any, item: bool = False) -> None:
        # The names without an underscore are there since 2.19, those with one may not stay for ever.
        task = getattr(result, "task", None) or result._task
        host = getattr(result, "host", None) or result._host
        fields: Mapping[str, Any] = getattr(result, "result", None) or result._result
        if not task.check_mode or (task.loop is not None and not item and "results" in fields):
            return
        if event == "failed" and task.ignore_errors:
            event = "ignored"
        about = plays.Task(
            name=str(task.get_name() or task.action),
            action=str(task.action),
            place=str(task.get_path() or ""),
            settings=task.args.get("settings"),
            has_own_report="spool" in task.args,
        )
        groups = sorted(str(group.name) for group in host.get_groups() if group.name not in ("all", "ungrouped"))
        self._recorder.add(event, plays.Host(str(host.name), groups), about, fields)


def _masker() -> plays.Mask:
    """What takes registered secrets out of a text; before core 2.22 there are none."""
    try:
        from ansible.module_utils.secrets import mask_secrets
    except ImportError:
        return lambda text: text
    return lambda text: str(mask_secrets(text))


def _on_a_terminal() -> bool:
    """Whether Ansible itself would use colours."""
    from ansible.utils.color import ANSIBLE_COLOR

    return bool(ANSIBLE_COLOR)
