# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of CPUs and NUMA nodes as the kernel writes them: pure."""

import re
from typing import List

_PART = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?\Z")


def numbers(text: str) -> List[int]:
    """`0-2,8` -> 0, 1, 2, 8. An empty list is one; what is no list raises ValueError."""
    found: List[int] = []
    for part in re.split(r"[,\s]+", text.strip().strip("\0")):
        if not part:
            continue
        match = _PART.match(part)
        if match is None:
            raise ValueError(f"{part} is no number and no range")
        found.extend(range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1))
    return sorted(set(found))
