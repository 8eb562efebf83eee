# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of limits that is about sessions (login, ssh, cron): `users/memlock`, `root/…`, `group/NAME/…`, `user/NAME/…`.

They have one view, persisted: what pam_limits will give to the next session.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from . import configfiles, limit_findings, limit_values, settings, unit_files
from .configfiles import ConfigFile
from .host import HostError, Reader
from .limit_findings import Ours, place
from .limit_values import NOTHING, Limit
from .pam_limits import Given, Line, Lines
from .settings import Change, Entry, Finding

MAIN = "/etc/security/limits.conf"
FOLDER = "/etc/security/limits.d"
FILE = "/etc/security/limits.d/zz-gpufleet.conf"
#: memlock and stack count KiB
ITEMS = ("memlock", "nofile", "nproc", "stack")
#: What caps the processes of a session whatever its own limit is.
CAPS = {"kernel.pid_max": "/proc/sys/kernel/pid_max", "kernel.threads-max": "/proc/sys/kernel/threads-max"}


class Session(NamedTuple):
    """Whose sessions, as limits.conf spells it (`*`, `root`, `@group`, a user), and which limit."""

    domain: str
    item: str


class Observed(NamedTuple):
    """What was read. `own` is what our file gives, by setting name; `caps` are in words, `owner` is by file."""

    files: List[ConfigFile]
    lines: Lines
    own: Dict[str, str]
    nr_open: int
    caps: List[str]
    owner: Dict[str, str]


def subject(name: str) -> Optional[Session]:
    """What a setting is about; None when it is no setting of a session."""
    parts = name.split("/")
    if parts[-1] not in ITEMS:
        return None
    if len(parts) == 2 and parts[0] in ("users", "root"):
        return Session("*" if parts[0] == "users" else "root", parts[1])
    if len(parts) == 3 and parts[0] in ("group", "user") and parts[1]:
        return Session(("@" if parts[0] == "group" else "") + parts[1], parts[2])
    return None


def name_of(domain: str, item: str) -> str:
    if domain in ("*", "root"):
        return "{}/{}".format("users" if domain == "*" else "root", item)
    return f"group/{domain[1:]}/{item}" if domain.startswith("@") else f"user/{domain}/{item}"


# -- observe ----------------------------------------------------------------------------------------------------


def observe(host: Reader, entries: Dict[str, Entry]) -> Observed:
    files = configfiles.read_directories(host, [FOLDER])
    if host.exists(MAIN):
        files.insert(0, configfiles.read_file(host, MAIN))
    lines = Lines(files)
    wrong = [line for name, entry in entries.items() for line in _wrong(entry, lines.given(*_sure(name)))]
    foreign = [line.file for line in wrong if line.file != FILE]
    return Observed(files, lines, own_lines(host), limit_findings.nr_open(host), _caps(host), limit_findings.owners_of(host, foreign))


def own_lines(host: Reader) -> Dict[str, str]:
    """What our file gives: setting name -> limit."""
    try:
        lines = Lines([ConfigFile(FILE, host.read(FILE), "", False, None, ())])
    except HostError:
        return {}
    pairs = {(line.domain, line.item) for line in lines.all if line.item in ITEMS}
    return {name_of(*pair): limit_values.spell(lines.given(*pair).limit) for pair in pairs}


def notes(entries: Dict[str, Entry], observed: Observed) -> List[str]:
    """Lines that pam_limits does not take, and lines for users and groups that give less than the profile wants for all users."""
    found = [note for note in observed.lines.notes if not note.startswith(FILE + ":")]
    for name, entry in entries.items():
        domain, item = _sure(name)
        for line in observed.lines.exceptions(item) if domain == "*" else ():
            if name_of(line.domain, item) not in entries and not limit_values.holds(entry["rule"], _single(line)):
                found.append(f"{place(line)} gives {_words(line)} to {line.domain}, which beats what all users get")
    return found


def _sure(name: str) -> Session:
    return subject(name) or Session("", "")


def _caps(host: Reader) -> List[str]:
    found = [f"{key} = {value}" for key, value in ((key, host.read_or(path)) for key, path in CAPS.items()) if value]
    tasks = unit_files.of_unit(host, ["user-1000.slice"]).value("Slice", "TasksMax")
    return found + ([f"TasksMax of each user = {tasks.value} ({place(tasks)})"] if tasks is not None else [])


# -- compare ----------------------------------------------------------------------------------------------------


