# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a file or a variable holds, the answer is a compiled profile or a ProfileError."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import ProfileError, compile_for_host
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FILES = Path(__file__).parents[4] / "roles" / "profile" / "files"

# Words that mean something to the loader, so that more than the first look is reached.
WORDS = st.sampled_from(
    [
        *("extends", "base", "sysctl", "transparent_hugepage", "enabled", "madvise", "vm.swappiness", "vm/swappiness"),
        *("vm.dirty_ratio", "vm.dirty_bytes", "exact", "at_least", "between", "one_of", "set", "impact", "hygiene", "when"),
        *("cpus", "vendor", "waive", "reason", "until", "2027-01-31", "8GiB", "owner", "leave", "mend", "never", "trust_name"),
    ]
)
SCALARS = WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.text(max_size=8)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=8), inner, max_size=5),
    max_leaves=25,
)


def answer(variables: dict[str, Any], *basedirs: Path) -> None:
    compiled, problems = None, ()
    try:
        compiled = compile_for_host(variables, lambda value: value, basedirs)
    except ProfileError as error:
        problems = error.problems
    assert (compiled is None) == bool(problems)
    assert all(problem.file and problem.message for problem in problems)
    assert json.loads(json.dumps(compiled)) == compiled


@settings(max_examples=400, deadline=None)
@given(ANYTHING)
def test_any_override(content: object) -> None:
    answer({"gpufleet_overrides_x": content})


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.just("sysctl"), st.dictionaries(WORDS, st.dictionaries(WORDS, SCALARS | ANYTHING, max_size=4), max_size=3)))
def test_any_override_that_looks_right(content: object) -> None:
    answer({"gpufleet_overrides_x": content})


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | st.text(alphabet="ab:-[]{}&*!|>'\"# \n\t0.?,<", max_size=80).map(str.encode))
def test_any_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.yml").write_bytes(content)
    answer({"gpufleet_profile": "./mine.yml"}, tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(["base", "training", "shared"]))
def test_any_cut_of_a_real_file(tmp_path: Path, data: st.DataObject, name: str) -> None:
    text = (FILES / f"{name}.yml").read_bytes()
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    (tmp_path / "mine.yml").write_bytes(text[:start] + text[end:])
    answer({"gpufleet_profile": "./mine.yml"}, tmp_path)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_name(name: str) -> None:
    answer({"gpufleet_profile": name}, FILES)
