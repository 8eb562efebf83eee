# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared hardware: what the audit says of a server from which one thing was taken, or in which one thing is not as declared.

A table. Every setting that a case does not name must be ok, so that a case also shows that nobody else is blamed.
"""

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import accelerators, cpulist, pci, smbios
from hypothesis import given
from hypothesis import strategies as st

import asking
from asking import ask_well, entry
from machines import Machine, build, parts

#: What is declared of the machine of `machines.parts`.
DECLARED: Dict[str, Any] = {
    "accelerators": 8,
    "accelerators/nvidia": 8,
    "accelerators/10de:20b0": 8,
    "nics": 8,
    "nics/15b3:1021": 8,
    "infiniband": 8,
    "nvme": 4,
    "memory_bytes": {"at_least": 1000 << 30},
    "dimms": 16,
    "numa_nodes": 8,
    "cpus": 256,
    "smt": "on",
    "link_width/accelerators": "max",
    "link_width/nics": {"at_least": 16},
    "link_width/nvme": 4,
    "link_speed/accelerators": {"at_least": 16},
    "link_speed/nics": "max",
    "link_speed/nvme": "max",
    "firmware/bios": {"one_of": ["1.27", "1.28"], "set": "1.28"},
    "firmware/nvme": "GDC7302Q",
    "firmware/infiniband": "28.39.1002",
    "firmware/nvidia": "92.00.45.00.06",
    "device_nodes/nvidia": "0666 root:root",
}


class Case(NamedTuple):
    """`damage`: functions of `machines.parts`, or methods of the machine, with what they are given; `says`: setting → (live value, part of
    the detail). All of them are `missing`.
    """

    damage: List[Tuple[Any, ...]]
    says: Dict[str, Tuple[str, str]]


def gone(count: int, told: str) -> Dict[str, Tuple[str, str]]:
    return {f"accelerators{which}": (str(count), told) for which in ("", "/nvidia", "/10de:20b0")}


PCI = parts.PCI
HALF = (8, "16.0 GT/s PCIe", "16 at 16.0 GT/s PCIe")
DAMAGE: Dict[str, Case] = {
    "nothing": Case([], {}),
    "an accelerator is not on the bus": Case(
        [(parts.unplug, 5)],
        gone(7, "wanted: 8; there: 0000:00:00.0 (10de:20b0), 0000:01:00.0 (10de:20b0), 0000:02:00.0 (10de:20b0), 0000:03:00.0"),
    ),
    "an accelerator fell off the bus": Case([(parts.fall_off, 5)], gone(7, "0000:05:00.0 (10de:20b0) is on the bus and does not answer")),
    "one accelerator of another model": Case(
        [("write", PCI + "0000:05:00.0/device", "0x2330\n")], {"accelerators/10de:20b0": ("7", "there: 0000:00:00.0")}
    ),
    "the graphics of a management controller, and audio": Case(
        [
            ("write", PCI + "0000:40:00.0/class", "0x030000\n"),
            ("write", PCI + "0000:40:00.0/vendor", "0x1a03\n"),
            ("write", PCI + "0000:41:00.1/class", "0x040300\n"),
            ("write", PCI + "0000:41:00.1/vendor", "0x10de\n"),
        ],
        {},
    ),
    "a virtual function of an accelerator and of an adapter": Case(
        [
            ("write", PCI + "0000:40:00.4/class", "0x030200\n"),
            ("write", PCI + "0000:40:00.4/vendor", "0x10de\n"),
            ("link", PCI + "0000:40:00.4/physfn", "../0000:00:00.0"),
            ("write", PCI + "0000:41:00.4/class", "0x020000\n"),
            ("link", PCI + "0000:41:00.4/physfn", "../0000:08:00.0"),
        ],
        {},
    ),
    "one accelerator too many": Case(
        [("write", PCI + "0000:40:00.0/class", "0x120000\n"), ("write", PCI + "0000:40:00.0/vendor", "0x19e5\n")],
        {"accelerators": ("9", "0000:40:00.0 (19e5:)")},
    ),
    "an adapter is not on the bus": Case(
        [(parts.unplug, 9)],
        {"nics": ("7", "there: 0000:08:00.0"), "nics/15b3:1021": ("7", "there: 0000:08:00.0 (15b3:1021), 0000:0a:00.0")},
    ),
    "an adapter without its RDMA device": Case(
        [("remove", "/sys/class/infiniband/mlx5_3/fw_ver"), ("unlink_folder", "/sys/class/infiniband/mlx5_3")],
        {"infiniband": ("7", "there: mlx5_0, mlx5_1, mlx5_2, mlx5_4")},
    ),
    "an RDMA device of a virtual function": Case(
        [
            ("write", "/sys/class/infiniband/mlx5_9/device/physfn/vendor", "0x15b3\n"),
            ("write", "/sys/class/infiniband/mlx5_9/fw_ver", "1\n"),
        ],
        {},
    ),
    "a dead drive": Case([(parts.drive, 2, "dead")], {"nvme": ("3", "nvme2 is dead; there: nvme0, nvme1, nvme3")}),
    "a drive of another machine": Case([(parts.drive, 8, "live", "rdma", "X")], {}),
    "a memory module less": Case(
        [(parts.modules, [65536] * 15 + [0]), ("write", "/proc/meminfo", f"MemTotal: {945 << 20} kB\n")],
        {"dimms": ("15", "16 slots"), "memory_bytes": (str(945 << 30), "wanted: at least 1073741824000")},
    ),
    "a CPU offline": Case(
        [("write", "/sys/devices/system/cpu/online", "0-127,129-255\n")], {"cpus": ("255", "1 more are there and offline")}
    ),
    "SMT off": Case([(parts.smt, "off")], {"smt": ("off", "wanted: on")}),
    "SMT off for good": Case([(parts.smt, "forceoff")], {"smt": ("off", "the kernel says forceoff")}),
    "an accelerator with half its lanes": Case(
        [(parts.link, 3, *HALF)],
        {"link_width/accelerators": ("7x 16 of 16 lanes, 1x 8 of 16 lanes", "wanted: max; 0000:03:00.0: 8 of 16 lanes")},
    ),
    "an accelerator in a port of half the lanes": Case([(parts.link, 3, *HALF, 8)], {}),
    "an adapter in a port of half the lanes, declared with all": Case(
        [(parts.link, 8, *HALF, 8)],
        {"link_width/nics": ("7x 16 of 16 lanes, 1x 8 of 8 lanes", "0000:08:00.0: 8 of 8 lanes")},
    ),
    "an accelerator that idles": Case([(parts.link, 3, 16, "2.5 GT/s PCIe", "16 at 16.0 GT/s PCIe")], {}),
    "an accelerator that cannot do the speed": Case(
        [(parts.link, 3, 16, "8.0 GT/s PCIe")],
        {"link_speed/accelerators": ("7x up to 16 GT/s, 1x up to 8 GT/s", "0000:03:00.0: up to 8 GT/s")},
    ),
    "an adapter at half the speed": Case(
        [(parts.link, 12, 16, "8.0 GT/s PCIe", "16 at 16.0 GT/s PCIe")],
        {"link_speed/nics": ("7x 16 of 16 GT/s, 1x 8 of 16 GT/s", "0000:0c:00.0: 8 of 16 GT/s")},
    ),
    "a drive at the first speed": Case(
        [(parts.link, 17, 4, "2.5 GT/s PCIe", "4 at 16.0 GT/s PCIe")],
        {"link_speed/nvme": ("3x 16 of 16 GT/s, 1x 2.5 of 16 GT/s", "0000:11:00.0: 2.5 of 16 GT/s")},
    ),
    "a BIOS that nobody asked for": Case(
        [("write", "/sys/class/dmi/id/bios_version", "1.12\n")], {"firmware/bios": ("1.12", "one of 1.27, 1.28")}
    ),
    "a drive with another firmware": Case(
        [(parts.drive, 1, "live", "pcie", "GDC7202Q")], {"firmware/nvme": ("1x GDC7202Q, 3x GDC7302Q", "nvme1: GDC7202Q")}
    ),
    "an adapter that does not tell its firmware": Case(
        [("write", "/sys/class/infiniband/mlx5_3/fw_ver", "")],
        {"firmware/infiniband": ("7x 28.39.1002, 1x does not tell", "mlx5_3: does not tell")},
    ),
    "an accelerator with another firmware": Case(
        [(parts.gpu, 2, 5, "92.00.19.00.01")], {"firmware/nvidia": ("1x 92.00.19.00.01, 7x 92.00.45.00.06", "0000:02:00.0: 92.00.19.00.01")}
    ),
    "a device file is not there": Case(
        [(parts.no_device, "/dev/nvidia-uvm")],
        {"device_nodes/nvidia": ("9x 0666 root:root, 1x is not there", "wanted: 0666 root:root; /dev/nvidia-uvm: is not there")},
    ),
    "a device file for some only": Case(
        [(parts.device, "/dev/nvidia4", 0o660, 0, 44)],
        {"device_nodes/nvidia": ("1x 0660 root:video, 9x 0666 root:root", "/dev/nvidia4: 0660 root:video")},
    ),
    "a device file of nobody we know": Case(
        [(parts.device, "/dev/nvidia4", 0o666, 0, 4711)],
        {"device_nodes/nvidia": ("1x 0666 root:4711, 9x 0666 root:root", "0666 root:4711")},
    ),
    "an accelerator that the driver did not take": Case(
        [("remove", "/proc/driver/nvidia/gpus/0000:05:00.0/information"), ("unlink_folder", "/proc/driver/nvidia/gpus/0000:05:00.0")],
        {"device_nodes/nvidia": ("9x 0666 root:root, 1x is not taken by the driver", "0000:05:00.0: is not taken by the driver")},
    ),
}


@pytest.fixture(scope="module")
def _server(tmp_path_factory: Any) -> Machine:
    return parts.full(tmp_path_factory.mktemp("server") / "machine")


@pytest.fixture
def server(_server: Machine, tmp_path: Path) -> Machine:
    return _server.copy(str(tmp_path / "server"))


def do(machine: Machine, damage: List[Tuple[Any, ...]]) -> None:
    for what, *given_to in damage:
        if callable(what):
            what(machine, *given_to)
        else:
            getattr(machine, what)(*given_to)


def audit(machine: Machine, declared: Dict[str, Any], action: str = "audit", **more: Any) -> Dict[str, Any]:
    response = ask_well(machine, action, subsystems={"hardware": asking.entries(declared)}, **more)
    return {key[len("hardware/") :]: result for key, result in response["results"].items()}


@pytest.mark.parametrize("case", sorted(DAMAGE))
def test_what_is_not_as_declared_is_missing(server: Machine, case: str) -> None:
    damage, says = DAMAGE[case]
    do(server, damage)
    before = server.snapshot()
    results = audit(server, DECLARED)
    found = {name: result for name, result in results.items() if result["state"] != "ok"}
    assert {name: result["state"] for name, result in found.items()} == dict.fromkeys(says, "missing")
    for name, (value, detail) in says.items():
        assert found[name]["views"]["live"]["value"] == value
        assert detail in found[name]["detail"]
        assert found[name]["cause"] == "never_applied"
    assert server.snapshot() == before


class Odd(NamedTuple):
    """One setting on a machine of the table: its state, and a part of the detail."""

    hardware: str
    damage: List[Tuple[Any, ...]]
    name: str
    rule: Any
    state: str
    detail: str = ""


NPU_FILES = {f"/dev/{name}": {"mode": 0o660, "uid": 0, "gid": 0} for name in ("davinci_manager", "devmm_svm", "davinci0")}
EDAC = "/sys/devices/system/edac/mc/"
ODD: Dict[str, Odd] = {
    "NPUs": Odd("atlas-800", [], "accelerators/ascend", 8, "ok"),
    "device files of NPUs": Odd(
        "atlas-800",
        [("is_", {"devices": NPU_FILES})],
        "device_nodes/ascend",
        "0660",
        "missing",
        "/dev/hisi_hdc: is not there; /dev/davinci1: is not there",
    ),
    "device files without a driver": Odd(
        "hgx-h100", [("is_", {"devices": {}})], "device_nodes/nvidia", "present", "missing", "/dev/nvidia7: is not there"
    ),
    "device files that cannot be read": Odd("hgx-h100", [], "device_nodes/nvidia", "present", "missing", "does not record devices"),
    "device files of none": Odd("vm", [], "device_nodes/nvidia", "present", "not_applicable", "no accelerator of nvidia"),
    "device files of nobody": Odd("vm", [], "device_nodes/nvidya", "present", "unknown", "not known"),
    "none where one is declared": Odd("vm", [], "accelerators", {"at_least": 1}, "missing", "wanted: at least 1"),
    "links of none": Odd("vm", [], "link_width/accelerators", "max", "not_applicable", "there are no accelerators here"),
    "links that are not seen": Odd("hgx-h100", [], "link_width/accelerators", "max", "not_applicable", "no link"),
    "modules without root and driver": Odd("vm", [], "dimms", 1, "unknown", "no driver of a memory controller tells"),
    "modules by the driver": Odd(
        "vm",
        [
            ("write", EDAC + "mc0/dimm0/size", "32768\n"),
            ("write", EDAC + "mc1/dimm3/size", "32768\n"),
            ("write", EDAC + "mc1/dimm4/size", "0\n"),
            ("write", EDAC + "mc1/rank0/size", "32768\n"),
        ],
        "dimms",
        2,
        "ok",
    ),
    "modules of a broken table": Odd(
        "vm", [("write", parts.DMI, b"\x11\x02\x00\x00")], "dimms", 1, "unknown", "says nothing of memory modules"
    ),
    "SMT of a kernel that does not tell": Odd("gh200", [], "smt", "off", "unknown", "this kernel does not tell"),
    "a BIOS that does not tell": Odd(
        "vm", [("remove", "/sys/class/dmi/id/bios_version")], "firmware/bios", "1", "unknown", "does not tell"
    ),
    "a name that is none": Odd("vm", [], "accelerator", 8, "unknown", "there is no such setting of hardware"),
    "no PCI bus": Odd("vm", [("move", "/sys/bus/pci", "/sys/bus/no-pci")], "accelerators", 0, "unknown", "could not be read: is not there"),
    "another machine class": Odd("vm", [], "accelerators", entry(8, when={"product": "DGXA100*"}), "not_applicable", "only when product"),
    "its own machine class": Odd("dgx-a100", [], "accelerators", entry(8, when={"product": "DGXA100*", "vendor": "nvidia"}), "ok"),
}


@pytest.mark.parametrize("case", sorted(ODD))
def test_other_machines(tmp_path: Path, case: str) -> None:
    hardware, damage, name, rule, state, detail = ODD[case]
    machine = build(tmp_path / "machine", hardware=hardware)
    for what, *given_to in damage:
        if what == "is_":
            machine.is_(**given_to[0])
        else:
            do(machine, [(what, *given_to)])
    result = audit(machine, {name: rule})[name]
    assert (result["state"], detail in result.get("detail", "")) == (state, True), result


def test_the_speed_of_an_idle_accelerator_is_its_drivers_business(server: Machine) -> None:
    """`max` is refused in a profile, and a task that asks for it is not told of drift."""
    parts.link(server, 3, 16, "2.5 GT/s PCIe", "16 at 16.0 GT/s PCIe")
    result = audit(server, {"link_speed/accelerators": "max"})["link_speed/accelerators"]
    assert result["state"] == "kernel_managed"
    assert "while it idles; 0000:03:00.0" in result["detail"]


def test_apply_changes_nothing_and_remembers(server: Machine) -> None:
    places = ["/var/lib", "/run"]  # for what is remembered, and for the lock
    before = server.snapshot(but=places)
    assert {result["state"] for result in audit(server, DECLARED, "apply").values()} == {"ok"}
    assert server.snapshot(but=places) == before
    parts.unplug(server, 5)
    assert audit(server, DECLARED)["accelerators"]["cause"] == "wandered"
    result = audit(server, DECLARED, "apply")["accelerators"]
    assert result["state"] == "missing"
    assert "changes" not in result


def test_the_facts_of_a_server(server: Machine) -> None:
    facts = ask_well(server, "audit")["node"]
    assert {key: facts[key] for key in ("bios", "accelerators", "nics", "nvme", "link_widths")} == {
        "bios": "1.27",
        "accelerators": "8x 10de:20b0",
        "nics": "8x 15b3:1021",
        "nvme": "4x 144d:a80a",
        "link_widths": "8x 10de:20b0 x16, 8x 15b3:1021 x16",
    }


def test_the_fingerprint_does_not_count_virtual_functions(server: Machine) -> None:
    before = ask_well(server, "audit")["node"]["fingerprint"]
    do(server, DAMAGE["a virtual function of an accelerator and of an adapter"].damage)
    assert ask_well(server, "audit")["node"]["fingerprint"] == before


# -- parsers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "vendor", "maker"),
    [
        ("030000", "10de", "nvidia"),
        ("030200", "10de", "nvidia"),
        ("040300", "10de", ""),
        ("068000", "10de", ""),
        ("0c0330", "10de", ""),
        ("038000", "1002", "amd"),
        ("030000", "1002", ""),
        ("120000", "19e5", "ascend"),
        ("030000", "19e5", ""),
        ("020000", "19e5", ""),
        ("120000", "cabc", "cambricon"),
        ("030000", "1ed5", "mthreads"),
        ("040300", "1ed5", ""),
        ("030000", "1a03", ""),
        ("030000", "102b", ""),
        ("030000", "8086", ""),
        ("120000", "abcd", "other"),
    ],
)
def test_who_made_an_accelerator(kind: str, vendor: str, maker: str) -> None:
    assert accelerators.maker(kind, vendor) == maker


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("", []), ("\n", []), ("0\n", [0]), ("0-3,8\n\0", [0, 1, 2, 3, 8]), ("0-1\n4", [0, 1, 4]), ("0,8,250-252", [0, 8, 250, 251, 252])],
)
def test_lists_of_cpus(text: str, numbers: List[int]) -> None:
    assert cpulist.numbers(text) == numbers


@pytest.mark.parametrize("text", ["a", "0-", "-3", "0-3:1/2", "all", "0x3"])
def test_what_is_no_list_of_cpus(text: str) -> None:
    with pytest.raises(ValueError, match="is no number and no range"):
        cpulist.numbers(text)


@pytest.mark.parametrize(
    ("target", "port"),
    [
        (None, ""),
        ("../../../devices/pci0000:00/0000:00:02.0", ""),
        ("../../../devices/pci0000:00/0000:00:02.0/0000:01:00.0", "0000:00:02.0"),
        ("../../../devices/pci10000:e0/10000:e0:06.0/10000:e1:00.0", "10000:e0:06.0"),
        ("0000:01:00.0", ""),
    ],
)
def test_the_port_above(target: Any, port: str) -> None:
    assert pci.upstream(target) == port


@given(st.lists(st.sampled_from([0, 16384, 32768, 65536, 262144]), min_size=1))
def test_memory_modules(sizes: List[int]) -> None:
    assert smbios.memory_modules(parts.smbios(sizes)) == (sum(1 for size in sizes if size), len(sizes))


@given(st.binary(), st.integers(min_value=0, max_value=200))
def test_a_table_of_whatever_bytes(table: bytes, cut: int) -> None:
    for broken in (table, parts.smbios([65536] * 4)[:cut] + table):
        found = smbios.memory_modules(broken)
        assert found is None or 0 <= found[0] <= found[1]
