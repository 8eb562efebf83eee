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


class ActionModule(ActionBase):
    """run_begin: see the module of the same name for its options. Runs on the control node only."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self._task.args
        hosts = [str(host) for host in options.get("hosts") or (task_vars or {})["ansible_play_hosts_all"]]
        run_id = spool.new_run_id()
        report_dir = Path(str(options["report_dir"])).expanduser().absolute()
        folder = report_dir / "spool" / run_id
        controller = {"ansible": str(ansible_version), "python": platform.python_version(), "collection": VERSION}
        begun = {
            "run_id": run_id,
            "started": spool.stamp(),
            "action": str(options.get("purpose", "audit")),
            "asked": hosts,
            "controller": controller,
        }
        spool.write(folder / "run.json", begun)
        result.update(changed=False, run_id=run_id, spool=str(folder), report_dir=str(report_dir), nodes=len(hosts))
        return result