def compare(name: str, entry: Entry, observed: Observed) -> Finding:
    about = _sure(name)
    reach = observed.nr_open if about.item == "nofile" else limit_values.UNLIMITED
    given, foreign = observed.lines.given(*about), observed.lines.given(*about, but=FILE)
    wanted = limit_findings.floor(entry["rule"], foreign.limit, reach)
    finding = limit_findings.begin(wanted)
    wrong, freed = _wrong(entry, given), observed.lines.freed(about.domain)
    winner = freed or (wrong[0] if wrong else given.hard or given.soft)
    if winner is not None:
        owner = settings.OWNER if winner.file == FILE else observed.owner.get(winner.file, "another file")
        finding["winner"] = {"from": place(winner), "owner": owner}

    hidden = configfiles.unreadable(observed.files)
    if hidden:
        finding["views"]["persisted"] = {"error": hidden, "from": FOLDER}
        finding["holds"].append("unknown")
        finding["detail"].append(f"what the next session gets is not known: {hidden}")
    elif freed is not None:
        finding["views"]["persisted"] = {"unset": "the limits of whoever starts the session stay"}
        finding["holds"].append("overridden")
        finding["detail"].append(f"{place(freed)} frees {about.domain} of all limits, so that no line sets any")
    else:
        _judge(finding, name, entry, given, wanted, reach, observed)
    return finding


def _judge(finding: Finding, name: str, entry: Entry, given: Given, wanted: Limit, reach: int, observed: Observed) -> None:
    about = _sure(name)
    line = given.hard or given.soft
    if line is None:
        finding["views"]["persisted"] = {"unset": "no line sets it"}
    else:
        finding["views"]["persisted"] = {"value": limit_values.spell(given.limit), "from": place(line)}
    too_many = limit_values.highest(given.limit) > reach
    if not too_many and limit_findings.right(entry, given.limit, wanted, line is not None and line.file == FILE):
        return
    if too_many:
        finding["detail"].append(f"{limit_values.spell(given.limit)} is above fs.nr_open = {reach}: such a session cannot be opened")
    if limit_values.highest(wanted) > reach:
        limit_findings.refuse(finding, wanted, reach)
        return
    foreign = [one for one in (*_wrong(entry, given), line) if one is not None and one.file != FILE]
    ours = Ours(FILE, limit_values.read(observed.own.get(name, "")) or NOTHING, configfiles.link_of(observed.files, FILE))
    limit_findings.files_are_wrong(finding, entry, wanted, ours, place(foreign[0]) if foreign else "", _rivals(about, observed))
    others = [one for one in observed.lines.naming(*about) if place(one) != finding.get("winner", {}).get("from")]
    if others:
        finding["detail"].append("also set by {}".format(", ".join(f"{place(one)} ({_words(one)})" for one in others)))
    if about.item == "nproc" and observed.caps:
        finding["detail"].append("whatever it is, these hold: {}".format(", ".join(observed.caps)))


def _wrong(entry: Entry, given: Given) -> List[Line]:
    """The lines that win with a number that is not wanted."""
    return [line for line in (given.soft, given.hard) if line is not None and not limit_values.holds(entry["rule"], _single(line))]


def _rivals(about: Session, observed: Observed) -> List[Change]:
    """The lines of other files in limits.d that are read after ours, for a user who lets us put them aside."""
    paths = [file.path for file in observed.files]
    after = [file.path for file in observed.files[paths.index(FILE) + 1 :] if file.link is None] if FILE in paths else []
    return [settings.put_aside(observed.files, one.file, one.line) for one in observed.lines.naming(*about) if one.file in after]


def _single(line: Line) -> Limit:
    return Limit(line.value, line.value)


def _words(line: Line) -> str:
    return f"{line.type} {line.item} {limit_values.spell(_single(line))}"


# -- apply ------------------------------------------------------------------------------------------------------


def render(lines: Dict[str, str]) -> List[str]:
    return [text for name in sorted(lines) for text in _rendered(_sure(name), limit_values.read(lines[name]) or NOTHING)]


def _rendered(about: Session, limit: Limit) -> List[str]:
    pairs: List[Tuple[str, Optional[int]]] = [("soft", limit.soft), ("hard", limit.hard)]
    if limit.soft == limit.hard:
        pairs = [("-", limit.hard)]
    return [f"{about.domain} {kind} {about.item} {limit_values.spell(Limit(one, one))}" for kind, one in pairs if one is not None]
