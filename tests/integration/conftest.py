# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests run with the oldest core and the oldest Python on the node, and with the newest of both."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from machines import Machine, build
from plays import Core

ROOT = Path(__file__).resolve().parents[2]

# A profile of which a machine has enough in one line of one file.
PROFILE = """\
description: Two settings.
sysctl:
  vm.swappiness: {exact: 1, impact: performance, why: To have something to judge., source: none}
  vm.max_map_count: {at_least: 1, owner: leave, impact: hygiene, why: To have something that is always right., source: none}
"""


COLLECTIONS = Path(os.environ.get("GPUFLEET_COLLECTIONS", ROOT / ".cache" / "import"))


@pytest.fixture(scope="session", params=["oldest", "newest"])
def core(request: pytest.FixtureRequest) -> Core:
    return newest_core() if request.param == "newest" else oldest_core()


@pytest.fixture(scope="session")
def newest() -> Core:
    """For what no core can make a difference to, since minutes are dear."""
    return newest_core()


def newest_core() -> Core:
    commands = Path(os.environ.get("GPUFLEET_ANSIBLE_NEWEST", Path(sys.executable).parent))
    return Core("newest", commands, commands / "python", COLLECTIONS)


def oldest_core() -> Core:
    if "GPUFLEET_ANSIBLE_216" not in os.environ or "GPUFLEET_PYTHON36" not in os.environ:
        pytest.skip("GPUFLEET_ANSIBLE_216 and GPUFLEET_PYTHON36 do not say where ansible-core 2.16 and Python 3.6 are")
    return Core("oldest", Path(os.environ["GPUFLEET_ANSIBLE_216"]), Path(os.environ["GPUFLEET_PYTHON36"]), COLLECTIONS)


def profile(folder: Path) -> str:
    path = folder / "mine.yml"
    path.write_text(PROFILE, encoding="utf-8")
    return str(path)


def right_machine(folder: Path) -> Machine:
    """A machine that the profile has nothing to say against."""
    machine = build(folder)
    machine.sysctl("vm.swappiness", 1)
    machine.write("/etc/sysctl.d/50-site.conf", "vm.swappiness = 1\n")
    return machine


def wrong_machine(folder: Path) -> Machine:
    machine = right_machine(folder)
    machine.sysctl("vm.swappiness", 60)
    return machine
