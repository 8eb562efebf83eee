# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the PCI bus, as far as this collection asks: network, storage, accelerators and their switches.

Virtual functions (SR-IOV) are marked: they come and go with a number that somebody wrote, and are no hardware.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional

from . import accelerators
from .host import HostError, Reader

FOLDER = "/sys/bus/pci/devices"
#: Classes that are looked at any closer: storage, network, display, bridges of no other kind (NVSwitch), accelerators.
LOOKED_AT = ("01", "02", "03", "0680", "12")
NICS = ("0200", "0207")
NVME = ("0108",)
NVIDIA, SWITCH = "10de", "0680"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\Z")
#: What a link of no lanes and one of a device that does not answer read as; no link has more than 32 lanes.
_MOST_LANES = 32


class Device(NamedTuple):
    """`kind` is the class in six digits. `upstream` is the address of the port above it, or nothing on a root bus."""

    address: str
    kind: str
    vendor: str
    device: str
    virtual: bool
    upstream: str

    @property
    def ids(self) -> str:
        return f"{self.vendor}:{self.device}"


class Link(NamedTuple):
    """A PCIe link: what it runs at, and the most that both of its ends can do. Speeds in GT/s, as the kernel says them."""

    width: str
    width_most: str
    speed: str
    speed_most: str


def read(host: Reader) -> List[Device]:
    """Raises HostError where there is no PCI bus to look at."""
    if not host.is_directory(FOLDER):
        raise HostError(FOLDER, "is not there")
    found: List[Device] = []
    for address in host.names(FOLDER):
        folder = f"{FOLDER}/{address}"
        kind = _hex(host.read_or(folder + "/class"))
        if kind.startswith(LOOKED_AT):
            vendor, device = _hex(host.read_or(folder + "/vendor")), _hex(host.read_or(folder + "/device"))
            found.append(Device(address, kind, vendor, device, host.exists(folder + "/physfn"), upstream(host.link(folder))))
    return found


def select(devices: Iterable[Device], kind: str, which: str = "") -> List[Device]:
    """The physical functions of a kind (accelerators, nics, nvme), or of these only those of a vendor's name, or of ids `10de:2330`."""
    return [device for device in devices if not device.virtual and _is(device, kind, which)]


def switches(devices: Iterable[Device]) -> List[Device]:
    """NVSwitch functions."""
    return [device for device in devices if device.vendor == NVIDIA and device.kind.startswith(SWITCH)]


def answers(host: Reader, device: Device) -> bool:
    """Whether the device itself still speaks: one that fell off the bus stays in sysfs, and its registers read as ones only.
    Where the registers cannot be read it is taken to be well.
    """
    try:
        return not host.read(f"{FOLDER}/{device.address}/config").encode("utf-8", "surrogateescape").startswith(b"\xff\xff")
    except HostError:
        return True


def link(host: Reader, device: Device) -> Optional[Link]:
    """The link of a device; None for one that has none, such as what is inside a processor or given to a virtual machine without one."""
    ends = [f"{FOLDER}/{address}/" for address in (device.address, device.upstream) if address]
    width = _lanes(host.read_or(ends[0] + "current_link_width"))
    speed = _speed(host.read_or(ends[0] + "current_link_speed"))
    widths = [lanes for lanes in (_lanes(host.read_or(end + "max_link_width")) for end in ends) if lanes]
    speeds = [one for one in (_speed(host.read_or(end + "max_link_speed")) for end in ends) if one]
    if not (width and speed and widths and speeds):
        return None
    return Link(width, min(widths, key=int), speed, min(speeds, key=float))


def counted(texts: Iterable[str]) -> str:
    """`8x 10de:2330, 1x 10de:2331`; `none` of nothing."""
    numbers: Dict[str, int] = {}
    for text in texts:
        numbers[text] = numbers.get(text, 0) + 1
    return ", ".join(f"{numbers[text]}x {text}" for text in sorted(numbers)) or "none"


def upstream(target: Optional[str]) -> str:
    """From where a device's link in sysfs leads: `…/devices/pci0000:00/0000:00:01.0/0000:01:00.0` -> `0000:00:01.0`."""
    parts = (target or "").split("/")
    return parts[-2] if len(parts) > 1 and _ADDRESS.match(parts[-2]) else ""


def _is(device: Device, kind: str, which: str) -> bool:
    if kind == "accelerators":
        maker = accelerators.maker(device.kind, device.vendor)
        # named by its ids, a device counts whatever its class: so a profile knows what the table does not
        return which in (maker, device.ids) if which else bool(maker)
    return device.kind[:4] in (NICS if kind == "nics" else NVME) and which in ("", device.ids)


def _hex(text: str) -> str:
    return text[2:].lower() if text.startswith("0x") else text.lower()


def _lanes(text: str) -> str:
    return text if text.isdigit() and 0 < int(text) <= _MOST_LANES else ""


def _speed(text: str) -> str:
    """`32.0 GT/s PCIe` -> 32; `2.5 GT/s` -> 2.5; `Unknown` -> nothing."""
    match = re.match(r"([0-9]{1,4})(?:\.0+|(\.[0-9]{1,4}))? GT/s", text)
    return match.group(1) + (match.group(2) or "") if match else ""
