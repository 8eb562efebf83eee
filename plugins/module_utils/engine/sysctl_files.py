# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sysctl.d and its relatives will set at the next boot: pure, text in, assignments out.

Keys are held in the form of their path below /proc/sys (`net/ipv4/conf/eth0.100/rp_filter`). Both spellings are read
as systemd reads them: when the first separator is a slash the text is the path, else dots become slashes and slashes become dots (sysctl.d(5)).
"""

import fnmatch
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from .configfiles import ConfigFile, few, lines


class Assignment(NamedTuple):
    """One line `key = value`; `value` is None for a line `-key`, which takes the key out of the reach of globs."""

    key: str
    value: Optional[str]
    file: str
    line: int


def path_form(key: str) -> str:
    """`net.ipv4.conf.eth0/100.rp_filter` -> `net/ipv4/conf/eth0.100/rp_filter`; a path stays a path."""
    first = re.search(r"[/.]", key)
    if first is not None and first.group() == ".":
        key = key.translate({ord("."): "/", ord("/"): "."})
    return re.sub(r"/+", "/", key).strip("/")


def dot_form(path: str) -> str:
    """The inverse of `path_form`: the name that settings and reports use."""
    return path.translate({ord("."): "/", ord("/"): "."})


def spelled(path: str) -> str:
    """How a key is written into our own file: with dots, or as a path when a part of it holds a dot."""
    return path if "." in path else dot_form(path)


def parse(text: str, file: str) -> Tuple[List[Assignment], List[str]]:
    """The assignments of one file in their order, and notes about the lines that say nothing."""
    found, notes = [], []
    for line in lines(text):
        left, equals, right = line.text.partition("=")
        key = left.strip()
        tolerant = key.startswith("-")
        name = path_form(key[1:].strip() if tolerant else key)
        if not name or (not equals and not tolerant):
            notes.append(f"{file}:{line.number} is no assignment and is ignored")
            continue
        found.append(Assignment(name, right.strip() if equals else None, file, line.number))
    return found, notes


class Assignments:
    """All assignments of a boot, in the order in which they are read."""

    def __init__(self, files: Iterable[ConfigFile]) -> None:
        self.all: List[Assignment] = []
        self.notes: List[str] = []
        for file in files:
            found, notes = parse(file.text, file.path)
            self.all.extend(found)
            self.notes.extend(few(notes))
        self._last: Dict[str, Tuple[int, Assignment]] = {}
        self._globs: List[Tuple[int, Assignment]] = []
        for position, one in enumerate(self.all):
            if _is_glob(one.key):
                self._globs.append((position, one))
            else:
                known = self._last.get(one.key)
                # a line that repeats what is in force already does not move the key to the end (sysctl.c of systemd-sysctl)
                repeats = known is not None and known[1].value == one.value
                self._last[one.key] = (known[0] if known is not None and repeats else position, one)

    def winner(self, key: str) -> Optional[Assignment]:
        """The assignment that will decide this key: the last one with its name, else the last glob that matches it."""
        return (self._decides(key) or (0, None))[1]

    def taken_out(self, key: str) -> Optional[Assignment]:
        """The line `-key` that took back whatever was given to this key before it."""
        named = self._last.get(key)
        return named[1] if named is not None and named[1].value is None else None

    def position(self, key: str) -> int:
        """Where in the order the winner stands; -1 when nothing sets the key."""
        return (self._decides(key) or (-1, None))[0]

    def naming(self, key: str) -> List[Assignment]:
        """Every assignment that names this key or matches it, in order."""
        return [one for one in self.all if one.value is not None and (one.key == key or _matches(one.key, key))]

    def _decides(self, key: str) -> Optional[Tuple[int, Assignment]]:
        named = self._last.get(key)
        if named is not None:
            return named if named[1].value is not None else None
        for position, one in reversed(self._globs):
            if one.value is not None and _matches(one.key, key):
                return position, one
        return None


def _is_glob(key: str) -> bool:
    return any(sign in key for sign in "*?[")


def _matches(pattern: str, key: str) -> bool:
    """As glob(3) on paths: no wildcard crosses a slash."""
    if not _is_glob(pattern):
        return False
    patterns, parts = pattern.replace("[^", "[!").split("/"), key.split("/")
    return len(patterns) == len(parts) and all(fnmatch.fnmatchcase(part, one) for part, one in zip(parts, patterns))
