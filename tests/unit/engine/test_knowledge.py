# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine knows of a node beside its settings: command line, tuned, jobs, facts, conditions, owners, what was asked before."""

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import (
    cmdline,
    conditions,
    journal,
    memory,
    owners,
    sysctl_defaults,
    tuned,
    workload,
)
from ansible_collections.gpufleet.node.plugins.module_utils.engine.context import Context
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Host, HostError, Reader

from machines import Machine, build

# -- command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("ro quiet", [("ro", None), ("quiet", None)]),
        ("a=1  b=\ta=2\n", [("a", "1"), ("b", ""), ("a", "2")]),
        ('root="LABEL=my disk" x', [("root", "LABEL=my disk"), ("x", None)]),
        ('"a b=c d" x', [("a b", "c d"), ("x", None)]),
        ("a=b=c", [("a", "b=c")]),
        ("a=1 -- a=2", [("a", "1")]),
        ("dyndbg=x--y", [("dyndbg", "x--y")]),
    ],
)
def test_the_words_of_a_command_line(text: str, words: Any) -> None:
    assert cmdline.words(text) == words


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("transparent_hugepage=never transparent_hugepage=always", "transparent_hugepage", "always"),
        ("transparent-hugepage=never", "transparent_hugepage", "never"),
        ("transparent_hugepage", "transparent_hugepage", None),
        ("xtransparent_hugepage=never", "transparent_hugepage", None),
        ("quiet -- transparent_hugepage=never", "transparent_hugepage", None),
    ],
)
def test_the_last_of_a_word_counts(text: str, name: str, value: Optional[str]) -> None:
    assert cmdline.last(text, name) == value


# -- tuned --------------------------------------------------------------------------------------------------------


def test_without_tuned_nothing_is_running(machine: Machine) -> None:
    assert tuned.read(Reader(machine.root)) == ([], False, {}, True)


def test_includes_are_followed_and_the_profile_itself_wins(machine: Machine) -> None:
    machine.write("/etc/tuned/active_profile", "mine\n")
    machine.write("/run/tuned/tuned.pid", "17\n")
    machine.write(
        "/usr/lib/tuned/base/tuned.conf", "[sysctl]\nvm.swappiness=30 # low\nvm.dirty_ratio = 40\n[vm]\ntransparent_hugepages=always\n"
    )
    machine.write("/usr/lib/tuned/profiles/middle/tuned.conf", "[main]\ninclude=base\n[sysctl]\nvm.dirty_ratio=10\n")
    machine.write("/usr/lib/tuned/mine/tuned.conf", "[sysctl]\nvm.swappiness=99\n")
    machine.write("/etc/tuned/profiles/mine/tuned.conf", "[main]\nsummary=x\ninclude=middle\n[sysctl]\nvm.swappiness=1\n; a=b\nnonsense\n")
    found = tuned.read(Reader(machine.root))
    assert found.profiles == ["mine"]
    assert found.running
    assert found.options["sysctl"] == {"vm.swappiness": "1", "vm.dirty_ratio": "10"}
    assert found.options["vm"] == {"transparent_hugepages": "always"}


@pytest.mark.parametrize(
    ("main", "yields"),
    [("", True), ("reapply_sysctl = 1\n", True), ("reapply_sysctl=0\n", False), ("# x\nreapply_sysctl = False\n", False), ("[x]\n", True)],
)
def test_whether_tuned_gives_way_to_sysctl_d(machine: Machine, main: str, yields: bool) -> None:
    machine.write("/etc/tuned/tuned-main.conf", main)
    assert tuned.read(Reader(machine.root)).yields_to_sysctl_d is yields


def test_profiles_that_include_each_other_come_to_an_end(machine: Machine) -> None:
    machine.write("/etc/tuned/active_profile", "a missing ../x b\0c")
    machine.write("/etc/tuned/a/tuned.conf", "[main]\ninclude=b a b\n[sysctl]\nx=a\ny=a\n")
    machine.write("/etc/tuned/b/tuned.conf", "[main]\ninclude=a\n[sysctl]\nx=b\nz=b\n")
    assert tuned.read(Reader(machine.root)).options["sysctl"] == {"x": "a", "y": "a", "z": "b"}


def test_a_file_that_is_no_list_of_profiles_is_not_followed_for_long(machine: Machine) -> None:
    machine.write("/etc/tuned/active_profile", " ".join(f"p{number}" for number in range(1000)))
    assert tuned.read(Reader(machine.root)).profiles == [f"p{number}" for number in range(tuned.PROFILES_MAX)]


