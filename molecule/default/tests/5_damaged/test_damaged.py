# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage by plain tools (damage.yml), round by round: named exactly, mended as far as it is ours to mend."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import machine
import plays
import snapshot

DISTRO = os.environ.get("DISTRO", "bookworm")
TABLE = yaml.safe_load(Path(__file__).parents[2].joinpath("damage.yml").read_text())
ROUNDS = [one for one in TABLE["rounds"] if one.get("only", DISTRO) == DISTRO]
# As the boot does it: the oracle for what the audit says about the next boot.
BOOT_SETTINGS = [
    "/usr/lib/systemd/systemd-sysctl", ";",
    "systemd-tmpfiles", "--create", "--prefix=/sys/kernel/mm/transparent_hugepage", ";", "true",
]  # fmt: skip

Said = dict[str, dict[str, str]]


class Damaged(NamedTuple):
    cases: list[dict[str, Any]]
    before: snapshot.Snapshot | None
    audit: plays.Run


@pytest.fixture(scope="module", params=ROUNDS, ids=lambda one: one["name"])
def damaged(request: pytest.FixtureRequest, here: machine.Machine) -> Damaged:
    cases = request.param["cases"]
    shell(here, [case["do"] for case in cases])
    before = snapshot.take(here) if request.param is ROUNDS[0] else None  # for one round; it takes a while
    return Damaged(cases, before, plays.audit())


def shell(here: machine.Machine, commands: list[str]) -> None:
    machine.ssh(here, ["sh", "-eu"], stdin="\n".join(commands))


def test_the_audit_names_exactly_the_damage(damaged: Damaged) -> None:
    expected = expectation(damaged.cases)
    assert said(damaged.audit.drift, expected) == expected
    assert damaged.audit.document["verdict"] == "drift"
    assert damaged.audit.status != 0


def test_each_role_alone_in_check_mode_says_the_same(damaged: Damaged) -> None:
    alone = plays.roles_in_check_mode("sysctl", "transparent_hugepage")
    assert set(alone) == {"sysctl", "transparent_hugepage"}
    for role, results in alone.items():
        together = {name: summary(result) for name, result in damaged.audit.results.items() if name.startswith(f"{role}/")}
        assert {name: summary(result) for name, result in results.items()} == together


def summary(result: dict[str, Any]) -> dict[str, Any]:
    return {field: result.get(field) for field in ("state", "cause", "winner", "views")}


def test_looking_at_a_damaged_machine_writes_nothing(here: machine.Machine, damaged: Damaged) -> None:
    if damaged.before is None:
        pytest.skip("compared in the first round only")
    assert snapshot.differences(damaged.before, snapshot.take(here)) == []


def test_the_next_boot_would_give_what_the_audit_says(here: machine.Machine, damaged: Damaged) -> None:
    promised = {
        name: result["views"]["persisted"]["value"]
        for name, result in damaged.audit.results.items()
        if name.startswith(("sysctl/", "transparent_hugepage/"))  # what a boot gives to sessions is not seen in the kernel
        and result["views"].get("persisted", {}).get("from", "").startswith(("/etc/", "/run/", "/usr/lib/"))
    }
    before = snapshot.values_of(here, promised)
    machine.ssh(here, BOOT_SETTINGS)
    after = snapshot.values_of(here, promised)
    # What the damage has left is what is to be mended, not what this test has done.
    shell(here, [f"echo '{before[name]}' >{snapshot.kernel_file(name)}" for name in promised])
    assert len(promised) >= 2
    assert after == promised


def test_converge_mends_what_is_ours(damaged: Damaged) -> None:
    left = expectation([case for case in damaged.cases if case.get("mended", "converge") != "converge"])
    assert said(plays.converge().drift, left) == left


def test_the_rest_is_mended_by_whom_the_table_says(here: machine.Machine, damaged: Damaged) -> None:
    left = expectation([case for case in damaged.cases if case.get("mended") == "operator"])
    assert said(plays.converge(gpufleet_take_over=True).drift, left) == left
    shell(here, [case["undo"] for case in damaged.cases if "undo" in case])
    audit = plays.audit()
    assert (audit.drift, audit.document["verdict"], audit.status) == ({}, "clean", 0), audit.output


def expectation(cases: list[dict[str, Any]]) -> Said:
    return {
        setting: {field: find[field] for field in ("state", "cause", "winner", "owner") if field in find}
        for case in cases
        for find in case.get("finds", [])
        for setting in find["settings"]
    }


def said(drift: plays.Results, expected: Said) -> Said:
    """The drift in the table's words: the fields that the table asks for, and the line only where it names one."""
    everything = {"state": "", "cause": "", "winner": ""}
    return {setting: as_expected(result, expected.get(setting, everything)) for setting, result in drift.items()}


def as_expected(result: dict[str, Any], wanted: dict[str, str]) -> dict[str, str]:
    winner = result.get("winner", {"from": "none", "owner": "none"})
    origin = winner["from"] if ":" in wanted.get("winner", "") else winner["from"].split(":")[0]
    all_fields = {"state": result["state"], "cause": result["cause"], "winner": origin, "owner": winner["owner"]}
    return {field: all_fields[field] for field in wanted}
