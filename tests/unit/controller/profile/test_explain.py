# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What explain says, and what a waiver that has ended says."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils import profile

OVERRIDES = {
    "gpufleet_overrides_10_fleet": {"sysctl": {"vm.swappiness": {"at_least": 2}, "vm.zone_reclaim_mode": None}},
    "gpufleet_overrides_20_rack": {
        "sysctl": {
            "vm.swappiness": 5,
            "kernel.numa_balancing": {"owner": "leave"},
            "fs.aio-max-nr": {"waive": {"reason": "old storage driver", "until": "2026-06-30", "ticket": "OPS-1"}},
        }
    },
}


def compiled() -> dict[str, Any]:
    return profile.compile_for_host(OVERRIDES, lambda value: value, [])


def test_one_setting_with_all_that_lost() -> None:
    lines = profile.explain(compiled(), "sysctl/vm.swappiness")
    assert lines[:4] == [
        "sysctl/vm.swappiness",
        "  rule         exactly 5",
        "  given by     variable gpufleet_overrides_20_rack",
        "  impact       performance, disturbs nothing",
    ]
    assert lines[4].startswith("  why          A process whose pages")
    assert lines[5:7] == [
        "  source       Documentation/admin-guide/sysctl/vm.rst",
        "  lost         at least 2, variable gpufleet_overrides_10_fleet",
    ]
    assert lines[7].startswith("  lost         0 to 10, else write 1, profile base (roles/profile/files/base.yml:")
    assert len(lines) == 8


def test_the_name_without_its_subsystem_is_enough() -> None:
    assert profile.explain(compiled(), "vm.swappiness") == profile.explain(compiled(), "sysctl/vm.swappiness")


def test_conditions_owners_and_waivers() -> None:
    assert "  when         numa_nodes at least 2" in profile.explain(compiled(), "kernel.numa_balancing")
    assert "  owner        somebody else: compared, never written" in profile.explain(compiled(), "kernel.numa_balancing")
    assert "  mend         never: checked only" in profile.explain(compiled(), "vm.dirty_ratio")
    assert "  waived       until 2026-06-30, ticket OPS-1: old storage driver" in profile.explain(compiled(), "fs.aio-max-nr")


def test_what_was_taken_out_is_told() -> None:
    lines = profile.explain(compiled(), "sysctl/vm.zone_reclaim_mode")
    assert lines[1] == "  removed by   variable gpufleet_overrides_10_fleet"
    assert lines[2].startswith("  lost         exactly 0, profile base (")


def test_all_of_them_and_a_subsystem() -> None:
    everything = profile.explain(compiled())
    heads = [line for line in everything if not line.startswith(" ")]
    assert heads == sorted([*compiled()["about"], "sysctl/vm.zone_reclaim_mode"])
    huge = [line for line in profile.explain(compiled(), "transparent_hugepage") if not line.startswith(" ")]
    assert huge == ["transparent_hugepage/defrag", "transparent_hugepage/enabled"]


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("sysctl/vm.swapiness", "sysctl/vm.swappiness"),
        ("vm.swapiness", "sysctl/vm.swappiness"),
        ("transparent_hugepage/enable", "transparent_hugepage/enabled"),
        ("%%%", None),
    ],
)
def test_an_unknown_setting_and_the_nearest_name(asked: str, nearest: str | None) -> None:
    with pytest.raises(profile.InputError, match="no layer of the profile training has a setting") as caught:
        profile.explain(compiled(), asked)
    assert caught.value.nearest == nearest


@pytest.mark.parametrize(("today", "count"), [("2026-06-30", 0), ("2026-07-01", 1)])
def test_a_waiver_holds_on_its_last_day(today: str, count: int) -> None:
    notes = profile.expired_waivers(compiled(), datetime.date.fromisoformat(today))
    assert notes == ["sysctl/fs.aio-max-nr: the waiver ended on 2026-06-30 (old storage driver)"] * count
