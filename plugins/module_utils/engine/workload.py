# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a job here? Who holds an accelerator, and which Slurm steps run.

A process counts when it has a device file of an accelerator open, unless it is one of the daemons that always do. A process
that is looked at without root shows no open files: then the answer is incomplete, and `blind` says so.
"""

import re
from typing import List, NamedTuple

from .host import HostError, Reader

DEVICE = re.compile(r"/dev/(nvidia\d+|nvidia-uvm|kfd|davinci\d+|cambricon_dev\d+|mtgpu\.\d+|hl\d+|accel/accel\d+)\Z")
#: Daemons that hold devices for as long as they run and whose holding says nothing about a job.
DAEMONS = (
    "nvidia-persiste",
    "nvidia-persistenced",
    "nv-hostengine",
    "nv-fabricmanag",
    "nv-fabricmanage",
    "nvidia-imex",
    "nvidia-smi",
    "dcgm-exporter",
    "nvidia-device-p",
    "nvidia-dcgm",
)
PID = re.compile(r"[0-9]{1,9}\Z")
POD = re.compile(r"pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})")


class Workload(NamedTuple):
    """`holders`: one text for each process, step or pod; `blind`: why the list may be incomplete, or nothing."""

    holders: List[str]
    blind: str


def read(host: Reader) -> Workload:
    holders: List[str] = []
    hidden = 0
    for pid in sorted((name for name in _names(host, "/proc") if PID.match(name)), key=int):
        name = host.read_or(f"/proc/{pid}/comm")
        if name == "slurmstepd":
            holders.append(f"Slurm step pid {pid}")
            continue
        try:
            devices = _devices(host, pid)
        except HostError as error:
            hidden += not error.absent
            continue
        if devices and name not in DAEMONS:
            holders.append("{}pid {} ({}) holds {}".format(_pod(host, pid), pid, name, ", ".join(devices)))
    blind = f"{hidden} processes hide their open files from this user" if hidden else ""
    return Workload(holders, blind)


def _devices(host: Reader, pid: str) -> List[str]:
    folder = f"/proc/{pid}/fd"
    targets = (host.link(f"{folder}/{name}") for name in host.names(folder))
    return sorted({target for target in targets if target is not None and DEVICE.match(target)})


def _pod(host: Reader, pid: str) -> str:
    match = POD.search(host.read_or(f"/proc/{pid}/cgroup"))
    return "pod {} ".format(match.group(1).replace("_", "-")) if match else ""


def _names(host: Reader, path: str) -> List[str]:
    try:
        return host.names(path)
    except HostError:
        return []