# -- jobs ---------------------------------------------------------------------------------------------------------

POD = "0::/kubepods.slice/kubepods-pod1b2c3d4e_0000_1111_2222_333344445555.slice/cri-containerd-abc.scope\n"
POD_V1 = "4:devices:/kubepods/besteffort/pod1b2c3d4e-0000-1111-2222-333344445555/abc\n"
PROCESSES: Dict[str, Any] = {
    # what runs: (pid, name, what it opens, cgroup) → holders
    "nothing": ([], []),
    "a job": ([(4711, "python3", ["/dev/nvidia0"])], ["pid 4711 (python3) holds /dev/nvidia0"]),
    "in the order of pids, each device once": (
        [(900, "b", ["/dev/nvidia1", "/dev/nvidia0", "/dev/nvidia1"]), (31, "a", ["/dev/kfd"])],
        ["pid 31 (a) holds /dev/kfd", "pid 900 (b) holds /dev/nvidia0, /dev/nvidia1"],
    ),
    "other makers": (
        [(1, "a", ["/dev/davinci3"]), (2, "b", ["/dev/accel/accel0"]), (3, "c", ["/dev/hl0"]), (4, "d", ["/dev/cambricon_dev1"])],
        [
            "pid 1 (a) holds /dev/davinci3",
            "pid 2 (b) holds /dev/accel/accel0",
            "pid 3 (c) holds /dev/hl0",
            "pid 4 (d) holds /dev/cambricon_dev1",
        ],
    ),
    "files that are no devices": ([(5, "vi", ["/dev/null", "/tmp/nvidia0", "/dev/nvidiactl", "socket:[1]"])], []),
    "daemons that always hold devices": (
        [(5, "nvidia-persiste", ["/dev/nvidia0"]), (6, "nv-hostengine", ["/dev/nvidia0"]), (7, "dcgm-exporter", ["/dev/nvidia0"])],
        [],
    ),
    "a Slurm step, also before it opens a device": ([(50, "slurmstepd", [])], ["Slurm step pid 50"]),
    "a pod": (
        [(60, "triton", ["/dev/nvidia0"], POD), (61, "triton", ["/dev/nvidia1"], POD_V1)],
        [
            "pod 1b2c3d4e-0000-1111-2222-333344445555 pid 60 (triton) holds /dev/nvidia0",
            "pod 1b2c3d4e-0000-1111-2222-333344445555 pid 61 (triton) holds /dev/nvidia1",
        ],
    ),
}


@pytest.mark.parametrize("case", sorted(PROCESSES))
def test_who_is_a_job(machine: Machine, case: str) -> None:
    processes, holders = PROCESSES[case]
    for process in processes:
        machine.process(*process)
    assert workload.read(Reader(machine.root)) == (holders, "")


