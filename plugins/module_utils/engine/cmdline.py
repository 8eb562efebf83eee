# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel command line as the kernel splits it: pure."""

import re
from typing import List, Optional, Tuple

_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')


def words(text: str) -> List[Tuple[str, Optional[str]]]:
    """(name, value) in order; the value is None for a word without `=`. What stands after ` -- ` belongs to init and is left out."""
    found: List[Tuple[str, Optional[str]]] = []
    for word in _WORD.findall(text):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        found.append((name.strip('"'), value.strip('"') if equals else None))
    return found


def last(text: str, name: str) -> Optional[str]:
    """The value that counts for a word that is given at most once: the last one."""
    values = [value for key, value in words(text) if key.replace("-", "_") == name.replace("-", "_")]
    return values[-1] if values else None
