# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""limits: a damage table of an audit on a converged machine, and what an apply does and does not do. systemd is simulated."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import limit_values, pam_limits, systemd, unit_files
from ansible_collections.gpufleet.node.plugins.module_utils.engine.context import Context
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import CHANGES, Host, Reader
from hypothesis import given
from hypothesis import strategies as st

from asking import ask, ask_well, changes, entry, states
from machines import Machine, build
from machines.daemons import UNIT, Daemons

PAM = "/etc/security/limits.d/zz-gpufleet.conf"
LATER = "/etc/security/limits.d/zzz.conf"
SLURMD = "/etc/systemd/system/slurmd.service.d/zz-gpufleet.conf"
CONTAINERD = "/etc/systemd/system/containerd.service.d/zz-gpufleet.conf"
SCOPE = "0::/system.slice/docker-0123.scope\n"

LIMITS: Dict[str, Any] = {
    "users/memlock": entry("unlimited"),
    "root/memlock": entry("unlimited"),
    "users/nofile": entry({"at_least": 1048576}),
    "root/nofile": entry({"at_least": 1048576}),
    "users/nproc": entry("unlimited"),
    "unit/slurmd.service/LimitMEMLOCK": entry("infinity"),
    "unit/containerd.service/LimitNOFILE": entry({"at_least": 1048576}),
    "unit/docker.service/LimitMEMLOCK": entry("infinity"),
    "dev_shm": entry({"at_least": 50}, mend="never"),
}
UNITS = ["slurmd.service", "containerd.service", "docker.service"]


class Made(NamedTuple):
    machine: Machine
    daemons: Daemons


def fresh(place: Path) -> Made:
    machine = build(place / "machine")
    machine.write("/etc/security/limits.conf", "# nothing\n")
    machine.write("/proc/sys/kernel/pid_max", "32768\n")
    daemons = Daemons(machine, UNITS)
    daemons.runs("slurmd.service", pid=900)
    daemons.runs("containerd.service", pid=901)
    return Made(machine, daemons)


