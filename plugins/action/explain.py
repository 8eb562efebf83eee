# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ..plugin_utils.profile import InputError, ProfileError, compile_for_host, explain, search_dirs


class ActionModule(ActionBase):
    """explain: see the module of the same name for its options. Runs on the control node only."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        setting = self._task.args.get("setting")
        try:
            compiled = compile_for_host(task_vars, self._templar.template, search_dirs(task_vars))
            lines = explain(compiled, str(setting) if setting else None)
        except ProfileError as error:
            raise AnsibleError(str(error)) from error
        except InputError as error:
            hint = f"; the nearest is {error.nearest}" if error.nearest else ""
            raise AnsibleError(f"{error.message}{hint}") from error
        # Printed as it is: the callback would show it as one line of JSON.
        self._display.display(f"{task_vars['inventory_hostname']}, profile {compiled['profile']}\n" + "\n".join(lines) + "\n")
        result.update(changed=False, profile=compiled["profile"], files=compiled["files"], explanation=lines)
        return result
