# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An eight-GPU server with its parts to the last memory module, as sysfs, proc and the firmware tell of them: simulated.

Its accelerators are 0000:00:00.0 to 0000:07:00.0 below one port each, then come eight adapters and four drives.
"""

import struct
from typing import Any, Iterable

from .machine import Machine, build

PCI = "/sys/bus/pci/devices/"
GPUS, NICS, DRIVES = range(8), range(8, 16), range(16, 20)
DMI = "/sys/firmware/dmi/tables/DMI"


def full(root: Any) -> Machine:
    machine = build(root, hardware="dgx-a100")
    for number in (*GPUS, *NICS, *DRIVES):
        plug(machine, number)
        link(machine, number, 4 if number in DRIVES else 16)
    for number in GPUS:
        gpu(machine, number, minor=7 - number)
    machine.is_(devices={})
    for path in ("/dev/nvidiactl", "/dev/nvidia-uvm", *(f"/dev/nvidia{number}" for number in GPUS)):
        device(machine, path)
    for number in range(8):
        machine.write(f"/sys/class/infiniband/mlx5_{number}/fw_ver", "28.39.1002\n")
    for number in range(4):
        drive(machine, number)
    modules(machine, [65536] * 16)
    smt(machine, "on")
    machine.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\n")
    machine.write("/etc/group", "root:x:0:\nvideo:x:44:\n")
    return machine


def address(number: int) -> str:
    return f"0000:{number:02x}:00.0"


def plug(machine: Machine, number: int) -> None:
    """Put a device below a port of its own, as the links of sysfs show it."""
    inside, port = f"/sys/devices/pci0000:00/0000:f0:{number:02x}.0", f"0000:f0:{number:02x}.0"
    for file in ("class", "vendor", "device"):
        machine.write(f"{inside}/{address(number)}/{file}", machine.read(f"{PCI}{address(number)}/{file}"))
        machine.remove(f"{PCI}{address(number)}/{file}")
    machine.unlink_folder(PCI + address(number))
    machine.link(PCI + address(number), f"../../../devices/pci0000:00/{port}/{address(number)}")
    machine.write(f"{inside}/class", "0x060400\n")
    machine.link(PCI + port, f"../../../devices/pci0000:00/{port}")


def unplug(machine: Machine, number: int) -> None:
    machine.remove(PCI + address(number))


def fall_off(machine: Machine, number: int) -> None:
    """The device no longer answers: all its registers read as ones."""
    machine.write(f"{PCI}{address(number)}/config", b"\xff" * 64)
    machine.write(f"{PCI}{address(number)}/current_link_width", "63\n")
    machine.write(f"{PCI}{address(number)}/current_link_speed", "Unknown\n")


def link(machine: Machine, number: int, width: int, speed: str = "16.0 GT/s PCIe", most: str = "", port: int = 16) -> None:
    """What a device's link runs at; `most` is what the device could, when not the same, `port` how many lanes the port above has."""
    folder = PCI + address(number)
    lanes, rate = most.split(" at ") if most else (str(width), speed)
    machine.write(folder + "/current_link_width", f"{width}\n")
    machine.write(folder + "/max_link_width", lanes + "\n")
    machine.write(folder + "/current_link_speed", speed + "\n")
    machine.write(folder + "/max_link_speed", rate + "\n")
    above = PCI + f"0000:f0:{number:02x}.0"
    machine.write(above + "/max_link_width", f"{port}\n")
    machine.write(above + "/max_link_speed", "16.0 GT/s PCIe\n")


def gpu(machine: Machine, number: int, minor: int, bios: str = "92.00.45.00.06") -> None:
    """Let NVIDIA's driver tell of a device."""
    machine.write(
        f"/proc/driver/nvidia/gpus/{address(number)}/information",
        f"Model: \t\t NVIDIA A100-SXM4-40GB\nVideo BIOS: \t {bios}\nDevice Minor: \t {minor}\n",
    )


def device(machine: Machine, path: str, mode: int = 0o666, uid: int = 0, gid: int = 0) -> None:
    machine.record["devices"][path] = {"mode": mode, "uid": uid, "gid": gid}
    machine.save()


def no_device(machine: Machine, path: str) -> None:
    del machine.record["devices"][path]
    machine.save()


def drive(machine: Machine, number: int, state: str = "live", transport: str = "pcie", firmware: str = "GDC7302Q") -> None:
    folder = f"/sys/class/nvme/nvme{number}/"
    for name, value in (("state", state), ("transport", transport), ("firmware_rev", firmware)):
        machine.write(folder + name, value + "\n")


def smt(machine: Machine, control: str) -> None:
    machine.write("/sys/devices/system/cpu/smt/control", control + "\n")
    machine.write("/sys/devices/system/cpu/smt/active", "{:d}\n".format(control == "on"))


def modules(machine: Machine, sizes: Iterable[int]) -> None:
    """The firmware's table: one slot for each size, in MiB; 0 is an empty one."""
    machine.write(DMI, smbios(sizes), 0o400)


def smbios(sizes: Iterable[int]) -> bytes:
    """A BIOS structure, a memory device for each size, the end."""
    table = struct.pack("<BBH", 0, 0x18, 0) + b"\1\2\0\xf0\3\0" + b"\0" * 14 + b"Vendor\0001.27\0" + b"11/30/2026\0\0"
    for handle, size in enumerate(sizes, 0x1100):
        word = size if size < 0x7FFF else 0x7FFF
        body = struct.pack("<HHHHH", 0x1000, 0xFFFE, 72, 64, word) + b"\0" * 14 + struct.pack("<I", size if word == 0x7FFF else 0)
        table += struct.pack("<BBH", 17, 4 + len(body), handle) + body + (b"DIMM\0\0" if size else b"\0\0")
    return table + struct.pack("<BBH", 127, 4, 0xFEFF) + b"\0\0"
