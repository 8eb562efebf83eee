# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs on a machine between two moments, seen from outside: every file, every value of /proc/sys and of huge pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import machine

Snapshot = dict[str, dict[str, Any]]

# Left out by name, since they change while nobody does anything.
KERNEL_COUNTERS = (
    "/proc/sys/fs/aio-nr",
    "/proc/sys/fs/dentry-state",
    "/proc/sys/fs/file-nr",
    "/proc/sys/fs/inode-nr",
    "/proc/sys/fs/inode-state",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/pty/nr",
    "/proc/sys/kernel/random/entropy_avail",
    "/proc/sys/kernel/random/uuid",
    "/sys/kernel/mm/transparent_hugepage/hugepages-*/stats/*",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_collapsed",
)
# Logins, the journal and Ansible's own temporary files.
OTHERS_FILES = (
    "/root/.ansible",
    "/tmp/ansible_*",
    "/run/log/journal",
    "/run/motd.dynamic",
    "/run/systemd/journal",
    "/run/systemd/sessions",
    "/run/systemd/transient",
    "/run/systemd/units",
    "/run/systemd/users",
    "/run/user",
    "/run/utmp",
    "/var/log/btmp",
    "/var/log/lastlog",
    "/var/log/wtmp",
    "/var/log/wtmp.db",
    "/var/lib/lastlog",
    "/var/lib/wtmpdb",
)


def take(here: machine.Machine) -> Snapshot:
    probe = Path(__file__).with_name("snapshot_probe.py").read_text()
    taken: Snapshot = json.loads(machine.ssh(here, ["python3", "-I", "-B", "-"], stdin=probe).stdout)
    return taken


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """One line for each difference, beginning with the path; empty where nothing was written."""
    return kernel_differences(before, after) + file_differences(before, after)


def kernel_differences(before: Snapshot, after: Snapshot) -> list[str]:
    old, new = before["kernel"], after["kernel"]
    return [
        f"{path}: {old.get(path, 'absent')} -> {new.get(path, 'absent')}"
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path) and not any(fnmatchcase(path, counter) for counter in KERNEL_COUNTERS)
    ]


def file_differences(before: Snapshot, after: Snapshot) -> list[str]:
    old, new = before["files"], after["files"]
    found = []
    for path in sorted({*old, *new}):
        if any(fnmatchcase(path, other) or fnmatchcase(path, other + "/*") for other in OTHERS_FILES):
            continue
        if path not in new:
            found.append(f"{path}: removed")
        elif path not in old:
            found.append(f"{path}: created")
        else:
            ignored = {"size", "mtime", "ctime"} if is_parent_of_others(path) else set()
            changed = [field for field in old[path] if field not in ignored and old[path][field] != new[path][field]]
            if changed:
                found.append(f"{path}: {', '.join(changed)}")
    return found


def is_parent_of_others(path: str) -> bool:
    """A directory's times change when one of its entries comes or goes; where that entry is left out, so are they."""
    return any(str(PurePosixPath(other).parent) == path for other in OTHERS_FILES)


def keep(here: machine.Machine, name: str, taken: Snapshot) -> None:
    """For a later test; it goes with the machine."""
    (here.folder / f"{name}.snapshot.json").write_text(json.dumps(taken))


def kept(here: machine.Machine, name: str) -> Snapshot:
    taken: Snapshot = json.loads((here.folder / f"{name}.snapshot.json").read_text())
    return taken


def values_of(here: machine.Machine, settings: Iterable[str]) -> dict[str, str]:
    """What the kernel has for these settings, as a person would look it up."""
    wanted = list(settings)
    answers = machine.ssh(here, ["cat", *(kernel_file(setting) for setting in wanted)]).stdout.splitlines()
    return {setting: chosen(answer) for setting, answer in zip(wanted, answers, strict=True)}


def kernel_file(setting: str) -> str:
    subsystem, _slash, name = setting.partition("/")
    return f"/proc/sys/{name.replace('.', '/')}" if subsystem == "sysctl" else f"/sys/kernel/mm/{subsystem}/{name}"


def chosen(text: str) -> str:
    """`always [madvise] never` is madvise; several fields stand with single blanks."""
    bracketed = re.search(r"\[(.+)\]", text)
    return bracketed.group(1) if bracketed else " ".join(text.split())