def test_processes_whose_files_are_hidden_make_the_answer_incomplete(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.process(10, "python3", ["/dev/nvidia0"])
    machine.process(11, "python3", ["/dev/nvidia0"])
    machine.process(12, "gone", [])
    os.rmdir(machine.at("/proc/12/fd"))
    real = os.listdir

    def listdir(path: Any) -> List[str]:
        if str(path).endswith("/10/fd"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    assert workload.read(Reader(machine.root)) == (
        ["pid 11 (python3) holds /dev/nvidia0"],
        "1 processes hide their open files from this user",
    )


# -- facts --------------------------------------------------------------------------------------------------------


def facts(machine: Machine) -> Dict[str, Any]:
    return Context(Reader(machine.root)).facts()


@pytest.mark.parametrize(
    ("hardware", "system", "expected"),
    [
        (
            "dgx-a100",
            "debian-12",
            {
                "vendor": "NVIDIA",
                "architecture": "x86_64",
                "cpus": 256,
                "numa_nodes": 8,
                "memory_bytes": 1008 << 30,
                "page_size": 4096,
                "distribution": "debian",
                "distribution_version": "12",
                "kernel": "6.1.0-32-amd64",
                "virtualised": False,
                "container": "none",
                "serial": "S-0001",
                "uid": 0,
                "hostname": "node-1",
                "boot_id": "5c7e1f8a-94a1-4a39-8d0b-6a3cf5b5d9b1",
            },
        ),
        ("gh200", "rocky-8", {"architecture": "aarch64", "page_size": 65536, "distribution": "rocky", "distribution_version": "8.10"}),
        ("atlas-800", "debian-13", {"vendor": "Huawei", "cpus": 192, "virtualised": False}),
        ("vm", "without-systemd", {"vendor": "QEMU", "virtualised": True, "distribution": "devuan"}),
    ],
)
def test_the_facts_of_named_hardware(tmp_path: Path, hardware: str, system: str, expected: Dict[str, Any]) -> None:
    found = facts(build(tmp_path, hardware, system))
    assert {key: found.get(key) for key in expected} == expected


def test_facts_that_cannot_be_read_are_absent(tmp_path: Path) -> None:
    found = facts(Machine(str(tmp_path)))
    assert set(found) == {"python", "container", "virtualised", "fingerprint"}


@pytest.mark.parametrize(
    ("file", "text", "container"),
    [
        ("/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", "", "podman"),
    ],
)
def test_the_kind_of_container(machine: Machine, file: str, text: str, container: str) -> None:
    machine.write(file, text)
    assert facts(machine)["container"] == container


def test_machines_of_one_make_have_one_fingerprint_and_others_have_another(tmp_path: Path) -> None:
    twins = [build(tmp_path / name, "hgx-h100") for name in ("one", "two")]
    twins[1].is_(uname={"nodename": "other", "release": "6.13", "machine": "x86_64"}, uid=1000)
    prints = [facts(machine)["fingerprint"] for machine in twins]
    assert prints[0] == prints[1]
    others = [facts(build(tmp_path / name, name))["fingerprint"] for name in ("dgx-a100", "gh200", "vm")]
    twins[1].remove("/sys/bus/pci/devices/0000:00:00.0/class")
    assert len({prints[0], facts(twins[1])["fingerprint"], *others}) == 5


@pytest.mark.parametrize(
    ("mounts", "path", "options"),
    [
        ("proc /proc proc rw 0 0\n", "/proc/sys/vm/x", "rw"),
        ("proc /proc proc rw 0 0\nproc /proc/sys proc ro,nosuid 0 0\n", "/proc/sys/vm/x", "ro,nosuid"),
        ("proc /proc/sys proc ro 0 0\nproc /proc proc rw 0 0\n", "/proc/sys/vm/x", "ro"),
        ("x /proc/system x ro 0 0\nproc /proc proc rw 0 0\n", "/proc/sys/vm/x", "rw"),
        ("one / ext4 ro 0 0\n", "/proc/sys/vm/x", "ro"),
        ("one / ext4 rw 0 0\ntwo / ext4 ro 0 0\n", "/x", "ro"),
        ("", "/x", ""),
    ],
)
def test_the_mount_that_holds_a_path(machine: Machine, mounts: str, path: str, options: str) -> None:
    machine.write("/proc/mounts", mounts)
    assert Context(Reader(machine.root)).mount_options(path) == options


# -- conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        (None, ""),
        ({}, ""),
        ({"numa_nodes": 2}, ""),
        ({"numa_nodes": {"at_least": 2}}, ""),
        ({"numa_nodes": {"at_least": 3}}, "only when numa_nodes is at least 3: here it is 2"),
        ({"vendor": "QEMU"}, ""),
        ({"vendor": "qe*"}, ""),
        ({"vendor": "NVIDIA"}, "only when vendor is NVIDIA: here it is QEMU"),
        ({"vendor": ["NVIDIA", "QEMU"]}, ""),
        ({"vendor": ["NVIDIA", "Dell"]}, "only when vendor is NVIDIA or Dell: here it is QEMU"),
        ({"virtualised": True}, ""),
        ({"virtualised": False}, "only when virtualised is false: here it is True"),
        ({"virtualised": 1}, "only when virtualised is 1: here it is True"),
        ({"vendor": "QEMU", "architecture": "aarch64"}, "only when architecture is aarch64: here it is x86_64"),
        ({"rack": 3}, "only when rack is 3, which this node does not tell"),
    ],
)
def test_when(machine: Machine, when: Any, reason: str) -> None:
    assert conditions.unmet(when, Context(Reader(machine.root))) == reason


TODAY = 1796050800  # 2026-11-30 15:00 UTC


@pytest.mark.parametrize(
    ("waive", "holds"),
    [
        ({"until": "2026-11-30"}, True),
        ({"until": "2026-12-01"}, True),
        ({"until": "2026-11-29"}, False),
        ({}, False),
        ({"until": "2026-12-01", "serial": "S-0001"}, True),
        ({"until": "2026-12-01", "serial": "S-0002"}, False),
    ],
)
def test_waive(machine: Machine, waive: Dict[str, str], holds: bool) -> None:
    machine.is_(now=TODAY)
    entry = {"waive": dict(waive, reason="waits for a part", ticket="OPS-1")}
    told = {"reason": "waits for a part", "ticket": "OPS-1", "until": waive.get("until")}
    assert conditions.waived(entry, Context(Reader(machine.root))) == (told if holds else None)


