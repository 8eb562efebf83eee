# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What QEMU is asked for: the accelerator that really works here, and the hardware of the machine."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

QEMU = "qemu-system-x86_64"
KVM = "kvm"
TCG = "tcg,thread=multi"
PROBE_LIMIT_S = 8


class StartFailed(Exception):
    def __init__(self, what: str, console: Path) -> None:
        tail = console.read_text(errors="replace")[-3000:] if console.exists() else ""
        super().__init__(f"{what}; the end of {console}:\n{tail or '(empty)'}")


def base(accelerator: str) -> list[str]:
    return [QEMU, "-machine", "q35", "-accel", accelerator, "-cpu", "max", "-nodefaults", "-display", "none"]


def accelerator(kernel: Path) -> str:
    """KVM only where a guest has been seen to speak: /dev/kvm may exist and still run nothing (nested virtualisation)."""
    chosen = os.environ.get("VM_ACCEL")
    if chosen:
        return {"kvm": KVM, "tcg": TCG}[chosen]
    return KVM if os.access("/dev/kvm", os.R_OK | os.W_OK) and speaks(kernel) else TCG


def speaks(kernel: Path) -> bool:
    """Whether a kernel under KVM prints something within a few seconds."""
    with tempfile.TemporaryDirectory() as folder:
        console = Path(folder) / "console"
        console.touch()
        small = ["-m", "256M", "-no-reboot", "-kernel", str(kernel), "-append", "console=ttyS0 panic=-1", "-serial", f"file:{console}"]
        with subprocess.Popen([*base(KVM), *small], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as guest:
            try:
                end = time.monotonic() + PROBE_LIMIT_S
                while time.monotonic() < end and guest.poll() is None:
                    if b"Linux version" in console.read_bytes():
                        return True
                    time.sleep(0.1)
                return False
            finally:
                guest.kill()


def machine(disk: Path, port: int) -> list[str]:
    """Two sockets, each with its own memory, PCIe bridge and devices; an IOMMU; a network card with several queues.

    Only bridges may sit on a pxb-pcie, and once there is one every device has to name its bus.
    """
    return [
        "-smp", "4,sockets=2,cores=2", "-m", "2G",
        "-object", "memory-backend-ram,id=m0,size=1G", "-numa", "node,nodeid=0,cpus=0-1,memdev=m0",
        "-object", "memory-backend-ram,id=m1,size=1G", "-numa", "node,nodeid=1,cpus=2-3,memdev=m1",
        "-numa", "dist,src=0,dst=1,val=21",
        "-device", "intel-iommu,intremap=on",
        "-device", "pxb-pcie,id=socket0,bus_nr=32,bus=pcie.0,numa_node=0",
        "-device", "pxb-pcie,id=socket1,bus_nr=64,bus=pcie.0,numa_node=1",
        "-device", "pcie-root-port,id=port0,bus=socket0,chassis=1",
        "-device", "pcie-root-port,id=port1,bus=socket0,chassis=2",
        "-device", "pcie-root-port,id=port2,bus=socket1,chassis=3",
        "-device", "pcie-root-port,id=port3,bus=socket1,chassis=4",
        "-device", "edu,bus=port0", "-device", "edu,bus=port2",
        "-drive", "driver=null-co,size=64M,if=none,id=scratch", "-device", "nvme,serial=scratch,drive=scratch,bus=port3",
        "-drive", f"file={disk},if=none,id=root,cache=unsafe", "-device", "virtio-blk-pci,drive=root,bus=pcie.0,bootindex=0",
        "-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{port}-:22", "-device", "virtio-net-pci,netdev=net,bus=port1,mq=on,vectors=10,romfile=",
        "-device", "virtio-rng-pci,bus=pcie.0",
    ]  # fmt: skip
