# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd has loaded of some units, asked in one command; and the one way in which it is told to read its files again.

`Context.systemd(units)` shares the answers between subsystems. What unit files say is in `unit_files.py`.
"""

import os
import re
from typing import Dict, List, NamedTuple, Tuple

from .host import Host, HostError, Reader

#: In alphabetical order; a property that this systemd does not know is left out of its answer.
PROPERTIES = (
    "ActiveState",
    "ConflictedBy",
    "Conflicts",
    "DropInPaths",
    "FragmentPath",
    "Id",
    "LimitMEMLOCK",
    "LimitMEMLOCKSoft",
    "LimitNOFILE",
    "LimitNOFILESoft",
    "LoadState",
    "MainPID",
    "Names",
    "NeedDaemonReload",
    "SubState",
    "TasksMax",
    "UnitFileState",
)
RELOAD = ["systemctl", "daemon-reload"]
RELOAD_S = 60.0
SHOW_S = 20.0
#: The cgroups that container runtimes make, with either cgroup driver.
CONTAINER = re.compile(r"docker|containerd|crio-|libpod|kubepods|nspawn|machine\.slice")
NVIDIA = re.compile(r"/dev/nvidia[^ ]*\Z")


class Unit(NamedTuple):
    """One unit as systemd has it loaded. `load_state` is `loaded`, `not-found`, `masked`, `error` or `bad-setting`; `main_pid` is 0 when
    nothing runs; `properties` is everything that was answered, what is empty has no key.
    """

    id: str
    names: List[str]
    load_state: str
    active_state: str
    unit_file_state: str
    main_pid: int
    needs_reload: bool
    fragment: str
    properties: Dict[str, str]


class Units(NamedTuple):
    """`known`: by the name that was asked for, so an alias leads to the unit with the real `id`; `error`: why systemd could not be asked."""

    known: Dict[str, Unit]
    error: str


# -- asking -----------------------------------------------------------------------------------------------------


def show(host: Reader, units: List[str]) -> Units:
    """The state of these units, which are full names (`slurmd.service`)."""
    if not units:
        return Units({}, "")
    try:
        answer = host.run(argv(units), SHOW_S)
    except HostError as error:
        return Units({}, error.reason)
    found = parse(answer.stdout)
    if not found:
        return Units({}, " ".join((answer.stderr or answer.stdout).split())[:300] or f"systemctl ended with status {answer.status}")
    by_name = {name: unit for unit in found for name in unit.names}
    return Units({name: by_name[name] for name in units if name in by_name}, "")


def argv(units: List[str]) -> List[str]:
    """The one command; tests of recorded machines record its answer."""
    return ["systemctl", "show", "--no-pager", "-p", ",".join(PROPERTIES), "--", *sorted(set(units))]


def parse(text: str) -> List[Unit]:
    """The units of an answer: blocks of `Property=value` lines with an empty line between."""
    blocks = [dict(line.split("=", 1) for line in block.split("\n") if "=" in line) for block in text.split("\n\n")]
    return [_unit(block) for block in blocks if block.get("Id")]


def names(unit: Unit) -> List[str]:
    """All names of a unit, the real one first."""
    return [unit.id, *(name for name in unit.names if name != unit.id)]


def _unit(properties: Dict[str, str]) -> Unit:
    said = {key: value for key, value in properties.items() if value != ""}
    pid = said.get("MainPID", "0")
    return Unit(
        said["Id"],
        sorted({said["Id"], *said.get("Names", "").split()}),
        said.get("LoadState", ""),
        said.get("ActiveState", ""),
        said.get("UnitFileState", ""),
        int(pid) if pid.isdigit() else 0,
        said.get("NeedDaemonReload") == "yes",
        said.get("FragmentPath", ""),
        said,
    )


# -- telling ----------------------------------------------------------------------------------------------------


def reload(host: Host) -> str:
    """Let systemd read its unit files again, unless that would take devices from running containers; why it was not done, or nothing."""
    risk = reload_risk(host)
    if risk:
        return f"systemd was not told to read its files again: {risk}"
    try:
        host.change(RELOAD, RELOAD_S)
    except HostError as error:
        return f"systemd could not read its files again: {error.reason}"
    return ""


def reload_risk(host: Reader) -> str:
    """Which containers would lose their GPUs when systemd reads its files again, or nothing.

    systemd then writes the device rules of all its cgroups anew, and it knows a device only where /dev/char has a link to it: a container
    that was given others gets "Failed to initialize NVML: Unknown Error".
    """
    linked = None
    for pid, devices in _container_devices(host):
        if linked is None:
            linked = _linked(host)
        lost = [device for device in devices if device not in linked]
        if lost:
            name = host.read_or(f"/proc/{pid}/comm")
            return "pid {} ({}) in a container holds {}, to which no link in /dev/char leads".format(pid, name, ", ".join(lost))
    return ""


def _container_devices(host: Reader) -> List[Tuple[str, List[str]]]:
    """(pid, NVIDIA devices) of the processes in containers that have one open."""
    found = []
    for pid in sorted((name for name in _names(host, "/proc") if name.isdigit()), key=int):
        if not CONTAINER.search(host.read_or(f"/proc/{pid}/cgroup")):
            continue
        folder = f"/proc/{pid}/fd"
        targets = {host.link(f"{folder}/{name}") or "" for name in _names(host, folder)}
        devices = sorted(target for target in targets if NVIDIA.match(target))
        if devices:
            found.append((pid, devices))
    return found


def _linked(host: Reader) -> List[str]:
    """The devices that links in /dev/char lead to."""
    links = (host.link("/dev/char/" + name) for name in _names(host, "/dev/char"))
    return [os.path.normpath(os.path.join("/dev/char", link)) for link in links if link is not None]


def _names(host: Reader, path: str) -> List[str]:
    try:
        return host.names(path)
    except HostError:
        return []
