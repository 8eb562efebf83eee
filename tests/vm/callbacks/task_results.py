# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the whole result of each task, as JSON lines, to the file that TASK_RESULTS names: for tests that look at what a role returned."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: task_results
type: notification
short_description: Whole task results as JSON lines, for tests
description:
  - Needs the environment variable E(TASK_RESULTS).
options: {}
"""


class CallbackModule(CallbackBase):  # type: ignore[misc] # ansible-core has no type hints
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "task_results"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write(result)

    def _write(self, result: Any) -> None:
        with open(os.environ["TASK_RESULTS"], "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"task": str(result._task.action), "result": result._result}, default=str) + "\n")
