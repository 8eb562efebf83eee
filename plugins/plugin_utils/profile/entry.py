# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One entry of a profile: a rule and what stands beside it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .conditions import Condition, when_of
from .plain import Plain
from .problems import InputError, Problems, nearest, one_of_words, show
from .rules import KINDS, Rule, rule_of

IMPACTS = ("correctness", "performance", "hygiene")
DISTURBS = ("nothing", "jitter", "job")
OWNERS = ("gpufleet", "leave")
MENDS = ("always", "never")
WAIVE = ("reason", "ticket", "until", "serial")

BESIDE = ("impact", "disturbs", "why", "source", "owner", "mend", "when", "waive")
# Stays in the profile: it answers the loader's own doubt about a name.
TRUST_NAME = "trust_name"
KEYS = (*KINDS, "set", *BESIDE, TRUST_NAME)

_OTHER_WORDS = {
    "value": "exact",
    "equals": "exact",
    "min": "at_least",
    "minimum": "at_least",
    "floor": "at_least",
    "range": "between",
    "max": "between",
    "any_of": "one_of",
    "choices": "one_of",
    "severity": "impact",
    "reason": "why",
    "condition": "when",
    "if": "when",
    "waiver": "waive",
}


@dataclass(frozen=True)
class Entry:
    """A setting as a profile wants it, complete."""

    rule: Rule
    impact: str
    disturbs: str = "nothing"
    why: str | None = None
    source: str | None = None
    owner: str = "gpufleet"
    mend: str = "always"
    when: dict[str, Condition] | None = None
    waive: dict[str, str] | None = None

    @property
    def written(self) -> bool:
        """Whether this collection ever writes it."""
        return self.owner == "gpufleet" and self.mend == "always"

    def compiled(self) -> dict[str, object]:
        """The part that travels to the node."""
        sure = {
            "rule": self.rule,
            "impact": self.impact,
            "disturbs": self.disturbs,
            "owner": self.owner,
            "mend": self.mend,
        }
        return {**sure, **({"when": self.when} if self.when else {}), **({"waive": self.waive} if self.waive else {})}


def entry_of(given: Plain, below: Entry | None, judge: Callable[[Rule], None], problems: Problems, file: str, key: str) -> Entry | None:
    """The entry that a layer makes of what it says and of the entry below it; None where something is wrong, which `problems` then has."""
    before = len(problems)
    written: dict[str, Plain] = given if isinstance(given, dict) else {"exact": given}
    unknown = [name for name in written if name not in KEYS]
    for name in unknown:
        close = _OTHER_WORDS.get(name) or nearest(name, KEYS)
        problems.add(file, key, InputError("stands beside no rule", close, at=name))
    rule: Rule | None = None
    has_rule = any(name in written for name in (*KINDS, "set"))

    if has_rule:
        rule = problems.attempt(file, key, _judged_rule, written, judge)
    elif below:
        rule = below.rule
    # Of a misspelled rule is said once that it is misspelled, not also that it is missing.
    elif not unknown:
        problems.add(file, key, InputError(f"there is no rule here: {', '.join(KINDS[:-1])} or {KINDS[-1]}"))
    beside: dict[str, Any] = {
        name: problems.attempt(file, f"{key}/{name}", _PARSERS[name], written[name]) for name in BESIDE if name in written
    }
    if below:
        # A new rule is a new wish: that the old one was only checked, or waived, says nothing about it.
        kept = ("impact", "disturbs", "why", "source", "owner", "when") if has_rule else BESIDE
        beside = {**{name: getattr(below, name) for name in kept}, **beside}
    elif "impact" not in written:
        problems.add(
            file,
            key,
            InputError(f"impact is missing: no lower layer has this setting, so say {', '.join(IMPACTS[:-1])} or {IMPACTS[-1]}"),
        )
    return Entry(rule=rule, **beside) if rule and len(problems) == before else None


def _judged_rule(written: dict[str, Plain], judge: Callable[[Rule], None]) -> Rule:
    rule = rule_of(written)
    judge(rule)
    return rule


def _words(*words: str) -> Callable[[Plain], str]:
    return lambda given: one_of_words(given, words, "it")


def _text(given: Plain) -> str:
    if isinstance(given, str) and given.strip():
        return " ".join(given.split())
    raise InputError(f"is text, not {show(given)}")


def _when(given: Plain) -> dict[str, Condition] | None:
    return None if given is None else when_of(given)


def _waive(given: Plain) -> dict[str, str] | None:
    """A waiver says why and until when; one without an end would be a hole in the profile."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InputError(f"takes a mapping of {', '.join(WAIVE)}, not {show(given)}")
    for name in given:
        if name not in WAIVE:
            raise InputError("is no part of a waiver", nearest(name, WAIVE), at=name)
    for name in ("reason", "until"):
        if given.get(name) is None:
            raise InputError(f"{name} is missing: a waiver has a reason and a last day")
    return {name: _date(given[name]) if name == "until" else _waive_text(name, given[name]) for name in WAIVE if name in given}


def _waive_text(name: str, given: Plain) -> str:
    # Tickets and serial numbers may look like numbers.
    text = str(given).strip() if isinstance(given, (str, int)) and not isinstance(given, bool) else ""
    if not text:
        raise InputError(f"is text, not {show(given)}", at=name)
    return text


def _date(given: Plain) -> str:
    if isinstance(given, datetime.date):
        return given.isoformat()
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", given):
        try:
            return datetime.date.fromisoformat(given).isoformat()
        except ValueError:
            pass
    raise InputError(f"is a day like 2027-01-31, not {show(given)}", at="until")


_PARSERS: dict[str, Callable[[Plain], object]] = {
    "impact": _words(*IMPACTS),
    "disturbs": _words(*DISTURBS),
    "why": _text,
    "source": _text,
    "owner": _words(*OWNERS),
    "mend": _words(*MENDS),
    "when": _when,
    "waive": _waive,
}
