# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A compiled profile in words: where each setting comes from, what it asks for and what it replaced. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .problems import InputError, nearest


def explain(compiled: Mapping[str, Any], setting: str | None = None) -> list[str]:
    """The lines for one setting, one subsystem or all; InputError with the nearest name where nothing is called so."""
    names = [*compiled["about"], *compiled.get("removed", {})]
    chosen = [name for name in names if setting is None or _is_called(name, setting)]
    if setting is not None and not chosen:
        bare = {name.split("/", 1)[1]: name for name in names}
        close = nearest(setting, names) or bare.get(nearest(setting, bare) or "")
        raise InputError(f"no layer of the profile {compiled['profile']} has a setting {setting}", close)
    return [line for name in sorted(chosen) for line in _one(compiled, name)]


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """A rule as a sentence's end: exactly 1; 0 to 10, else write 1."""
    if "exact" in rule:
        return f"exactly {rule['exact']}"
    if "at_least" in rule:
        return f"at least {rule['at_least']}"
    if "between" in rule:
        return _else_write(rule, f"{rule['between'][0]} to {rule['between'][1]}")
    return _else_write(rule, _any_of(rule["one_of"]))


def condition_in_words(name: str, condition: Any) -> str:
    """One condition of `when`: numa_nodes at least 2."""
    if isinstance(condition, Mapping):
        return f"{name} {rule_in_words(condition)}"
    if isinstance(condition, bool):
        return name if condition else f"not {name}"
    return f"{name} {_any_of(condition) if isinstance(condition, list) else condition}"


def expired_waivers(compiled: Mapping[str, Any], today: datetime.date) -> list[str]:
    """A waiver that ran out counts no longer; it is kept in the profile and told."""
    return [
        f"{subsystem}/{setting}: the waiver ended on {entry['waive']['until']} ({entry['waive']['reason']})"
        for subsystem, settings in compiled["subsystems"].items()
        for setting, entry in settings.items()
        if "waive" in entry and datetime.date.fromisoformat(entry["waive"]["until"]) < today
    ]


def _is_called(name: str, setting: str) -> bool:
    subsystem, rest = name.split("/", 1)
    return setting in (name, subsystem, rest)


def _one(compiled: Mapping[str, Any], name: str) -> Iterator[str]:
    yield name
    about = compiled["about"].get(name)
    if about is None:
        about = compiled["removed"][name]
        yield f"  removed by   {_origin(about['from'])}"
    else:
        subsystem, setting = name.split("/", 1)
        yield from _entry(compiled["subsystems"][subsystem][setting], about)
    for lost in about["lost"]:
        what = "removed" if lost.get("removed") else rule_in_words(lost["rule"])
        yield f"  lost         {what}, {_origin(lost)}"


def _entry(entry: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[str]:
    yield f"  rule         {rule_in_words(entry['rule'])}"
    yield f"  given by     {_origin(about['from'])}"
    yield f"  impact       {entry['impact']}, disturbs {entry['disturbs']}"
    if entry["owner"] == "leave":
        yield "  owner        somebody else: compared, never written"
    elif entry["mend"] == "never":
        yield "  mend         never: checked only"
    if "when" in entry:
        yield f"  when         {', and '.join(condition_in_words(*one) for one in entry['when'].items())}"
    if "waive" in entry:
        waive = entry["waive"]
        beside = "".join(f", {name} {waive[name]}" for name in ("ticket", "serial") if name in waive)
        yield f"  waived       until {waive['until']}{beside}: {waive['reason']}"
    for name in ("why", "source"):
        if name in about:
            yield f"  {name:<12} {about[name]}"


def _origin(origin: Mapping[str, Any]) -> str:
    if "file" not in origin:
        return str(origin["layer"])
    line = f":{origin['line']}" if "line" in origin else ""
    return f"{origin['layer']} ({origin['file']}{line})"


def _else_write(rule: Mapping[str, Any], words: str) -> str:
    return f"{words}, else write {rule['set']}" if "set" in rule else words


def _any_of(values: Sequence[Any]) -> str:
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
