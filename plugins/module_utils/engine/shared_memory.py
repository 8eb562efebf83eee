# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large /dev/shm is, in percent of the memory: from the mount table and from fstab. Pure.

The kernel names the size of a tmpfs only where it is not the default, which is half of the memory.
"""

import re
from typing import NamedTuple, Optional

MOUNT = "/dev/shm"  # noqa: S108 - nothing is written there
DEFAULT_PERCENT = 50
_SUFFIX = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Size(NamedTuple):
    """`line` is where it stands in its file; `percent` is None where the memory or the size is not known."""

    line: int
    percent: Optional[int]


def size(table: str, memory: int) -> Optional[Size]:
    """The last mount of /dev/shm in a table that is written as /proc/mounts or fstab; None where there is none."""
    found = None
    for number, raw in enumerate(table.split("\n"), 1):
        fields = raw.split("#", 1)[0].split()
        if len(fields) >= 4 and fields[1].rstrip("/") == MOUNT:
            found = Size(number, _percent(fields[3], memory))
    return found


def _percent(options: str, memory: int) -> Optional[int]:
    given = [option[len("size=") :] for option in options.split(",") if option.startswith("size=")]
    if not given:
        return DEFAULT_PERCENT
    match = re.match(r"([0-9]{1,20})([kmgt%]?)\Z", given[-1].lower())
    if match is None:
        return None
    if match.group(2) == "%":
        return int(match.group(1))
    # rounded, since half of an odd number of pages is one page less than half
    return (200 * int(match.group(1)) * _SUFFIX[match.group(2)] + memory) // (2 * memory) if memory else None
