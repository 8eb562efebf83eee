# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another boot of the mended machine: everything is in force again, without anybody doing anything."""

from __future__ import annotations

import pytest

import machine
import plays
import snapshot


@pytest.fixture(scope="module", autouse=True)
def _reboot(here: machine.Machine) -> None:
    if here.distro != "bookworm":
        pytest.skip("a shorter way: no reboot on this distribution")
    machine.reboot(here)


def test_the_kernel_has_the_values(here: machine.Machine) -> None:
    converged = snapshot.kept(here, "converged")["kernel"]
    booted = snapshot.take(here)["kernel"]
    assert {path: booted[path] for path in PATHS} == {path: converged[path] for path in PATHS}


PATHS = [
    "/proc/sys/vm/swappiness",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/fs/aio-max-nr",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/net/core/rmem_max",
    "/proc/sys/net/core/wmem_max",
    "/proc/sys/net/core/netdev_max_backlog",
    "/proc/sys/net/ipv4/tcp_rmem",
    "/proc/sys/net/ipv4/tcp_wmem",
    "/proc/sys/net/ipv4/conf/eth0/rp_filter",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan",
]


def test_audit_is_clean() -> None:
    audit = plays.audit()
    assert (audit.drift, audit.document["verdict"], audit.status) == ({}, "clean", 0), audit.output
