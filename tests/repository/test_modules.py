# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module is where users look for it: in the action group and in the documentation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py") if path.stem != "__init__")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *(ROOT / "roles").glob("*/README.md")])


def acts_on_a_node(module: str) -> bool:
    """It has code; a module that is only documentation belongs to an action plugin of the control node."""
    tree = ast.parse((ROOT / "plugins" / "modules" / f"{module}.py").read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) for node in tree.body)


def test_the_action_group_has_the_modules_that_act_on_a_node() -> None:
    runtime = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert sorted(runtime["action_groups"]["node"]) == [module for module in MODULES if acts_on_a_node(module)]


@pytest.mark.parametrize("module", MODULES)
def test_the_module_is_documented(module: str) -> None:
    paragraphs = [paragraph for page in PAGES for paragraph in page.read_text(encoding="utf-8").split("\n\n")]
    about = [paragraph for paragraph in paragraphs if re.search(rf"`(gpufleet\.node\.)?{module}`", paragraph)]
    assert any(len(paragraph.split()) > 10 for paragraph in about), f"no page says what {module} is for"
