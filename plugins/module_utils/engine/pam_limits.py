# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pam_limits gives to a session (limits.conf(5)). Pure.

/etc/security/limits.conf is read first, then limits.d/*.conf in the order of their bytes. Of several lines for one domain, type and item the
last one counts. A line for a user beats one for a group, which beats `*`, wherever they stand; groups and `*` say nothing to root.
A line of a domain and a lone `-` frees a user or a group from all limits.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from .configfiles import ConfigFile
from .limit_values import UNLIMITED, Limit

TYPES = ("soft", "hard", "-")
#: All items of limits.conf(5); another word is a mistake.
ITEMS = (
    *("core", "data", "fsize", "memlock", "nofile", "rss", "stack", "cpu", "nproc", "as", "maxlogins", "maxsyslogins", "nonewprivs"),
    *("priority", "locks", "sigpending", "msgqueue", "nice", "rtprio", "chroot"),
)
#: Items that are no resource limits: their values are words or small numbers of another kind.
_OTHERS = ("nice", "priority", "chroot", "nonewprivs", "maxlogins", "maxsyslogins")
_NUMBER = re.compile(r"([0-9]{1,20})(.*)\Z")


class Line(NamedTuple):
    """One line that says something. `item` is empty in a line that frees its domain of all limits."""

    file: str
    line: int
    domain: str
    type: str
    item: str
    value: int


class Given(NamedTuple):
    """What a domain is given of one item, and the lines that give the soft and the hard number."""

    limit: Limit
    soft: Optional[Line]
    hard: Optional[Line]


class Lines:
    """All lines in the order in which they are read, and what is wrong with others."""

    def __init__(self, files: List[ConfigFile]) -> None:
        self.all: List[Line] = []
        self.notes: List[str] = []
        for file in files:
            found, notes = parse(file.text, file.path)
            self.all.extend(found)
            self.notes.extend(notes)

    def given(self, domain: str, item: str, but: str = "") -> Given:
        """What the lines for exactly this domain give it; `but` is a file that is left out."""
        parts: List[Optional[Line]] = [None, None]
        for line in self.all:
            if line.domain == domain and line.item == item and line.file != but:
                for number, kind in enumerate(TYPES[:2]):
                    if line.type in (kind, "-"):
                        parts[number] = line
        soft, hard = parts
        values = [None if part is None else part.value for part in parts]
        if values[0] is not None and values[1] is not None:
            values[0] = min(values[0], values[1])  # pam_limits itself lowers a soft limit to the hard one
        return Given(Limit(*values), soft, hard)

    def freed(self, domain: str) -> Optional[Line]:
        """The line that frees this user or group of all limits."""
        return next((line for line in self.all if line.domain == domain and not line.item and domain != "*"), None)

    def naming(self, domain: str, item: str) -> List[Line]:
        return [line for line in self.all if line.domain == domain and line.item == item]

    def exceptions(self, item: str) -> List[Line]:
        """The lines for users and groups, which beat those for `*`."""
        return [line for line in self.all if line.item == item and line.domain not in ("*", "root") and not line.domain.startswith("%")]


def parse(text: str, file: str) -> Tuple[List[Line], List[str]]:
    """The lines of a file, and a note for each that pam_limits will not take."""
    found: List[Line] = []
    notes: List[str] = []
    for number, raw in enumerate(text.split("\n"), 1):
        fields = raw.split("#", 1)[0].split()
        if not fields:
            continue
        line, wrong = _line(file, number, fields)
        if line is not None:
            found.append(line)
        if wrong:
            notes.append(f"{file}:{number} {wrong}")
    return found, notes


def _line(file: str, number: int, fields: List[str]) -> Tuple[Optional[Line], str]:
    domain = fields[0]
    if len(fields) == 2 and fields[1].startswith("-"):
        return Line(file, number, domain, "-", "", 0), ""
    if len(fields) < 4:
        return None, "is no line of limits.conf and is ignored"
    kind, item, value = (field.lower() for field in fields[1:4])
    if kind not in TYPES:
        return None, f"has the type {kind}, which is none of soft, hard and -, and is ignored"
    if item not in ITEMS:
        return None, f"has the item {item}, which does not exist, and is ignored"
    if item in _OTHERS:
        return None, ""
    if value in ("unlimited", "infinity", "-1"):
        return Line(file, number, domain, kind, item, UNLIMITED), ""
    match = _NUMBER.match(value)
    if match is None:
        return None, f"has the value {value}, which is no number, and is ignored"
    wrong = f"has the value {value}, which is read as {match.group(1)}" if match.group(2) else ""
    return Line(file, number, domain, kind, item, min(int(match.group(1)), UNLIMITED)), wrong
