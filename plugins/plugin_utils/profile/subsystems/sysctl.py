# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a profile may say about sysctl: names, values, and what contradicts what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError, nearest, show
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule, target, values
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.values import Value, fields, numbers

from .sysctl_names import FIELDS, KNOWN, PARENTS, RANGES, REFUSED

_NAMES = {f"{parent}.{leaf}" for parent, leaves in KNOWN.items() for leaf in leaves} | set(RANGES) | set(FIELDS) | set(REFUSED)

# Closer than this to a known name and yet not it is taken for a slip. Real names that differ by more than a letter or two stay usable.
_SLIP = 0.86

_PART = re.compile(r"[\w.:@+\-]+")
_PER_INTERFACE = re.compile(r"net\.(ipv4|ipv6)\.(conf|neigh)\.(.+)\.([^.]+)")

# Each pair is one setting in two units: writing one makes the other zero.
_TWINS = (("vm.dirty_ratio", "vm.dirty_bytes"), ("vm.dirty_background_ratio", "vm.dirty_background_bytes"))
# The second has to stay below the first.
_ORDERED = (("vm.dirty_ratio", "vm.dirty_background_ratio"), ("vm.dirty_bytes", "vm.dirty_background_bytes"))

# The kernel's own default of both is near 2^64; every usual number lowers them.
_LOWERED = ("kernel.shmmax", "kernel.shmall")
_NOFILE = 1048576


def identify(key: str, trusted: bool = False) -> str:
    """The one spelling of a key: dots between the parts, a dot inside an interface name written as slash, as systemd-sysctl reads it."""
    setting = _dotted(key)
    if setting in REFUSED:
        raise InputError(REFUSED[setting])
    if trusted or setting in _NAMES:
        return setting
    parent = setting.split(".")[0]
    if parent not in PARENTS or "." not in setting:
        raise InputError("is no name below /proc/sys", _nearest_name(setting, 0.6) or nearest(parent, PARENTS))
    _refuse_slip(setting)
    return setting


def judge(setting: str, rule: Rule) -> None:
    """InputError where the kernel could never take a value of the rule, or where it would harm."""
    for value in values(rule):
        _judge_value(setting, value)
    wanted = target(rule)
    kind = next(iter(rule))
    if setting in ("kernel.soft_watchdog", "kernel.watchdog") and wanted == 0:
        raise InputError(
            "0 switches off the detector that reports hung CPUs, which a fleet has to see; kernel.watchdog_cpumask narrows it instead"
        )
    if setting in _LOWERED and kind != "at_least" and isinstance(wanted, int) and wanted < 2**62:
        raise InputError(f"{wanted} lowers a limit that is nearly without end by default; write at_least")
    if setting == "fs.nr_open" and kind != "at_least" and isinstance(wanted, int) and wanted < _NOFILE:
        raise InputError(
            f"{wanted} is below {_NOFILE}: sessions that ask for that many open files could not be opened, which locks users out"
        )


def contradictions(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, InputError]]:
    """What no single entry shows: (setting, the other one, what is wrong with the first beside it)."""
    for one, other in _TWINS:
        if (
            one in entries
            and other in entries
            and entries[one].written
            and entries[other].written
            and not _apart(entries[one], entries[other])
        ):
            yield (
                one,
                other,
                InputError(
                    f"and {other} are one setting in two units, writing one makes the other zero; remove one (null) or give it `mend: never`"
                ),
            )
    for above, below in _ORDERED:
        if above in entries and below in entries and not _apart(entries[above], entries[below]):
            top, bottom = target(entries[above].rule), target(entries[below].rule)
            if isinstance(top, int) and isinstance(bottom, int) and 0 < top <= bottom:
                yield (
                    below,
                    above,
                    InputError(f"{bottom} is not below {above} with {top}: the kernel would take half of {top} in silence; set both"),
                )


def _apart(one: Entry, other: Entry) -> bool:
    # Entries that hold under conditions may never meet on one node; that is not known here.
    return bool(one.when and other.when)


def _dotted(key: str) -> str:
    for prefix in ("/proc/sys/", "/proc/sys."):
        if key.startswith(prefix):
            raise InputError("is a path; write the name", _swapped(key[len(prefix) :]))
    # The first separator says which of the two spellings it is.
    first = re.search(r"[./]", key)
    setting = _swapped(key) if first and first[0] == "/" else key
    parts = setting.split(".")
    if any(sign in key for sign in "*?["):
        raise InputError("is a pattern; a setting is exactly one key")
    if not all(_PART.fullmatch(part.replace("/", ".")) and part.replace("/", ".") not in (".", "..") for part in parts):
        raise InputError("is no name below /proc/sys", nearest(key.strip().replace(" ", ""), _NAMES))
    found = _PER_INTERFACE.fullmatch(setting)
    if found and "." in found[3]:
        raise InputError(
            "has one part too many: a dot inside an interface name is written as slash",
            f"net.{found[1]}.{found[2]}.{found[3].replace('.', '/')}.{found[4]}",
        )
    return setting


def _swapped(path: str) -> str:
    return path.translate(str.maketrans("/.", "./"))


def _refuse_slip(setting: str) -> None:
    found = _PER_INTERFACE.fullmatch(setting)
    if found:
        leaves = KNOWN[f"net.{found[1]}.{found[2]}.*"]
        if found[4] not in leaves and (leaf := nearest(found[4], leaves, cutoff=_SLIP)):
            raise InputError("is no known key", setting[: -len(found[4])] + leaf)
    elif name := _nearest_name(setting, _SLIP):
        raise InputError("is no known key; if this kernel really has it, write `trust_name: true` beside its rule", name)


def _nearest_name(setting: str, cutoff: float) -> str | None:
    """Measured on the part after the parent: what all names of a parent share would make any two look alike."""
    parent = setting.rpartition(".")[0]
    if parent in KNOWN:
        found = nearest(setting[len(parent) + 1 :], KNOWN[parent], cutoff)
        return f"{parent}.{found}" if found else None
    return nearest(setting, _NAMES, max(cutoff, 0.75))


def _judge_value(setting: str, value: Value) -> None:
    parts = numbers(value)
    count = FIELDS.get(setting)
    if count and len(fields(value)) != count:
        raise InputError(f"takes {count} values, {show(value)} has {len(fields(value))}")
    if setting in FIELDS and parts is None:
        raise InputError(f"takes numbers, not {show(value)}")
    if setting in RANGES:
        lowest, highest = RANGES[setting]
        if parts is None or len(parts) != 1:
            raise InputError(f"takes one number from {lowest} to {highest}, not {show(value)}")
        if not lowest <= parts[0] <= highest:
            raise InputError(f"{parts[0]} is outside what the kernel takes, {lowest} to {highest}")
