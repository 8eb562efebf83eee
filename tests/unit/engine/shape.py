# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a response has the shape that docs/architecture.md promises. Written from that page, not from the engine."""

import json
import re
from typing import Any, Dict

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
ALWAYS = {
    "version": int,
    "engine": str,
    "action": str,
    "run_id": str,
    "outcome": str,
    "changed": bool,
    "started": str,
    "duration_s": float,
    "node": dict,
    "results": dict,
    "notes": list,
    "faults": list,
}
NODE = {
    "hostname": str,
    "kernel": str,
    "architecture": str,
    "distribution": str,
    "distribution_version": str,
    "python": str,
    "vendor": str,
    "product": str,
    "serial": str,
    "bios": str,
    "accelerators": str,
    "nics": str,
    "nvme": str,
    "link_widths": str,
    "virtualised": bool,
    "container": str,
    "numa_nodes": int,
    "cpus": int,
    "memory_bytes": int,
    "page_size": int,
    "boot_id": str,
    "uid": int,
    "fingerprint": str,
}
SUBSYSTEMS = ("kernel_modules", "sysctl", "transparent_hugepage", "limits", "swap", "services", "hardware")
RESULT = {
    "state": str,
    "desired": str,
    "needs": str,
    "cause": str,
    "views": dict,
    "winner": dict,
    "detail": str,
    "blocked_by": list,
    "waived": dict,
    "changes": list,
}
NEEDS = ("nothing", "time", "service_restart", "gpu_reset", "reboot", "drain")
COUNTS = {
    "nothing": ("not_applicable", "kernel_managed", "ok"),
    "incomplete": ("unknown",),
    "drift": ("missing", "refused", "blocked", "partial", "overridden", "pending", "live_wrong", "unpersisted"),
}
VIEW_NAMES = ("persisted", "boot", "live", "effective")


def check(response: Dict[str, Any]) -> None:
    _no_null(response, "response")
    json.dumps(response).encode("ascii")
    for text in _texts(response):
        text.encode("utf-8")  # nobody may stumble over a byte that is no text
    _has(response, ALWAYS, ALWAYS, also={"error": str})
    assert response["version"] == 1
    assert STAMP.match(response["started"])
    assert response["outcome"] in ("ok", "failed", "timed_out")
    assert ("error" in response) == (response["outcome"] != "ok")
    _has(response["node"], (), NODE)
    assert all(isinstance(note, str) for note in response["notes"])
    for fault in response["faults"]:
        _has(fault, ("subsystem", "error"), {"subsystem": str, "error": str})
    for identity, result in response["results"].items():
        check_result(identity, result)


def check_result(identity: str, result: Dict[str, Any]) -> None:
    assert re.match(r"({})/.".format("|".join(SUBSYSTEMS)), identity), identity
    _has(result, ("state", "needs", "views"), RESULT)
    assert result["needs"] in NEEDS
    assert [kind for kind, states in COUNTS.items() if result["state"] in states], result["state"]
    counts = result["state"] in COUNTS["drift"] and not (result["state"] == "pending" and result["needs"] == "time")
    if "cause" in result:
        assert counts, f"{identity}: a cause beside {result['state']}"
        assert result["cause"] in ("intent", "wandered", "never_applied")
    for name, view in result["views"].items():
        assert name in VIEW_NAMES
        assert set(view) in ({"value", "from"}, {"error", "from"}, {"unset"}), view
    if "winner" in result:
        _has(result["winner"], ("from", "owner"), {"from": str, "owner": str})
    if "waived" in result:
        _has(result["waived"], ("reason",), {"reason": str, "ticket": str, "until": str})
    for change in result.get("changes", []):
        _has(change, ("view", "target"), {"view": str, "target": str, "before": str, "after": str, "done": bool}, True)


def _has(mapping: Dict[str, Any], needed: Any, known: Dict[str, Any], more: bool = False, also: Any = ()) -> None:
    """Every needed key is there, and every key is known and of its type."""
    types = dict(known, **dict(also))
    assert not set(needed) - set(mapping), f"lacks {set(needed) - set(mapping)}"
    assert more or not set(mapping) - set(types), f"has {set(mapping) - set(types)}"
    for key, value in mapping.items():
        if key in types:
            assert value.__class__ is types[key], (key, value)  # a truth value is no number here


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _no_null(value: Any, where: str) -> None:
    assert value is not None, where
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        _no_null(part, f"{where}.{key}")
