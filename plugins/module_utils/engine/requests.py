# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings as a person writes them in a task, made into the entries that the engine takes: pure.

vm.swappiness: 1                                          an exact rule
vm.swappiness: {between: [0, 10], set: 1}                  a rule
vm.swappiness: {rule: {...}, disturbs: jitter, when: ...}  an entry of a compiled profile
"""

from typing import Any, Dict

from . import rules

BESIDE = ("impact", "disturbs", "owner", "mend", "when", "waive")


def entries(settings: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    """Raises ValueError with the name of the setting that is wrong."""
    return {str(name): _entry(str(name), value) for name, value in settings.items()}


def _entry(name: str, value: Any) -> Dict[str, Any]:
    if not isinstance(value, dict):
        return {"rule": {"exact": _value(name, value)}}
    if "rule" in value:
        entry = dict(value)
    else:
        entry = {key: value[key] for key in BESIDE if key in value}
        entry["rule"] = {key: part for key, part in value.items() if key not in BESIDE}
    rule = entry["rule"]
    kinds = [kind for kind in rules.KINDS if kind in rule] if isinstance(rule, dict) else []
    others = sorted(set(rule) - set(kinds) - {"set"}) if kinds else []
    if len(kinds) != 1 or others:
        raise ValueError(
            "{}: a rule has exactly one of {}{}".format(
                name, ", ".join(rules.KINDS), ", not {}".format(", ".join(others)) if others else ""
            )
        )
    argument = rule[kinds[0]]
    if kinds[0] in ("between", "one_of"):
        if not isinstance(argument, list) or len(argument) < (2 if kinds[0] == "between" else 1):
            raise ValueError(f"{name}: {kinds[0]} wants a list")
        entry["rule"] = {kinds[0]: [_value(name, one) for one in argument], "set": _value(name, rule.get("set", argument[0]))}
    else:
        entry["rule"] = {kinds[0]: _value(name, argument)}
    return entry


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"{name}: true and false are no values of the kernel: write 0 or 1")
    if isinstance(value, list):
        return " ".join(str(_value(name, one)) for one in value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) or value is None:
        raise ValueError(f"{name}: {value!r} is no whole number and no text")
    return rules.normal(value)
