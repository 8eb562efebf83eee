# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a profile may declare to exist: names of parts, and what can be said of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.gpufleet.node.plugins.module_utils.engine.accelerators import BY_NAME
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError, nearest, one_of_words, show
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule, values
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.values import Value

_MAKERS = (*BY_NAME, "other")
_WITH_FILES = tuple(name for name, vendor in BY_NAME.items() if vendor.each)
_LINKS = ("link_width", "link_speed")
_LINKED = ("accelerators", "nics", "nvme")
_COUNTS = ("accelerators", "nics", "infiniband", "nvme", "memory_bytes", "dimms", "numa_nodes", "cpus")
_FIRMWARE = ("firmware/bios", "firmware/nvme", "firmware/infiniband", "firmware/nvidia")
_IDS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
_MODE = re.compile(r"[0-7]{4}( [^\s:]+:[^\s:]+)?")
_MOST, _PRESENT = "max", "present"
_MOST_LANES = 32

# All names but those with ids.
_NAMES = (
    *_COUNTS,
    "smt",
    *_FIRMWARE,
    *(f"accelerators/{maker}" for maker in _MAKERS),
    *(f"{link}/{kind}" for link in _LINKS for kind in _LINKED),
    *(f"{link}/accelerators/{maker}" for link in _LINKS for maker in _MAKERS),
    *(f"device_nodes/{maker}" for maker in _WITH_FILES),
)


def identify(key: str, trusted: bool = False) -> str:
    """The key as it is; nothing may be trusted here, since every name is one that the engine knows how to read."""
    base, _slash, last = key.rpartition("/")
    chosen_by_ids = _IDS.fullmatch(last) and base.removeprefix("link_width/").removeprefix("link_speed/") in _LINKED
    if base == "device_nodes" and last in BY_NAME and last not in _WITH_FILES:
        raise InputError(f"the device files of {last} are not known")
    if key not in _NAMES and not (chosen_by_ids and base != "nvme"):
        raise InputError("is nothing that can be declared", nearest(key, (*_NAMES, "nics/15b3:1021", "accelerators/10de:2330"), 0.5))
    return key


def judge(setting: str, rule: Rule) -> None:
    """InputError where no machine could ever agree with the rule."""
    head = setting.split("/")[0]
    if head in ("smt", "firmware", "device_nodes") and next(iter(rule)) in ("at_least", "between"):
        raise InputError("has no order, so it has no least value; use exact or one_of")
    if head == "link_speed" and setting.split("/")[1] == "accelerators" and _MOST in values(rule):
        raise InputError(
            "an accelerator lowers the speed of its link while it idles, so max would be wrong on every idle node; say what both ends"
            " have to be able to do, such as {at_least: 32}"
        )
    for value in values(rule):
        _JUDGES[head](value)


def contradictions(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, InputError]]:
    """None: what is declared is only compared."""
    return iter(())


def _count(value: Value) -> None:
    if not isinstance(value, int) or value < 0:
        raise InputError(f"is a number, not {show(value)}")


def _smt(value: Value) -> None:
    one_of_words(value, ("on", "off"), "it")


def _width(value: Value) -> None:
    if value != _MOST and not (isinstance(value, int) and 0 < value <= _MOST_LANES):
        raise InputError(f"is max or a number of lanes from 1 to {_MOST_LANES}, not {show(value)}")


def _speed(value: Value) -> None:
    if value not in (_MOST, "2.5") and not (isinstance(value, int) and 0 < value < 1000):
        raise InputError(f"is max or a speed in GT/s, such as 16, not {show(value)}")


def _version(value: Value) -> None:
    """Any text: who makes firmware names it as they like."""


def _files(value: Value) -> None:
    if value != _PRESENT and not (isinstance(value, str) and _MODE.fullmatch(value)):
        raise InputError(f"is present, or a mode in quotes with or without an owner, such as '0666 root:root', not {show(value)}")


_JUDGES: dict[str, Callable[[Value], None]] = {
    **dict.fromkeys(_COUNTS, _count),
    "smt": _smt,
    "link_width": _width,
    "link_speed": _speed,
    "firmware": _version,
    "device_nodes": _files,
}
