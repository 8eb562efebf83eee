# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the files say of a systemd unit: the unit file, then all of its drop-ins (systemd.unit(5)), and below both the defaults of the manager
(systemd-system.conf(5)).
"""

from typing import List, NamedTuple, Optional, Tuple

from . import configfiles
from .configfiles import ConfigFile
from .host import Reader

#: Where unit files and drop-ins lie, highest priority first.
DIRECTORIES = (
    *("/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/run/systemd/generator.early"),
    *("/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system", "/run/systemd/system.attached"),
    *("/run/systemd/generator", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"),
    "/run/systemd/generator.late",
)
MANAGER = ("/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd")


class Assignment(NamedTuple):
    """One `key=value` of a section, where it stands."""

    file: str
    line: int
    section: str
    key: str
    value: str


class UnitFiles(NamedTuple):
    """The files that make a unit, in the order in which they are read."""

    files: List[ConfigFile]
    assignments: List[Assignment]

    def naming(self, section: str, key: str) -> List[Assignment]:
        return [one for one in self.assignments if one.section == section and one.key == key]

    def value(self, section: str, key: str) -> Optional[Assignment]:
        """The assignment that counts; None where there is none, or where the last one takes back those before it."""
        found = self.naming(section, key)
        return found[-1] if found and found[-1].value else None


def of_unit(host: Reader, names: List[str], fragment: str = "") -> UnitFiles:
    """The unit whose names these are, the real one first. `fragment` is where systemd found its file, for a place that we do not know."""
    directories = _directories(host, DIRECTORIES)
    places = [f"{folder}/{names[0]}" for folder in directories]
    main = next((path for path in places if host.exists(path)), fragment)
    files = [configfiles.read_file(host, main)] if main else []
    return _made(files + configfiles.read_directories(host, _dropins(directories, names)))


def of_manager(host: Reader) -> UnitFiles:
    """system.conf, the first that is found, then its drop-ins."""
    directories = _directories(host, MANAGER)
    main = next((path for path in (f"{folder}/system.conf" for folder in directories) if host.exists(path)), "")
    files = [configfiles.read_file(host, main)] if main else []
    return _made(files + configfiles.read_directories(host, [f"{folder}/system.conf.d" for folder in directories]))


def parse(text: str, file: str) -> List[Assignment]:
    """The assignments of a file. A backslash at the end of a line joins it with the next."""
    found: List[Assignment] = []
    section, begun, begun_at = "", "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if begun_at and line[:1] in ("#", ";"):  # comments within a continued line are skipped
            continue
        if not begun_at and (not line or line[0] in "#;"):
            continue
        start = begun_at or number
        whole = (begun + " " + line).strip() if begun_at else line
        if whole.endswith("\\"):
            begun, begun_at = whole[:-1].rstrip(), start
            continue
        begun, begun_at = "", 0
        if whole.startswith("[") and whole.endswith("]"):
            section = whole[1:-1]
        elif "=" in whole:
            key, _sign, value = whole.partition("=")
            found.append(Assignment(file, start, section, key.strip(), value.strip()))
    return found


def _made(files: List[ConfigFile]) -> UnitFiles:
    return UnitFiles(files, [one for file in files for one in parse(file.text, file.path)])


def _directories(host: Reader, directories: Tuple[str, ...]) -> List[str]:
    """Without /lib where it is only another name of /usr/lib."""
    return [path for path in directories if not (path.startswith("/lib/") and host.link("/lib") is not None)]


def _dropins(directories: List[str], names: List[str]) -> List[str]:
    """The drop-in directories of all names, highest priority first: nvidia-dcgm.service.d, nvidia-.service.d, and last service.d."""
    kind = names[0].rpartition(".")[2]
    own = [f"{folder}/{one}.d" for folder in directories for name in names for one in _with_prefixes(name)]
    return own + [f"{folder}/{kind}.d" for folder in directories]


def _with_prefixes(name: str) -> List[str]:
    stem, _dot, kind = name.rpartition(".")
    parts = stem.split("-")
    return [name] + ["{}-.{}".format("-".join(parts[:size]), kind) for size in range(len(parts) - 1, 0, -1)]
