# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was asked for last on this node (`desired.json`): gives a drift its cause and remembers what the kernel refused.

    {"version": 1, "settings": {id: {"rule": {...}, "right": true, "boot_id": "...", "run": "...",
                                     "refused": {"value": "...", "reason": "...", "boot_id": "..."}}}}

Written by apply and revert only; readable by all. A file that is missing, broken or of another version says nothing.
"""

import json
from typing import Any, Dict, List, Optional

from .host import Host, HostError, Reader

PATH = "/var/lib/gpufleet/desired.json"
Memory = Dict[str, Dict[str, Any]]


def read(host: Reader) -> Memory:
    """id -> what is remembered of it."""
    try:
        document = json.loads(host.read(PATH, limit=8 << 20))
    except (HostError, ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or document.get("version") != 1 or not isinstance(document.get("settings"), dict):
        return {}
    return {key: value for key, value in document["settings"].items() if isinstance(value, dict)}


def write(host: Host, memory: Memory) -> None:
    """Only when it differs from what is there."""
    if memory != read(host):
        host.write(PATH, json.dumps({"version": 1, "settings": memory}, sort_keys=True, indent=1) + "\n")


def cause(remembered: Optional[Dict[str, Any]], rule: Dict[str, Any]) -> str:
    """Why a setting drifts: it was right once (`wandered`), we ask for something else now (`intent`), or it never was right."""
    if remembered is None:
        return "never_applied"
    if remembered.get("rule") != rule:
        return "intent"
    return "wandered" if remembered.get("right") else "never_applied"


def refusal(remembered: Optional[Dict[str, Any]], desired: str, boot_id: str) -> str:
    """The reason for which the kernel refused this very value in this very boot, or nothing."""
    told = (remembered or {}).get("refused")
    if not isinstance(told, dict) or not boot_id or told.get("boot_id") != boot_id or told.get("value") != desired:
        return ""
    return str(told.get("reason", ""))


def released(memory: Memory, subsystem: str, names: List[str]) -> List[str]:
    """The names of settings of a subsystem that were asked for once and are no longer."""
    prefix = subsystem + "/"
    return sorted(key[len(prefix) :] for key in memory if key.startswith(prefix) and key[len(prefix) :] not in names)
