# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.options import OF_MODULE
from ..plugin_utils import node_task


class ActionModule(ActionBase):
    """node_audit: see the module of the same name for its options."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.validate_argument_spec(OF_MODULE["node_audit"])[1]
        result.update(node_task.run(self, "audit", options, task_vars or {}))
        return result
