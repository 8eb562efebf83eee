# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever lies at any path that the engine reads, there is no fault, no write while looking, and no file of others is rewritten."""

import os
import shutil
from typing import Any, Dict

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import journal, memory
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import HostError, Reader

from asking import FILE, LOCK, SYSCTL, THP, THP_FILE, ask
from machines import Machine, build

BASE = "/sys/kernel/mm/transparent_hugepage/"
#: The paths that the engine reads, one of each kind; that no kind is missing is a test below.
READ = [
    "/boot/config-6.12.0-9-amd64",
    "/etc/os-release",
    "/etc/sysctl.conf",
    "/etc/sysctl.d/10-theirs.conf",
    "/etc/sysctl.d/99-sysctl.conf",
    "/etc/tmpfiles.d/10-theirs.conf",
    "/etc/tuned/active_profile",
    "/etc/tuned/mine/tuned.conf",
    "/etc/tuned/tuned-main.conf",
    "/proc/4711/cgroup",
    "/proc/4711/comm",
    "/proc/cmdline",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/vm/swappiness",
    "/run/systemd/container",
    "/run/tuned/tuned.pid",
    "/sys/bus/pci/devices/0000:00:00.0/class",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/product_serial",
    BASE + "enabled",
    BASE + "khugepaged/defrag",
    "/usr/lib/sysctl.d/50-default.conf",
    "/usr/lib/tmpfiles.d/10-vendor.conf",
    FILE,
    THP_FILE,
    memory.PATH,
    journal.PATH,
]
OURS = (FILE, THP_FILE, memory.PATH, journal.PATH)

GARBAGE: Dict[str, Any] = {
    "empty": b"",
    "blank": b" \n\t\n",
    "binary": bytes(range(256)) * 4,
    "zeros": b"\0" * 4096,
    "a half-written line": b"vm.swappiness = 6",
    "half a document": b'{"version": 1, "settings": {"sysctl/vm.swap',
    "a document of another kind": b'[{"version": [1]}, null, "\\ud800"]\n',
    "a deep document": b"[" * 50000,
    "an endless line": b"a" * 70000,
    "an endless number": b"vm.swappiness = " + b"9" * 70000 + b"\nMemTotal: " + b"9" * 70000 + b" kB\n",
    "many lines": b"vm.swappiness = 1\nw /x - - - - 1\n" * 500,
    "huge": b"x" * ((1 << 20) + 1),
    "signs": b"=\n-\n[\n]\n\"\n'\nw\nw \\\n[[]\n*?[\n= =\n%\n\xc2\xb2\n",
    "a folder": "folder",
    "a pipe": "fifo",
    "a loop": "loop",
    "a link to nowhere": "nowhere",
    "not to be read": "unreadable",
}


def lay(machine: Machine, path: str, garbage: Any) -> None:
    if isinstance(garbage, bytes):
        machine.write(path, garbage)
    elif garbage == "folder":
        machine.folder(path)
    elif garbage == "fifo":
        machine.fifo(path)
    elif garbage == "loop":
        machine.link(path, path)
    elif garbage == "nowhere":
        machine.link(path, "/run/gpufleet/nowhere")


def full_machine(place: str) -> Machine:
    """One on which every path of READ is there."""
    machine = build(place, "vm", "debian-12")
    machine.write("/boot/config-6.12.0-9-amd64", "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE=y\n")
    machine.is_(uname={"nodename": "n", "release": "6.12.0-9-amd64", "machine": "x86_64"})
    machine.write("/etc/sysctl.d/10-theirs.conf", "vm.swappiness = 60\n")
    machine.write("/usr/lib/sysctl.d/50-default.conf", "vm.swappiness = 60\n")
    machine.write("/etc/tmpfiles.d/10-theirs.conf", f"w {BASE}enabled - - - - always\n")
    machine.write("/usr/lib/tmpfiles.d/10-vendor.conf", f"w {BASE}enabled - - - - always\n")
    machine.write("/etc/tuned/active_profile", "mine\n")
    machine.write("/etc/tuned/mine/tuned.conf", "[sysctl]\nvm.swappiness=30\n[vm]\ntransparent_hugepages=always\n")
    machine.write("/etc/tuned/tuned-main.conf", "reapply_sysctl=0\n")
    machine.process(4711, "python3", ["/dev/nvidia0"])
    return machine


def refusing(monkeypatch: pytest.MonkeyPatch, machine: Machine, path: str) -> None:
    """As a file that nobody may read looks to somebody who is not root."""
    real = Reader.read

    def read(self: Reader, asked: str, *arguments: Any, **named: Any) -> str:
        if asked == path:
            raise HostError(path, "Permission denied", 13)
        return real(self, asked, *arguments, **named)

    monkeypatch.setattr(Reader, "read", read)


