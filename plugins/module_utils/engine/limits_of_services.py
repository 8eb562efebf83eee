# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of limits that is about the daemons which start jobs: `unit/slurmd.service/LimitMEMLOCK`.

persisted  what the files of systemd say: the unit file, all drop-ins, and below them the defaults of system.conf
live       what systemd has loaded, and gives to the next start
effective  /proc/PID/limits of the daemon that runs: it keeps what it was started with, and its jobs inherit that
"""

from typing import Dict, List, NamedTuple, Optional

from . import configfiles, limit_findings, limit_values, settings, systemd, unit_files
from .context import Context
from .host import HostError, Reader
from .limit_findings import Ours, place
from .limit_values import NOTHING, Limit
from .settings import Change, Entry, Finding, View
from .systemd import Unit, Units
from .unit_files import Assignment, UnitFiles

FOLDER = "/etc/systemd/system"
DROPIN = "zz-gpufleet.conf"
#: key of a unit -> how /proc/PID/limits names it
KEYS = {"LimitMEMLOCK": "Max locked memory", "LimitNOFILE": "Max open files"}


class Service(NamedTuple):
    unit: str
    key: str


class Observed(NamedTuple):
    """What was read. `files` and `running` (the limits of the daemon by key) are by unit, `own` by setting name, `owner` by file; `booted` is
    whether systemd runs this machine, `risk` which containers a daemon-reload would harm, where there is something to reload.
    """

    units: Units
    booted: bool
    files: Dict[str, UnitFiles]
    manager: UnitFiles
    own: Dict[str, str]
    running: Dict[str, Dict[str, View]]
    nr_open: int
    risk: str
    owner: Dict[str, str]


def subject(name: str) -> Optional[Service]:
    """What a setting is about; None when it is no setting of a service."""
    parts = name.split("/")
    return Service(parts[1], parts[2]) if len(parts) == 3 and parts[0] == "unit" and parts[2] in KEYS else None


def own_file(unit: str) -> str:
    return f"{FOLDER}/{unit}.d/{DROPIN}"


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    host = context.host
    names = sorted({_sure(name).unit for name in entries})
    units = context.systemd(names)
    loaded = {name: unit for name, unit in units.known.items() if unit.load_state == "loaded"}
    files = {name: unit_files.of_unit(host, systemd.names(unit), unit.fragment) for name, unit in loaded.items()}
    manager = unit_files.of_manager(host)
    own: Dict[str, str] = {}
    for unit in loaded:
        own.update(own_lines(host, own_file(unit)))
    unread, foreign = False, []
    for name, entry in entries.items():
        about = _sure(name)
        if about.unit in loaded:
            filed = _filed(about.key, files[about.unit], manager)
            unread = unread or not _has_read(loaded[about.unit], about.key, filed)
            if filed is not None and not _is_ours(filed) and not limit_values.holds(entry["rule"], _limit(filed)):
                foreign.append(filed.file)
    return Observed(
        units,
        host.is_directory("/run/systemd/system"),
        files,
        manager,
        own,
        {name: _running(host, unit) for name, unit in loaded.items()},
        limit_findings.nr_open(host),
        systemd.reload_risk(host) if unread else "",
        limit_findings.owners_of(host, foreign),
    )


def own_files(host: Reader) -> List[str]:
    try:
        folders = [name for name in host.names(FOLDER) if name.endswith(".d")]
    except HostError:
        return []
    return [path for path in (f"{FOLDER}/{name}/{DROPIN}" for name in folders) if host.exists(path)]


def own_lines(host: Reader, file: str) -> Dict[str, str]:
    """What one of our drop-ins gives: setting name -> limit."""
    try:
        found = UnitFiles([], unit_files.parse(host.read(file), file))
    except HostError:
        return {}
    unit = file.split("/")[-2][: -len(".d")]
    limits = {key: _limit(found.value("Service", key)) for key in KEYS}
    return {f"unit/{unit}/{key}": limit_values.spell(limit) for key, limit in limits.items() if limit != NOTHING}


def _running(host: Reader, unit: Unit) -> Dict[str, View]:
    """key -> the limit of the daemon; nothing where none runs."""
    path = f"/proc/{unit.main_pid}/limits"
    try:
        text = host.read(path) if unit.main_pid else ""
    except HostError as error:
        return {} if error.absent else {key: {"error": error.reason, "from": path} for key in KEYS}
    found: Dict[str, View] = {}
    for line in text.split("\n"):
        for key, label in KEYS.items():
            fields = line[len(label) :].split()
            if line.startswith(label) and len(fields) >= 2:
                limit = Limit(limit_values.number(fields[0]), limit_values.number(fields[1]))
                found[key] = {"value": limit_values.spell(limit), "from": path}
    return found


def _sure(name: str) -> Service:
    return subject(name) or Service("", "")


# -- compare ----------------------------------------------------------------------------------------------------


def compare(name: str, entry: Entry, observed: Observed) -> Finding:
    about = _sure(name)
    out = _out_of_reach(about.unit, observed)
    if out is not None:
        return out
    unit, files = observed.units.known[about.unit], observed.files[about.unit]
    filed, mine = _filed(about.key, files, observed.manager), own_file(about.unit)
    foreign = _filed(about.key, UnitFiles([], [one for one in files.assignments if one.file != mine]), observed.manager)
    reach = observed.nr_open if about.key == "LimitNOFILE" else limit_values.UNLIMITED
    wanted = limit_findings.floor(entry["rule"], _limit(foreign), reach)
    finding = limit_findings.begin(wanted)
    finding["views"] = _views(about, filed, unit, observed)
    if filed is not None:
        finding["winner"] = {"from": place(filed), "owner": _owner(filed, observed)}
    hidden = configfiles.unreadable(files.files) or finding["views"].get("effective", {}).get("error", "")
    if hidden:
        finding["holds"].append("unknown")
        finding["detail"].append(f"not all could be read: {hidden}")
        return finding

    running = limit_values.read(finding["views"].get("effective", {}).get("value", "")) or NOTHING
    if running != NOTHING and not limit_values.holds(entry["rule"], running):
        finding["needs"] = "service_restart"
    if entry.get("owner", settings.OWNER) != settings.OWNER:
        finding["detail"].append("the profile leaves this to another owner: only what is in force is compared")
        if not limit_values.holds(entry["rule"], _loaded(unit, about.key) if running == NOTHING else running):
            finding["holds"].append("live_wrong")
    elif not limit_findings.right(entry, _next(filed, unit, about.key), wanted, filed is not None and _is_ours(filed)):
        if limit_values.highest(wanted) > reach:
            limit_findings.refuse(finding, wanted, reach)
            return finding
        ours = Ours(mine, limit_values.read(observed.own.get(name, "")) or NOTHING, configfiles.link_of(files.files, mine))
        winner = place(filed) if filed is not None and not _is_ours(filed) else ""
        limit_findings.files_are_wrong(finding, entry, wanted, ours, winner, _rivals(about.key, mine, files))
        others = [one for one in files.naming("Service", about.key) if place(one) != winner]
        if others:
            finding["detail"].append("also set by {}".format(", ".join(f"{place(one)} ({one.value or 'nothing'})" for one in others)))
    elif filed is not None and not _has_read(unit, about.key, filed):
        _not_read(finding, filed, observed.risk)
    elif finding["needs"] == "service_restart":
        finding["holds"].append("pending")
        finding["detail"].append(
            f"pid {unit.main_pid} was started with {limit_values.spell(running)} and keeps it until {unit.id} is restarted"
        )
    return finding


def _out_of_reach(name: str, observed: Observed) -> Optional[Finding]:
    """What is said of a unit that cannot be judged; None for one that can."""
    unit = observed.units.known.get(name)
    if not observed.booted:
        return settings.not_applicable("systemd does not run this machine")
    if unit is None and observed.units.error:
        return settings.unknown(f"systemd could not be asked: {observed.units.error}")
    if unit is None or unit.load_state == "not-found":
        return settings.not_applicable(f"there is no {name} here")
    if unit.load_state == "masked":
        return settings.not_applicable(f"{name} is masked")
    if unit.load_state != "loaded":
        return settings.unknown(f"systemd could not load {name}: {unit.load_state}")
    if unit.id != name:
        return settings.unknown(f"{name} is another name of {unit.id}: the profile has to name that one")
    return None


def _views(about: Service, filed: Optional[Assignment], unit: Unit, observed: Observed) -> Dict[str, View]:
    loaded = _loaded(unit, about.key)
    views: Dict[str, View] = {"persisted": {"unset": "no file sets it"}}
    if filed is not None:
        views["persisted"] = {"value": limit_values.spell(_limit(filed)), "from": place(filed)}
    elif _next(filed, unit, about.key) != NOTHING:
        views["persisted"] = {"value": limit_values.spell(loaded), "from": "systemd's own default"}
    if loaded != NOTHING:
        views["live"] = {"value": limit_values.spell(loaded), "from": "systemd"}
    if about.key in observed.running[about.unit]:
        views["effective"] = observed.running[about.unit][about.key]
    return views


def _not_read(finding: Finding, filed: Assignment, risk: str) -> None:
    """The files are right and systemd has not read them yet."""
    if risk:
        finding["holds"].append("blocked")
        finding["detail"].append(f"systemd has not read {filed.file} yet, and to let it do so is not safe: {risk}")
        return
    finding["holds"].append("pending")
    finding["detail"].append(f"systemd has not read {filed.file} yet")
    if _is_ours(filed):
        same = limit_values.spell(_limit(filed))  # our file once more, so that what follows a change of it is done
        finding["changes"].append({"view": "persisted", "target": filed.file, "before": same, "after": same})


def _filed(key: str, files: UnitFiles, manager: UnitFiles) -> Optional[Assignment]:
    """The assignment that counts: the unit's own, or the default of the manager. One that systemd cannot understand is none."""
    for found, section, name in ((files, "Service", key), (manager, "Manager", "Default" + key)):
        named = [one for one in found.naming(section, name) if not one.value or limit_values.read(one.value) is not None]
        if named and named[-1].value:
            return named[-1]
    return None


