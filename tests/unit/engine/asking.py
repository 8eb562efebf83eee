# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How tests ask the engine: settings in short form, a request, and a response whose shape is checked each time."""

import contextlib
import signal
from typing import Any, Callable, Dict, Iterator, List, Optional
from unittest import mock

from ansible_collections.gpufleet.node.plugins.module_utils.engine import deadline, run

import shape
from machines import Machine

#: What an apply may write anew each time: the lock is not part of the machine's state.
LOCK = "/run/gpufleet"


def entry(rule: Any, **beside: Any) -> Dict[str, Any]:
    """A value is short for the rule `exact`."""
    return dict({"rule": rule if isinstance(rule, dict) else {"exact": rule}, "disturbs": "nothing", "impact": "performance"}, **beside)


def entries(settings: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    return {name: value if isinstance(value, dict) and "rule" in value else entry(value) for name, value in (settings or {}).items()}


def request(
    machine: Machine, action: str, sysctl: Optional[Dict[str, Any]] = None, thp: Optional[Dict[str, Any]] = None, **more: Any
) -> Dict[str, Any]:
    subsystems = {"sysctl": entries(sysctl), "transparent_hugepage": entries(thp)}
    asked = {"version": 1, "action": action, "run_id": "run-1", "root": machine.root, "lock_s": 0, "deadline_s": 60}
    asked["subsystems"] = {name: settings for name, settings in subsystems.items() if settings}
    asked.update(more)
    return asked


def ask(machine: Machine, action: str, *settings: Any, **more: Any) -> Dict[str, Any]:
    """Any response. It is made in this process: a fault of the engine is an exception of the test, and what a test counts is counted."""
    with in_this_process():
        response = run.handle(request(machine, action, *settings, **more))
    shape.check(response)
    return response


def ask_child(machine: Machine, action: str, *settings: Any, **more: Any) -> Dict[str, Any]:
    """The same as on a node: a child does the work, within the deadline."""
    response = run.handle(request(machine, action, *settings, **more))
    shape.check(response)
    return response


def ask_well(machine: Machine, action: str, *settings: Any, **more: Any) -> Dict[str, Any]:
    """A response without failure or fault."""
    response = ask(machine, action, *settings, **more)
    assert response["outcome"] == "ok", response.get("error")
    assert response["faults"] == []
    return response


def states(response: Dict[str, Any]) -> Dict[str, str]:
    return {key: result["state"] for key, result in response["results"].items()}


def changes(response: Dict[str, Any]) -> Dict[str, List[Any]]:
    """id -> (view, target, before, after) of each change; what was done and what would be done look the same here."""
    return {
        key: [(one["view"], one["target"], one.get("before"), one.get("after")) for one in result["changes"]]
        for key, result in response["results"].items()
        if result.get("changes")
    }


@contextlib.contextmanager
def in_this_process() -> Iterator[None]:
    """Without the fork and the deadline."""

    def bounded(work: Callable[[Callable[[Any], None]], None], _seconds: float) -> deadline.Outcome:
        parts: List[Any] = []
        work(parts.append)
        return deadline.Outcome(parts, True, "")

    with mock.patch.object(deadline, "bounded", bounded):
        yield


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Whatever waits longer is interrupted and fails."""

    def fail(_signal: int, _frame: Any) -> None:
        raise AssertionError(f"still waiting after {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


FILE = "/etc/sysctl.d/zz-gpufleet.conf"
THP_FILE = "/etc/tmpfiles.d/00-gpufleet.conf"
RMEM = "4096 131072 16777216"

#: What the profile of the machine below wants. The VLAN is named as a person types it: with dots.
SYSCTL: Dict[str, Any] = {
    "vm.swappiness": entry({"between": [0, 10], "set": 1}),
    "vm.max_map_count": entry({"at_least": 262144}),
    "kernel.numa_balancing": entry(0),
    "net.ipv4.tcp_rmem": entry({"at_least": RMEM}),
    "net.ipv4.conf.bond0.101.rp_filter": entry(2),
    "vm.dirty_ratio": entry(10),
}
THP: Dict[str, Any] = {
    "enabled": entry({"one_of": ["madvise", "never"], "set": "madvise"}),
    "defrag": entry("madvise"),
    "khugepaged/defrag": entry(0),
}
