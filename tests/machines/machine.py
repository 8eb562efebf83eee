# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine in a directory: built from the tables, then changed as a test wants it."""

import json
import os
import shutil
import stat
from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import hardware as tables

RECORD = "gpufleet-record.json"
THP = "/sys/kernel/mm/transparent_hugepage/"
SHM = "tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n"
NOW = 1796050800  # 2026-11-30 15:00 UTC
#: kind, mode, size, time of last change in ns, content or target
Entry = Tuple[str, int, int, int, Any]


class Machine:
    """All paths are those inside the machine: `/etc/sysctl.d/x.conf`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.record: Dict[str, Any] = {"uid": 0, "now": NOW, "commands": []}

    def copy(self, place: str) -> "Machine":
        """The same machine once more, times of files and all."""
        shutil.copytree(self.root, place, symlinks=True)
        copy = Machine(place)
        copy.record = json.loads(json.dumps(self.record))
        return copy

    # -- files ----------------------------------------------------------------------------------------------------

    def at(self, path: str) -> str:
        """Where a path of the machine really lies. Links are left to the file system, which a test must not lead outside."""
        return self.root + path

    def write(self, path: str, content: Any, mode: Optional[int] = None) -> None:
        """Text or bytes; a link or file that was there is replaced."""
        place = self.at(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.islink(place):
            os.unlink(place)
        with open(place, "wb") as handle:
            handle.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
        if mode is not None:
            os.chmod(place, mode)

    def link(self, path: str, target: str) -> None:
        place = self.at(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        os.symlink(target, place)

    def fifo(self, path: str) -> None:
        place = self.at(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        os.mkfifo(place)

    def folder(self, path: str) -> None:
        """A directory, also in the place of a file."""
        place = self.at(path)
        if os.path.lexists(place) and not os.path.isdir(place):
            os.unlink(place)
        os.makedirs(place, exist_ok=True)

    def remove(self, path: str) -> None:
        os.unlink(self.at(path))

    def move(self, path: str, to: str) -> None:
        os.rename(self.at(path), self.at(to))

    def unlink_folder(self, path: str) -> None:
        """Take out an empty directory."""
        os.rmdir(self.at(path))

    def read(self, path: str) -> str:
        with open(self.at(path), "rb") as handle:
            return handle.read().decode("utf-8", "surrogateescape")

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.at(path))

    # -- what a test says about the machine -------------------------------------------------------------------------

    def sysctl(self, key: str, value: Any) -> None:
        """The live value of a key, named by its path below /proc/sys or with dots."""
        self.write("/proc/sys/" + (key if "/" in key else key.replace(".", "/")), f"{value}\n")

    def thp(self, knob: str, word: str) -> None:
        """Choose another of the words of a knob, or another number."""
        text = self.read(THP + knob).replace("[", "").replace("]", "")
        words = text.split()
        chosen = " ".join(f"[{one}]" if one == word else one for one in words) if word in words and len(words) > 1 else word
        self.write(THP + knob, chosen + "\n")

    def thp_word(self, knob: str) -> str:
        """The word or number in force."""
        text = self.read(THP + knob)
        return text.split("[")[1].split("]")[0] if "[" in text else text.strip()

    def process(self, pid: int, name: str, opens: Iterable[str] = (), cgroup: str = "0::/\n") -> None:
        self.write(f"/proc/{pid}/comm", name + "\n")
        self.write(f"/proc/{pid}/cgroup", cgroup)
        self.folder(f"/proc/{pid}/fd")
        for number, target in enumerate(opens):
            self.link(f"/proc/{pid}/fd/{number}", target)

    def package(self, path: str, name: str) -> None:
        """Let the package database know whose a file is."""
        if self.exists("/var/lib/dpkg/status"):
            self.command(["dpkg-query", "-S", path], f"{name}: {path}\n")
        else:
            self.command(["rpm", "-qf", "--qf", "%{NAME}\n", path], name + "\n")

    def no_package(self, path: str) -> None:
        """Let the package database of Debian answer that a file is nobody's."""
        self.command(["dpkg-query", "-S", path], status=1)

    def command(self, argv: List[str], stdout: str = "", status: int = 0) -> None:
        self.record["commands"].append({"argv": argv, "status": status, "stdout": stdout})
        self.save()

    def is_(self, **facts: Any) -> None:
        """Change what the record says: uid, now, page_size, uname."""
        self.record.update(facts)
        self.save()

    def save(self) -> None:
        self.write("/" + RECORD, json.dumps(self.record))

    # -- what a test asks -------------------------------------------------------------------------------------------

    def snapshot(self, but: Iterable[str] = ()) -> Dict[str, Entry]:
        """Everything about every file, so that two snapshots are equal only when nothing was written. `but` leaves out what lies below."""
        found: Dict[str, Entry] = {}
        for folder, folders, files in os.walk(self.root):
            for name in folders + files:
                place = os.path.join(folder, name)
                path = place[len(self.root) :]
                if not any((path + "/").startswith(one.rstrip("/") + "/") for one in but):
                    found[path] = _entry(place)
        return found


