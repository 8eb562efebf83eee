# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples on the pages of hardware and services are profiles that are accepted, and say what they seem to say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import compile_for_host

DOCS = Path(__file__).parents[4] / "docs"


def compiled(page: str) -> dict[str, Any]:
    """What the one example of a page makes of the smallest profile."""
    (example,) = re.findall(r"^```yaml\n(.*?)^```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.M | re.S)
    variables = {"gpufleet_profile": "base", **yaml.safe_load(example)}
    subsystem: dict[str, Any] = compile_for_host(variables, lambda value: value, [])["subsystems"][page]
    return subsystem


def test_an_eight_gpu_server() -> None:
    settings = compiled("hardware")
    assert len(settings) == 19
    assert settings["accelerators/10de:2330"]["rule"] == {"exact": 8}
    assert settings["memory_bytes"]["rule"] == {"at_least": 1970 << 30}
    assert settings["smt"]["rule"] == {"exact": "on"}
    assert settings["device_nodes/nvidia"]["rule"] == {"exact": "0666 root:root"}
    assert settings["firmware/bios"]["rule"] == {"one_of": ["2.1", "2.3"], "set": "2.3"}


def test_a_server_with_a_fabric() -> None:
    settings = compiled("services")
    assert settings["nvidia-fabricmanager/running"]["disturbs"] == "job"
    assert settings["nvidia-dcgm/running"]["mend"] == "never"
    assert set(settings["nvidia-persistenced/running"]["rule"]) == {"exact"}


@pytest.mark.parametrize(
    ("subsystem", "typed", "setting", "value"),
    [
        ("services", "fabric-manager/running", "nvidia-fabricmanager/running", "active"),
        ("services", "dcgm.service/enabled", "nvidia-dcgm/enabled", "enabled"),
        ("services", "slurmd/running", "slurmd/running", "active"),
        ("services", "fstrim.timer/enabled", "fstrim.timer/enabled", "enabled"),
        ("hardware", "accelerators/other", "accelerators/other", 1),
        ("hardware", "link_width/nics/15b3:1021", "link_width/nics/15b3:1021", "max"),
        ("hardware", "link_speed/accelerators/nvidia", "link_speed/accelerators/nvidia", 32),
        ("hardware", "link_speed/nvme", "link_speed/nvme", "2.5"),
        ("hardware", "device_nodes/ascend", "device_nodes/ascend", "0660"),
    ],
)
def test_one_spelling(subsystem: str, typed: str, setting: str, value: Any) -> None:
    variables = {"gpufleet_profile": "base", "gpufleet_overrides_x": {subsystem: {typed: {"exact": value, "impact": "hygiene"}}}}
    assert compile_for_host(variables, lambda value: value, [])["subsystems"][subsystem][setting]["rule"] == {"exact": value}


def test_a_name_that_looks_like_a_slip_and_is_none() -> None:
    entry = {"exact": "active", "impact": "hygiene", "trust_name": True}
    variables = {"gpufleet_overrides_x": {"services": {"nvidia-dcgmi/running": entry}}}
    assert "nvidia-dcgmi/running" in compile_for_host(variables, lambda value: value, [])["subsystems"]["services"]
