# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role has mended the damage, and has left the file of somebody else alone."""

from __future__ import annotations

from testinfra.host import Host


def test_live(host: Host) -> None:
    assert host.sysctl("vm.swappiness") == 1
    assert host.sysctl("fs.aio-max-nr") == 1048576
    assert host.sysctl("net.core.rmem_max") == 268435456


def test_persisted(host: Host) -> None:
    lines = host.file("/etc/sysctl.d/zz-gpufleet.conf").content_string.splitlines()
    assert {"vm.swappiness = 1", "fs.aio-max-nr = 1048576", "net.core.rmem_max = 268435456"} <= set(lines)
    assert host.file("/etc/sysctl.d/zzz-scenario.conf").content_string == "net.core.rmem_max = 1\n"


def test_only_this_role_has_worked(host: Host) -> None:
    assert "[always]" in host.file("/sys/kernel/mm/transparent_hugepage/enabled").content_string
    assert not host.file("/etc/tmpfiles.d/00-gpufleet.conf").exists
