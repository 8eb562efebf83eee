# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rule of a setting: exactly one of exact, at_least, between and one_of.

Here it is only brought into its one compiled form; whether a node agrees with it is judged on the node.
"""

from __future__ import annotations

from .plain import Plain
from .problems import InputError, show
from .values import Value, numbers, value_of

KINDS = ("exact", "at_least", "between", "one_of")

Rule = dict[str, Value | list[Value]]


def rule_of(given: dict[str, Plain], with_set: bool = True) -> Rule:
    """The rule from its kind and, beside between and one_of, `set`: the value that a node gets which is outside.

    Conditions are rules too, but write nothing: with_set=False.
    """
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        found = f"both {' and '.join(kinds)}" if kinds else "none"
        raise InputError(f"exactly one of {', '.join(KINDS)} makes a rule, here is {found}")
    kind = kinds[0]
    rule: Rule = {kind: _argument(kind, given[kind])}
    if kind in ("between", "one_of") and with_set:
        if "set" not in given:
            raise InputError(f"{kind} needs `set`: the value to write where the node is outside the rule")
        rule["set"] = _at("set", given["set"])
        if not _holds(kind, rule[kind], rule["set"]):
            raise InputError(f"{show(rule['set'])} is itself outside {kind} {rule[kind]}", at="set")
    elif "set" in given:
        raise InputError("`set` goes with between and one_of only" if with_set else "a condition writes nothing", at="set")
    return rule


def target(rule: Rule) -> Value:
    """What the rule would write."""
    value = rule.get("set", next(iter(rule.values())))
    if isinstance(value, list):
        raise ValueError(f"a rule without set: {rule}")
    return value


def values(rule: Rule) -> list[Value]:
    """Every value that stands in the rule."""
    return [value for part in rule.values() for value in (part if isinstance(part, list) else [part])]


def _argument(kind: str, given: Plain) -> Value | list[Value]:
    if kind == "exact":
        return _at(kind, given)
    if kind == "at_least":
        floor = _at(kind, given)
        if numbers(floor) is None:
            raise InputError(f"compares numbers; {show(floor)} is text, use exact or one_of", at=kind)
        return floor
    if not isinstance(given, list):
        raise InputError(f"takes a list, not {show(given)}", at=kind)
    parts = [_at(kind, part) for part in given]
    if kind == "between":
        if len(parts) != 2 or not all(isinstance(part, int) for part in parts):
            raise InputError(f"takes two numbers, the lowest and the highest that are right, not {show(given)}", at=kind)
        if int(parts[0]) > int(parts[1]):
            raise InputError(f"the lowest, {parts[0]}, is above the highest, {parts[1]}", at=kind)
    elif not parts:
        raise InputError("is empty: no value could ever be right", at=kind)
    return parts


def _at(kind: str, given: Plain) -> Value:
    try:
        return value_of(given)
    except InputError as wrong:
        raise InputError(wrong.message, wrong.nearest, at=kind) from None


def _holds(kind: str, argument: Value | list[Value], value: Value | list[Value]) -> bool:
    if not isinstance(argument, list) or isinstance(value, list):
        return False
    if kind == "one_of":
        return value in argument
    return isinstance(value, int) and int(argument[0]) <= value <= int(argument[1])
