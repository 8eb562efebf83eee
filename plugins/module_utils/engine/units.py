# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of units before a node is asked: other names that people use, and the hardware without which a unit has nothing to do. Pure.

A unit is written as people type it, without `.service`; all other types keep their ending.
"""

from typing import Dict, List, Tuple

from . import accelerators, pci

#: What can be said of a unit -> the one value that can be wanted of it.
WANTED: Dict[str, str] = {"installed": "installed", "enabled": "enabled", "running": "active"}
SERVICE = ".service"
TYPES = (SERVICE, ".socket", ".target", ".timer", ".path", ".mount", ".automount", ".swap", ".slice", ".device", ".scope")

#: What documents and people call a unit -> its name.
OTHER_NAMES: Dict[str, str] = {
    "fabric-manager": "nvidia-fabricmanager",
    "fabricmanager": "nvidia-fabricmanager",
    "nvidia-fabric-manager": "nvidia-fabricmanager",
    "nv-fabricmanager": "nvidia-fabricmanager",
    "dcgm": "nvidia-dcgm",
    "nv-hostengine": "nvidia-dcgm",
    "persistenced": "nvidia-persistenced",
    "nvidia-persistence": "nvidia-persistenced",
    "mig-manager": "nvidia-mig-manager",
    "imex": "nvidia-imex",
}
#: Names that older packages gave to a unit, asked for where the one of today is not installed.
OLDER_NAMES: Dict[str, Tuple[str, ...]] = {"nvidia-dcgm": ("dcgm",)}

NVIDIA = ("nvidia-persistenced", "nvidia-dcgm", "nvidia-mig-manager", "nvidia-imex")
FABRIC = ("nvidia-fabricmanager",)
SWITCH_FILE = "/dev/nvidia-nvswitch0"
#: Device ids of the family whose switches the host does not see on PCI: there nothing can be said from the hardware.
UNSEEN_SWITCHES = ("10de:29", "10de:31")


def canonical(unit: str) -> str:
    plain = unit[: -len(SERVICE)] if unit.endswith(SERVICE) else unit
    return OTHER_NAMES.get(plain, plain)


def full(unit: str) -> List[str]:
    """The names to ask systemd for, the one of today first."""
    return [name if name.endswith(TYPES) else name + SERVICE for name in (unit, *OLDER_NAMES.get(unit, ()))]


def idle_here(unit: str, devices: List[pci.Device], switch_file: bool) -> str:
    """Why the unit would have nothing to do on a machine with these devices, or nothing."""
    nvidia = pci.select(devices, "accelerators", accelerators.VENDORS[pci.NVIDIA].name)
    if unit in NVIDIA and not nvidia:
        return "there is no accelerator of NVIDIA here"
    seen = switch_file or pci.switches(devices) or any(device.ids.startswith(UNSEEN_SWITCHES) for device in nvidia)
    if unit in FABRIC and not seen:
        return "there is no NVSwitch here"
    return ""
