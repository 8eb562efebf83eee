# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What mends a result: a sentence, and the command where a command does it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .words import TASK


class Mend(NamedTuple):
    """`playbook` and `options` are empty where no command of ours mends it."""

    text: str
    playbook: str = ""
    options: str = ""


SITE = "gpufleet.node.site"
DRIFT = "gpufleet.node.drift"
WAITS_FOR = {
    "time": "Give it time; it needs nothing else.",
    "service_restart": "Restart the service that reads it.",
    "gpu_reset": "Reset the GPU when no job holds it.",
    "reboot": "Drain and reboot the node.",
    "drain": "Drain the node, then apply again.",
}


def mend(result: Mapping[str, Any], setting: Mapping[str, str]) -> Mend:
    """What mends this result of this setting."""
    state = result["state"]
    if setting.get("subsystem") == TASK:
        return Mend("Give the task a check mode, or look at what it does: check mode passed it over.")
    if state == "unknown":
        return _unread(result)
    if state == "missing":
        return Mend("Look at the machine: what the profile declares is not there.")
    if state == "refused":
        return Mend("The kernel or the environment does not take it: change the profile or the machine.")
    if setting.get("mend") == "never" or setting.get("owner") == "leave":
        return Mend("Check only: the profile leaves this to its owner.")
    if state == "overridden":
        if result.get("winner", {}).get("from", "").startswith("/etc/"):
            return Mend("Remove the line that wins, or have it put aside:", SITE, "-e gpufleet_take_over=true")
        return Mend("Change it where it is set: a file of ours cannot win over that.")
    if state == "blocked":
        consent = setting.get("disturbs", "nothing")
        at_once = "" if consent == "nothing" else f", or at once with -e gpufleet_disturb={consent}"
        return Mend(f"When what holds it is gone{at_once}:", SITE)
    if state == "pending":
        return Mend(WAITS_FOR.get(result["needs"], "Apply again:"), "" if result["needs"] in WAITS_FOR else SITE)
    return Mend("", SITE)


def command(what: Mend, names: Iterable[str]) -> str:
    """The command line for exactly these nodes; empty where there is none.

    Always with their names: the run may have been limited itself, so that neither leaving `--limit` out nor naming a group would be safe.
    """
    if not what.playbook:
        return ""
    options = [what.options] if what.options else []
    return " ".join(["ansible-playbook", what.playbook, *options, "--limit", shlex.quote(",".join(sorted(names)))])


def _unread(result: Mapping[str, Any]) -> Mend:
    errors = [view["error"] for view in result["views"].values() if "error" in view] + [result.get("detail", "")]
    if any("permission" in error.lower() or "root" in error.lower() for error in errors):
        return Mend("Look again with root's rights:", DRIFT, "--become")
    return Mend("See why it could not be read, then look again:", DRIFT)
