# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/profiles.md says what the profiles say, and its examples are right."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import compile_for_host

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
EXAMPLES = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)]


def overrides(example: dict[str, Any]) -> dict[str, Any]:
    return {name: content for name, content in example.items() if name.startswith("gpufleet_overrides_")}


def test_the_tables_are_current() -> None:
    tool = runpy.run_path(str(ROOT / "tests" / "tools" / "profile_table.py"))
    assert tool["page"](PAGE) == PAGE, "run: python tests/tools/profile_table.py"


@pytest.mark.parametrize("profile", ["base", "training", "inference", "benchmark", "shared"])
@pytest.mark.parametrize("example", [one for one in EXAMPLES if overrides(one)])
def test_overrides_on_the_page_can_be_copied(example: dict[str, Any], profile: str) -> None:
    variables = {**overrides(example), "gpufleet_profile": profile}
    compiled = compile_for_host(variables, _fill, [])
    for content in overrides(example).values():
        for subsystem, settings in content.items():
            wanted = {key for key, entry in settings.items() if entry is not None}
            assert wanted <= set(compiled["subsystems"][subsystem])


def test_the_profile_on_the_page_can_be_copied(tmp_path: Path) -> None:
    (text,) = (block for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S) if "extends:" in block)
    (tmp_path / "llm.yml").write_text(text, encoding="utf-8")
    compiled = compile_for_host({"gpufleet_profile": "./llm.yml"}, lambda value: value, [tmp_path])
    settings = compiled["subsystems"]["sysctl"]
    assert settings["vm.swappiness"]["rule"] == {"exact": 5}
    assert settings["kernel.panic"]["rule"] == {"exact": 60}
    assert "sysctl/vm.zone_reclaim_mode" in compiled["removed"]


def test_the_entry_on_the_page_can_be_copied() -> None:
    (entry,) = (example for example in EXAMPLES if "kernel.numa_balancing" in example)
    variables = {"gpufleet_profile": "base", "gpufleet_overrides_x": {"sysctl": entry}}
    compiled = compile_for_host(variables, lambda value: value, [])
    assert set(compiled["subsystems"]["sysctl"]["kernel.numa_balancing"]["when"]) == {"numa_nodes", "vendor", "virtualised"}


def _fill(value: Any) -> Any:
    """What Ansible would make of the one template on the page."""
    if isinstance(value, dict):
        return {key: _fill(inner) for key, inner in value.items()}
    return "512MiB" if value == "{{ rack3_buffer }}" else value
