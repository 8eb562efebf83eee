# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of a setting, in order of precedence, and what each counts as."""

from typing import Dict, Iterable

#: state -> what it counts as in a verdict: "drift", "incomplete" or "nothing". The order is the precedence.
STATES: Dict[str, str] = {}
for _name, _counts in (
    ("not_applicable", "nothing"),
    ("missing", "drift"),
    ("unknown", "incomplete"),
    ("kernel_managed", "nothing"),
    ("refused", "drift"),
    ("blocked", "drift"),
    ("partial", "drift"),
    ("overridden", "drift"),
    ("pending", "drift"),
    ("live_wrong", "drift"),
    ("unpersisted", "drift"),
    ("ok", "nothing"),
):
    STATES[_name] = _counts

#: How much a write can disturb a running job, from least to most; also the levels of consent.
DISTURBS = ("nothing", "jitter", "job")


def first(holding: Iterable[str]) -> str:
    """The state among those that hold: the first in the order of precedence, `ok` when none does."""
    holds = set(holding)
    unknown = holds.difference(STATES)
    if unknown:
        raise ValueError("no such state: {}".format(", ".join(sorted(unknown))))
    for state in STATES:
        if state in holds:
            return state
    return "ok"


def is_drift(state: str, needs: str = "nothing") -> bool:
    """Whether a state counts as drift. What only waits for time does not."""
    return STATES[state] == "drift" and not (state == "pending" and needs == "time")


def consents(disturbs: str, consent: str) -> bool:
    """Whether a write that can disturb this much is covered by what the run allows."""
    return DISTURBS.index(disturbs) <= DISTURBS.index(consent)