@pytest.fixture(scope="module")
def template(tmp_path_factory: Any) -> Machine:
    machine = full_machine(str(tmp_path_factory.mktemp("full") / "machine"))
    assert ask(machine, "apply", SYSCTL, THP, disturb="job")["outcome"] == "ok"
    return machine


#: What an apply may write.
MAY = [*OURS, "/etc/sysctl.d", "/etc/tmpfiles.d", "/var/lib/gpufleet", LOCK, "/proc/sys", BASE]


def foreign(machine: Machine) -> Dict[str, Any]:
    """Everything that an apply may not write, and the files of others in the directories in which ours lie."""
    found = machine.snapshot(but=MAY)
    for path, about in machine.snapshot().items():
        if path.startswith(("/etc/sysctl.d/", "/etc/tmpfiles.d/")) and path not in OURS:
            found[path] = about
    return found


def clear(machine: Machine, path: str) -> None:
    place = machine.at(path)
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.unlink(place)


@pytest.mark.parametrize("path", READ)
def test_looking_at_garbage_is_no_fault_and_writes_nothing(
    template: Machine, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    machine = template.copy(str(tmp_path / "machine"))
    for kind, garbage in sorted(GARBAGE.items()):
        clear(machine, path)
        lay(machine, path, garbage)
        with monkeypatch.context() as patch:
            if garbage == "unreadable":
                machine.write(path, "x")
                refusing(patch, machine, path)
            before = machine.snapshot()
            response = ask(machine, "audit", SYSCTL, THP)
        assert (response["outcome"], response["faults"]) == ("ok", []), kind
        assert len(response["results"]) == len(SYSCTL) + len(THP), kind
        assert machine.snapshot() == before, kind


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_garbage_everywhere(template: Machine, tmp_path: Any, kind: str) -> None:
    machine = template.copy(str(tmp_path / "machine"))
    for path in READ:
        clear(machine, path)
        lay(machine, path, GARBAGE[kind])
    before = machine.snapshot()
    response = ask(machine, "audit", SYSCTL, THP)
    assert (response["outcome"], response["faults"]) == ("ok", [])
    assert machine.snapshot() == before
    theirs = foreign(machine)
    for action in ("apply", "revert"):
        response = ask(machine, action, SYSCTL, THP, disturb="job")
        assert response["outcome"] in ("ok", "failed")
        assert response["faults"] == []
        assert foreign(machine) == theirs


@pytest.mark.parametrize("path", OURS)
def test_garbage_in_the_place_of_our_own_files(template: Machine, tmp_path: Any, path: str) -> None:
    """It is replaced, or the failure names it; what the others of our files say is not lost."""
    for number, (kind, garbage) in enumerate(sorted(GARBAGE.items())):
        machine = template.copy(str(tmp_path / str(number)))
        clear(machine, path)
        lay(machine, path, garbage)
        theirs = foreign(machine)
        machine.sysctl("vm.swappiness", 99)
        response = ask(machine, "apply", SYSCTL, THP, disturb="job", take_over=True)
        assert response["faults"] == [], kind
        # the line of a tuned profile wins over ours and stays
        wrong = {key for key, result in response["results"].items() if result["state"] not in ("ok", "overridden")}
        if response["outcome"] == "failed":
            assert path in response["error"], kind
        else:
            assert wrong == set() or kind in ("huge", "not to be read"), kind
        if "/etc/" not in path:
            assert foreign(machine) == theirs, kind


def test_the_list_of_paths_is_complete(template: Machine, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of path that the engine reads is in the list: of many settings, processes and devices one stands for all."""
    machine = template.copy(str(tmp_path / "machine"))
    asked = set()
    real = Reader.read

    def read(self: Reader, path: str, *arguments: Any, **named: Any) -> str:
        text = real(self, path, *arguments, **named)
        asked.add(path)
        return text

    monkeypatch.setattr(Reader, "read", read)
    machine.write("/run/systemd/container", "lxc\n")
    ask(machine, "audit", SYSCTL, THP)
    ask(machine, "revert", run_id="r", to="first", disturb="job")
    stand_for_all = ("/proc/sys/", BASE, "/sys/class/dmi/id/", "/sys/bus/pci/devices/")
    kinds = {path for path in asked if not path.startswith(stand_for_all)} - {"/gpufleet-record.json"}
    assert kinds - set(READ) == set()
    assert len(kinds) > 15
