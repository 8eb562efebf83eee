# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource limits as values: a soft and a hard number, one of which may be missing, and no end as the largest number. Pure.

As text a limit is one word where both numbers are the same (`unlimited`, `1048576`), else `soft:hard` (`1024:524288`, `4096:unset`).
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from . import rules

#: RLIM_INFINITY, which the kernel compares as a number too.
UNLIMITED = (1 << 64) - 1
_WORDS = ("unlimited", "infinity", "-1")
_UNSET = "unset"
#: Suffixes of systemd.syntax(7), base 1024.
_SUFFIX = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60}
_SIZE = re.compile(r"([0-9]{1,20}) ?([BKMGTPE]?)\Z")


class Limit(NamedTuple):
    """None where a number is not given."""

    soft: Optional[int]
    hard: Optional[int]


NOTHING = Limit(None, None)


def spell(limit: Limit) -> str:
    soft, hard = _spell(limit.soft), _spell(limit.hard)
    return soft if soft == hard else f"{soft}:{hard}"


def read(text: str) -> Optional[Limit]:
    """The inverse of `spell`, which also takes what systemd takes: `8M`, `infinity`. None for what is no limit."""
    soft, colon, hard = text.strip().partition(":")
    parts: List[Optional[int]] = []
    for part in (soft, hard if colon else soft):
        parts.append(None if part == _UNSET else number(part))
        if parts[-1] is None and part != _UNSET:
            return None
    return Limit(*parts)


def number(text: Any) -> Optional[int]:
    """One number of a limit; None for what is none."""
    word = str(text).strip()
    if word.lower() in _WORDS:
        return UNLIMITED
    match = _SIZE.match(word)
    return min(int(match.group(1)) * _SUFFIX[match.group(2)], UNLIMITED) if match else None


def holds(rule: Dict[str, Any], limit: Limit) -> bool:
    """Whether both numbers are there and satisfy the rule, which is one for single values."""
    plain = _plain(rule)
    return all(part is not None and rules.satisfied(plain, part) for part in limit)


def target(rule: Dict[str, Any], *present: Limit) -> Limit:
    """The limit that the rule writes; a floor never lowers what is there."""
    plain = _plain(rule)
    return Limit(*[number(rules.target(plain, *[one[part] for one in present])) for part in (0, 1)])


def highest(limit: Limit) -> int:
    """The larger of its numbers; what is not given is no number."""
    return max([part for part in limit if part is not None] or [0])


def _spell(part: Optional[int]) -> str:
    if part is None:
        return _UNSET
    return "unlimited" if part >= UNLIMITED else str(part)


def _plain(rule: Dict[str, Any]) -> Dict[str, Any]:
    """The same rule with numbers in the place of words."""
    return {kind: [_known(one) for one in value] if isinstance(value, list) else _known(value) for kind, value in rule.items()}


def _known(value: Any) -> Any:
    known = number(value)
    return value if known is None else known
