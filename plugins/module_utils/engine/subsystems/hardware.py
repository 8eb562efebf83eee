# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""hardware: what the profile declares to exist. It is only looked at; nothing here is ever written.

A setting is made of parts: the one number of a count, or one part for each device of a kind. It is right when every part agrees with the rule,
and the parts that do not are named. The only view is the live one.
"""

import re
from typing import Callable, Dict, List, NamedTuple, Optional

from .. import accelerators, cpulist, device_nodes, pci, rules, settings, smbios
from ..context import Context
from ..host import Host, HostError, Reader
from ..settings import Entry, Finding

NAME = "hardware"
#: The word of a rule for "the most that both ends of the link can do".
MOST = "max"
PRESENT = "present"
#: So many addresses are told of what is there, where a count is wrong.
TOLD = 16
DMI = "/sys/class/dmi/id/"
TABLE = "/sys/firmware/dmi/tables/DMI"
EDAC = "/sys/devices/system/edac/mc"
CPU = "/sys/devices/system/cpu/"
NVME = "/sys/class/nvme"
RDMA = "/sys/class/infiniband"


class Part(NamedTuple):
    """`who` is nothing for what there is one of only; `text` is for people; `spellings` are the values that a rule may ask for."""

    who: str
    text: str
    spellings: List[str]


class Measure(NamedTuple):
    """What was read for one setting. `absent`: why it does not apply here. `error`: why it could not be read. `by_design`: why
    parts may be below what both ends can do. `needs`: what would mend it.
    """

    parts: List[Part]
    origin: str
    notes: List[str]
    needs: str
    absent: str = ""
    error: str = ""
    by_design: str = ""


Observed = Dict[str, Measure]


def canonical(name: str) -> str:
    return name.strip("/")


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    return {name: _measure(context, name) for name in entries}


def _measure(context: Context, name: str) -> Measure:
    """The longest beginning of the name that is known says how to read it; what follows is for the reader to choose by."""
    head, which = name, ""
    while head not in READERS and "/" in head:
        head, _slash, tail = head.rpartition("/")
        which = f"{tail}/{which}" if which else tail
    if head not in READERS:
        return _failed("there is no such setting of hardware", "")
    try:
        return READERS[head](context, which)
    except HostError as error:
        return _failed(error.reason, error.path)


def _devices(kind: str) -> Callable[[Context, str], Measure]:
    """How to count the PCI functions of a kind."""

    def count(context: Context, which: str) -> Measure:
        there = pci.select(context.pci(), kind, which)
        silent = [device for device in there if not pci.answers(context.host, device)]
        well = [device for device in there if device not in silent]
        notes = [f"{device.address} ({device.ids}) is on the bus and does not answer" for device in silent]
        return _count(len(well), pci.FOLDER, notes + _told([f"{device.address} ({device.ids})" for device in well]), "drain")

    return count


def _infiniband(context: Context, which: str) -> Measure:
    names = _rdma(context.host)
    return _count(len(names), RDMA, _told(names), "drain") if not which else _failed(f"{which} chooses nothing here", RDMA)


def _nvme(context: Context, _which: str) -> Measure:
    controllers = _nvme_controllers(context.host)
    state = {name: context.host.read_or(f"{NVME}/{name}/state", "live") for name in controllers}
    live = [name for name in controllers if state[name] == "live"]
    return _count(len(live), NVME, [f"{name} is {state[name]}" for name in controllers if name not in live] + _told(live), "drain")


def _memory(context: Context, _which: str) -> Measure:
    return _fact(context, "memory_bytes", "/proc/meminfo", "drain")


def _numa_nodes(context: Context, _which: str) -> Measure:
    return _fact(context, "numa_nodes", "/sys/devices/system/node", "reboot")


def _dimms(context: Context, _which: str) -> Measure:
    """From the firmware's table, which root alone may read, or from the memory controllers' drivers."""
    host = context.host
    try:
        table = host.read(TABLE).encode("utf-8", "surrogateescape")
    except HostError as error:
        modules = _edac_modules(host)
        if not modules:
            return _failed(f"{error.reason}, and no driver of a memory controller tells of modules", TABLE)
        return _count(len(modules), EDAC, [], "drain")
    told = smbios.memory_modules(table)
    if told is None:
        return _failed("the firmware's table says nothing of memory modules", TABLE)
    return _count(told[0], TABLE, [f"{told[1]} slots"], "drain")


def _cpus(context: Context, _which: str) -> Measure:
    online, present = (_cpu_list(context.host, name) for name in ("online", "present"))
    if online is None:
        return _failed("cannot be read", CPU + "online")
    off = len(present or online) - len(online)
    return _count(len(online), CPU + "online", [f"{off} more are there and offline"] if off > 0 else [], "drain")


def _smt(context: Context, _which: str) -> Measure:
    control = context.host.read_or(CPU + "smt/control")
    active = context.host.read_or(CPU + "smt/active")
    if active not in ("0", "1"):
        return _failed("this kernel does not tell", CPU + "smt/active")
    notes = [f"the kernel says {control}"] if control not in ("on", "off", "") else []
    return _one("on" if active == "1" else "off", CPU + "smt/active", notes, "reboot")


def _link_width(context: Context, which: str) -> Measure:
    def part(device: pci.Device, link: pci.Link) -> Part:
        most = [MOST] if int(link.width) >= int(link.width_most) else []
        return Part(device.address, f"{link.width} of {link.width_most} lanes", [link.width, *most])

    return _links(context, which, part)


def _link_speed(context: Context, which: str) -> Measure:
    """An accelerator lowers the speed of its link while it idles, by design: of those is told what both ends can do, which does not change
    with the load.
    """
    idles = which.split("/")[0] == "accelerators"

    def part(device: pci.Device, link: pci.Link) -> Part:
        most = [MOST] if float(link.speed) >= float(link.speed_most) else []
        if idles:
            return Part(device.address, f"up to {link.speed_most} GT/s", [link.speed_most, *most])
        return Part(device.address, f"{link.speed} of {link.speed_most} GT/s", [link.speed, *most])

    measure = _links(context, which, part)
    return measure._replace(by_design="an accelerator lowers the speed of its link while it idles") if idles else measure


def _links(context: Context, which: str, part: Callable[[pci.Device, pci.Link], Part]) -> Measure:
    kind, _slash, choice = which.partition("/")
    devices = pci.select(context.pci(), kind, choice)
    if not devices:
        return _absent(f"there are no {which} here", pci.FOLDER)
    links = [(device, pci.link(context.host, device)) for device in devices]
    parts = [part(device, link) for device, link in links if link is not None]
    silent = [device.address for device, link in links if link is None]
    if not parts:
        return _absent(f"no link of {which} is seen here", pci.FOLDER)
    return Measure(parts, pci.FOLDER, [f"no link is seen of {address}" for address in silent], "drain")


def _bios(context: Context, _which: str) -> Measure:
    version = context.facts().get("bios")
    origin = DMI + "bios_version"
    return _one(str(version), origin, [], "reboot") if version else _failed("this machine does not tell", origin)


def _nvme_firmware(context: Context, _which: str) -> Measure:
    return _firmware(context.host, NVME, _nvme_controllers(context.host), "firmware_rev")


def _rdma_firmware(context: Context, _which: str) -> Measure:
    return _firmware(context.host, RDMA, _rdma(context.host), "fw_ver")


def _nvidia_firmware(context: Context, _which: str) -> Measure:
    host, folder = context.host, device_nodes.NVIDIA_GPUS
    found = []
    for address in host.names(folder):
        match = re.search(r"^Video BIOS:\s*(\S+)\s*$", host.read_or(f"{folder}/{address}/information"), re.M)
        found.append(Part(address, match.group(1) if match else "does not tell", [match.group(1)] if match else []))
    return Measure(found, folder, [], "drain") if found else _absent("the driver of NVIDIA has no device here", folder)


def _firmware(host: Reader, folder: str, names: List[str], file: str) -> Measure:
    if not names:
        return _absent("there is none here", folder)
    versions = {name: host.read_or(f"{folder}/{name}/{file}") for name in names}
    parts = [Part(name, versions[name] or "does not tell", [versions[name]] if versions[name] else []) for name in names]
    return Measure(parts, folder, [], "drain")


def _device_nodes(context: Context, which: str) -> Measure:
    if which not in accelerators.BY_NAME or not accelerators.BY_NAME[which].each:
        return _failed(f"the device files of {which or 'nobody'} are not known", "/dev")
    devices = pci.select(context.pci(), "accelerators", which)
    if not devices:
        return _absent(f"there is no accelerator of {which} here", pci.FOLDER)
    parts = []
    for node in device_nodes.read(context.host, which, devices):
        words = f"{node.mode} {node.owner}"
        parts.append(Part(node.path, node.state, []) if node.state else Part(node.path, words, [words, node.mode, PRESENT]))
    return Measure(parts, "/dev", [], "nothing")


READERS: Dict[str, Callable[[Context, str], Measure]] = {
    "accelerators": _devices("accelerators"),
    "nics": _devices("nics"),
    "infiniband": _infiniband,
    "nvme": _nvme,
    "memory_bytes": _memory,
    "dimms": _dimms,
    "numa_nodes": _numa_nodes,
    "cpus": _cpus,
    "smt": _smt,
    "link_width": _link_width,
    "link_speed": _link_speed,
    "firmware/bios": _bios,
    "firmware/nvme": _nvme_firmware,
    "firmware/infiniband": _rdma_firmware,
    "firmware/nvidia": _nvidia_firmware,
    "device_nodes": _device_nodes,
}


def _nvme_controllers(host: Reader) -> List[str]:
    """Drives in this machine; those of another machine, over a network, are not its hardware."""
    return [name for name in host.names(NVME) if host.read_or(f"{NVME}/{name}/transport", "pcie") == "pcie"]


def _rdma(host: Reader) -> List[str]:
    return [name for name in host.names(RDMA) if not host.exists(f"{RDMA}/{name}/device/physfn")]


def _edac_modules(host: Reader) -> List[str]:
    controllers = [name for name in host.names(EDAC) if re.match(r"mc\d+\Z", name)] if host.is_directory(EDAC) else []
    found = [f"{controller}/{name}" for controller in controllers for name in host.names(f"{EDAC}/{controller}")]
    return [one for one in found if re.search(r"/dimm\d+\Z", one) and host.read_or(f"{EDAC}/{one}/size", "0") != "0"]


def _cpu_list(host: Reader, name: str) -> Optional[List[int]]:
    try:
        return cpulist.numbers(host.read(CPU + name)) or None
    except (HostError, ValueError):
        return None


def _fact(context: Context, name: str, origin: str, needs: str) -> Measure:
    value = context.facts().get(name)
    return _failed("cannot be read", origin) if value is None else _one(str(value), origin, [], needs)


def _count(number: int, origin: str, notes: List[str], needs: str) -> Measure:
    return _one(str(number), origin, notes, needs)


def _one(value: str, origin: str, notes: List[str], needs: str) -> Measure:
    return Measure([Part("", value, [value])], origin, notes, needs)


def _absent(reason: str, origin: str) -> Measure:
    return Measure([], origin, [], "nothing", absent=reason)


def _failed(reason: str, origin: str) -> Measure:
    return Measure([], origin, [], "nothing", error=reason)


def _told(names: List[str]) -> List[str]:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ["there: {}{}".format(", ".join(names[:TOLD]), more)] if names else []


# -- compare ----------------------------------------------------------------------------------------------------


def compare(entries: Dict[str, Entry], observed: Observed) -> Dict[str, Finding]:
    """Pure: what is declared and what was read, to one finding for each setting."""
    return {name: _compare(entry["rule"], observed[name]) for name, entry in entries.items()}


def _compare(rule: rules.Rule, measure: Measure) -> Finding:
    if measure.absent:
        return settings.not_applicable(measure.absent)
    if measure.error:
        view = {"live": {"error": measure.error, "from": measure.origin or "/sys"}}
        return dict(settings.unknown(f"could not be read: {measure.error}"), views=view, desired=rules.target(rule))
    wrong = [part for part in measure.parts if not any(rules.satisfied(rule, spelling) for spelling in part.spellings)]
    finding: Finding = {
        "holds": [],
        "desired": rules.target(rule),
        "views": {"live": {"value": _together(measure.parts), "from": measure.origin}},
        "needs": "nothing",
        "detail": [],
        "changes": [],
    }
    if wrong:
        named = [f"{part.who}: {part.text}" for part in wrong if part.who]
        finding["detail"] = named + measure.notes
        by_design = measure.by_design and rules.target(rule) == MOST
        if by_design:
            finding["detail"].insert(0, measure.by_design)
        finding["holds"] = ["kernel_managed" if by_design else "missing"]
        finding["needs"] = "nothing" if by_design else measure.needs
    return finding


def _together(parts: List[Part]) -> str:
    """One text for all parts, equal on machines whose parts are the same."""
    if len(parts) == 1 and not parts[0].who:
        return parts[0].text
    return pci.counted(part.text for part in parts)


def notes(_observed: Observed) -> List[str]:
    return []


# -- apply: there is nothing to write ---------------------------------------------------------------------------


def own_files(_host: Reader) -> List[str]:
    return []


def own_lines(_host: Reader, _file: str) -> Dict[str, str]:
    return {}


def line_name(_lines: Dict[str, str], name: str) -> str:
    return name


def render(_file: str, _lines: Dict[str, str]) -> List[str]:
    return []


def read_live(_host: Reader, target: str) -> str:
    raise HostError(target, "hardware is only looked at")


def write_live(_host: Host, target: str, _value: str) -> None:
    raise HostError(target, "hardware is only looked at")


def persisted(_host: Host, _files: List[str]) -> List[str]:
    return []
