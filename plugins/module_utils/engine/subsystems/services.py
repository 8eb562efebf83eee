# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""services: units of systemd that are wanted. Three settings for each: `services/nvidia-dcgm/installed`, `…/enabled`, `…/running`.

persisted  of `enabled`: what systemd says of the unit file
live       of `running`: what systemd says of the unit; of `installed`: whether systemd finds it

Units are enabled and started, and nothing else: none is ever stopped, restarted or masked by an apply. The files that make a unit enabled
are systemd's own, so there is no file of ours.
"""

from typing import Any, Dict, List, NamedTuple, Tuple

from .. import owners, rules, settings, systemd, units
from ..context import Context
from ..host import Host, HostError, Reader
from ..settings import Entry, Finding
from ..systemd import Unit

NAME = "services"
START_S = 50.0
#: Where a mask may lie; the first counts.
MASKS = ("/etc/systemd/system", "/run/systemd/system")
#: What a unit file is that nobody enables: something else wants it, or it is made at each boot.
NOT_TO_ENABLE = ("static", "generated", "transient")
#: Nothing is running, and everything conflicts with it.
SHUTDOWN = "shutdown.target"

FILE_STATE, ACTIVE_STATE = "UnitFileState", "ActiveState"
#: How a state of a unit file is brought about; any other comes back with `disable`.
COMMANDS: Dict[str, List[List[str]]] = {
    "enabled": [["enable"]],
    "enabled-runtime": [["disable"], ["enable", "--runtime"]],
    "masked": [["mask"]],
    "masked-runtime": [["mask", "--runtime"]],
}


class Observed(NamedTuple):
    """By the unit's name in the profile: `found` where systemd has loaded it, `idle` why it would have nothing to do here. By the real
    name: `masks` the link that masks it with its owner, `conflicts` running units that a start would stop. `error`: why systemd could not be
    asked; `absent`: why there is none; `reload_risk`: what a change of unit files would do to containers.
    """

    found: Dict[str, Unit]
    idle: Dict[str, str]
    masks: Dict[str, Tuple[str, str]]
    conflicts: Dict[str, List[str]]
    error: str
    absent: str
    reload_risk: str


def canonical(name: str) -> str:
    unit, _slash, what = name.strip("/").rpartition("/")
    return f"{units.canonical(unit)}/{what}"


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    host = context.host
    if not host.is_directory("/run/systemd/system"):
        return Observed({}, {}, {}, {}, "", "systemd does not run here", "")
    names = sorted({_unit(name) for name in entries})
    idle = _idle(context, names)
    asked = {name: units.full(name) for name in names if name not in idle}
    answer = context.systemd([unit for candidates in asked.values() for unit in candidates])
    found = {}
    for name, candidates in asked.items():
        there = [answer.known[unit] for unit in candidates if unit in answer.known and answer.known[unit].load_state != "not-found"]
        if there:
            found[name] = there[0]
    masks = {unit.id: _mask(host, unit.id) for unit in found.values() if unit.load_state == "masked"}
    risk = systemd.reload_risk(host) if any(_to_enable(found, name) for name in entries) else ""
    return Observed(found, idle, masks, _conflicts(context, list(found.values())), answer.error, "", risk)


def _unit(name: str) -> str:
    return name.rpartition("/")[0]


def _idle(context: Context, names: List[str]) -> Dict[str, str]:
    try:
        devices = context.pci()
    except HostError:  # nothing is known of the hardware: then the unit itself has to tell
        return {}
    reasons = {name: units.idle_here(name, devices, context.host.exists(units.SWITCH_FILE)) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


def _mask(host: Reader, unit: str) -> Tuple[str, str]:
    """The link that masks a unit, and whose it is."""
    for folder in MASKS:
        path = f"{folder}/{unit}"
        if host.link(path) == "/dev/null":
            return f"{path} -> /dev/null", owners.owner(host, path)
    return "a mask of systemd", "unknown (no link to /dev/null was found)"


def _conflicts(context: Context, found: List[Unit]) -> Dict[str, List[str]]:
    """Of the units that do not run: those that do and would be stopped by a start."""
    rivals = {
        unit.id: sorted({one for key in ("Conflicts", "ConflictedBy") for one in unit.properties.get(key, "").split()} - {SHUTDOWN})
        for unit in found
        if unit.active_state != "active"
    }
    known = context.systemd([rival for those in rivals.values() for rival in those]).known
    running = {unit: [one for one in those if one in known and known[one].active_state == "active"] for unit, those in rivals.items()}
    return {unit: those for unit, those in running.items() if those}


def _to_enable(found: Dict[str, Unit], name: str) -> bool:
    unit = found.get(_unit(name))
    return unit is not None and name.endswith("/enabled") and unit.unit_file_state not in ("enabled", *NOT_TO_ENABLE)


def notes(_observed: Observed) -> List[str]:
    return []


# -- compare ----------------------------------------------------------------------------------------------------


def compare(entries: Dict[str, Entry], observed: Observed) -> Dict[str, Finding]:
    """Pure: what is wanted and what systemd says, to one finding for each setting. In the order of their names, so that a unit is enabled
    before it is started.
    """
    return {name: _compare(name, entries[name], observed) for name in sorted(entries)}


def _compare(name: str, entry: Entry, observed: Observed) -> Finding:
    unit_name, _slash, what = name.rpartition("/")
    reason = observed.absent or observed.idle.get(unit_name, "")
    if reason:
        return settings.not_applicable(reason)
    if what not in units.WANTED or rules.target(entry["rule"]) != units.WANTED[what]:
        return settings.unknown("a unit can be wanted {}".format(", ".join(f"{key}: {value}" for key, value in units.WANTED.items())))
    unit = observed.found.get(unit_name)
    if unit is None and observed.error:
        return settings.unknown(f"systemd could not be asked: {observed.error}")
    if what == "installed":
        return _installed(unit_name, unit is not None)
    if unit is None:
        return settings.not_applicable("{} is not installed".format(" or ".join(units.full(unit_name))))
    finding: Finding = {
        "holds": [],
        "desired": units.WANTED[what],
        "views": {},
        "needs": "nothing",
        "detail": [],
        "changes": [],
        "again": True,
    }
    if unit.id not in units.full(unit_name)[:1]:
        finding["detail"].append(f"the unit is {unit.id}")
    if what == "enabled":
        _judge_enabled(finding, unit, observed)
    else:
        _judge_running(finding, unit, observed)
    if not settings.mends(entry):
        finding["changes"] = []
    return finding


def _installed(name: str, there: bool) -> Finding:
    finding: Dict[str, Any] = {"desired": "installed", "needs": "nothing", "changes": []}
    finding["views"] = {"live": {"value": "installed" if there else "not installed", "from": "systemctl show"}}
    finding["holds"] = [] if there else ["missing"]
    finding["detail"] = [] if there else ["systemd finds no {}".format(" and no ".join(units.full(name)))]
    return finding


def _judge_enabled(finding: Finding, unit: Unit, observed: Observed) -> None:
    """Add the state of the unit file, and the change that enables it."""
    state = unit.unit_file_state or unit.load_state
    finding["views"]["persisted"] = {"value": state, "from": unit.fragment or unit.id}
    holds, detail = finding["holds"], finding["detail"]
    change: settings.Change = {"view": "live", "target": f"{unit.id}/{FILE_STATE}", "before": state, "after": "enabled"}
    if unit.load_state == "masked":
        _masked(finding, unit, observed)
        change["take_over"] = True
    elif unit.load_state != "loaded":
        holds.append("refused")
        detail.append(f"systemd does not load it: {unit.load_state}")
        return
    elif state in NOT_TO_ENABLE:
        holds.append("not_applicable")
        detail.append(f"{unit.id} is {state}: it has nothing to be enabled by, and is started by what wants it")
        return
    elif state == "linked":
        holds.append("unpersisted")
        detail.append("its file lies elsewhere and is only linked: enable it by its path")
        return
    elif state != "enabled":
        holds.append("unpersisted")
    if holds and observed.reload_risk:
        holds.append("blocked")
        detail.append(f"systemd would have to read its files again: {observed.reload_risk}")
    elif holds:
        finding["changes"].append(change)


def _judge_running(finding: Finding, unit: Unit, observed: Observed) -> None:
    """Add the state of the unit, and the change that starts it."""
    state, sub = unit.active_state, unit.properties.get("SubState", "")
    finding["views"]["live"] = {"value": state, "from": f"systemctl show {unit.id}"}
    holds, detail = finding["holds"], finding["detail"]
    change: settings.Change = {"view": "live", "target": f"{unit.id}/{ACTIVE_STATE}", "before": state, "after": "active"}
    # what was started stays: a revert stops no service
    change["undo"] = {"target": change["target"]}
    if state in ("active", "reloading", "refreshing"):
        if unit.needs_reload:
            holds.append("pending")
            finding["needs"] = "service_restart"
            detail.append(
                "its files were changed after systemd read them: what runs is not what they say until daemon-reload and a restart"
            )
        return
    if state == "activating" and sub != "auto-restart":
        holds.append("pending")
        finding["needs"] = "time"
        detail.append(f"it is starting ({sub})")
        return
    if unit.load_state == "masked":
        _masked(finding, unit, observed)
        change["take_over"] = True
    elif unit.load_state != "loaded":
        holds.append("refused")
        detail.append(f"systemd does not load it: {unit.load_state}")
        return
    else:
        holds.append("live_wrong")
    if state == "failed" or sub == "auto-restart":
        detail.append(f"it failed ({sub}): journalctl -u {unit.id} tells why")
    if unit.id in observed.conflicts:
        holds.append("blocked")
        detail.append("a start would stop {}, which runs and conflicts with it".format(", ".join(observed.conflicts[unit.id])))
    else:
        finding["changes"].append(change)


def _masked(finding: Finding, unit: Unit, observed: Observed) -> None:
    link, owner = observed.masks[unit.id]
    finding["holds"].append("overridden")
    finding["winner"] = {"from": link, "owner": owner}
    finding["detail"].append("it is masked")


# -- apply ------------------------------------------------------------------------------------------------------


def own_files(_host: Reader) -> List[str]:
    return []


def own_lines(_host: Reader, _file: str) -> Dict[str, str]:
    return {}


def line_name(_lines: Dict[str, str], name: str) -> str:
    return name


def render(_file: str, _lines: Dict[str, str]) -> List[str]:
    return []


def read_live(host: Reader, target: str) -> str:
    """What systemd says now; nothing is remembered from before a change."""
    name, _slash, prop = target.rpartition("/")
    answer = systemd.show(host, [name])
    if name not in answer.known:
        raise HostError(target, answer.error or "systemd does not know it")
    unit = answer.known[name]
    return unit.properties.get(prop, unit.load_state if prop == FILE_STATE else "")


def write_live(host: Host, target: str, value: str) -> None:
    name, _slash, prop = target.rpartition("/")
    if prop == ACTIVE_STATE:
        _start(host, name)
        return
    risk = systemd.reload_risk(host)
    if risk:
        raise HostError(name, f"systemd would have to read its files again: {risk}")
    state = read_live(host, target)
    if state.startswith("masked"):
        host.change(["systemctl", "unmask", *(["--runtime"] if state == "masked-runtime" else []), "--", name])
    for command in COMMANDS.get(value, [["disable"]]):
        host.change(["systemctl", *command, "--", name])


def _start(host: Host, name: str) -> None:
    """Start a unit, of what its files say now. A unit whose conditions do not hold is not started, and systemctl calls that a success."""
    unit = systemd.show(host, [name]).known.get(name)
    if unit is not None and unit.needs_reload:
        reason = systemd.reload(host)
        if reason:
            raise HostError(name, reason)
    host.change(["systemctl", "start", "--", name], START_S)
    state = read_live(host, f"{name}/{ACTIVE_STATE}")
    if state != "active":
        raise HostError(name, f"systemctl start ended well, and yet the unit is {state}: a condition of it does not hold, or it has ended")


def persisted(_host: Host, _files: List[str]) -> List[str]:
    return []
