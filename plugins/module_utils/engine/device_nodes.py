# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The device files of accelerators: which there have to be, and how they are."""

import re
from typing import Dict, List, NamedTuple, Tuple

from . import accelerators
from .host import HostError, Reader
from .pci import Device

NVIDIA_GPUS = "/proc/driver/nvidia/gpus"


class Node(NamedTuple):
    """`state` is what is wrong with it as a whole, or nothing; else its mode in four digits and `owner:group`."""

    path: str
    state: str
    mode: str
    owner: str


def read(host: Reader, vendor: str, devices: List[Device]) -> List[Node]:
    """The device files that these accelerators of one vendor should have."""
    table = accelerators.BY_NAME[vendor]
    paths = list(table.once)
    found: List[Node] = []
    minors = _nvidia_minors(host) if vendor == "nvidia" else {}
    for number, device in enumerate(devices):
        if device.address in minors:
            paths.append(table.each.format(minors[device.address]))
        elif minors:
            found.append(Node(device.address, "is not taken by the driver", "", ""))
        else:
            paths.append(table.each.format(table.first + number))
    names = (_names(host, "/etc/passwd"), _names(host, "/etc/group"))
    return [_node(host, path, names) for path in paths] + found


def _node(host: Reader, path: str, names: Tuple[Dict[int, str], Dict[int, str]]) -> Node:
    try:
        device = host.device(path)
    except HostError as error:
        return Node(path, "is not there" if error.absent else error.reason, "", "")
    owner = f"{names[0].get(device.uid, device.uid)}:{names[1].get(device.gid, device.gid)}"
    return Node(path, "", f"{device.mode:04o}", owner)


def _nvidia_minors(host: Reader) -> Dict[str, str]:
    """PCI address -> the number in /dev, which is not the order on the bus. Empty when the driver is not loaded."""
    found: Dict[str, str] = {}
    for address in host.names(NVIDIA_GPUS) if host.is_directory(NVIDIA_GPUS) else []:
        match = re.search(r"^Device Minor:\s*([0-9]+)\s*$", host.read_or(f"{NVIDIA_GPUS}/{address}/information"), re.M)
        if match:
            found[address.lower()] = match.group(1)
    return found


def _names(host: Reader, path: str) -> Dict[int, str]:
    """Number -> name, of the local file only."""
    fields = [line.split(":") for line in host.read_or(path).split("\n")]
    return {int(one[2]): one[0] for one in fields if len(one) > 2 and one[2].isdigit()}
