# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules: does a value satisfy one, and which value would it write.

A rule is a mapping with one of
    {"exact": v}   {"at_least": v}   {"between": [low, high], "set": v}   {"one_of": [v, ...], "set": v}
Values are whole numbers or text. Values of several fields ("4096 131072 6291456", whatever white space the kernel puts between) are compared
field by field, numbers as numbers. A value that cannot be compared satisfies nothing.
"""

import re
from typing import Any, Dict, Optional, Tuple

#: The kernel has no number of more than 64 bits; what is longer is text.
_WHOLE = re.compile(r"-?[0-9]{1,40}\Z")
KINDS = ("exact", "at_least", "between", "one_of")
Rule = Dict[str, Any]


def normal(value: Any) -> str:
    """One spelling of a value: single blanks between its fields."""
    return " ".join(str(value).split())


def same(left: Any, right: Any) -> bool:
    """Whether two spellings mean the same value: 01 and 1, tabs and blanks."""
    return _fields(left) == _fields(right)


def satisfied(rule: Rule, value: Any) -> bool:
    kind = _kind(rule)
    wanted = rule[kind]
    if kind == "exact":
        return same(wanted, value)
    if kind == "one_of":
        return any(same(one, value) for one in wanted)
    have = _numbers(value)
    if kind == "between":
        low, high = _numbers(wanted[0]), _numbers(wanted[1])
        return (
            bool(have and low and high)
            and len(have or ()) == len(low or ())
            and all(a <= b <= c for a, b, c in zip(low or (), have or (), high or ()))
        )
    floor = _numbers(wanted)
    return bool(have and floor) and len(have or ()) == len(floor or ()) and all(a >= b for a, b in zip(have or (), floor or ()))


def target(rule: Rule, *present: Optional[Any]) -> str:
    """The value that the rule writes. A floor never lowers any of the values that are already there, field by field."""
    kind = _kind(rule)
    if kind in ("between", "one_of"):
        return normal(rule.get("set", rule[kind][0]))
    if kind == "exact":
        return normal(rule["exact"])
    best = _numbers(rule["at_least"])
    if best is None:
        return normal(rule["at_least"])
    for value in present:
        have = _numbers(value) if value is not None else None
        if have is not None and len(have) == len(best):
            best = tuple(max(a, b) for a, b in zip(best, have))
    return " ".join(str(number) for number in best)


def words(rule: Rule) -> str:
    """The rule for people: "between 0 and 10"."""
    kind = _kind(rule)
    if kind == "exact":
        return normal(rule["exact"])
    if kind == "at_least":
        return "at least {}".format(normal(rule["at_least"]))
    if kind == "between":
        return "between {} and {}".format(*rule["between"])
    return "one of {}".format(", ".join(normal(one) for one in rule["one_of"]))


def _kind(rule: Rule) -> str:
    kinds = [kind for kind in KINDS if kind in rule]
    if len(kinds) != 1:
        raise ValueError("a rule has exactly one of {}: {!r}".format(", ".join(KINDS), rule))
    return kinds[0]


def _fields(value: Any) -> Tuple[Any, ...]:
    return tuple(number if number is not None else part for part, number in ((part, _number(part)) for part in str(value).split()))


def _numbers(value: Any) -> Optional[Tuple[int, ...]]:
    """All fields as numbers; None when one is no number or there is none."""
    fields = _fields(value)
    if not fields or not all(isinstance(field, int) for field in fields):
        return None
    return fields


def _number(text: str) -> Optional[int]:
    return int(text) if _WHOLE.match(text) else None
