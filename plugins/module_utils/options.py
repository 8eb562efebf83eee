# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of modules and of the action plugins with the same names: one place, so that both take and refuse the same words."""

from typing import Any, Dict

Options = Dict[str, Dict[str, Any]]

DISTURB: Dict[str, Any] = {"type": "str", "choices": ["nothing", "jitter", "job"], "default": "nothing"}

#: Options that every module with one subsystem has.
SETTINGS: Options = {
    "settings": {"type": "dict", "required": True},
    "disturb": DISTURB,
    "take_over": {"type": "bool", "default": False},
    "exclusive": {"type": "bool", "default": False},
    "deadline_s": {"type": "int", "default": 60},
    "root": {"type": "path", "default": "/"},
}

#: Options that node_audit, node_apply and node_revert have in common.
NODE: Options = {
    "spool": {"type": "path"},
    "run_id": {"type": "str"},
    "deadline_s": {"type": "int", "default": 60},
    "root": {"type": "path", "default": "/"},
    "request": {"type": "dict"},
}

AUDIT: Options = dict(NODE, subsystems={"type": "list", "elements": "str"})
APPLY: Options = dict(AUDIT, disturb=DISTURB, take_over={"type": "bool", "default": False})
REVERT: Options = dict(NODE, to={"type": "str", "default": "first"}, only={"type": "list", "elements": "str"}, disturb=DISTURB)

OF_MODULE = {"node_audit": AUDIT, "node_apply": APPLY, "node_revert": REVERT}
