# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The firmware's table of the machine (SMBIOS, DSP0134): pure."""

from typing import Iterator, Optional, Tuple

MEMORY_DEVICE = 17
END = 127
_SIZE = 0x0C


def memory_modules(table: bytes) -> Optional[Tuple[int, int]]:
    """(modules that are there, slots). None when the table is broken or says nothing of memory."""
    filled = slots = 0
    try:
        for kind, body in _structures(table):
            if kind == MEMORY_DEVICE:
                slots += 1
                filled += body[_SIZE : _SIZE + 2] != b"\0\0"
    except ValueError:
        return None
    return (filled, slots) if slots else None


def _structures(table: bytes) -> Iterator[Tuple[int, bytes]]:
    """(type, formatted part) of each structure; the texts behind the formatted part are passed over."""
    place = 0
    while place + 4 <= len(table):
        kind, length = table[place], table[place + 1]
        body = table[place : place + length]
        if length < 4 or len(body) < length or (kind == MEMORY_DEVICE and length < _SIZE + 2):
            raise ValueError(f"a structure of {length} bytes at {place}")
        yield kind, body
        if kind == END:
            return
        end = table.find(b"\0\0", place + length)
        if end < 0:
            raise ValueError(f"texts without an end at {place}")
        place = end + 2
