# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a response means for the task that asked: did it fail, and what is the difference. Pure."""

from typing import Any, Dict, List

#: States that an apply must not leave behind in what it may write.
UNFINISHED = ("live_wrong", "unpersisted")


def problem(response: Dict[str, Any]) -> str:
    """What makes the task fail, in words; nothing when it may succeed."""
    if response["outcome"] != "ok":
        return "{}: {}".format(response["outcome"], response.get("error", ""))
    if response["faults"]:
        return "; ".join("{}: {}".format(fault["subsystem"], fault["error"]) for fault in response["faults"])
    if response["action"] != "apply":
        return ""
    left = sorted(key for key, result in response["results"].items() if result["state"] in UNFINISHED and result.get("changes"))
    return "still not right after the change: {}".format(", ".join(left)) if left else ""


def difference(results: Dict[str, Any]) -> Dict[str, str]:
    """Before and after of every change, one line each, as Ansible shows them."""
    sides: Dict[str, List[str]] = {"before": [], "after": []}
    for identity in sorted(results):
        for change in results[identity].get("changes", []):
            for side, lines in sides.items():
                lines.append("{} [{}] {}: {}\n".format(identity, change["view"], change["target"], change.get(side, "(nothing)")))
    return {side: "".join(lines) for side, lines in sides.items()}