def test_the_last_day_of_a_waiver_ends_at_midnight_utc(machine: Machine) -> None:
    entry = {"waive": {"reason": "r", "until": "2026-11-30"}}
    for now, holds in ((1796083199, True), (1796083200, False)):
        machine.is_(now=now)
        assert (conditions.waived(entry, Context(Reader(machine.root))) is not None) is holds


def test_no_waiver(machine: Machine) -> None:
    assert conditions.waived({}, Context(Reader(machine.root))) is None


# -- owners and defaults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "path", "known", "owner"),
    [
        ("debian-13", "/usr/lib/sysctl.d/10-x.conf", "procps", "package procps"),
        ("rocky-8", "/usr/lib/sysctl.d/10-x.conf", "systemd", "package systemd"),
        ("debian-13", "/run/sysctl.d/10-x.conf", "procps", "made since the start of the machine"),
        ("without-systemd", "/etc/x.conf", "", "unknown (no package database)"),
        ("debian-13", "/etc/x.conf", "", "unknown (was not recorded with these arguments)"),
    ],
)
def test_whose_a_file_is(tmp_path: Path, system: str, path: str, known: str, owner: str) -> None:
    machine = build(tmp_path, "vm", system)
    if known:
        machine.package(path, known)
    assert owners.owner(Reader(machine.root), path) == owner


def test_a_file_of_no_package(machine: Machine) -> None:
    machine.command(["dpkg-query", "-S", "/etc/x.conf"], status=1)
    assert owners.owner(Reader(machine.root), "/etc/x.conf") == "no package"


GIB = 1 << 30


@pytest.mark.parametrize(
    ("key", "live", "default"),
    [
        ("vm.swappiness", "1", "60"),
        ("vm.unheard_of", "1", None),
        ("kernel.shmmax", "1", "18446744073692774399"),
        ("fs.file-max", "9223372036854775807", "9223372036854775807"),
        ("fs.file-max", "400000", "400000"),
        ("fs.file-max", "500000", None),
        ("fs.file-max", "300000", None),
        ("fs.file-max", "", None),
        ("fs.file-max", "\u00b2", None),
        ("fs.file-max", "9" * 5000, None),
        ("fs.nr_open", "1048576", "1048576"),
        ("fs.nr_open", "1073741816", "1073741816"),
    ],
)
def test_the_kernels_own_value(key: str, live: str, default: Optional[str]) -> None:
    assert sysctl_defaults.boot_default(key, {"memory_bytes": 4 * GIB}, live) == default


def test_without_the_size_of_memory_the_kernels_choice_is_not_known() -> None:
    assert sysctl_defaults.boot_default("fs.file-max", {}, "400000") is None


# -- what was asked before ----------------------------------------------------------------------------------------

RULE = {"exact": 1}


@pytest.mark.parametrize(
    ("remembered", "cause"),
    [
        (None, "never_applied"),
        ({"rule": RULE, "right": True}, "wandered"),
        ({"rule": RULE, "right": False}, "never_applied"),
        ({"rule": {"exact": 2}, "right": True}, "intent"),
        ({}, "intent"),
    ],
)
def test_why_a_setting_drifts(remembered: Any, cause: str) -> None:
    assert memory.cause(remembered, RULE) == cause


REFUSED = {"refused": {"value": "1", "reason": "Invalid argument", "boot_id": "b1"}}


@pytest.mark.parametrize(
    ("remembered", "desired", "boot_id", "reason"),
    [
        (REFUSED, "1", "b1", "Invalid argument"),
        (REFUSED, "2", "b1", ""),
        (REFUSED, "1", "b2", ""),
        (REFUSED, "1", "", ""),
        ({"refused": {"value": "1", "reason": "r", "boot_id": ""}}, "1", "", ""),
        ({"refused": "x"}, "1", "b1", ""),
        (None, "1", "b1", ""),
    ],
)
def test_a_refusal_is_remembered_for_one_boot_and_one_value(remembered: Any, desired: str, boot_id: str, reason: str) -> None:
    assert memory.refusal(remembered, desired, boot_id) == reason


def test_memory_is_written_only_when_it_changes(machine: Machine) -> None:
    settings = {"sysctl/vm.swappiness": {"rule": RULE, "right": True}}
    host = Host(machine.root)
    memory.write(host, settings)
    before = machine.snapshot()
    memory.write(host, settings)
    assert machine.snapshot() == before
    assert memory.read(host) == settings


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", "[]", "3", '{"version": 2, "settings": {"sysctl/a": {}}}', '{"version": 1, "settings": []}', "[" * 100000, "\0\xff"],
)
def test_a_broken_memory_says_nothing(machine: Machine, content: str) -> None:
    machine.write(memory.PATH, content)
    assert memory.read(Reader(machine.root)) == {}


