# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role has mended the damage, and has left the file of somebody else alone."""

from __future__ import annotations

from testinfra.host import Host

KNOBS = "/sys/kernel/mm/transparent_hugepage/"


def test_live(host: Host) -> None:
    assert host.file(f"{KNOBS}enabled").content_string == "always [madvise] never\n"
    assert host.file(f"{KNOBS}khugepaged/pages_to_scan").content_string == "8192\n"
    assert host.file(f"{KNOBS}khugepaged/max_ptes_none").content_string == "255\n"


def test_persisted(host: Host) -> None:
    lines = host.file("/etc/tmpfiles.d/00-gpufleet.conf").content_string.splitlines()
    assert {f"w {KNOBS}enabled - - - - madvise", f"w {KNOBS}khugepaged/pages_to_scan - - - - 8192"} <= set(lines)
    assert host.file("/etc/tmpfiles.d/00-a-scenario.conf").content_string == f"w {KNOBS}defrag - - - - never\n"


def test_only_this_role_has_worked(host: Host) -> None:
    assert host.sysctl("vm.swappiness") == 60
    assert not host.file("/etc/sysctl.d/zz-gpufleet.conf").exists
