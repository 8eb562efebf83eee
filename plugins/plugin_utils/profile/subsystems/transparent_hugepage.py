# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a profile may say about transparent huge pages: the files below /sys/kernel/mm/transparent_hugepage and their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError, nearest, show
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule, values
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.values import Value

_SWITCH = (0, 1)
_MILLISECONDS = (0, 2**32 - 1)
# One page less than a huge page has: 511 with 4 KiB pages, 8191 with 64 KiB pages.
_PAGES = (0, 8191)

Accepted = tuple[str, ...] | tuple[int, int]

_ACCEPTED: dict[str, Accepted] = {
    "enabled": ("always", "madvise", "never"),
    "defrag": ("always", "defer", "defer+madvise", "madvise", "never"),
    "shmem_enabled": ("always", "within_size", "advise", "never", "deny", "force"),
    "use_zero_page": _SWITCH,
    "shrink_underused": _SWITCH,
    "khugepaged/defrag": _SWITCH,
    "khugepaged/pages_to_scan": (1, 2**32 - 1),
    "khugepaged/scan_sleep_millisecs": _MILLISECONDS,
    "khugepaged/alloc_sleep_millisecs": _MILLISECONDS,
    "khugepaged/max_ptes_none": _PAGES,
    "khugepaged/max_ptes_swap": _PAGES,
    "khugepaged/max_ptes_shared": _PAGES,
}
_ACCEPTED_PER_SIZE: dict[str, Accepted] = {
    "enabled": ("always", "inherit", "madvise", "never"),
    "shmem_enabled": ("always", "inherit", "within_size", "advise", "never"),
}
_PER_SIZE = re.compile(r"hugepages-([1-9]\d*)kB/(.+)")
_READ_ONLY = ("hpage_pmd_size", "khugepaged/full_scans", "khugepaged/pages_collapsed")


def identify(key: str, trusted: bool = False) -> str:
    """The key as it stands below the directory; nothing may be trusted here, the kernel's list is short."""
    if key in _READ_ONLY:
        raise InputError("the kernel only reports it, it cannot be written")
    size = _PER_SIZE.fullmatch(key)
    if size:
        if int(size[1]) < 8 or int(size[1]) & (int(size[1]) - 1):
            raise InputError(f"{size[1]} kB is no size of huge pages; sizes are powers of two", "hugepages-64kB/enabled")
        if size[2] not in _ACCEPTED_PER_SIZE:
            raise InputError(
                "is no file of one page size",
                f"hugepages-{size[1]}kB/{nearest(size[2], _ACCEPTED_PER_SIZE) or 'enabled'}",
            )
    elif key not in _ACCEPTED:
        raise InputError(
            "is no file below /sys/kernel/mm/transparent_hugepage that can be set",
            nearest(key, (*_ACCEPTED, "hugepages-64kB/enabled"), 0.5),
        )
    return key


def judge(setting: str, rule: Rule) -> None:
    """InputError where the kernel does not know a word or a number of the rule."""
    accepted = _accepted(setting)
    if isinstance(accepted[0], str) and next(iter(rule)) in ("at_least", "between"):
        raise InputError(f"takes one of the words {', '.join(map(str, accepted))}; use exact or one_of")
    for value in values(rule):
        _judge_value(accepted, value)


def contradictions(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, InputError]]:
    """None: a page size that goes its own way (always while the top says never) is legal."""
    return iter(())


def _accepted(setting: str) -> Accepted:
    size = _PER_SIZE.fullmatch(setting)
    return _ACCEPTED_PER_SIZE[size[2]] if size else _ACCEPTED[setting]


def _judge_value(accepted: Accepted, value: Value) -> None:
    lowest, highest = accepted[0], accepted[-1]
    if isinstance(lowest, str):
        if value not in accepted:
            words = [str(word) for word in accepted]
            raise InputError(
                f"takes {', '.join(words[:-1])} or {words[-1]}, not {show(value)}",
                nearest(str(value), words),
            )
    elif not isinstance(value, int) or not lowest <= value <= int(highest):
        raise InputError(f"takes a number from {lowest} to {highest}, not {show(value)}")
