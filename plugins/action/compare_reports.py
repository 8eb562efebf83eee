# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ..plugin_utils.report import compare, compare_words, write

OPTIONS = {
    "before": {"type": "path", "required": True},
    "after": {"type": "path", "required": True},
    "report_dir": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """compare_reports: see the module of the same name for its options. Runs on the control node only, in check mode too: it changes no node."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.validate_argument_spec(OPTIONS)[1]
        before, after, report_dir = (Path(str(options[name])) for name in OPTIONS)
        try:
            comparison = compare.checked(before, after)
        except compare.Refused as error:
            raise AnsibleError(str(error)) from error
        paths = write.write_comparison(comparison, report_dir.absolute())
        for line in compare_words.terminal(comparison, max(100, self._display.columns)).split("\n"):
            self._display.display(line)
        self._display.display(f"All of it is in {paths['markdown']}")
        result.update(changed=False, totals=comparison["totals"], nodes=comparison["nodes"], paths=paths)
        return result