@pytest.fixture
def new(tmp_path: Path) -> Made:
    return fresh(tmp_path)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A machine on which everything is right: applied, read by systemd, daemons restarted, and a further apply has seen it so."""
    found = fresh(tmp_path)
    apply(found)
    found.daemons.reload()
    for unit in found.daemons.units:
        found.daemons.restart(unit)
    apply(found)
    return found


def look(made: Made, **more: Any) -> Dict[str, Any]:
    return ask_well(made.machine, "audit", subsystems={"limits": dict(LIMITS, **more)})


def apply(made: Made, **more: Any) -> Dict[str, Any]:
    return ask_well(made.machine, "apply", subsystems={"limits": LIMITS}, **more)


def reloads(machine: Machine) -> int:
    if not machine.exists("/" + CHANGES):
        return 0
    return [json.loads(line) for line in machine.read("/" + CHANGES).splitlines()].count(systemd.RELOAD)


def files(machine: Machine) -> Dict[str, Any]:
    """What the files of /etc say."""
    return {path: about[-1] for path, about in machine.snapshot().items() if path.startswith("/etc") and about[0] == "file"}


# -- the damage table -----------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """`damage`: what is done to the machine; `says`: setting -> what is expected of its result, every other setting is as right as before.
    The keys: state, needs, from and owner (of the winner), the views by name, detail (a part of it).
    """

    damage: Callable[[Made], None]
    says: Dict[str, Dict[str, str]]


def write(path: str, text: str) -> Callable[[Made], None]:
    return lambda made: made.machine.write(path, text)


def link(path: str, target: str) -> Callable[[Made], None]:
    return lambda made: made.machine.link(path, target)


def both(*damages: Callable[[Made], None]) -> Callable[[Made], None]:
    return lambda made: [damage(made) for damage in damages] and None


def unit(unit: str, **properties: str) -> Callable[[Made], None]:
    return lambda made: made.daemons.is_(unit, **properties)


def overridden(line: int, **more: str) -> Dict[str, str]:
    return dict(more, state="overridden", **{"from": f"{LATER}:{line}"})


def sessions(**says: str) -> Dict[str, Dict[str, str]]:
    return {name: says for name in LIMITS if name.startswith(("users", "root"))}


DAMAGE: Dict[str, Case] = {
    "nothing": Case(lambda made: None, {}),
    # -- sessions
    "our file is gone": Case(lambda made: made.machine.remove(PAM), sessions(state="unpersisted", persisted="")),
    "our file is a link to /dev/null": Case(
        link(PAM, "/dev/null"), sessions(state="overridden", detail=f"a link to /dev/null stands in the place of {PAM}")
    ),
    "a later file wins, both numbers": Case(
        write(LATER, "# old\n* - memlock 64\n"),
        {"users/memlock": overridden(2, persisted="64", detail=f"{PAM} gives unlimited, but {LATER}:2 wins")},
    ),
    "a later file lowers the soft number only": Case(
        write(LATER, "* soft memlock 64\n"), {"users/memlock": overridden(1, persisted="64:unlimited")}
    ),
    "a later file lowers the hard number only, which lowers the soft one too": Case(
        write(LATER, "* hard nofile 4096\n"), {"users/nofile": overridden(1, persisted="4096")}
    ),
    "a later file for root": Case(write(LATER, "root - memlock 64\n"), {"root/memlock": overridden(1, persisted="64")}),
    "a later file says the same in another word": Case(write(LATER, "* - memlock infinity\n* - nproc -1\n"), {}),
    "a later file that gives more than the floor": Case(write(LATER, "* - nofile 2097152\n"), {}),
    "a later file gives more open files than the kernel": Case(
        both(write("/proc/sys/fs/nr_open", "1048576\n"), write(LATER, "* - nofile 2097152\n")),
        {
            "users/nofile": overridden(
                1, persisted="2097152", detail="2097152 is above fs.nr_open = 1048576: such a session cannot be opened"
            )
        },
    ),
    "an earlier file": Case(write("/etc/security/limits.d/20-nproc.conf", "* soft nproc 4096\n* - memlock 64\n"), {}),
    "limits.conf itself": Case(write("/etc/security/limits.conf", "* - memlock 64\n"), {}),
    "a file that does not end in .conf": Case(write("/etc/security/limits.d/zzz.bak", "* - memlock 64\n"), {}),
    "capital letters in a name sort before small ones": Case(write("/etc/security/limits.d/ZZZ.conf", "* - memlock 64\n"), {}),
    "a later group is no line for all": Case(write(LATER, "@mpi - memlock 64\n"), {}),
    "a line that frees root": Case(
        write("/etc/security/limits.d/10.conf", "root -\n"),
        {
            name: {"state": "overridden", "from": "/etc/security/limits.d/10.conf:1", "detail": "frees root of all limits"}
            for name in ("root/memlock", "root/nofile")
        },
    ),
    "a line that frees the asterisk frees nobody": Case(write(LATER, "* -\n"), {}),
    "broken lines": Case(write(LATER, "* - memlock\n* firm memlock 64\n* - memlok 64\n* - memlock much\n"), {}),
    "what stands behind # is no part of a line": Case(write(LATER, "* - memlock # 64\n#* - memlock 64\n"), {}),
    "our own floor hides a larger limit of another file": Case(
        write("/etc/security/limits.d/10.conf", "* - nofile 2097152\n"),
        {"users/nofile": {"state": "unpersisted", "persisted": "1048576", "detail": "/etc/security/limits.d/10.conf:1 (- nofile 2097152)"}},
    ),
    "nproc tells what else holds it down": Case(
        both(
            write(LATER, "* - nproc 4096\n"),
            write("/usr/lib/systemd/system/user-.slice.d/10-defaults.conf", "[Slice]\nTasksMax=33%\n"),
        ),
        {
            "users/nproc": overridden(
                1,
                detail="these hold: kernel.pid_max = 32768, TasksMax of each user = 33% (/usr/lib/systemd/system/user-.slice.d/10-defaults.conf:2)",
            )
        },
    ),
    "a file that we cannot read": Case(
        write("/etc/security/limits.d/20-large.conf", "#" * (1 << 20) + "\n"),
        sessions(state="unknown", detail="/etc/security/limits.d/20-large.conf could not be read"),
    ),
    # -- services
    "the drop-in is gone": Case(
        both(lambda made: made.machine.remove(SLURMD), unit("slurmd.service", NeedDaemonReload="yes")),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "unpersisted", "live": "unlimited"}},
    ),
    "the unit file sets it, ours wins": Case(write("/etc/systemd/system/slurmd.service", UNIT + "LimitMEMLOCK=64K\n"), {}),
    "a drop-in of a later name wins": Case(
        write("/etc/systemd/system/slurmd.service.d/zzz.conf", "[Service]\nLimitMEMLOCK=64K\n"),
        {
            "unit/slurmd.service/LimitMEMLOCK": {
                "state": "overridden",
                "persisted": "65536",
                "from": "/etc/systemd/system/slurmd.service.d/zzz.conf:2",
                "detail": f"{SLURMD} gives unlimited, but /etc/systemd/system/slurmd.service.d/zzz.conf:2 wins",
            }
        },
    ),
    "a drop-in of a later name in /usr/lib wins too": Case(
        write("/usr/lib/systemd/system/slurmd.service.d/zzz.conf", "[Service]\nLimitMEMLOCK=8M\n"),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "overridden", "persisted": "8388608"}},
    ),
    "a drop-in for all services of a later name": Case(
        write("/etc/systemd/system/service.d/zzz.conf", "[Service]\nLimitNOFILE=1024:4096\n"),
        {"unit/containerd.service/LimitNOFILE": {"state": "overridden", "persisted": "1024:4096"}},
    ),
    "a drop-in of a later name that is masked": Case(
        both(
            write("/usr/lib/systemd/system/slurmd.service.d/zzz.conf", "[Service]\nLimitMEMLOCK=8M\n"),
            link("/etc/systemd/system/slurmd.service.d/zzz.conf", "/dev/null"),
        ),
        {},
    ),
    "a later drop-in that takes all back": Case(
        both(
            write("/etc/systemd/system/slurmd.service.d/zzz.conf", "[Service]\nLimitMEMLOCK=\n"),
            write("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=64K\n"),
        ),
        {
            "unit/slurmd.service/LimitMEMLOCK": {
                "state": "overridden",
                "persisted": "65536",
                "from": "/etc/systemd/system.conf:2",
                "detail": f"also set by {SLURMD}:4 (infinity), /etc/systemd/system/slurmd.service.d/zzz.conf:2 (nothing)",
            }
        },
    ),
    "a later drop-in in another section": Case(write("/etc/systemd/system/slurmd.service.d/zzz.conf", "[Unit]\nLimitMEMLOCK=64K\n"), {}),
    "a later drop-in that nobody understands": Case(
        write("/etc/systemd/system/slurmd.service.d/zzz.conf", "[Service]\nLimitMEMLOCK=much\n"), {}
    ),
    "the same name in /run is hidden by ours": Case(
        write("/run/systemd/system/slurmd.service.d/zz-gpufleet.conf", "[Service]\nLimitMEMLOCK=64K\n"), {}
    ),
    "our drop-in is a link": Case(
        both(link(SLURMD, "/dev/null"), unit("slurmd.service", NeedDaemonReload="yes")),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "overridden", "detail": f"a link to /dev/null stands in the place of {SLURMD}"}},
    ),
    "the defaults of the manager are below ours": Case(
        write("/etc/systemd/system.conf.d/10.conf", "[Manager]\nDefaultLimitMEMLOCK=64K\n"), {}
    ),
    "the daemon is old": Case(
        lambda made: made.daemons.limits(900, LimitMEMLOCK=("8388608", "8388608"), LimitNOFILE=("1024", "524288")),
        {
            "unit/slurmd.service/LimitMEMLOCK": {
                "state": "pending",
                "needs": "service_restart",
                "effective": "8388608",
                "live": "unlimited",
                "detail": "pid 900 was started with 8388608 and keeps it until slurmd.service is restarted",
            }
        },
    ),
    "the daemon has a low soft number": Case(
        lambda made: made.daemons.limits(900, LimitMEMLOCK=("65536", "infinity"), LimitNOFILE=("1024", "524288")),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "pending", "needs": "service_restart", "effective": "65536:unlimited"}},
    ),
    "systemd has not read the drop-in": Case(
        unit("slurmd.service", LimitMEMLOCK="8388608", LimitMEMLOCKSoft="8388608", NeedDaemonReload="yes"),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "pending", "live": "8388608", "detail": f"systemd has not read {SLURMD} yet"}},
    ),
    "systemd has not read the drop-in, and a container would lose its device": Case(
        both(
            unit("slurmd.service", LimitMEMLOCK="8388608", LimitMEMLOCKSoft="8388608"),
            lambda made: made.machine.process(950, "python3", opens=["/dev/nvidia0", "/dev/nvidiactl"], cgroup=SCOPE),
            link("/dev/char/195:255", "../nvidiactl"),
        ),
        {
            "unit/slurmd.service/LimitMEMLOCK": {
                "state": "blocked",
                "detail": "not safe: pid 950 (python3) in a container holds /dev/nvidia0, to which no link in /dev/char leads",
            }
        },
    ),
    "the daemon does not run": Case(unit("slurmd.service", MainPID="0", ActiveState="inactive"), {}),
    "the unit is masked": Case(
        unit("slurmd.service", LoadState="masked"),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "not_applicable", "detail": "slurmd.service is masked"}},
    ),
    "the unit is broken": Case(
        unit("slurmd.service", LoadState="bad-setting"), {"unit/slurmd.service/LimitMEMLOCK": {"state": "unknown", "detail": "bad-setting"}}
    ),
    "the unit has another real name": Case(
        unit("slurmd.service", Id="slurm.service", Names="slurm.service slurmd.service"),
        {"unit/slurmd.service/LimitMEMLOCK": {"state": "unknown", "detail": "is another name of slurm.service"}},
    ),
    "systemd gives no answer": Case(
        lambda made: made.machine.is_(commands=[]),
        {
            name: {"state": "unknown", "detail": "systemd could not be asked: was not recorded"}
            for name in LIMITS
            if name.startswith("unit/")
        },
    ),
    # -- /dev/shm
    "/dev/shm is small": Case(
        lambda made: made.machine.write("/proc/mounts", "shm /dev/shm tmpfs rw,size=65536k 0 0\n"),
        {"dev_shm": {"state": "live_wrong", "live": "2", "persisted": "50"}},
    ),
    "/dev/shm will be small": Case(
        write("/etc/fstab", "# /dev/shm\ntmpfs /dev/shm tmpfs defaults,size=1g 0 0\n"),
        {"dev_shm": {"state": "unpersisted", "persisted": "25"}},
    ),
    "/dev/shm has a share of the memory": Case(write("/etc/fstab", "tmpfs /dev/shm tmpfs size=80% 0 0\n"), {}),
    "/dev/shm has a size that nobody understands": Case(
        write("/etc/fstab", "tmpfs /dev/shm tmpfs size=lots 0 0\n"), {"dev_shm": {"state": "unknown"}}
    ),
    "/dev/shm is not mounted": Case(
        write("/proc/mounts", "proc /proc proc rw 0 0\n"), {"dev_shm": {"state": "missing", "detail": "nothing is mounted on /dev/shm"}}
    ),
}


def assert_says(result: Dict[str, Any], expected: Dict[str, str]) -> None:
    told = {"state": result["state"], "needs": result["needs"], "detail": result.get("detail", "")}
    told.update({name: result.get("winner", {}).get(name, "") for name in ("from", "owner")})
    told.update({name: result["views"].get(name, {}).get("value", "") for name in ("live", "persisted", "effective")})
    assert expected.get("detail", "") in told["detail"]
    assert {name: told[name] for name in expected if name != "detail"} == {name: expected[name] for name in expected if name != "detail"}


@pytest.mark.parametrize("case", sorted(DAMAGE))
def test_the_audit_names_the_damage(made: Made, case: str) -> None:
    damage, says = DAMAGE[case]
    damage(made)
    before = made.machine.snapshot()
    response = look(made)
    for identity, result in response["results"].items():
        name = identity.split("/", 1)[1]
        right = {"state": "not_applicable"} if name.startswith("unit/docker") else {"state": "ok"}
        assert_says(result, says.get(name, right))
        if result["state"] in ("overridden", "unpersisted", "live_wrong", "pending", "blocked", "missing"):
            assert result["cause"] == "wandered"
    assert made.machine.snapshot() == before


# -- what an apply does ---------------------------------------------------------------------------------------------


def test_check_writes_nothing_and_apply_writes_what_check_said(new: Made) -> None:
    before = new.machine.snapshot()
    asked = changes(ask_well(new.machine, "check", subsystems={"limits": LIMITS}))
    assert new.machine.snapshot() == before
    response = apply(new)
    assert changes(response) == asked
    assert new.machine.read(PAM).splitlines()[2:] == [
        "root - memlock unlimited",
        "root - nofile 1048576",
        "* - memlock unlimited",
        "* - nofile 1048576",
        "* - nproc unlimited",
    ]
    assert new.machine.read(SLURMD).splitlines()[2:] == ["[Service]", "LimitMEMLOCK=infinity"]
    assert new.machine.read(CONTAINERD).splitlines()[2:] == ["[Service]", "LimitNOFILE=1048576"]
    assert not new.machine.exists("/etc/systemd/system/docker.service.d")


def test_systemd_is_told_once_and_the_daemon_waits_for_a_restart(new: Made) -> None:
    assert states(apply(new))["limits/unit/slurmd.service/LimitMEMLOCK"] == "pending"
    assert reloads(new.machine) == 1
    new.daemons.reload()
    result = look(new)["results"]["limits/unit/slurmd.service/LimitMEMLOCK"]
    assert (result["state"], result["needs"]) == ("pending", "service_restart")
    response = apply(new)
    assert not response["changed"]
    assert reloads(new.machine) == 1
    new.daemons.restart("slurmd.service")
    assert states(look(new))["limits/unit/slurmd.service/LimitMEMLOCK"] == "ok"


def test_a_second_apply_changes_nothing(made: Made) -> None:
    told = reloads(made.machine)
    before = made.machine.snapshot(but=["/run/gpufleet"])
    assert not apply(made)["changed"]
    assert made.machine.snapshot(but=["/run/gpufleet"]) == before
    assert reloads(made.machine) == told


def test_sessions_alone_need_no_word_to_systemd(made: Made) -> None:
    told = reloads(made.machine)
    made.machine.remove(PAM)
    assert apply(made)["changed"]
    assert reloads(made.machine) == told


def test_what_systemd_has_not_read_is_told_again(made: Made) -> None:
    told = reloads(made.machine)
    made.daemons.is_("slurmd.service", LimitMEMLOCK="8388608", LimitMEMLOCKSoft="8388608")
    assert apply(made)["changed"]
    assert reloads(made.machine) == told + 1


def test_containers_that_would_lose_their_devices_keep_systemd_from_reading(new: Made) -> None:
    new.machine.process(950, "python3", opens=["/dev/nvidia0"], cgroup=SCOPE)
    response = apply(new)
    assert reloads(new.machine) == 0
    assert response["results"]["limits/unit/slurmd.service/LimitMEMLOCK"]["state"] == "blocked"
    assert any("pid 950 (python3) in a container holds /dev/nvidia0" in note for note in response["notes"])
    assert new.machine.read(SLURMD).endswith("LimitMEMLOCK=infinity\n")  # for the next boot
    assert not apply(new)["changed"]
    new.machine.link("/dev/char/195:0", "/dev/nvidia0")
    assert apply(new)["changed"]
    assert reloads(new.machine) == 1


@pytest.mark.parametrize(
    ("cgroup", "device", "link", "harmed"),
    [
        (SCOPE, "/dev/nvidia0", "", True),
        (SCOPE, "/dev/nvidia0", "../nvidia0", False),
        (SCOPE, "/dev/nvidia-caps/nvidia-cap1", "../nvidia-caps/nvidia-cap1", False),
        (SCOPE, "/dev/nvidia10", "../nvidia1", True),
        (SCOPE, "/dev/null", "", False),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", "/dev/nvidia0", "", False),
        ("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-01.scope\n", "/dev/nvidia0", "", True),
        ("11:devices:/docker/0123\n0::/\n", "/dev/nvidia0", "", True),
        ("0::/machine.slice/libpod-01.scope\n", "/dev/nvidiactl", "", True),
    ],
)
def test_the_risk_of_a_reload(machine: Machine, cgroup: str, device: str, link: str, harmed: bool) -> None:
    machine.process(950, "python3", opens=[device], cgroup=cgroup)
    if link:
        machine.link("/dev/char/195:0", link)
    assert bool(systemd.reload_risk(Reader(machine.root))) == harmed


def test_a_reload_that_fails_is_said_with_the_words_of_systemd(machine: Machine) -> None:
    machine.command(systemd.RELOAD, "Access denied\n", status=1)
    assert systemd.reload(Host(machine.root)) == "systemd could not read its files again: Access denied"


def test_more_open_files_than_the_kernel_gives_are_refused_before_anything_is_written(new: Made) -> None:
    new.machine.sysctl("fs.nr_open", 65536)
    response = apply(new)
    for name in ("users/nofile", "root/nofile", "unit/containerd.service/LimitNOFILE"):
        result = response["results"]["limits/" + name]
        assert result["state"] == "refused"
        assert "1048576 open files are more than fs.nr_open = 65536" in result["detail"]
    assert "nofile" not in new.machine.read(PAM)
    assert not new.machine.exists(CONTAINERD)


def test_sysctl_raises_the_most_open_files_before_limits_looks(new: Made) -> None:
    new.machine.sysctl("fs.nr_open", 65536)
    wanted = {"limits": LIMITS, "sysctl": {"fs.nr_open": entry({"at_least": 1048576})}}
    response = ask_well(new.machine, "apply", subsystems=wanted)
    assert response["results"]["limits/users/nofile"]["state"] == "ok"
    assert "* - nofile 1048576" in new.machine.read(PAM)


def test_a_foreign_line_that_locks_people_out_is_beaten_by_one_that_works(new: Made) -> None:
    new.machine.sysctl("fs.nr_open", 1048576)
    new.machine.write("/etc/security/limits.conf", "* - nofile 2097152\nroot - nofile unlimited\n")
    assert "such a session cannot be opened" in look(new)["results"]["limits/users/nofile"]["detail"]
    apply(new)
    assert states(look(new))["limits/users/nofile"] == "ok"
    assert {"* - nofile 1048576", "root - nofile 1048576"} <= set(new.machine.read(PAM).splitlines())


def test_a_floor_keeps_what_is_larger_number_by_number(new: Made) -> None:
    new.machine.write("/etc/security/limits.conf", "* soft nofile 1024\n* hard nofile 2097152\n")
    apply(new)
    assert {"* soft nofile 1048576", "* hard nofile 2097152"} <= set(new.machine.read(PAM).splitlines())
    assert states(look(new))["limits/users/nofile"] == "ok"
    assert "changes" not in apply(new)["results"]["limits/users/nofile"]


def test_lines_of_others_that_win_are_put_aside_when_asked_and_come_back(made: Made) -> None:
    later = "/etc/systemd/system/slurmd.service.d/zzz.conf"
    texts = {LATER: "# keep\n* soft memlock 64\n@mpi - memlock 64\n", later: "[Service]\nLimitMEMLOCK=64K\nNice=1\n"}
    early = {"/etc/security/limits.d/10.conf": "* - memlock 64\n", later.replace("zzz", "10"): "[Service]\nLimitMEMLOCK=64K\n"}
    for path, text in dict(texts, **early).items():
        made.machine.write(path, text)
    assert not apply(made)["changed"]
    assert apply(made, take_over=True, run_id="over")["changed"]
    assert made.machine.read(LATER) == "# keep\n# put aside by gpufleet: * soft memlock 64\n@mpi - memlock 64\n"
    assert made.machine.read(later) == "[Service]\n# put aside by gpufleet: LimitMEMLOCK=64K\nNice=1\n"
    assert {path: made.machine.read(path) for path in early} == early  # what is read before ours harms nobody
    assert set(states(look(made)).values()) == {"ok", "not_applicable"}
    ask_well(made.machine, "revert", to="over", subsystems={})
    assert {path: made.machine.read(path) for path in texts} == texts


def test_revert_gives_the_machine_back(new: Made) -> None:
    new.machine.write("/etc/security/limits.conf", "* soft nproc 4096\nbroken\n")
    before = files(new.machine)
    apply(new)
    assert files(new.machine) != before
    ask_well(new.machine, "revert", to="first", subsystems={})
    assert files(new.machine) == before
    assert reloads(new.machine) == 3  # one for all drop-ins together, then one for each that went


def test_what_left_the_profile_leaves_our_files(made: Made) -> None:
    left = {name: rule for name, rule in LIMITS.items() if not name.startswith("unit/") and name != "users/nproc"}
    response = ask_well(made.machine, "apply", subsystems={"limits": left}, exclusive=True)
    assert response["changed"]
    assert not made.machine.exists(SLURMD)
    assert "nproc" not in made.machine.read(PAM)
    assert "* - memlock unlimited" in made.machine.read(PAM)


@pytest.mark.parametrize("beside", [{"mend": "never"}, {"owner": "leave"}])
def test_what_is_not_ours_to_mend_is_only_compared(new: Made, beside: Dict[str, str]) -> None:
    wanted = {name: dict(rule, **beside) for name, rule in LIMITS.items()}
    response = ask_well(new.machine, "apply", subsystems={"limits": wanted})
    assert not response["changed"]
    assert response["results"]["limits/unit/slurmd.service/LimitMEMLOCK"]["state"] in ("unpersisted", "live_wrong")
    assert response["results"]["limits/users/memlock"]["state"] == "ok"  # no file says anything else


# -- remarks --------------------------------------------------------------------------------------------------------


def test_lines_that_say_nothing_and_lines_for_others_are_told(made: Made) -> None:
    made.machine.write(LATER, "* - memlock\n* firm memlock 64\n* - memlok 64\n* - memlock much\n@mpi hard memlock 64\nann - nofile 4096k\n")
    notes = look(made)["notes"]
    assert [note.split(" ", 1)[0] for note in notes] == [f"{LATER}:{line}" for line in (1, 2, 3, 4, 6, 5, 6)]
    assert f"{LATER}:5 gives hard memlock 64 to @mpi, which beats what all users get" in notes
    assert any("has the value 4096k, which is read as 4096" in note for note in notes)


def test_a_group_that_the_profile_names_is_judged_and_not_remarked(new: Made) -> None:
    wanted = dict(LIMITS, **{"group/mpi/memlock": entry("unlimited"), "user/ann/nofile": entry({"at_least": 4096})})
    new.machine.write("/etc/security/limits.conf", "@mpi hard memlock 64\nann - nofile 8192\n")
    response = ask_well(new.machine, "apply", subsystems={"limits": wanted})
    assert response["notes"] == []
    assert {"@mpi - memlock unlimited"} <= set(new.machine.read(PAM).splitlines())
    assert states(response)["limits/user/ann/nofile"] == "ok"


def test_names_have_one_spelling_and_others_are_no_settings(made: Made) -> None:
    Daemons(made.machine, ["slurmd.service"]).runs("slurmd.service", LimitMEMLOCK="infinity", LimitMEMLOCKSoft="infinity")
    asked = {"unit/slurmd/LimitMEMLOCK": entry("infinity"), "users/locks": entry(1), "unit/slurmd.service/LimitCPU": entry(1)}
    response = ask_well(made.machine, "audit", subsystems={"limits": asked})
    assert states(response) == {
        "limits/unit/slurmd.service/LimitMEMLOCK": "ok",
        "limits/users/locks": "unknown",
        "limits/unit/slurmd.service/LimitCPU": "unknown",
    }


def test_without_systemd_its_units_are_not_applicable(machine: Machine) -> None:
    response = ask(machine, "audit", subsystems={"limits": {"unit/slurmd.service/LimitMEMLOCK": entry("infinity")}})
    assert states(response) == {"limits/unit/slurmd.service/LimitMEMLOCK": "not_applicable"}


# -- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("unlimited", (limit_values.UNLIMITED, limit_values.UNLIMITED)),
        ("infinity", (limit_values.UNLIMITED, limit_values.UNLIMITED)),
        ("18446744073709551615", (limit_values.UNLIMITED, limit_values.UNLIMITED)),
        ("64K", (65536, 65536)),
        ("8M:2G", (8 << 20, 2 << 30)),
        ("1024:524288", (1024, 524288)),
        ("4096:unset", (4096, None)),
        ("8 M", (8 << 20, 8 << 20)),
        ("", None),
        ("8Q", None),
        ("1:2:3", None),
        ("-5", None),
    ],
)
def test_what_limits_look_like(text: str, limit: Optional[Tuple[Optional[int], Optional[int]]]) -> None:
    found = limit_values.read(text)
    assert (None if found is None else tuple(found)) == limit
    assert found is None or limit_values.read(limit_values.spell(found)) == found


@given(st.text(max_size=200))
def test_any_text_is_an_answer(text: str) -> None:
    lines, notes = pam_limits.parse(text, "/f")
    assert all(line.line <= text.count("\n") + 1 for line in lines)
    assert all(note.startswith("/f:") for note in notes)
    assert all(one.key.strip() == one.key for one in unit_files.parse(text, "/f"))
    limit_values.read(text)


def test_continued_lines_and_comments_of_unit_files() -> None:
    text = "[Service]\nExecStart=a \\\n# in between\n  b\n; LimitNOFILE=1\nLimitNOFILE = 2 \nLimitNOFILE\n[Install]\nLimitNOFILE=3\n"
    found = [(one.line, one.section, one.key, one.value) for one in unit_files.parse(text, "/f")]
    assert found == [(2, "Service", "ExecStart", "a b"), (6, "Service", "LimitNOFILE", "2"), (9, "Install", "LimitNOFILE", "3")]


def test_the_drop_ins_of_a_unit_with_dashes(machine: Machine) -> None:
    folder = "/etc/systemd/system/"
    for number, name in enumerate(("service.d/1", "nvidia-.service.d/2", "nvidia-dcgm.service.d/1", "nvidia-dcgm.service.d/3")):
        machine.write(f"{folder}{name}.conf", f"[Service]\nLimitNOFILE={number}\n")
    found = unit_files.of_unit(Reader(machine.root), ["nvidia-dcgm.service"])
    read: List[str] = [one.file[len(folder) :] for one in found.assignments]
    assert read == ["nvidia-dcgm.service.d/1.conf", "nvidia-.service.d/2.conf", "nvidia-dcgm.service.d/3.conf"]


def test_the_answer_of_systemd() -> None:
    answer = "Id=ssh.service\nNames=ssh.service sshd.service\nLoadState=loaded\nMainPID=7\n\nId=x.service\nLoadState=not-found\nMainPID=0\n"
    real, missing = systemd.parse(answer)
    assert (real.id, real.names, real.main_pid, real.load_state) == ("ssh.service", ["ssh.service", "sshd.service"], 7, "loaded")
    assert (missing.id, missing.main_pid, missing.load_state) == ("x.service", 0, "not-found")


def test_systemd_is_asked_once_for_a_unit_whoever_asks(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: List[List[str]] = []
    run = Reader.run
    monkeypatch.setattr(Reader, "run", lambda self, argv, *rest: (asked.append(argv), run(self, argv, *rest))[1])
    context = Context(Reader(made.machine.root))
    assert set(context.systemd(UNITS).known) == set(UNITS)
    assert set(context.systemd(["docker.service"]).known) == {"docker.service"}
    assert asked == [systemd.argv(UNITS)]
    assert context.systemd(["docker.service", "x.service"]).error == "was not recorded with these arguments"
    assert asked[1:] == [systemd.argv(["x.service"])]
