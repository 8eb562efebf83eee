# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Habits that every file keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LICENCE = """\
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
PYTHON_FILES = sorted(
    str(path.relative_to(ROOT)) for folder in ("plugins", "tests", "molecule", "extensions") for path in (ROOT / folder).rglob("*.py")
)
REQUIREMENTS = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("requirements*.txt"), *ROOT.glob("tests/requirements/*.txt")])


@pytest.mark.parametrize("path", PYTHON_FILES)
def test_a_python_file_begins_with_its_licence(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not text or re.sub(r"\A#!.*\n", "", text).startswith(LICENCE)  # an empty __init__.py has nothing to license


@pytest.mark.parametrize("path", REQUIREMENTS)
def test_every_requirement_is_pinned(path: str) -> None:
    lines = [line for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line and not line.startswith(("#", "-r "))]
    assert lines
    assert [line for line in lines if not re.match(r"[A-Za-z0-9-]+==[0-9.]+(; python_version .*)?$", line)] == []


def test_the_licence_is_there() -> None:
    assert (ROOT / "COPYING").read_text(encoding="utf-8").lstrip().startswith("GNU GENERAL PUBLIC LICENSE")
