# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.release import __version__ as ansible_version

from ..module_utils.engine.run import VERSION
from ..plugin_utils import spool

OPTIONS = {
    "report_dir": {"type": "path", "required": True},
    "hosts": {"type": "list", "elements": "str"},
    "purpose": {"type": "str", "choices": ["audit", "apply", "revert"], "default": "audit"},
}


class ActionModule(ActionBase):
    """run_begin: see the module of the same name for its options. Runs on the control node only."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.validate_argument_spec(OPTIONS)[1]
        asked = (task_vars or {})["ansible_play_hosts_all"] if options["hosts"] is None else options["hosts"]
        hosts = [str(host) for host in asked]
        run_id = spool.new_run_id()
        report_dir = Path(str(options["report_dir"])).absolute()
        folder = report_dir / "spool" / run_id
        controller = {"ansible": str(ansible_version), "python": platform.python_version(), "collection": VERSION}
        begun = {
            "run_id": run_id,
            "started": spool.stamp(),
            "action": str(options["purpose"]),
            "asked": hosts,
            "controller": controller,
        }
        spool.write(folder / "run.json", begun)
        result.update(changed=False, run_id=run_id, spool=str(folder), report_dir=str(report_dir), nodes=len(hosts))
        return result
