# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runner of the tests does not call a run good that was not."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from steps import Counts, Result, Runner, Step, finish

JUNIT = "<testsuites><testsuite name='s' tests='9'>{}</testsuite></testsuites>"
PASSED, FAILED = "<testcase name='a'/>", "<testcase name='b'><failure/></testcase>"
BROKEN, SKIPPED = "<testcase name='c'><error/></testcase>", "<testcase name='d'><skipped/></testcase>"


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path / "logs", tmp_path / "junit")


def shell(words: str, junit: str = "", limit_s: int = 30) -> Step:
    return Step("a step", ["/bin/sh", "-c", words], Path("/"), junit=junit, limit_s=limit_s)


def writes(runner: Runner, cases: str, then: str = "true") -> Step:
    return shell(f"cat >'{runner.junit}/a.xml' <<'END'\n{cases}\nEND\n{then}", junit="a.xml")


@pytest.mark.parametrize(("words", "counts"), [("true", Counts(passed=1)), ("exit 3", Counts(failed=1)), ("kill -9 $$", Counts(failed=1))])
def test_a_plain_step_is_one_test(runner: Runner, words: str, counts: Counts) -> None:
    assert runner.one(shell(words)).counts == counts


@pytest.mark.parametrize(
    ("cases", "then", "counts"),
    [
        (PASSED + PASSED + SKIPPED, "true", Counts(2, 0, 1)),
        (PASSED + FAILED + BROKEN, "exit 1", Counts(1, 2, 0)),
        (PASSED, "exit 1", Counts(1, 1, 0)),  # it broke after its tests
        ("", "true", Counts(0, 1, 0)),  # it ran no test
        (SKIPPED, "true", Counts(0, 1, 1)),  # it ran none either
        (PASSED + "<", "true", Counts(0, 1, 0)),  # half a file
    ],
)
def test_a_step_with_junit_is_its_test_cases(runner: Runner, cases: str, then: str, counts: Counts) -> None:
    assert runner.one(writes(runner, JUNIT.format(cases), then)).counts == counts


def test_a_step_whose_junit_never_came_has_failed(runner: Runner) -> None:
    assert runner.one(shell("true", junit="a.xml")).counts == Counts(failed=1)


def test_a_step_whose_command_is_not_there_has_failed(runner: Runner) -> None:
    step = Step("a step", ["/nowhere/to/be/found"], Path("/"))
    assert runner.one(step).counts == Counts(failed=1)


def test_what_an_earlier_run_left_does_not_count(runner: Runner) -> None:
    runner.one(writes(runner, JUNIT.format(PASSED)))
    later = Runner(runner.logs, runner.junit)
    assert later.one(shell("true", junit="a.xml")).counts == Counts(failed=1)


def test_a_step_that_takes_too_long_is_ended_with_its_children(runner: Runner, tmp_path: Path) -> None:
    started = time.monotonic()
    result = runner.one(shell(f"(sleep 60; touch '{tmp_path}/late') & sleep 60", limit_s=1))
    assert result.counts == Counts(failed=1)
    assert result.note == "ended after 1 s"
    assert time.monotonic() - started < 30


def test_all_steps_run_after_a_failure(runner: Runner) -> None:
    steps = [shell("false"), shell("true"), shell("false"), shell("true")]
    assert sum(result.counts.passed for result in runner.all(steps, at_once=2)) == 2


@pytest.mark.parametrize(
    ("results", "status", "last_line"),
    [
        ([Counts(3)], 0, "3 passed, 0 failed"),
        ([Counts(3, 0, 2), Counts(1)], 0, "4 passed, 0 failed, 2 skipped"),
        ([Counts(3), Counts(0, 1)], 1, "3 passed, 1 failed"),
        ([], 1, "0 passed, 0 failed"),
        ([Counts(0, 0, 4)], 1, "0 passed, 0 failed, 4 skipped"),
    ],
)
def test_the_last_line_and_the_exit_status(results: list[Counts], status: int, last_line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert finish([Result("a step", counts) for counts in results]) == status
    assert capsys.readouterr().out.splitlines()[-1] == last_line
