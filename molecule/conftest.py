# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of all scenarios share: the machine, and where their JUnit files go."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "vm"))

import machine  # noqa: E402 (found through the line above)

DISTRO = os.environ.get("DISTRO", "bookworm")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A JUnit file for each stop of each scenario, named after its folder."""
    folder = Path(os.environ.get("GPUFLEET_JUNIT", ROOT / ".cache" / "junit"))
    scenario = os.environ.get("MOLECULE_SCENARIO_NAME", "alone")
    stop = Path(config.args[0]).parent.name if config.args else "all"
    config.option.xmlpath = str(folder / f"vm-{DISTRO}-{scenario}-{stop}.xml")


@pytest.fixture(scope="session")
def here() -> machine.Machine:
    found = machine.running(DISTRO)
    if found is None:
        pytest.exit(f"no {DISTRO} machine runs: tests/vm/vm up", returncode=1)
    return found
