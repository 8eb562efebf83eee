# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables of docs/profiles.md anew from the profiles: python tests/tools/profile_table.py

A test compares what stands there with what would be written.
"""

from __future__ import annotations

import importlib
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "profiles.md"
NAMES = ("base", "training", "inference", "benchmark", "shared")

_NOTHING = "–"
_BEGIN = "<!-- begin of what tests/tools/profile_table.py writes -->\n"
_END = "<!-- end of what tests/tools/profile_table.py writes -->\n"


def page(text: str) -> str:
    """The page with its tables made anew."""
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    profiles = {name: _compiled(name) for name in NAMES}
    return f"{before}{_BEGIN}\n{_rules(profiles)}\n{_reasons(profiles)}\n{_END}{after}"


def _compiled(name: str) -> dict[str, Any]:
    # The test configuration makes the checkout importable by the collection's name.
    runpy.run_path(str(ROOT / "tests" / "conftest.py"))
    loader = importlib.import_module("ansible_collections.gpufleet.node.plugins.plugin_utils.profile")
    compiled: dict[str, Any] = loader.compile_for_host({"gpufleet_profile": name}, lambda value: value, [])
    limits = importlib.import_module("ansible_collections.gpufleet.node.plugins.plugin_utils.profile.subsystems.limits")
    for key in ("launchers/LimitMEMLOCK", "launchers/LimitNOFILE"):
        _as_one(compiled, "limits", limits.spread(key), key)
    return compiled


def _as_one(compiled: dict[str, Any], subsystem: str, names: tuple[str, ...], key: str) -> None:
    """Settings that the profiles write with one key, and that are all alike, stand in the tables with that key."""
    settings, about = compiled["subsystems"][subsystem], compiled["about"]
    if all(settings.get(name) == settings[names[0]] for name in names):
        settings[key], about[f"{subsystem}/{key}"] = settings[names[0]], about[f"{subsystem}/{names[0]}"]
        for name in names:
            del settings[name], about[f"{subsystem}/{name}"]


def _rules(profiles: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"| setting | impact | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 2) + "|"]
    for setting in _settings(profiles):
        cells = {name: _cell(profile, setting) for name, profile in profiles.items()}
        shown = [cell if name == "base" or cell == _NOTHING or cell != cells["base"] else "as base" for name, cell in cells.items()]
        impacts = {entry["impact"] for profile in profiles.values() if (entry := _entry(profile, setting))}
        lines.append(f"| `{setting}` | {', '.join(sorted(impacts))} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _cell(profile: Mapping[str, Any], setting: str) -> str:
    words = importlib.import_module("ansible_collections.gpufleet.node.plugins.plugin_utils.profile.explain")
    entry = _entry(profile, setting)
    if entry is None:
        return _NOTHING
    cell = str(words.rule_in_words(entry["rule"]))
    if "when" in entry:
        cell += f"; where {', '.join(words.condition_in_words(*one) for one in entry['when'].items())}"
    return f"{cell}; checked only" if entry["mend"] == "never" else cell


def _reasons(profiles: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for setting in _settings(profiles):
        reasons: dict[tuple[str, str], list[str]] = {}
        for name, profile in profiles.items():
            if setting in profile["about"]:
                about = profile["about"][setting]
                reasons.setdefault((about["why"], about["source"]), []).append(name)
        lines.append(f"- `{setting}`")
        lines += [f"  - {_whose(names)}{why} ({source})" for (why, source), names in reasons.items()]
    return "\n".join(lines) + "\n"


def _whose(names: list[str]) -> str:
    return "" if "base" in names else f"{' and '.join(names)}: "


def _settings(profiles: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return sorted({setting for profile in profiles.values() for setting in profile["about"]})


def _entry(profile: Mapping[str, Any], setting: str) -> Mapping[str, Any] | None:
    subsystem, name = setting.split("/", 1)
    entry: Mapping[str, Any] | None = profile["subsystems"].get(subsystem, {}).get(name)
    return entry


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
