# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A converge in check mode has run. Neither it nor an audit may have written anything."""

from __future__ import annotations

import pytest

import machine
import plays
import snapshot


@pytest.fixture(scope="module")
def audit() -> plays.Run:
    return plays.audit()


def test_audit_says_what_was_never_applied(audit: plays.Run) -> None:
    assert audit.status != 0
    assert audit.document["verdict"] == "drift"
    assert {result["cause"] for result in audit.drift.values()} == {"never_applied"}
    said = {name: audit.results[name]["state"] for name in EXPECTED}
    assert said == EXPECTED


EXPECTED = {
    "sysctl/vm.swappiness": "live_wrong",
    "sysctl/net.ipv4.tcp_rmem": "live_wrong",
    "sysctl/net.ipv4.conf.eth0.rp_filter": "live_wrong",
    "sysctl/kernel.pid_max": "ok",  # the distribution sees to it
    "sysctl/kernel.threads-max": "not_applicable",  # for machines with more memory
    "transparent_hugepage/enabled": "live_wrong",
    "transparent_hugepage/defrag": "unpersisted",  # right by the kernel's default, which no file keeps
}


def test_the_command_line_is_named_as_owner_of_huge_pages(audit: plays.Run) -> None:
    result = audit.results["transparent_hugepage/enabled"]
    assert result["winner"] == {"from": "/proc/cmdline", "owner": "kernel command line"}
    assert result["views"]["persisted"] == {"value": "always", "from": "/proc/cmdline"}


def test_check_mode_and_audit_wrote_nothing(here: machine.Machine, audit: plays.Run) -> None:
    assert snapshot.differences(snapshot.kept(here, "first"), snapshot.take(here)) == []
