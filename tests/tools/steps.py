# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the steps of a test run side by side, says how each went and adds up what they counted.

A step is a command. One that writes JUnit files counts as the tests in them, any other as one test.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

TAIL_LINES = 40


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


@dataclass(frozen=True)
class Step:
    name: str
    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str | Path] = field(default_factory=dict)
    junit: str = ""  # names the JUnit files that the command writes, as a glob in the junit folder
    limit_s: int = 1800


@dataclass(frozen=True)
class Result:
    name: str
    counts: Counts
    seconds: float = 0.0
    log: Path | None = None
    note: str = ""


class Runner:
    """Where logs and JUnit files go, and what runs at the moment."""

    def __init__(self, logs: Path, junit: Path) -> None:
        self.logs = logs
        self.junit = junit
        self.running: set[subprocess.Popen[bytes]] = set()
        for folder in (logs, junit):
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.iterdir():
                old.unlink()

    def all(self, steps: Iterable[Step], at_once: int) -> Iterator[Result]:
        """The result of each step, as they end. They start in the order that they are in."""
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            futures = [pool.submit(self.one, step) for step in steps]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in list(self.running):
                    end(child)
                raise

    def one(self, step: Step) -> Result:
        log = self.logs / f"{step.name.replace(' ', '-').replace('/', '-')}.log"
        started = time.monotonic()
        status = self.execute(step, log)
        counts = self.count(step, status)
        return Result(step.name, counts, time.monotonic() - started, log, note_on(status, step))

    def execute(self, step: Step, log: Path) -> int | None:
        """The exit status, or None when the step took too long and was ended."""
        environment = {**os.environ, **{name: str(value) for name, value in step.environment.items()}}
        with log.open("wb") as output:
            if not shutil.which(step.command[0], path=environment["PATH"]):
                output.write(f"there is no {step.command[0]}\n".encode())
                return 127
            child = subprocess.Popen(
                [str(word) for word in step.command],
                cwd=step.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running.add(child)
            try:
                return child.wait(timeout=step.limit_s)
            except subprocess.TimeoutExpired:
                end(child)
                return None
            finally:
                self.running.discard(child)

    def count(self, step: Step, status: int | None) -> Counts:
        if not step.junit:
            return Counts(passed=1) if status == 0 else Counts(failed=1)
        counts = Counts()
        for path in sorted(self.junit.glob(step.junit)):
            counts = counts.plus(counts_in(path))
        # A command that failed with no test to show for it (or ran none at all) is a failure all the same.
        if not counts.failed and (status != 0 or not counts.passed):
            counts = counts.plus(Counts(failed=1))
        return counts


def end(child: subprocess.Popen[bytes]) -> None:
    """Ask the step and its children to end; a machine that it started needs a moment to be put away."""
    for number, grace_s in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, number)
            child.wait(timeout=grace_s)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def counts_in(path: Path) -> Counts:
    """What a JUnit file says, by its test cases and not by its own sums."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except ElementTree.ParseError:
        return Counts(failed=1)
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return Counts(len(cases) - failed - skipped, failed, skipped)


def note_on(status: int | None, step: Step) -> str:
    if status is None:
        return f"ended after {step.limit_s} s"
    return f"exit status {status}" if status else ""


def say(result: Result) -> None:
    word = "FAILED" if result.counts.failed else "ok"
    counts = str(result.counts) if result.counts != Counts(passed=1) else ""
    note = f"({result.note})" if result.note else ""
    print(f"{word:<7}{result.name:<34}{result.seconds:6.1f} s  {counts} {note}".rstrip(), flush=True)


def say_failures(results: Sequence[Result]) -> None:
    for result in results:
        if result.counts.failed and result.log and result.log.exists():
            lines = result.log.read_text(encoding="utf-8", errors="replace").splitlines()
            print(f"\n--- {result.name}: the last lines of {result.log}", *lines[-TAIL_LINES:], sep="\n")


def finish(results: Sequence[Result]) -> int:
    """The closing lines and the exit status: 0 only when something ran and nothing failed."""
    say_failures(results)
    counts = Counts()
    for result in results:
        counts = counts.plus(result.counts)
    if counts.failed:
        print("\nFailed: " + ", ".join(result.name for result in results if result.counts.failed))
    print(f"\n{counts}")
    sys.stdout.flush()
    return 0 if counts.passed and not counts.failed else 1
