# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration directories as systemd reads them: which files count, in which order, and which are masked.

Of several directories the first given has priority: a file hides every file of the same name in a later directory, also when it is empty or
a link to /dev/null. The files that are left are read in the order of their names, byte by byte, whatever directory they lie in
(sysctl.d(5), tmpfiles.d(5)).
"""

import errno
from typing import Dict, List, NamedTuple, Optional, Tuple

from .host import HostError, Reader


class ConfigFile(NamedTuple):
    """One file that counts. `text` is empty when it could not be read and `error` says why; `hides` is true when
    the boot may well be able to read what we could not, so that nothing certain can be said. `link` is where a
    link points to; `masks` are the files of the same name that it hides.
    """

    path: str
    text: str
    error: str
    hides: bool
    link: Optional[str]
    masks: Tuple[str, ...]


#: What the boot cannot read either: a folder or pipe of that name, a link to nowhere.
_UNREADABLE_FOR_ALL = (errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)


NOTES_MAX = 5


class Line(NamedTuple):
    number: int
    text: str


def read_directories(host: Reader, directories: List[str]) -> List[ConfigFile]:
    """The `*.conf` files of these directories (highest priority first) that count, in the order in which they are read."""
    chosen: Dict[str, str] = {}
    hidden: Dict[str, Tuple[str, ...]] = {}
    for directory in directories:
        for name in _names(host, directory):
            path = directory + "/" + name
            if name in chosen:
                hidden[name] = (*hidden.get(name, ()), path)
            else:
                chosen[name] = path
    ordered = sorted(chosen, key=_sorted_by)
    return [read_file(host, chosen[name], hidden.get(name, ())) for name in ordered]


def read_file(host: Reader, path: str, masks: Tuple[str, ...] = ()) -> ConfigFile:
    link = host.link(path)
    if link == "/dev/null":
        return ConfigFile(path, "", "", False, link, masks)
    try:
        return ConfigFile(path, host.read(path), "", False, link, masks)
    except HostError as error:
        return ConfigFile(path, "", error.reason, error.code not in _UNREADABLE_FOR_ALL, link, masks)


def is_read_after(path: str, other: str) -> bool:
    """Whether a file is read after another, of which at most one counts where their names are equal."""
    return _sorted_by(path.rpartition("/")[2]) > _sorted_by(other.rpartition("/")[2])


def unreadable(files: List[ConfigFile]) -> str:
    """What keeps us from knowing what these files say, or nothing."""
    return ", ".join(f"{file.path} could not be read: {file.error}" for file in files if file.hides)


def link_of(files: List[ConfigFile], path: str) -> Optional[str]:
    """Where a file that should be a plain file links to; None when it is plain or not there."""
    return next((file.link for file in files if file.path == path), None)


def unread_notes(files: List[ConfigFile]) -> List[str]:
    """One note for each file that could not be read."""
    return [f"{file.path} could not be read: {file.error}" for file in files if file.error]


def few(notes: List[str]) -> List[str]:
    """The first notes about a file, and how many more there are: a file may be no configuration at all."""
    more = len(notes) - NOTES_MAX
    return notes if more <= 0 else [*notes[:NOTES_MAX], f"{notes[NOTES_MAX - 1].split(':')[0]}: {more} more lines are ignored"]


def lines(text: str, comments: str = "#;") -> List[Line]:
    """The lines that say something, stripped, with their numbers. Any byte may stand in them; NUL ends a line as it does for systemd."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for piece in line.split("\0"):
            stripped = piece.strip()
            if stripped and stripped[0] not in comments:
                found.append(Line(number, stripped))
    return found


def _sorted_by(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _names(host: Reader, directory: str) -> List[str]:
    try:
        return [name for name in host.names(directory) if name.endswith(".conf") and not name.startswith(".")]
    except HostError:
        return []
