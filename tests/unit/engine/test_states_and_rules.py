# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a verdict: precedence, what counts as drift, consent; and the rules."""

import itertools
from typing import Any, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import requests, rules, states
from hypothesis import given, settings
from hypothesis import strategies as st

#: The table of docs/architecture.md, in its order.
STATES = [
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
]


def test_the_states_are_those_of_the_table() -> None:
    assert list(states.STATES.items()) == STATES


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations([name for name, _counts in STATES], 2)))
def test_the_state_is_the_first_of_the_table_that_holds(one: str, other: str) -> None:
    assert states.first([other, one, other]) == one


def test_nothing_wrong_is_ok_and_a_state_that_is_not_in_the_table_is_a_fault() -> None:
    assert states.first([]) == "ok"
    with pytest.raises(ValueError, match="no such state: wrong"):
        states.first(["ok", "wrong"])


@pytest.mark.parametrize(("state", "counts"), STATES)
def test_drift_is_what_the_table_says(state: str, counts: str) -> None:
    assert states.is_drift(state) is (counts == "drift")


def test_what_waits_only_for_time_is_no_drift() -> None:
    assert not states.is_drift("pending", "time")
    assert states.is_drift("pending", "reboot")
    assert states.is_drift("live_wrong", "time")


@pytest.mark.parametrize(
    ("disturbs", "consent", "covered"),
    [
        ("nothing", "nothing", True),
        ("jitter", "nothing", False),
        ("job", "nothing", False),
        ("nothing", "jitter", True),
        ("jitter", "jitter", True),
        ("job", "jitter", False),
        ("nothing", "job", True),
        ("jitter", "job", True),
        ("job", "job", True),
    ],
)
def test_consent_covers_what_disturbs_no_more(disturbs: str, consent: str, covered: bool) -> None:
    assert states.consents(disturbs, consent) is covered


# -- rules ------------------------------------------------------------------------------------------------------

HUGE = 2**64 - 1 - 2**24
SATISFIED: Tuple[Any, ...] = (
    # rule, value, satisfied
    ({"exact": 1}, "1", True),
    ({"exact": 1}, "01", True),
    ({"exact": 1}, " 1\n", True),
    ({"exact": 1}, "0", False),
    ({"exact": 1}, "", False),
    ({"exact": 0}, "", False),
    ({"exact": -1}, "-1", True),
    ({"exact": -1}, "1", False),
    ({"exact": 1}, "1 1", False),
    ({"exact": HUGE}, str(HUGE), True),
    ({"exact": HUGE}, str(HUGE - 1), False),
    ({"exact": "cubic"}, "cubic", True),
    ({"exact": "cubic"}, "Cubic", False),
    ({"exact": "4096 131072 6291456"}, "4096\t131072\t6291456", True),
    ({"exact": "4096 131072 6291456"}, "4096 131072", False),
    ({"exact": "1"}, "1" + "0" * 6000, False),
    ({"at_least": 10}, "10", True),
    ({"at_least": 10}, "9", False),
    ({"at_least": 10}, "9" * 30, True),
    ({"at_least": -5}, "-4", True),
    ({"at_least": -5}, "-6", False),
    ({"at_least": 10}, "many", False),
    ({"at_least": 10}, "", False),
    ({"at_least": 10}, "10 10", False),
    ({"at_least": "4096 131072 16777216"}, "4096\t131072\t16777216", True),
    ({"at_least": "4096 131072 16777216"}, "8192 131072 33554432", True),
    ({"at_least": "4096 131072 16777216"}, "8192 65536 33554432", False),
    ({"at_least": "many"}, "many", False),
    ({"between": [0, 10], "set": 1}, "0", True),
    ({"between": [0, 10], "set": 1}, "10", True),
    ({"between": [0, 10], "set": 1}, "11", False),
    ({"between": [0, 10], "set": 1}, "-1", False),
    ({"between": [0, 10], "set": 1}, "five", False),
    ({"between": [0, 10], "set": 1}, "5 5", False),
    ({"between": ["1 1", "3 3"], "set": "2 2"}, "1\t3", True),
    ({"between": ["1 1", "3 3"], "set": "2 2"}, "1\t4", False),
    ({"one_of": ["madvise", "never"], "set": "madvise"}, "never", True),
    ({"one_of": ["madvise", "never"], "set": "madvise"}, "always", False),
    ({"one_of": [0, 2], "set": 0}, "2", True),
    ({"one_of": [0, 2], "set": 0}, "1", False),
)
TARGETS: Tuple[Any, ...] = (
    # rule, values that are there, what is written
    ({"exact": 1}, ["5"], "1"),
    ({"exact": "4096\t1  2"}, [], "4096 1 2"),
    ({"between": [0, 10], "set": 1}, ["5"], "1"),
    ({"between": [3, 10]}, [], "3"),
    ({"one_of": ["never", "madvise"], "set": "madvise"}, [], "madvise"),
    ({"one_of": ["never", "madvise"]}, [], "never"),
    ({"at_least": 10}, [], "10"),
    ({"at_least": 10}, ["5", None], "10"),
    ({"at_least": 10}, ["5", "20", "15"], "20"),
    ({"at_least": 10}, ["many"], "10"),
    ({"at_least": 10}, ["20 20"], "10"),
    ({"at_least": "10 20 30"}, ["5\t50\t5"], "10 50 30"),
    ({"at_least": HUGE}, [str(2**64 - 1)], str(2**64 - 1)),
)
WORDS: Tuple[Any, ...] = (
    ({"exact": "4096\t1"}, "4096 1"),
    ({"at_least": 10}, "at least 10"),
    ({"between": [0, 10], "set": 1}, "between 0 and 10"),
    ({"one_of": ["madvise", "never"], "set": "never"}, "one of madvise, never"),
)


