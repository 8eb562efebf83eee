# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What several subsystems and conditions ask about a node, read once in a run and only when asked."""

import hashlib
import re
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import pci, systemd, tuned, workload
from .host import HostError, Reader

T = TypeVar("T")
VIRTUAL = re.compile(r"qemu|kvm|vmware|virtualbox|innotek|xen|bochs|amazon ec2|google compute|virtual machine|openstack|rhev", re.I)


class Context:
    """Lazy reads of one run."""

    def __init__(self, host: Reader) -> None:
        self.host = host
        self._known: Dict[str, Any] = {}

    def _once(self, name: str, read: Callable[[], T]) -> T:
        if name not in self._known:
            self._known[name] = read()
        value: T = self._known[name]
        return value

    def cmdline(self) -> str:
        """/proc/cmdline; empty when it cannot be read."""
        return self._once("cmdline", lambda: self.host.read_or("/proc/cmdline"))

    def tuned(self) -> tuned.Tuned:
        return self._once("tuned", lambda: tuned.read(self.host))

    def workload(self) -> workload.Workload:
        return self._once("workload", lambda: workload.read(self.host))

    def systemd(self, units: List[str]) -> systemd.Units:
        """What systemd has loaded of these units (full names); a unit that an earlier question was about is not asked for again."""
        answers: Dict[str, systemd.Units] = self._once("systemd", dict)
        new = [unit for unit in units if unit not in answers]
        if new:
            answer = systemd.show(self.host, new)
            answers.update(dict.fromkeys(new, answer))
        errors = sorted({answers[unit].error for unit in units} - {""})
        return systemd.Units({unit: answers[unit].known[unit] for unit in units if unit in answers[unit].known}, "; ".join(errors))

    def pci(self) -> List[pci.Device]:
        """Raises HostError where there is no PCI bus to look at."""
        return self._once("pci", lambda: pci.read(self.host))

    def boot_id(self) -> str:
        return self._once("boot_id", lambda: self.host.read_or("/proc/sys/kernel/random/boot_id"))

    def container(self) -> str:
        """The kind of container that this runs in, `none` on a machine of its own."""
        return self._once("container", lambda: _container(self.host))

    def mount_options(self, path: str) -> str:
        """The options of the mount that holds a path below /proc or /sys, comma separated."""
        mounts = self._once("mounts", lambda: self.host.read_or("/proc/mounts"))
        best, options = "", ""
        for line in mounts.split("\n"):
            fields = line.split()
            if len(fields) >= 4 and len(fields[1]) >= len(best) and (path + "/").startswith(fields[1].rstrip("/") + "/"):
                best, options = fields[1], fields[3]
        return options

    def facts(self) -> Dict[str, Any]:
        """The node as reports and `when` know it; what could not be read has no key."""
        return self._once("facts", lambda: _facts(self))


def _facts(context: Context) -> Dict[str, Any]:
    host = context.host
    memory = re.search(r"^MemTotal:\s+([0-9]{1,15}) kB", host.read_or("/proc/meminfo"), re.M)
    cpuinfo = host.read_or("/proc/cpuinfo")
    model = re.search(r"^(?:model name|CPU part)\s*:\s*(.*)$", cpuinfo, re.M)
    release = dict(re.findall(r'^([A-Z_]+)="?([^"\n]*)"?$', host.read_or("/etc/os-release"), re.M))
    vendor, product = host.read_or("/sys/class/dmi/id/sys_vendor"), host.read_or("/sys/class/dmi/id/product_name")
    found: Dict[str, Any] = {
        "distribution": release.get("ID"),
        "distribution_version": release.get("VERSION_ID"),
        "python": host.python(),
        "vendor": vendor,
        "product": product,
        "serial": host.read_or("/sys/class/dmi/id/product_serial"),
        "bios": host.read_or("/sys/class/dmi/id/bios_version"),
        "container": context.container(),
        "numa_nodes": _count(host, "/sys/devices/system/node", r"node\d+\Z"),
        "cpus": _count(host, "/sys/devices/system/cpu", r"cpu\d+\Z"),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else None,
        "page_size": _asked(host.page_size),
        "boot_id": context.boot_id(),
        "uid": _asked(host.uid),
    }
    name = _asked(host.uname) or {}
    found.update(hostname=name.get("nodename"), kernel=name.get("release"), architecture=name.get("machine"))
    facts = {key: value for key, value in found.items() if value not in (None, "")}
    facts["virtualised"] = bool(VIRTUAL.search(vendor + " " + product)) or bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.M))
    devices = _asked(context.pci)
    if devices is not None:
        facts.update(_hardware(host, devices))
    facts["fingerprint"] = _fingerprint(devices or [], facts, model.group(1) if model else "")
    return facts


def _hardware(host: Reader, devices: List[pci.Device]) -> Dict[str, str]:
    """What a fault can take from a machine, as text that is equal on machines that have the same."""
    found = {kind: pci.select(devices, kind) for kind in ("accelerators", "nics", "nvme")}
    facts = {kind: pci.counted(device.ids for device in those) for kind, those in found.items()}
    links = [(device, pci.link(host, device)) for device in found["accelerators"] + found["nics"]]
    widths = [f"{device.ids} x{link.width}" for device, link in links if link is not None]
    return dict(facts, link_widths=pci.counted(widths)) if widths else facts


def _fingerprint(found: List[pci.Device], facts: Dict[str, Any], model: str) -> str:
    """Twelve hex digits that are equal on machines of the same make: product, CPUs, memory in GiB, NUMA nodes, accelerators and NICs."""
    devices: Dict[str, int] = {}
    for device in found:
        if device.kind[:2] in ("02", "03", "12") and not device.virtual:
            name = f"0x{device.kind} 0x{device.vendor} 0x{device.device}"
            devices[name] = devices.get(name, 0) + 1
    parts = [
        facts.get("vendor"),
        facts.get("product"),
        facts.get("architecture"),
        model,
        facts.get("cpus"),
        facts.get("numa_nodes"),
        facts.get("memory_bytes", 0) >> 30,
        sorted(devices.items()),
    ]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _container(host: Reader) -> str:
    named = host.read_or("/run/systemd/container")
    if named:
        return named
    for marker, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if host.exists(marker):
            return name
    return "none"


def _count(host: Reader, path: str, pattern: str) -> Optional[int]:
    try:
        found = sum(1 for name in host.names(path) if re.match(pattern, name))
    except HostError:
        return None
    return found or None


def _asked(question: Callable[[], T]) -> Optional[T]:
    try:
        return question()
    except HostError:
        return None
