# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an audit says of a machine that was damaged in one way: which setting, which state, which cause, whose doing.

A table. A case is what was done to a machine and what the audit says; every setting that a case does not name must be ok, so
that a case also shows that nobody else is blamed.
"""

import json
import shutil
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest

from asking import FILE, RMEM, SYSCTL, THP, THP_FILE, ask_well, entry
from machines import Machine, build

THP_BASE = "/sys/kernel/mm/transparent_hugepage/"
VLAN = "net/ipv4/conf/bond0.101/rp_filter"


class Case(NamedTuple):
    """`damage`: calls of methods of a machine, in order; `says`: setting → what is expected of its result. The keys of an
    expectation: state, cause, from and owner (of the winner), live and persisted (the values), detail (a part of it).
    """

    damage: List[Tuple[Any, ...]]
    says: Dict[str, Dict[str, str]]


def refused_in(boot_id: str) -> str:
    """What the node remembers of a value that the kernel refused in that boot."""
    refused = {"value": "1", "reason": "Invalid argument", "boot_id": boot_id}
    settings = {"sysctl/vm.swappiness": {"rule": {"exact": 1}, "right": False, "refused": refused}}
    return json.dumps({"version": 1, "settings": settings})


def wandered(state: str, **more: str) -> Dict[str, str]:
    return dict(more, state=state, cause="wandered")


#: On a machine that was converged before.
DAMAGE: Dict[str, Case] = {
    "nothing": Case([], {}),
    "live only": Case(
        [("sysctl", "vm.swappiness", 60)],
        {
            "sysctl/vm.swappiness": wandered(
                "live_wrong", live="60", persisted="1", detail="wanted: between 0 and 10", **{"from": f"{FILE}:8"}
            )
        },
    ),
    "live, but still within the rule": Case([("sysctl", "vm.swappiness", 10)], {}),
    "a field of several": Case(
        [("sysctl", "net.ipv4.tcp_rmem", "4096\t131072\t6291456")],
        {"sysctl/net.ipv4.tcp_rmem": wandered("live_wrong", live="4096 131072 6291456", detail=f"wanted: at least {RMEM}")},
    ),
    "fields with other blanks": Case([("sysctl", "net.ipv4.tcp_rmem", "4096 \t 131072  16777216")], {}),
    "the file is gone": Case(
        [("remove", FILE)],
        {
            "sysctl/vm.swappiness": wandered("unpersisted", live="1", persisted="60"),
            "sysctl/vm.max_map_count": wandered("unpersisted", persisted="65530"),
            "sysctl/kernel.numa_balancing": wandered("unpersisted"),
            "sysctl/net.ipv4.tcp_rmem": wandered("unpersisted"),
            "sysctl/net.ipv4.conf.bond0.101.rp_filter": wandered("unpersisted"),
            "sysctl/vm.dirty_ratio": wandered("unpersisted", persisted="20"),
        },
    ),
    "a line of the file is wrong": Case(
        [
            (
                "write",
                FILE,
                f"{VLAN} = 2\nkernel.numa_balancing = 0\nnet.ipv4.tcp_rmem = {RMEM}\nvm.dirty_ratio = 10\nvm.max_map_count = 262144\n",
            )
        ],
        {"sysctl/vm.swappiness": wandered("unpersisted")},
    ),
    "the file is emptied": Case(
        [("write", FILE, "")],
        {f"sysctl/{key}": wandered("unpersisted") for key in SYSCTL},
    ),
    "a later file overrides": Case(
        [("write", "/etc/sysctl.d/zzz-old.conf", "\nvm.swappiness = 60\n"), ("no_package", "/etc/sysctl.d/zzz-old.conf")],
        {
            "sysctl/vm.swappiness": wandered(
                "overridden",
                live="1",
                persisted="60",
                owner="no package",
                detail=f"{FILE} gives 1, but /etc/sysctl.d/zzz-old.conf:2 wins",
                **{"from": "/etc/sysctl.d/zzz-old.conf:2"},
            )
        },
    ),
    "a later file of a package overrides": Case(
        [
            ("write", "/usr/lib/sysctl.d/zzz-vendor.conf", "vm.swappiness=60\n"),
            ("package", "/usr/lib/sysctl.d/zzz-vendor.conf", "vendor-tune"),
        ],
        {"sysctl/vm.swappiness": wandered("overridden", owner="package vendor-tune", **{"from": "/usr/lib/sysctl.d/zzz-vendor.conf:1"})},
    ),
    "a later file that agrees": Case([("write", "/etc/sysctl.d/zzz-old.conf", "vm.swappiness = 5\n")], {}),
    "an earlier file": Case([("write", "/etc/sysctl.d/10-old.conf", "vm.swappiness = 60\n")], {}),
    "the same name in /run is hidden by ours": Case([("write", "/run/sysctl.d/zz-gpufleet.conf", "vm.swappiness = 60\n")], {}),
    "the vendor's file of a later name masked in /run": Case(
        [("write", "/usr/lib/sysctl.d/zzz.conf", "vm.swappiness=60\n"), ("link", "/run/sysctl.d/zzz.conf", "/dev/null")], {}
    ),
    "our file is a link to /dev/null": Case(
        [("link", FILE, "/dev/null")],
        {
            f"sysctl/{key}": wandered(
                "overridden",
                owner="a link in the place of our file",
                detail=f"a link to /dev/null stands in the place of {FILE}",
                **{"from": f"{FILE} -> /dev/null"},
            )
            for key in SYSCTL
        },
    ),
    "a key twice": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "vm.swappiness = 5\nvm.swappiness = 30\n")],
        {
            "sysctl/vm.swappiness": wandered(
                "overridden", persisted="30", detail="/etc/sysctl.d/zzz.conf:1 (5)", **{"from": "/etc/sysctl.d/zzz.conf:2"}
            )
        },
    ),
    "a key twice, the right one last": Case([("write", "/etc/sysctl.d/zzz.conf", "vm.swappiness = 30\nvm.swappiness = 5\n")], {}),
    "a key spelled with slashes": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "vm/swappiness=60\n")],
        {"sysctl/vm.swappiness": wandered("overridden", **{"from": "/etc/sysctl.d/zzz.conf:1"})},
    ),
    "a later glob does not win over our line": Case([("write", "/etc/sysctl.d/zzz.conf", "vm.swap* = 60\n")], {}),
    "a key taken out of the globs": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "-vm.swappiness\n")],
        {"sysctl/vm.swappiness": wandered("overridden", persisted="60", **{"from": "/etc/sysctl.d/zzz.conf:1"})},
    ),
    "a VLAN's own line": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "net.ipv4.conf.bond0/101.rp_filter = 0\n")],
        {"sysctl/net.ipv4.conf.bond0.101.rp_filter": wandered("overridden", persisted="0", **{"from": "/etc/sysctl.d/zzz.conf:1"})},
    ),
    "a line for the bond below the VLAN": Case([("write", "/etc/sysctl.d/zzz.conf", "net.ipv4.conf.bond0.rp_filter = 0\n")], {}),
    "a VLAN's live value": Case(
        [("sysctl", VLAN, 0)],
        {"sysctl/net.ipv4.conf.bond0.101.rp_filter": wandered("live_wrong", live="0", **{"from": f"{FILE}:4"})},
    ),
    "both wrong": Case(
        [("sysctl", "vm.swappiness", 60), ("write", "/etc/sysctl.d/zzz.conf", "vm.swappiness = 60\n")],
        {"sysctl/vm.swappiness": wandered("overridden", live="60", persisted="60")},
    ),
    "a floor lowered live": Case(
        [("sysctl", "vm.max_map_count", 65530)], {"sysctl/vm.max_map_count": wandered("live_wrong", detail="wanted: at least 262144")}
    ),
    "a floor raised live": Case([("sysctl", "vm.max_map_count", 1048576)], {}),
    "a floor lowered by a later file": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "vm.max_map_count = 65530\n")],
        {"sysctl/vm.max_map_count": wandered("overridden", persisted="65530")},
    ),
    "our own line hides a larger value of the vendor": Case(
        [("write", "/usr/lib/sysctl.d/50-vendor.conf", "vm.max_map_count = 1048576\n")],
        {"sysctl/vm.max_map_count": wandered("unpersisted", persisted="262144", detail="/usr/lib/sysctl.d/50-vendor.conf:1 (1048576)")},
    ),
    "the twin live": Case(
        [("sysctl", "vm.dirty_bytes", 1073741824), ("sysctl", "vm.dirty_ratio", 0)],
        {"sysctl/vm.dirty_ratio": wandered("live_wrong", live="0", detail="its exclusive twin vm.dirty_bytes = 1073741824 is in force")},
    ),
    "the twin in a later file": Case(
        [("write", "/etc/sysctl.d/zzz.conf", "vm.dirty_bytes = 1073741824\n")],
        {"sysctl/vm.dirty_ratio": wandered("overridden", persisted="0", **{"from": "/etc/sysctl.d/zzz.conf:1"})},
    ),
    "the twin in an earlier file": Case([("write", "/etc/sysctl.d/10.conf", "vm.dirty_bytes = 1073741824\n")], {}),
    "the twin given as zero": Case([("write", "/etc/sysctl.d/zzz.conf", "vm.dirty_bytes = 0\n")], {}),
    "a live value that cannot be read": Case(
        [("folder", "/proc/sys/vm/none"), ("fifo", "/proc/sys/vm/swappiness")],
        {"sysctl/vm.swappiness": {"state": "unknown", "detail": "the live value could not be read: is no regular file"}},
    ),
    "a file that we cannot read and the boot can": Case(
        [("write", "/etc/sysctl.d/20-large.conf", "#" * (1 << 20) + "\n")],
        {
            f"sysctl/{key}": {
                "state": "unknown",
                "detail": "what the next boot gives is not known: /etc/sysctl.d/20-large.conf could not be read",
            }
            for key in SYSCTL
        },
    ),
    "tuned writes after sysctl.d": Case(
        [
            ("write", "/etc/tuned/active_profile", "mine\n"),
            ("write", "/etc/tuned/mine/tuned.conf", "[sysctl]\nvm.swappiness=30\n"),
            ("write", "/etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"),
            ("write", "/run/tuned/tuned.pid", "1\n"),
        ],
        {"sysctl/vm.swappiness": wandered("overridden", persisted="30", owner="tuned", **{"from": "tuned profile mine"})},
    ),
    "tuned gives way to sysctl.d": Case(
        [
            ("write", "/etc/tuned/active_profile", "mine\n"),
            ("write", "/etc/tuned/mine/tuned.conf", "[sysctl]\nvm.swappiness=30\n"),
            ("write", "/run/tuned/tuned.pid", "1\n"),
        ],
        {},
    ),
    "tuned does not run": Case(
        [
            ("write", "/etc/tuned/active_profile", "mine\n"),
            ("write", "/etc/tuned/mine/tuned.conf", "[sysctl]\nvm.swappiness=30\n[vm]\ntransparent_hugepages=always\n"),
            ("write", "/etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"),
        ],
        {},
    ),
    "the command line loses against files": Case([("write", "/proc/cmdline", "ro sysctl.vm.swappiness=60\n")], {}),
    "the command line wins where no file is": Case(
        [("write", "/proc/cmdline", "ro sysctl.vm.swappiness=60 sysctl.vm/dirty_ratio=30\n"), ("remove", FILE)],
        dict(
            {f"sysctl/{key}": wandered("unpersisted") for key in SYSCTL},
            **{
                "sysctl/vm.swappiness": wandered("unpersisted", persisted="60", owner="kernel command line", **{"from": "/proc/cmdline"}),
                "sysctl/vm.dirty_ratio": wandered("unpersisted", persisted="30", owner="kernel command line"),
            },
        ),
    ),
    "/etc/sysctl.conf is not read by systemd": Case([("write", "/etc/sysctl.conf", "vm.swappiness = 60\n")], {}),
    "/etc/sysctl.conf is read through a link, before ours": Case(
        [("write", "/etc/sysctl.conf", "vm.swappiness = 60\n"), ("link", "/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf")], {}
    ),
    "/etc/sysctl.conf is read through a link, after ours": Case(
        [("write", "/etc/sysctl.conf", "vm.swappiness = 60\n"), ("link", "/etc/sysctl.d/zzz-sysctl.conf", "../sysctl.conf")],
        {"sysctl/vm.swappiness": wandered("overridden", **{"from": "/etc/sysctl.d/zzz-sysctl.conf:1"})},
    ),
    "without systemd /etc/sysctl.conf is read last": Case(
        [("write", "/etc/sysctl.conf", "vm.swappiness = 60\n"), ("remove", "/usr/lib/systemd/systemd-sysctl")],
        {"sysctl/vm.swappiness": wandered("overridden", persisted="60", **{"from": "/etc/sysctl.conf:1"})},
    ),
    # -- transparent huge pages
    "huge pages flipped live": Case(
        [("thp", "enabled", "always")],
        {"transparent_hugepage/enabled": wandered("live_wrong", live="always", persisted="madvise", **{"from": f"{THP_FILE}:4"})},
    ),
    "huge pages flipped to another right word": Case([("thp", "enabled", "never")], {}),
    "a number of khugepaged": Case(
        [("thp", "khugepaged/defrag", "1")], {"transparent_hugepage/khugepaged/defrag": wandered("live_wrong", live="1")}
    ),
    "the tmpfiles.d file is gone": Case(
        [("remove", THP_FILE)],
        {
            "transparent_hugepage/enabled": wandered("unpersisted", live="madvise"),
            "transparent_hugepage/defrag": wandered("unpersisted"),
            "transparent_hugepage/khugepaged/defrag": wandered("unpersisted"),
        },
    ),
    "the tmpfiles.d file is gone and the command line is the owner": Case(
        [("remove", THP_FILE), ("write", "/proc/cmdline", "ro transparent_hugepage=always\n")],
        {
            "transparent_hugepage/enabled": wandered(
                "unpersisted", persisted="always", owner="kernel command line", **{"from": "/proc/cmdline"}
            ),
            "transparent_hugepage/defrag": wandered("unpersisted"),
            "transparent_hugepage/khugepaged/defrag": wandered("unpersisted"),
        },
    ),
    "the command line loses against tmpfiles.d": Case([("write", "/proc/cmdline", "transparent_hugepage=always\n")], {}),
    "a foreign file of an earlier name": Case(
        [
            ("write", "/etc/tmpfiles.d/00-a.conf", f"# old\nw {THP_BASE}enabled - - - - always\n"),
            ("no_package", "/etc/tmpfiles.d/00-a.conf"),
        ],
        {
            "transparent_hugepage/enabled": wandered(
                "overridden", persisted="always", owner="no package", **{"from": "/etc/tmpfiles.d/00-a.conf:2"}
            )
        },
    ),
    "a foreign file of a later name": Case([("write", "/etc/tmpfiles.d/99.conf", f"w {THP_BASE}enabled - - - - always\n")], {}),
    "a glob of a later file": Case(
        [("write", "/etc/tmpfiles.d/99.conf", f"w {THP_BASE}en* - - - - always\n")],
        {"transparent_hugepage/enabled": wandered("overridden", persisted="always", **{"from": "/etc/tmpfiles.d/99.conf:1"})},
    ),
    "our tmpfiles.d file is masked": Case(
        [("link", THP_FILE, "/dev/null")],
        {
            f"transparent_hugepage/{knob}": wandered("overridden", detail=f"a link to /dev/null stands in the place of {THP_FILE}")
            for knob in THP
        },
    ),
    "tuned sets huge pages": Case(
        [
            ("write", "/etc/tuned/active_profile", "mine\n"),
            ("write", "/etc/tuned/mine/tuned.conf", "[vm]\ntransparent_hugepages=always\n"),
            ("write", "/run/tuned/tuned.pid", "1\n"),
        ],
        {"transparent_hugepage/enabled": wandered("overridden", persisted="always", owner="tuned", **{"from": "tuned profile mine"})},
    ),
    "tuned leaves huge pages to the command line": Case(
        [
            ("write", "/etc/tuned/active_profile", "mine\n"),
            ("write", "/etc/tuned/mine/tuned.conf", "[vm]\ntransparent_hugepages=always\n"),
            ("write", "/run/tuned/tuned.pid", "1\n"),
            ("write", "/proc/cmdline", "transparent_hugepage=madvise\n"),
        ],
        {},
    ),
    "a knob that cannot be read": Case(
        [("fifo", THP_BASE + "defrag")],
        {"transparent_hugepage/defrag": {"state": "unknown", "detail": "the live value could not be read: is no regular file"}},
    ),
}


def do(machine: Machine, damage: List[Tuple[Any, ...]]) -> None:
    for method, *arguments in damage:
        named = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        getattr(machine, method)(*arguments, **named)


def assert_says(result: Dict[str, Any], expected: Dict[str, str]) -> None:
    told = {"state": result["state"], "cause": result.get("cause", "")}
    told.update({name: result.get("winner", {}).get(name, "") for name in ("from", "owner")})
    told.update({name: result["views"].get(name, {}).get("value", "") for name in ("live", "persisted", "boot")})
    told["detail"] = result.get("detail", "")
    wanted = dict(expected)
    assert wanted.pop("detail", "") in told["detail"]
    assert {name: told[name] for name in wanted} == wanted


@pytest.mark.parametrize("case", sorted(DAMAGE))
def test_the_audit_names_the_damage(converged: Machine, case: str) -> None:
    damage, says = DAMAGE[case]
    do(converged, damage)
    before = converged.snapshot()
    response = ask_well(converged, "audit", SYSCTL, THP)
    for identity, result in response["results"].items():
        assert_says(result, says.get(identity, {"state": "ok", "cause": ""}))
    assert set(says) <= set(response["results"])
    assert converged.snapshot() == before


@pytest.mark.parametrize(
    "case",
    sorted(set(DAMAGE) - {"a live value that cannot be read", "a file that we cannot read and the boot can", "a knob that cannot be read"}),
)
def test_apply_mends_what_it_may(converged: Machine, case: str) -> None:
    """Afterwards all is right, but for what others own; a later run has nothing to do; and no file of others was touched."""
    damage, says = DAMAGE[case]
    do(converged, damage)
    theirs = [FILE, THP_FILE, "/proc/sys", "/sys/kernel/mm", "/var/lib/gpufleet", "/run/gpufleet", "/etc/sysctl.d", "/etc/tmpfiles.d"]
    before, files = converged.snapshot(but=theirs), foreign_files(converged)
    first = ask_well(converged, "apply", SYSCTL, THP)
    left = {identity for identity, result in first["results"].items() if result["state"] != "ok"}
    assert left == {identity for identity, expected in says.items() if expected["state"] == "overridden"}
    assert (converged.snapshot(but=theirs), foreign_files(converged)) == (before, files)
    settled = converged.snapshot(but=["/run/gpufleet"])
    second = ask_well(converged, "apply", SYSCTL, THP)
    assert not second["changed"]
    assert converged.snapshot(but=["/run/gpufleet"]) == settled


def foreign_files(machine: Machine) -> Dict[str, Any]:
    found = machine.snapshot()
    return {
        path: about for path, about in found.items() if path.startswith(("/etc/sysctl.d/", "/etc/tmpfiles.d/")) and "gpufleet" not in path
    }


# -- machines that were never converged ---------------------------------------------------------------------------

never = "never_applied"


class Fresh(NamedTuple):
    """`settings`: sysctl settings, or of transparent huge pages where the name of the case begins with THP."""

    damage: List[Tuple[Any, ...]]
    setting: str
    wanted: Any
    says: Dict[str, str]


FRESH: Dict[str, Fresh] = {
    "a key that needs a change": Fresh([], "vm.swappiness", 1, {"state": "live_wrong", "cause": never, "live": "60", "persisted": "60"}),
    "a key that is right by the kernel alone": Fresh([], "vm.swappiness", 60, {"state": "ok", "persisted": "60"}),
    "a key that is right, and what the next boot gives is not known": Fresh(
        [], "net.core.somaxconn", 4096, {"state": "unpersisted", "cause": never, "live": "4096"}
    ),
    "check only: the kernel's own value will do": Fresh([], "net.core.somaxconn", entry(4096, mend="never"), {"state": "ok"}),
    "check only: a wrong value": Fresh([], "vm.swappiness", entry(1, mend="never"), {"state": "live_wrong", "cause": never}),
    "check only: a file lowers shmmax": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "kernel.shmmax = 33554432\n")],
        "kernel.shmmax",
        entry({"at_least": 68719476736}, mend="never"),
        {"state": "unpersisted", "persisted": "33554432", "from": "/etc/sysctl.d/10.conf:1"},
    ),
    "left to another owner: right": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "vm.swappiness = 60\n"), ("sysctl", "vm.swappiness", 1)],
        "vm.swappiness",
        entry(1, owner="leave"),
        {"state": "ok"},
    ),
    "left to another owner: wrong": Fresh(
        [],
        "vm.swappiness",
        entry(1, owner="leave"),
        {"state": "live_wrong", "cause": never, "detail": "the profile leaves this to another owner: only the live value is compared"},
    ),
    "a condition that does not hold": Fresh(
        [], "vm.swappiness", entry(1, when={"numa_nodes": {"at_least": 4}}), {"state": "not_applicable", "detail": "here it is 2"}
    ),
    "a condition that holds": Fresh([], "vm.swappiness", entry(1, when={"numa_nodes": 2}), {"state": "live_wrong", "cause": never}),
    "a floor that the kernel's own value exceeds": Fresh([], "kernel.shmmax", {"at_least": 68719476736}, {"state": "ok"}),
    "a floor with a file that lowers it": Fresh(
        [("write", "/usr/lib/sysctl.d/50.conf", "kernel.shmmax = 33554432\n"), ("sysctl", "kernel.shmmax", 33554432)],
        "kernel.shmmax",
        {"at_least": 68719476736},
        {"state": "live_wrong", "cause": never, "from": "/usr/lib/sysctl.d/50.conf:1"},
    ),
    "a glob is the winner": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "net.ipv4.conf.*.rp_filter = 2\n"), ("sysctl", "net.ipv4.conf.eth0.rp_filter", 2)],
        "net.ipv4.conf.eth0.rp_filter",
        2,
        {"state": "ok", "from": "/etc/sysctl.d/10.conf:1"},
    ),
    "a glob that gives another value": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "net.ipv4.conf.*.rp_filter = 2\n"), ("sysctl", "net.ipv4.conf.eth0.rp_filter", 1)],
        "net.ipv4.conf.eth0.rp_filter",
        1,
        {"state": "unpersisted", "cause": never, "persisted": "2", "from": "/etc/sysctl.d/10.conf:1"},
    ),
    "a key that this kernel lacks": Fresh([], "vm.unheard_of", 1, {"state": "not_applicable", "detail": "this kernel has no such key"}),
    "a directory of keys": Fresh([], "net.ipv4.conf", 1, {"state": "not_applicable", "detail": "a directory of keys"}),
    "a path that leads elsewhere": Fresh([], "vm/../../mounts", 1, {"state": "not_applicable", "detail": "no name of a key"}),
    "a key of a module that is not loaded": Fresh(
        [],
        "net.bridge.bridge-nf-call-iptables",
        1,
        {"state": "not_applicable", "detail": "the module br_netfilter, which brings this key, is not loaded"},
    ),
    "a key that moved": Fresh(
        [], "kernel.sched_migration_cost_ns", 1, {"state": "not_applicable", "detail": "the kernel moved this key to debugfs in 5.13"}
    ),
    "a key that a container does not see": Fresh(
        [("write", "/run/systemd/container", "lxc\n")],
        "net.core.netdev_budget",
        600,
        {"state": "not_applicable", "detail": "inside a container (lxc)"},
    ),
    "a key for reading only": Fresh([], "kernel.ostype", "BSD", {"state": "refused", "cause": never, "detail": "for reading only"}),
    "a key for reading only that is right": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "kernel.ostype = Linux\n")], "kernel.ostype", "Linux", {"state": "ok"}
    ),
    "/proc/sys mounted read-only": Fresh(
        [("write", "/proc/mounts", "proc /proc proc rw 0 0\nproc /proc/sys proc ro 0 0\n")],
        "vm.swappiness",
        1,
        {"state": "refused", "cause": never, "detail": "/proc/sys is mounted read-only here"},
    ),
    "the twin of a key that is only checked": Fresh(
        [("sysctl", "vm.dirty_ratio", 0), ("sysctl", "vm.dirty_bytes", 4096000)],
        "vm.dirty_ratio",
        entry({"at_least": 10}, mend="never"),
        {"state": "not_applicable", "live": "0", "detail": "its exclusive twin vm.dirty_bytes = 4096000 is in force"},
    ),
    "the twin in a file of a key that is only checked": Fresh(
        [("write", "/etc/sysctl.d/10.conf", "vm.dirty_bytes = 4096000\n")],
        "vm.dirty_ratio",
        entry(20, mend="never"),
        {"state": "unpersisted", "persisted": "0", "from": "/etc/sysctl.d/10.conf:1"},
    ),
    "a job is running and the write would disturb it": Fresh(
        [("process", 4711, "python3", ["/dev/nvidia0"])],
        "vm.swappiness",
        entry(1, disturbs="jitter"),
        {"state": "blocked", "cause": never, "detail": "a live change can disturb a running job (jitter)"},
    ),
    "a job is running and the write does not disturb it": Fresh(
        [("process", 4711, "python3", ["/dev/nvidia0"])], "vm.swappiness", 1, {"state": "live_wrong", "cause": never}
    ),
    "a job is running and nothing needs to be written": Fresh(
        [("process", 4711, "python3", ["/dev/nvidia0"])], "vm.swappiness", entry(60, disturbs="job"), {"state": "ok"}
    ),
    "a kernel that refused in this boot": Fresh(
        [
            (
                "write",
                "/var/lib/gpufleet/desired.json",
                refused_in("5c7e1f8a-94a1-4a39-8d0b-6a3cf5b5d9b1"),
            )
        ],
        "vm.swappiness",
        1,
        {"state": "refused", "cause": never, "detail": "the kernel refused this since the last boot: Invalid argument"},
    ),
    "a kernel that refused in another boot": Fresh(
        [
            (
                "write",
                "/var/lib/gpufleet/desired.json",
                refused_in("other"),
            )
        ],
        "vm.swappiness",
        1,
        {"state": "live_wrong", "cause": never},
    ),
    "something else was asked for last": Fresh(
        [
            (
                "write",
                "/var/lib/gpufleet/desired.json",
                '{"version": 1, "settings": {"sysctl/vm.swappiness": {"rule": {"exact": 60}, "right": true}}}',
            )
        ],
        "vm.swappiness",
        1,
        {"state": "live_wrong", "cause": "intent"},
    ),
    "text": Fresh([], "net.ipv4.tcp_congestion_control", "bbr", {"state": "live_wrong", "cause": never, "live": "cubic"}),
    # -- transparent huge pages
    "THP: the kernel's configuration gives it": Fresh(
        [("write", "/boot/config-6.12.0-9-amd64", "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE=y\n"), ("thp", "enabled", "madvise")],
        "enabled",
        "madvise",
        {"state": "ok", "persisted": "madvise"},
    ),
    "THP: the kernel's configuration gives another": Fresh(
        [
            (
                "write",
                "/boot/config-6.12.0-9-amd64",
                "# CONFIG_TRANSPARENT_HUGEPAGE_MADVISE is not set\nCONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=y\n",
            ),
            ("thp", "enabled", "madvise"),
        ],
        "enabled",
        "madvise",
        {"state": "unpersisted", "cause": never, "persisted": "always"},
    ),
    "THP: the command line gives it": Fresh(
        [("write", "/proc/cmdline", "transparent_hugepage=madvise\n"), ("thp", "enabled", "madvise")],
        "enabled",
        "madvise",
        {"state": "ok", "persisted": "madvise", "boot": "madvise", "from": "/proc/cmdline"},
    ),
    "THP: shared memory by the command line": Fresh(
        [("write", "/proc/cmdline", "transparent_hugepage_shmem=advise\n"), ("thp", "shmem_enabled", "advise")],
        "shmem_enabled",
        "advise",
        {"state": "ok", "boot": "advise"},
    ),
    "THP: a missing knob": Fresh(
        [("remove", THP_BASE + "defrag")], "defrag", "madvise", {"state": "not_applicable", "detail": "this kernel has no such knob"}
    ),
    "THP: a folder of knobs": Fresh([], "khugepaged", 1, {"state": "not_applicable", "detail": "this kernel has no such knob"}),
    "THP: a path that leads elsewhere": Fresh([], "../../../../proc/sys/vm/swappiness", 1, {"state": "not_applicable"}),
    "THP: a word that this kernel does not know": Fresh(
        [("write", THP_BASE + "defrag", "always defer [madvise] never\n")],
        "defrag",
        "defer+madvise",
        {"state": "refused", "cause": never, "detail": "this kernel takes only: always, defer, madvise, never"},
    ),
    "THP: /sys mounted read-only": Fresh(
        [("write", "/proc/mounts", "sysfs /sys sysfs ro 0 0\n")],
        "enabled",
        "never",
        {"state": "refused", "detail": "/sys is mounted read-only here"},
    ),
    "THP: 64 KiB pages and always": Fresh(
        [("is_", {"page_size": 65536}), ("thp", "enabled", "madvise")],
        "enabled",
        "always",
        {"state": "refused", "detail": "512 MiB: always is not set here"},
    ),
    "THP: 64 KiB pages and always in force": Fresh(
        [("is_", {"page_size": 65536})],
        "enabled",
        {"one_of": ["always", "madvise"], "set": "always"},
        {"state": "live_wrong", "live": "always"},
    ),
    "THP: 64 KiB pages and another knob": Fresh([("is_", {"page_size": 65536})], "defrag", "always", {"state": "live_wrong"}),
}


@pytest.mark.parametrize("case", sorted(FRESH))
def test_the_audit_of_a_machine_that_was_never_converged(machine: Machine, case: str) -> None:
    damage, setting, wanted, says = FRESH[case]
    do(machine, damage)
    before = machine.snapshot()
    subsystem = "transparent_hugepage" if case.startswith("THP") else "sysctl"
    response = ask_well(machine, "audit", *([{}, {setting: wanted}] if case.startswith("THP") else [{setting: wanted}]))
    assert [identity.split("/")[0] for identity in response["results"]] == [subsystem]
    assert_says(next(iter(response["results"].values())), says)
    assert machine.snapshot() == before


def test_a_kernel_without_transparent_huge_pages(tmp_path: Path) -> None:
    machine = build(tmp_path)
    shutil.rmtree(machine.at(THP_BASE))
    result = ask_well(machine, "audit", {}, {"enabled": "never"})["results"]["transparent_hugepage/enabled"]
    assert (result["state"], result["detail"]) == ("not_applicable", "this kernel is built without transparent huge pages")