def test_of_a_half_broken_memory_the_whole_half_counts(machine: Machine) -> None:
    machine.write(memory.PATH, '{"version": 1, "settings": {"sysctl/a": 3, "sysctl/b": {"right": true}}}')
    assert memory.read(Reader(machine.root)) == {"sysctl/b": {"right": True}}


def test_what_left_the_profile() -> None:
    remembered: Dict[str, Any] = {"sysctl/vm.a": {}, "sysctl/vm.b": {}, "sysctl_more/vm.a": {}, "transparent_hugepage/enabled": {}}
    assert memory.released(remembered, "sysctl", ["vm.b"]) == ["vm.a"]


# -- the journal --------------------------------------------------------------------------------------------------


def record(run: str, setting: str, view: str, target: str, **more: Any) -> Dict[str, Any]:
    return dict({"run": run, "setting": setting, "view": view, "target": target}, **more)


A1 = record("r1", "sysctl/vm.a", "live", "/proc/sys/vm/a", before="1", after="2")
A1P = record("r1", "sysctl/vm.a", "persisted", "/etc/x", after="2", line="vm.a")
A2 = record("r2", "sysctl/vm.a", "live", "/proc/sys/vm/a", before="2", after="3", disturbs="jitter")
B2 = record("r2", "sysctl/vm.b", "live", "/proc/sys/vm/b", before="7", after="8", undo={"target": "/proc/sys/vm/c", "value": "9"})
F2 = record("r2", "sysctl/vm.b", "foreign", "/etc/f", before="vm.b = 1")
F3 = record("r3", "sysctl/vm.b", "foreign", "/etc/f", before="vm.b = 2")
A3 = record("r3", "sysctl/vm.a", "live", "/proc/sys/vm/a", before="3", after="4")
ALL = [A1, A1P, A2, B2, F2, F3, A3]


def test_the_journal_is_read_in_order(machine: Machine) -> None:
    host = Host(machine.root)
    assert journal.read(host) == []
    for one in ALL:
        journal.append(host, one)
    assert journal.read(host) == ALL


@pytest.mark.parametrize("cut", [1, 5, 40, 100])
def test_a_line_that_was_cut_off_loses_only_itself(machine: Machine, cut: int) -> None:
    host = Host(machine.root)
    for one in ALL[:3]:
        journal.append(host, one)
    machine.write(journal.PATH, machine.read(journal.PATH)[:-cut])
    assert journal.read(host) == ALL[: 3 if cut == 1 else 2]
    journal.append(host, A3)
    assert journal.read(host)[-1] == A3
    assert journal.read(host)[:2] == ALL[:2]


def test_lines_that_are_no_records_are_left_out(machine: Machine) -> None:
    machine.write(journal.PATH, "\n".join(["", "null", "{}", "[" * 100000, "\0", json.dumps(dict(A1, run=3)), json.dumps(A2)]) + "\n")
    assert journal.read(Reader(machine.root)) == [A2]


def test_a_journal_that_cannot_be_read_is_no_empty_one(machine: Machine) -> None:
    machine.folder(journal.PATH)
    with pytest.raises(HostError):
        journal.read(Reader(machine.root))


@pytest.mark.parametrize(
    ("to", "only", "steps"),
    [
        ("first", (), [("a", "1"), ("a", None), ("c", "9"), ("f", "vm.b = 1"), ("f", "vm.b = 2")]),
        ("r2", (), [("a", "2"), ("c", "9"), ("f", "vm.b = 1"), ("f", "vm.b = 2")]),
        ("r3", (), [("f", "vm.b = 2"), ("a", "3")]),
        ("first", ["sysctl/vm.b"], [("c", "9"), ("f", "vm.b = 1"), ("f", "vm.b = 2")]),
    ],
)
def test_the_steps_back(to: str, only: Any, steps: Any) -> None:
    found = journal.steps_back(ALL, to, only)
    targets = {"/proc/sys/vm/a": "a", "/etc/x": "a", "/proc/sys/vm/c": "c", "/etc/f": "f"}
    assert [(targets[step.target], step.value) for step in found] == steps


def test_there_is_no_way_back_to_a_run_that_never_was() -> None:
    with pytest.raises(HostError, match="holds no run r9"):
        journal.steps_back(ALL, "r9")