def _next(filed: Optional[Assignment], unit: Unit, key: str) -> Limit:
    """What the next start gets by the files; where none says anything, what systemd has loaded is its own default."""
    if filed is not None:
        return _limit(filed)
    return NOTHING if unit.needs_reload else _loaded(unit, key)


def _has_read(unit: Unit, key: str, filed: Optional[Assignment]) -> bool:
    """Whether systemd has loaded what the files say."""
    return filed is None or _loaded(unit, key) in (NOTHING, _limit(filed))


def _loaded(unit: Unit, key: str) -> Limit:
    hard = limit_values.number(unit.properties.get(key, ""))
    return Limit(limit_values.number(unit.properties.get(key + "Soft", unit.properties.get(key, ""))), hard)


def _limit(filed: Optional[Assignment]) -> Limit:
    return (limit_values.read(filed.value) if filed is not None else None) or NOTHING


def _rivals(key: str, mine: str, files: UnitFiles) -> List[Change]:
    """The lines of other drop-ins beside ours that are read after it."""
    paths = [file.path for file in files.files]
    folder = mine[: -len(DROPIN)]
    after = [file.path for file in files.files[paths.index(mine) + 1 :] if file.link is None] if mine in paths else []
    return [
        settings.put_aside(files.files, one.file, one.line)
        for one in files.naming("Service", key)
        if one.file in after and one.file.startswith(folder)
    ]


def _is_ours(filed: Assignment) -> bool:
    return filed.file.startswith(FOLDER + "/") and filed.file.endswith(".d/" + DROPIN)


def _owner(filed: Assignment, observed: Observed) -> str:
    return settings.OWNER if _is_ours(filed) else observed.owner.get(filed.file, "another file")


# -- apply ------------------------------------------------------------------------------------------------------


def render(lines: Dict[str, str]) -> List[str]:
    keys = ["{}={}".format(_sure(name).key, lines[name].replace("unlimited", "infinity")) for name in sorted(lines)]
    return ["[Service]", *keys] if keys else []