def _entry(place: str) -> Entry:
    about = os.lstat(place)
    mode = stat.S_IMODE(about.st_mode)
    if stat.S_ISLNK(about.st_mode):
        return ("link", mode, 0, about.st_mtime_ns, os.readlink(place))
    if stat.S_ISREG(about.st_mode):
        with open(place, "rb") as handle:
            return ("file", mode, about.st_size, about.st_mtime_ns, handle.read())
    # sizes of folders are the file system's own business
    return ("other", mode, 0, about.st_mtime_ns, "")


def build(root: Any, hardware: str = "vm", system: str = "debian-13") -> Machine:
    machine = Machine(str(root))
    _system(machine, tables.SYSTEMS[system])
    _hardware(machine, tables.HARDWARE[hardware])
    machine.is_(
        page_size=tables.HARDWARE[hardware]["page_size"],
        uname={
            "nodename": "node-1",
            "release": tables.SYSTEMS[system]["kernel"],
            "machine": tables.HARDWARE[hardware]["architecture"],
        },
    )
    return machine


def _system(machine: Machine, system: Dict[str, Any]) -> None:
    for folder in (
        "/etc/security/limits.d",
        "/etc/sysctl.d",
        "/etc/tmpfiles.d",
        "/run",
        "/usr/lib/sysctl.d",
        "/usr/lib/tmpfiles.d",
        "/var/lib",
    ):
        machine.folder(folder)
    machine.write("/etc/os-release", 'ID={id}\nVERSION_ID="{version}"\n'.format(**system))
    for path, text in system["files"].items():
        machine.write(path, text)
    for path, target in system["links"].items():
        machine.link(path, target)
    if system["packages"]:
        machine.write(system["packages"], "")


def _hardware(machine: Machine, hardware: Dict[str, Any]) -> None:
    for key, value in tables.PROC_SYS.items():
        machine.write("/proc/sys/" + key, value + "\n", 0o644)
    for key, value in tables.READ_ONLY.items():
        machine.write("/proc/sys/" + key, value + "\n", 0o444)
    for knob, value in tables.THP.items():
        machine.write(THP + knob, value + "\n", 0o644)
    machine.write("/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz root=/dev/vda1 ro\n")
    machine.write("/proc/mounts", "proc /proc proc rw,nosuid 0 0\nsysfs /sys sysfs rw,nosuid 0 0\n/dev/vda1 / ext4 rw 0 0\n" + SHM)
    machine.write("/proc/meminfo", "MemTotal:       {} kB\n".format(hardware["memory_gib"] << 20))
    machine.write("/proc/cpuinfo", "processor\t: 0\n{}\t: {model}\n".format(_model_label(hardware), **hardware))
    machine.write("/sys/class/dmi/id/sys_vendor", hardware["vendor"] + "\n")
    machine.write("/sys/class/dmi/id/product_name", hardware["product"] + "\n")
    machine.write("/sys/class/dmi/id/product_serial", "S-0001\n", 0o400)
    machine.write("/sys/class/dmi/id/bios_version", "1.27\n")
    for name in ("online", "present"):
        machine.write("/sys/devices/system/cpu/" + name, "0-{}\n".format(hardware["cpus"] - 1))
    for number in range(hardware["cpus"]):
        machine.folder(f"/sys/devices/system/cpu/cpu{number}")
    for number in range(hardware["numa_nodes"]):
        machine.folder(f"/sys/devices/system/node/node{number}")
    for number, (kind, vendor, device) in enumerate(hardware["pci"]):
        folder = f"/sys/bus/pci/devices/0000:{number:02x}:00.0/"
        for name, value in (("class", kind), ("vendor", vendor), ("device", device)):
            machine.write(folder + name, value + "\n")


def _model_label(hardware: Dict[str, Any]) -> str:
    return "model name" if hardware["architecture"] == "x86_64" else "CPU part"
