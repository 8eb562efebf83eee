# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook revert has run."""

from __future__ import annotations

from testinfra.host import Host


def test_live(host: Host) -> None:
    assert host.sysctl("vm.swappiness") == 60
    assert host.sysctl("fs.aio-max-nr") == 65536
    assert host.sysctl("net.core.rmem_max") == 212992


def test_persisted(host: Host) -> None:
    assert not host.file("/etc/sysctl.d/zz-gpufleet.conf").exists
