# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tmpfiles.d will write into kernel files at the next boot: pure, text in, writes out.

Only lines that write into an existing file are read (`w`, `w+`, `f+` and its old name `F`). Of several lines with the same path the first one
wins and the others are ignored as duplicates, so the file that sorts first decides; only `w+` lines after a `w+` are all carried out
(tmpfiles.d(5); tried with systemd 252, which also ignores a `w+` after a `w`). Every `f+` is carried out before any `w`. The path of a `w` may be a
glob, and other globs are other paths.
"""

import fnmatch
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from .configfiles import ConfigFile, few, lines


class Write(NamedTuple):
    path: str
    value: str
    file: str
    line: int


_FIELD = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|(\S+)')
_ESCAPE = re.compile(r"\\(n|t|\\|x[0-9a-fA-F]{2})")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\"}
_WRITES, _MAKES = ("w", "w+"), ("f+", "F")


def parse(text: str, file: str) -> Tuple[List[Tuple[str, Write]], List[str]]:
    """The writes of one file as (type, write), and notes about lines that are broken."""
    found, notes = [], []
    for line in lines(text, comments="#"):
        fields = _split(line.text)
        kind = re.sub(r"[!\-=~^$]", "", fields[0])
        if kind not in _WRITES + _MAKES:
            continue
        value = "" if len(fields) < 7 or fields[6] == "-" else _unescape(fields[6]).strip()
        if kind in _MAKES and not value:
            continue  # makes a file and writes nothing into it
        if not value or not fields[1].startswith("/"):
            notes.append(f"{file}:{line.number} writes nothing and is ignored")
            continue
        found.append((kind, Write(re.sub(r"/+", "/", fields[1]).rstrip("/") or "/", value, file, line.number)))
    return found, notes


class Writes:
    """All writes of a boot, in the order in which they are carried out."""

    def __init__(self, files: Iterable[ConfigFile]) -> None:
        self.notes: List[str] = []
        self.all: List[Write] = []
        makes: Dict[str, List[Tuple[str, Write]]] = {}
        writes: Dict[str, List[Tuple[str, Write]]] = {}
        for file in files:
            found, notes = parse(file.text, file.path)
            self.notes.extend(few(notes))
            for kind, write in found:
                self.all.append(write)
                known = (writes if kind in _WRITES else makes).setdefault(write.path, [])
                if not known or (kind == "w+" and known[0][0] == "w+"):
                    known.append((kind, write))
        self._carried_out = [write for group in (makes, writes) for known in group.values() for _kind, write in known]

    def winner(self, path: str) -> Optional[Write]:
        """The last write that reaches this file."""
        for write in reversed(self._carried_out):
            if _reaches(write.path, path):
                return write
        return None

    def naming(self, path: str) -> List[Write]:
        """Every write that names this file or matches it, in the order of the files."""
        return [write for write in self.all if _reaches(write.path, path)]


def _split(text: str) -> List[str]:
    """The seven fields of a line; the last one is the rest of the line as it is."""
    fields: List[str] = []
    rest = text
    while rest and len(fields) < 6:
        match = _FIELD.match(rest)
        if match is None:
            break
        fields.append(next(group for group in match.groups() if group is not None))
        rest = rest[match.end() :].lstrip()
    return [*fields, rest] if rest else fields


def _unescape(text: str) -> str:
    """The escapes of C that tmpfiles.d knows and kernel values use."""
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match.group(1)) or chr(int(match.group(1)[1:], 16)), text)


def _reaches(pattern: str, path: str) -> bool:
    if pattern == path:
        return True
    patterns, parts = pattern.replace("[^", "[!").split("/"), path.split("/")
    return len(patterns) == len(parts) and all(fnmatch.fnmatchcase(part, one) for part, one in zip(parts, patterns))
