# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a drift report: states, impacts, outcomes, and what each of them counts as."""

from __future__ import annotations

from typing import Any, NamedTuple


class State(NamedTuple):
    """How one state is shown and what it counts as."""

    title: str
    letter: str
    counts: str  # "drift", "incomplete" or "nothing"


# Worst first; the order of the table in docs/architecture.md among the states that count, then those that do not.
STATES: dict[str, State] = {
    "missing": State("missing", "M", "drift"),
    "unknown": State("unknown", "?", "incomplete"),
    "refused": State("refused", "R", "drift"),
    "blocked": State("blocked", "B", "drift"),
    "partial": State("partial", "P", "drift"),
    "overridden": State("overridden", "O", "drift"),
    "pending": State("pending", "W", "drift"),
    "live_wrong": State("live wrong", "L", "drift"),
    "unpersisted": State("not persisted", "U", "drift"),
    "ok": State("ok", "✓", "nothing"),
    "kernel_managed": State("kernel managed", "K", "nothing"),
    "not_applicable": State("not applicable", "–", "nothing"),
}

IMPACTS = ("correctness", "performance", "hygiene")
OUTCOMES = ("ok", "unreachable", "failed", "timed_out")
NEEDS = ("nothing", "time", "service_restart", "gpu_reset", "reboot", "drain")
CAUSES = {"intent": "the profile changed since", "wandered": "it was right once and changed", "never_applied": "never applied"}
VIEWS = ("persisted", "boot", "live", "effective")
# What a document may say of a node itself; numbers and words about the machine, no names but those that are the node's own.
FACTS = (
    *("hostname", "kernel", "architecture", "distribution", "distribution_version", "python", "vendor", "product", "serial", "bios"),
    *("virtualised", "container", "numa_nodes", "cpus", "memory_bytes", "page_size", "boot_id", "uid", "fingerprint"),
    *("accelerators", "nics", "nvme", "link_widths"),
)
VERDICTS = ("clean", "drift", "incomplete", "error")

# The subsystem of what stands for a task that is none of ours, and what is known of it.
TASK = "task"
OF_A_TASK = {"subsystem": TASK, "impact": "hygiene", "why": "A task that check mode passes over has shown nothing."}

OUTCOME_TITLES = {"ok": "answered", "unreachable": "unreachable", "failed": "failed", "timed_out": "timed out"}


def counts_as(result: dict[str, Any]) -> str:
    """What a result counts as: a waived one counts for nothing, nor does one that only waits for time."""
    if "waived" in result:
        return "nothing"
    if result["state"] == "pending" and result["needs"] == "time":
        return "nothing"
    return STATES[result["state"]].counts


def number(count: int) -> str:
    """1250 as `1,250`."""
    return f"{count:,}"


def plural(count: int, noun: str) -> str:
    """`1 node`, `1,250 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def printable(text: str) -> str:
    """Control characters (a value may hold any) become dots."""
    return "".join(char if char.isprintable() else "·" for char in text)
