# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile is in force: read from the kernel itself and from the files, and the audit agrees."""

from __future__ import annotations

import pytest
from testinfra.host import Host

import machine
import plays
import snapshot

SYSCTL = {
    "vm.swappiness": 1,
    "vm.max_map_count": 1048576,
    "fs.aio-max-nr": 1048576,
    "net.core.rmem_max": 268435456,
    "net.core.wmem_max": 268435456,
    "net.ipv4.tcp_rmem": "4096\t131072\t268435456",  # the middle one was larger than the floor and stays
    "net.core.netdev_max_backlog": 30000,
    "net.ipv4.conf.eth0.rp_filter": 1,
    "kernel.numa_balancing": 0,
    "kernel.pid_max": 4194304,
}
HUGE_PAGES = {
    "enabled": "always [madvise] never",
    "defrag": "always defer defer+madvise [madvise] never",
    "khugepaged/max_ptes_none": "255",
    "khugepaged/pages_to_scan": "8192",
}


@pytest.mark.parametrize("key", SYSCTL)
def test_sysctl(host: Host, key: str) -> None:
    assert host.sysctl(key) == SYSCTL[key]


@pytest.mark.parametrize("knob", HUGE_PAGES)
def test_huge_pages(host: Host, knob: str) -> None:
    assert host.file(f"/sys/kernel/mm/transparent_hugepage/{knob}").content_string.strip() == HUGE_PAGES[knob]


def test_our_file_holds_only_what_nobody_else_gives(host: Host) -> None:
    ours = host.file("/etc/sysctl.d/zz-gpufleet.conf")
    assert (ours.user, ours.group, ours.mode) == ("root", "root", 0o644)
    assert "vm.swappiness = 1\n" in ours.content_string
    assert "kernel.pid_max" not in ours.content_string


def test_audit_is_clean() -> None:
    audit = plays.audit()
    assert (audit.document["verdict"], audit.drift) == ("clean", {}), audit.output
    assert audit.status == 0


def test_keep_what_it_is_like_now(here: machine.Machine) -> None:
    converged = snapshot.take(here)
    written = [path for path in converged["files"] if "gpufleet" in path]
    assert sorted(written) == [
        "/etc/security/limits.d/zz-gpufleet.conf",
        "/etc/sysctl.d/zz-gpufleet.conf",
        "/etc/tmpfiles.d/00-gpufleet.conf",
        "/run/gpufleet",
        "/run/gpufleet/lock",
        "/var/lib/gpufleet",
        "/var/lib/gpufleet/desired.json",
        "/var/lib/gpufleet/journal.jsonl",
    ]
    snapshot.keep(here, "converged", converged)
