# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profiles that come with the collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import compile_for_host
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.subsystems import SUBSYSTEMS

FILES = Path(__file__).parents[4] / "roles" / "profile" / "files"
NAMES = ("base", "training", "inference", "benchmark", "shared")

# What the mended entries may do to a running job: nothing, but for these.
JITTER = {"transparent_hugepage/enabled", "transparent_hugepage/defrag"}


def compiled(name: str, **overrides: Any) -> dict[str, Any]:
    return compile_for_host({"gpufleet_profile": name, **overrides}, lambda value: value, [])


def entries(name: str) -> dict[str, dict[str, Any]]:
    subsystems = compiled(name)["subsystems"]
    return {f"{subsystem}/{key}": entry for subsystem, settings in subsystems.items() for key, entry in settings.items()}


def test_these_and_no_others() -> None:
    assert {path.name for path in FILES.iterdir()} == {f"{name}.yml" for name in NAMES}


def test_training_is_the_default() -> None:
    assert compile_for_host({}, lambda value: value, [])["profile"] == "training"


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_says_why_and_after_what(name: str) -> None:
    for setting, about in compiled(name)["about"].items():
        assert about.get("why"), setting
        assert about.get("source"), setting


@pytest.mark.parametrize("name", NAMES)
def test_nothing_mended_disturbs_a_job(name: str) -> None:
    assert {setting for setting, entry in entries(name).items() if entry["disturbs"] != "nothing"} == JITTER
    assert all(entries(name)[setting]["disturbs"] == "jitter" for setting in JITTER)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_files_say_is_what_is_compiled(name: str) -> None:
    """The last file that has an entry gives its rule, read here with nothing but PyYAML."""
    chain: list[dict[str, Any]] = []
    following: str | None = name
    while following:
        chain.insert(0, yaml.safe_load((FILES / f"{following}.yml").read_text(encoding="utf-8")))
        following = chain[0].get("extends")
    given = {
        f"{subsystem}/{setting}": entry
        for content in chain
        for subsystem, settings in content.items()
        if isinstance(settings, dict)
        for key, entry in settings.items()
        for setting in SUBSYSTEMS[subsystem].spread(key)
    }
    assert set(entries(name)) == set(given)
    assert all(next(iter(entries(name)[setting]["rule"])) in given[setting] for setting in given)


# What a node is brought to, by hand from the facts that the profiles are made of: never lower, exact, or looked at only.
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("setting", "rule"),
    [
        ("sysctl/vm.max_map_count", {"at_least": 1048576}),
        ("sysctl/kernel.shmmax", {"at_least": 1099511627776}),
        ("sysctl/kernel.shmall", {"at_least": 268435456}),
        ("sysctl/kernel.pid_max", {"at_least": 4194304}),
        ("sysctl/fs.file-max", {"at_least": 2097152}),
        ("sysctl/fs.nr_open", {"at_least": 1048576}),
        ("sysctl/fs.aio-max-nr", {"at_least": 1048576}),
        ("sysctl/net.core.rmem_max", {"at_least": 268435456}),
        ("sysctl/net.core.wmem_max", {"at_least": 268435456}),
        ("sysctl/net.ipv4.tcp_rmem", {"at_least": "4096 87380 268435456"}),
        ("sysctl/net.ipv4.tcp_wmem", {"at_least": "4096 16384 268435456"}),
        ("sysctl/net.core.netdev_max_backlog", {"at_least": 30000}),
    ],
)
def test_floors_are_floors_everywhere(name: str, setting: str, rule: dict[str, Any]) -> None:
    assert entries(name)[setting]["rule"] == rule
    assert entries(name)[setting]["mend"] == "always"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["vm.dirty_ratio", "vm.dirty_background_ratio", "vm.zone_reclaim_mode", "vm.overcommit_memory"])
def test_what_is_only_looked_at(name: str, key: str) -> None:
    assert entries(name)[f"sysctl/{key}"]["mend"] == "never"


@pytest.mark.parametrize(
    ("name", "enabled"),
    [
        ("base", {"exact": "madvise"}),
        ("training", {"one_of": ["madvise", "always"], "set": "madvise"}),
        ("inference", {"exact": "madvise"}),
        ("benchmark", {"exact": "madvise"}),
        ("shared", {"exact": "madvise"}),
    ],
)
def test_transparent_huge_pages(name: str, enabled: dict[str, Any]) -> None:
    assert entries(name)["transparent_hugepage/enabled"]["rule"] == enabled
    assert "always" not in str(entries(name)["transparent_hugepage/defrag"]["rule"])


@pytest.mark.parametrize(
    ("name", "rule", "mend"),
    [
        ("training", {"exact": 0}, "always"),
        ("benchmark", {"exact": 0}, "always"),
        ("shared", {"one_of": [1, 2, 3], "set": 1}, "never"),
    ],
)
def test_numa_balancing_where_there_is_something_to_balance(name: str, rule: dict[str, Any], mend: str) -> None:
    entry = entries(name)["sysctl/kernel.numa_balancing"]
    assert (entry["rule"], entry["mend"], entry["when"]) == (rule, mend, {"numa_nodes": {"at_least": 2}})


@pytest.mark.parametrize("name", ["base", "inference"])
def test_numa_balancing_is_left_alone_elsewhere(name: str) -> None:
    assert "sysctl/kernel.numa_balancing" not in entries(name)


def test_benchmark_has_one_value_where_a_range_would_change_a_measurement() -> None:
    assert all("exact" in entry["rule"] or "at_least" in entry["rule"] for entry in entries("benchmark").values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "overrides",
    [
        {
            "vm.dirty_bytes": {"exact": "8GiB", "impact": "performance"},
            "vm.dirty_background_bytes": {"exact": "2GiB", "impact": "performance"},
        },
        {"vm.dirty_ratio": 5, "vm.dirty_background_ratio": 2},
        {"vm.zone_reclaim_mode": 1},
    ],
)
def test_what_is_offered_as_opt_in_is_accepted(name: str, overrides: dict[str, Any]) -> None:
    result = compiled(name, gpufleet_overrides_opt_in={"sysctl": overrides})["subsystems"]["sysctl"]
    assert all(result[key]["mend"] == "always" for key in overrides)
