# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waivers that end soon or have ended: what will count again, and which of them nothing needs any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from .words import STATES, number, plural

SOON_DAYS = 14


def ending(profiles: Mapping[str, Any], nodes: Sequence[dict[str, Any]], today: date, soon_days: int) -> list[dict[str, Any]]:
    """Each waiver of the profiles that ends within so many days or has ended, the first to end first.

    `days` are left (less than none: it has ended; its last day still counts), `nodes` of those that it is for have answered, and on `needed_by` the
    setting differs.
    """
    found: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    for key, profile in profiles.items():
        for setting, waive in _waives(profile):
            days = (date.fromisoformat(waive["until"]) - today).days
            if days <= soon_days:
                same = tuple(sorted({**waive, "setting": setting}.items()))
                waiver = found.setdefault(same, {"setting": setting, **waive, "days": days, "nodes": 0, "needed_by": []})
                _count(waiver, [node for node in nodes if node.get("profile_key") == key])
    return sorted(found.values(), key=lambda waiver: (waiver["until"], waiver["setting"], waiver["reason"]))


def when_words(waiver: Mapping[str, Any]) -> str:
    """`ends in 3 days, on 2026-12-03`."""
    days, until = waiver["days"], waiver["until"]
    if days < 0:
        return f"ended {plural(-days, 'day')} ago, on {until}"
    return f"ends today, {until}" if days == 0 else f"ends in {plural(days, 'day')}, on {until}"


def about_words(waiver: Mapping[str, Any]) -> str:
    """`a benchmark, OPS-1`."""
    serial = [f"serial {waiver['serial']}"] if "serial" in waiver else []
    return ", ".join([waiver["reason"], *filter(None, [waiver.get("ticket")]), *serial])


def need_words(waiver: Mapping[str, Any]) -> str:
    """How much hangs on it."""
    if not waiver["nodes"]:
        return "no node that it is for has answered"
    if not waiver["needed_by"]:
        return "nothing differs: it can go"
    return f"differs on {number(len(waiver['needed_by']))} of {plural(waiver['nodes'], 'node')}"


def _waives(profile: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """The waivers that can be understood; a profile with another one was refused before the run."""
    for subsystem, entries in profile["subsystems"].items():
        for name, entry in entries.items():
            waive = entry.get("waive")
            if isinstance(waive, dict) and "reason" in waive and _is_day(waive.get("until")):
                yield f"{subsystem}/{name}", {key: str(waive[key]) for key in ("reason", "ticket", "until", "serial") if key in waive}


def _is_day(text: Any) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except (TypeError, ValueError):
        return False


def _count(waiver: dict[str, Any], nodes: Sequence[dict[str, Any]]) -> None:
    for node in nodes:
        result = node["results"].get(waiver["setting"])
        serial = node["facts"].get("serial")
        if result is None or result["state"] == "not_applicable" or waiver.get("serial", serial) != serial:
            continue
        waiver["nodes"] += 1
        if STATES[result["state"]].counts != "nothing":
            waiver["needed_by"].append(node["name"])