@pytest.mark.parametrize(("rule", "value", "satisfied"), SATISFIED)
def test_a_rule_is_satisfied(rule: Any, value: str, satisfied: bool) -> None:
    assert rules.satisfied(rule, value) is satisfied


@pytest.mark.parametrize(("rule", "present", "target"), TARGETS)
def test_what_a_rule_writes(rule: Any, present: Any, target: str) -> None:
    assert rules.target(rule, *present) == target


@pytest.mark.parametrize(("rule", "words"), WORDS)
def test_a_rule_in_words(rule: Any, words: str) -> None:
    assert rules.words(rule) == words


@pytest.mark.parametrize("rule", [{}, {"exact": 1, "at_least": 1}, {"set": 1}, {"exactly": 1}])
def test_a_rule_of_no_kind_or_of_two_is_a_fault(rule: Any) -> None:
    for question in (rules.target, rules.words):
        with pytest.raises(ValueError, match="exactly one of"):
            question(rule)


FIELDS = st.lists(st.integers(-(2**64), 2**64), min_size=1, max_size=4)
TEXT = st.text(alphabet="abc019 -\t", max_size=12)


def _joined(numbers: Any) -> str:
    return " ".join(str(number) for number in numbers)


@st.composite
def any_rule(draw: Any) -> Any:
    kind = draw(st.sampled_from(rules.KINDS))
    numbers = draw(FIELDS)
    if kind == "exact":
        return {"exact": draw(st.one_of(st.just(_joined(numbers)), TEXT))}
    if kind == "at_least":
        return {"at_least": _joined(numbers)}
    if kind == "between":
        high = [number + draw(st.integers(0, 9)) for number in numbers]
        return {"between": [_joined(numbers), _joined(high)], "set": draw(st.sampled_from([_joined(numbers), _joined(high)]))}
    words = draw(st.lists(TEXT, min_size=1, max_size=4))
    return {"one_of": words, "set": draw(st.sampled_from(words))}


@settings(max_examples=max(60, settings().max_examples // 10))
@given(any_rule(), st.lists(st.one_of(st.none(), TEXT, FIELDS.map(_joined)), max_size=3))
def test_what_a_rule_writes_satisfies_it(rule: Any, present: Any) -> None:
    assert rules.satisfied(rule, rules.target(rule, *present))


@settings(max_examples=max(60, settings().max_examples // 10))
@given(FIELDS, FIELDS, FIELDS)
def test_a_floor_never_lowers_what_is_there(floor: Any, one: Any, other: Any) -> None:
    size = len(floor)
    present = [(values * 4)[:size] for values in (one, other)]
    written = [int(part) for part in rules.target({"at_least": _joined(floor)}, *[_joined(values) for values in present]).split()]
    for field, number in enumerate(written):
        assert number == max(floor[field], present[0][field], present[1][field])


# -- settings as a person writes them -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (1, {"exact": 1}),
        ("4096  1\t2", {"exact": "4096 1 2"}),
        ([4096, 1, 2], {"exact": "4096 1 2"}),
        ({"at_least": 10}, {"at_least": 10}),
        ({"between": [0, 10], "set": 1}, {"between": [0, 10], "set": 1}),
        ({"one_of": ["a", "b"]}, {"one_of": ["a", "b"], "set": "a"}),
        ({"rule": {"exact": 1}, "disturbs": "jitter"}, {"exact": 1}),
        ({"exact": 1, "mend": "never"}, {"exact": 1}),
    ],
)
def test_a_setting_in_short_form(written: Any, rule: Any) -> None:
    entry = requests.entries({"vm.x": written})["vm.x"]
    assert entry["rule"] == rule
    beside = {key: value for key, value in written.items() if key in requests.BESIDE} if isinstance(written, dict) else {}
    assert {key: entry[key] for key in entry if key != "rule"} == beside


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (True, "true and false are no values of the kernel"),
        (None, "no whole number"),
        (0.5, "no whole number"),
        ({"exact": 1, "at_least": 2}, "exactly one of"),
        ({"exactly": 1}, "exactly one of"),
        ({"exact": 1, "sets": 2}, "not sets"),
        ({"between": 3}, "between wants a list"),
        ({"between": [3]}, "between wants a list"),
        ({"one_of": []}, "one_of wants a list"),
        ({"rule": 3}, "exactly one of"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(written: Any, words: str) -> None:
    with pytest.raises(ValueError, match="vm.x: .*" + words):
        requests.entries({"vm.x": written})
