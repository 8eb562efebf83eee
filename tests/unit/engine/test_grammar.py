# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All code that travels to a node is code for the Python that runs this test."""

from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
NODE_CODE = sorted([*(PLUGINS / "modules").rglob("*.py"), *(PLUGINS / "module_utils").rglob("*.py")])


def test_there_is_node_code() -> None:
    assert len(NODE_CODE) > 10


@pytest.mark.parametrize("path", NODE_CODE, ids=str)
def test_it_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
