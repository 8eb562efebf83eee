# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook revert has run."""

from __future__ import annotations

from testinfra.host import Host

KNOBS = "/sys/kernel/mm/transparent_hugepage/"


def test_live(host: Host) -> None:
    assert host.file(f"{KNOBS}enabled").content_string == "[always] madvise never\n"
    assert host.file(f"{KNOBS}khugepaged/pages_to_scan").content_string == "4096\n"
    assert host.file(f"{KNOBS}khugepaged/max_ptes_none").content_string == "511\n"


def test_persisted(host: Host) -> None:
    assert not host.file("/etc/tmpfiles.d/00-gpufleet.conf").exists
