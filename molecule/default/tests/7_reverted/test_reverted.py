# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook revert has run: the values from before the first converge are back, and so are the lines of others that were put aside."""

from __future__ import annotations

from testinfra.host import Host

import machine
import plays
import snapshot

# What the kernel chooses anew at each boot.
BY_BOOT = {"/proc/sys/kernel/random/boot_id", "/proc/sys/net/ipv4/tcp_fastopen_key", "/proc/sys/vm/user_reserve_kbytes"}


def test_the_kernel_has_its_first_values(here: machine.Machine) -> None:
    found = snapshot.kernel_differences(snapshot.kept(here, "first"), snapshot.take(here))
    assert [line for line in found if line.split(":")[0] not in BY_BOOT] == []


def test_our_files_give_nothing(host: Host) -> None:
    for path in ("/etc/security/limits.d/zz-gpufleet.conf", "/etc/sysctl.d/zz-gpufleet.conf", "/etc/tmpfiles.d/00-gpufleet.conf"):
        file = host.file(path)
        assert not file.exists or not [line for line in file.content_string.splitlines() if line and not line.startswith("#")]


def test_lines_of_others_are_back(host: Host) -> None:
    for path, text in THEIRS.items():
        assert host.file(path).content_string == text


THEIRS = {
    "/etc/security/limits.d/zzz-late.conf": "* - memlock 64\n",
    "/etc/sysctl.d/zzz-late.conf": "net.core.netdev_max_backlog = 1000\nkernel/numa_balancing = 1\n",
    "/etc/sysctl.d/zzz-twice.conf": "# tuning\nnet.core.rmem_max = 268435456\nnet.core.rmem_max = 212992\n",
    "/etc/tmpfiles.d/00-early.conf": "w /sys/kernel/mm/transparent_hugepage/defrag - - - - always\n",
}


def test_audit_says_that_nothing_is_applied() -> None:
    audit = plays.audit()
    assert {result["cause"] for result in audit.drift.values()} == {"never_applied"}
    assert audit.results["sysctl/vm.swappiness"]["state"] == "live_wrong"
