# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the engine's tests, and how many inputs hypothesis tries.

In CI (`CI=true`) each parser gets 10,000 on the oldest Python and on one of the newest, and 1,000 on those between; elsewhere few.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator
from unittest import mock

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import ROOT_APPLY, Host
from hypothesis import HealthCheck, settings

from asking import SYSCTL, THP, ask_well
from machines import Machine, build
from machines.kernel import Kernel

HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
MANY = 10000 if sys.version_info[:2] in ((3, 6), (3, 13)) else 1000
# CI takes the same inputs each time, so that what it finds can be found again; here each run looks at others.
settings.register_profile("ci", max_examples=MANY, derandomize=True, deadline=None, database=None, suppress_health_check=HEALTH)
settings.register_profile("here", max_examples=60, deadline=None, database=None, suppress_health_check=HEALTH)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")


MEMORY = "/dev/shm"


def pytest_configure() -> None:
    """Machines are many small files: they are made in memory where there is room for them."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 32 << 20:
        tempfile.tempdir = MEMORY


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """As pytest's, but nothing is left behind."""
    yield tmp_path
    shutil.rmtree(str(tmp_path), ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def _apply_on_made_machines() -> Iterator[None]:
    """The engine changes nothing below another root than / unless it is told that this is a test."""
    os.environ[ROOT_APPLY] = "1"
    yield
    del os.environ[ROOT_APPLY]


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug of a test."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return build(tmp_path / "machine")


@pytest.fixture
def kernel(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """The machine with a simulated kernel, so that writes have the consequences that a kernel gives them."""
    made = Kernel(machine)
    monkeypatch.setattr(Host, "write_live", made.write_live)
    return made


@pytest.fixture(scope="session")
def _template(tmp_path_factory: Any) -> Machine:
    machine = build(tmp_path_factory.mktemp("template") / "machine")
    with mock.patch.object(Host, "write_live", Kernel(machine).write_live):
        response = ask_well(machine, "apply", SYSCTL, THP, run_id="converge")
    assert {result["state"] for result in response["results"].values()} == {"ok"}
    return machine


@pytest.fixture
def converged(_template: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which an apply of `asking.SYSCTL` and `asking.THP` has made everything right; its kernel is simulated."""
    machine = _template.copy(str(tmp_path / "converged"))
    monkeypatch.setattr(Host, "write_live", Kernel(machine).write_live)
    return machine
