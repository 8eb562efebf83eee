# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules, values, conditions and names, one by one."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import Layer, ProfileError, compile_layers


def compiled_entry(subsystem: str, key: str, given: Any) -> tuple[str, dict[str, Any]]:
    result = compile_layers("x", [Layer("profile x", {subsystem: {key: given}}, file="x.yml")])
    ((name, entry),) = result["subsystems"][subsystem].items()
    return name, entry


def rule(given: dict[str, Any], key: str = "kernel.core_pattern") -> Any:
    return compiled_entry("sysctl", key, {**given, "impact": "hygiene"})[1]["rule"]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (1, 1),
        (-1, -1),
        (0, 0),
        ("12", 12),
        (" 12 ", 12),
        ("8GiB", 8589934592),
        ("1 KiB", 1024),
        ("2TiB", 2199023255552),
        ([4096, 87380, "256MiB"], "4096 87380 268435456"),
        ("4096\t87380   268435456", "4096 87380 268435456"),
        ([7], 7),
        ("|/usr/bin/dump %p", "|/usr/bin/dump %p"),
        ("007", "007"),
        ("0-3,8", "0-3,8"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_values(given: object, value: object) -> None:
    result = rule({"exact": given})["exact"]
    assert (result, type(result)) == (value, type(value))


@pytest.mark.parametrize(
    "given",
    [None, True, 1.0, [], [[1]], {}, "", "  ", "8G", "8GB", "1.5GiB", "8kb", "a\nb", "a\x00b", datetime.date(2027, 1, 1), "{% if x %}"],
)
def test_values_that_are_none(given: object) -> None:
    with pytest.raises(ProfileError):
        rule({"exact": given})


@pytest.mark.parametrize(
    ("given", "compiled"),
    [
        ({"exact": "a"}, {"exact": "a"}),
        ({"at_least": "1KiB"}, {"at_least": 1024}),
        ({"at_least": [1, 2]}, {"at_least": "1 2"}),
        ({"between": ["1", 3], "set": 3}, {"between": [1, 3], "set": 3}),
        ({"between": [2, 2], "set": 2}, {"between": [2, 2], "set": 2}),
        ({"one_of": ["a", 1], "set": "1"}, {"one_of": ["a", 1], "set": 1}),
        ({"one_of": [[1, 2], [3, 4]], "set": "3 4"}, {"one_of": ["1 2", "3 4"], "set": "3 4"}),
    ],
)
def test_rules(given: dict[str, Any], compiled: dict[str, Any]) -> None:
    assert rule(given) == compiled


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("vm.swappiness", "vm.swappiness"),
        ("vm/swappiness", "vm.swappiness"),
        ("net.ipv4.conf.eth0/100.rp_filter", "net.ipv4.conf.eth0/100.rp_filter"),
        ("net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter"),
        ("net.ipv4.conf.all.rp_filter", "net.ipv4.conf.all.rp_filter"),
        ("net.ipv6.neigh.bond0.retrans_time_ms", "net.ipv6.neigh.bond0.retrans_time_ms"),
        ("net.ipv4.conf.eth0.some_new_key", "net.ipv4.conf.eth0.some_new_key"),
        ("vm.a_key_of_a_vendor", "vm.a_key_of_a_vendor"),
        ("net.rdma.something", "net.rdma.something"),
        ("kernel.sched_energy_aware", "kernel.sched_energy_aware"),
        ("dev.raid.speed_limit_max", "dev.raid.speed_limit_max"),
    ],
)
def test_names_of_sysctl(key: str, name: str) -> None:
    assert compiled_entry("sysctl", key, {"exact": 1, "impact": "hygiene"})[0] == name


def test_a_name_near_to_another_can_be_vouched_for() -> None:
    entry = {"exact": 1, "impact": "hygiene"}
    with pytest.raises(ProfileError, match=r"trust_name: true.*nearest valid name: vm\.swappiness"):
        compiled_entry("sysctl", "vm.swappiness2", entry)
    name, trusted = compiled_entry("sysctl", "vm.swappiness2", {**entry, "trust_name": True})
    assert name == "vm.swappiness2"
    assert "trust_name" not in trusted


@pytest.mark.parametrize("key", ["vm.nr_hugepages", "fs.file-nr", "a.b", "vm.swap*", "vm..x", "vm. x", "vm", "x=y"])
def test_vouching_does_not_open_every_door(key: str) -> None:
    trusted = key in ("a.b", "vm")
    if trusted:
        assert compiled_entry("sysctl", key, {"exact": 1, "impact": "hygiene", "trust_name": True})[0] == key
    else:
        with pytest.raises(ProfileError):
            compiled_entry("sysctl", key, {"exact": 1, "impact": "hygiene", "trust_name": True})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", "never"),
        ("defrag", "defer+madvise"),
        ("shmem_enabled", "within_size"),
        ("shrink_underused", 1),
        ("khugepaged/max_ptes_none", 511),
        ("khugepaged/scan_sleep_millisecs", 10000),
        ("hugepages-64kB/enabled", "inherit"),
        ("hugepages-2048kB/shmem_enabled", "advise"),
    ],
)
def test_names_of_transparent_hugepage(key: str, value: object) -> None:
    assert compiled_entry("transparent_hugepage", key, {"exact": value, "impact": "hygiene"})[1]["rule"] == {"exact": value}


@pytest.mark.parametrize(
    ("given", "compiled"),
    [
        ({"vendor": "NVIDIA*"}, {"vendor": "NVIDIA*"}),
        ({"product": ["DGX*", "HGX?"]}, {"product": ["DGX*", "HGX?"]}),
        ({"architecture": "aarch64"}, {"architecture": "aarch64"}),
        ({"architecture": "*64"}, {"architecture": "*64"}),
        ({"distribution": ["debian", "ubuntu"]}, {"distribution": ["debian", "ubuntu"]}),
        ({"virtualised": False}, {"virtualised": False}),
        ({"virtualised": "True"}, {"virtualised": True}),
        ({"numa_nodes": "2"}, {"numa_nodes": 2}),
        ({"cpus": [8, 16]}, {"cpus": [8, 16]}),
        ({"memory_bytes": {"at_least": "256GiB"}}, {"memory_bytes": {"at_least": 274877906944}}),
        ({"memory_bytes": {"between": ["1GiB", "2GiB"]}}, {"memory_bytes": {"between": [1073741824, 2147483648]}}),
        ({"page_size": {"one_of": [4096, 16384]}}, {"page_size": {"one_of": [4096, 16384]}}),
    ],
)
def test_conditions(given: dict[str, Any], compiled: dict[str, Any]) -> None:
    entry = compiled_entry("sysctl", "vm.swappiness", {"exact": 1, "impact": "hygiene", "when": given})[1]
    assert entry["when"] == compiled


@pytest.mark.parametrize("until", ["2027-01-31", datetime.date(2027, 1, 31)])
def test_waivers(until: object) -> None:
    waive = {"reason": " broken  board ", "until": until, "serial": 4711}
    entry = compiled_entry("sysctl", "vm.swappiness", {"exact": 1, "impact": "hygiene", "waive": waive})[1]
    assert entry["waive"] == {"reason": "broken  board", "until": "2027-01-31", "serial": "4711"}
