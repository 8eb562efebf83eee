# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""limits: what sessions, and the daemons that start jobs, may use.

    limits/users/memlock, limits/root/…, limits/group/NAME/…, limits/user/NAME/…    `limits_of_sessions.py`
    limits/unit/slurmd.service/LimitMEMLOCK, …/LimitNOFILE                          `limits_of_services.py`
    limits/dev_shm    the size of /dev/shm in percent of the memory, which is only checked

Nothing is written live: a session or a daemon keeps the limits that it was started with.
"""

from typing import Dict, List, NamedTuple, Optional

from .. import configfiles, limits_of_services, limits_of_sessions, rules, settings, shared_memory, systemd
from ..context import Context
from ..host import Host, HostError, Reader
from ..settings import Entry, Finding, View

NAME = "limits"
SHM = "dev_shm"


class Observed(NamedTuple):
    """What was read. `shared` is empty where nothing is mounted on /dev/shm."""

    sessions: limits_of_sessions.Observed
    services: Optional[limits_of_services.Observed]
    shared: Dict[str, View]
    notes: List[str]


def canonical(name: str) -> str:
    """`unit/slurmd/LimitNOFILE` is `unit/slurmd.service/LimitNOFILE`."""
    parts = name.strip("/").split("/")
    if len(parts) == 3 and parts[0] == "unit" and "." not in parts[1]:
        parts[1] += ".service"
    return "/".join(parts)


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    of_sessions = {name: entry for name, entry in entries.items() if limits_of_sessions.subject(name)}
    of_services = {name: entry for name, entry in entries.items() if limits_of_services.subject(name)}
    sessions = limits_of_sessions.observe(context.host, of_sessions)
    return Observed(
        sessions,
        limits_of_services.observe(context, of_services) if of_services else None,
        _shared(context) if SHM in entries else {},
        configfiles.unread_notes(sessions.files) + limits_of_sessions.notes(of_sessions, sessions),
    )


def own_files(host: Reader) -> List[str]:
    return [limits_of_sessions.FILE, *limits_of_services.own_files(host)]


def own_lines(host: Reader, file: str) -> Dict[str, str]:
    """What a file of ours gives: setting name -> limit. Empty when it is not there, masked or not readable as a file of ours."""
    if host.link(file) is not None:
        return {}
    return limits_of_sessions.own_lines(host) if file == limits_of_sessions.FILE else limits_of_services.own_lines(host, file)


def line_name(_lines: Dict[str, str], name: str) -> str:
    """The name under which our file has a setting."""
    return name


def read_live(_host: Reader, target: str) -> str:
    raise HostError(target, "no limit is live")


def notes(observed: Observed) -> List[str]:
    return observed.notes


def _shared(context: Context) -> Dict[str, View]:
    memory = context.facts().get("memory_bytes", 0)
    mounted = shared_memory.size(context.host.read_or("/proc/mounts"), memory)
    if mounted is None:
        return {}
    filed = shared_memory.size(context.host.read_or("/etc/fstab"), memory)
    default = {"value": str(shared_memory.DEFAULT_PERCENT), "from": "kernel default"}
    return {
        "persisted": default if filed is None else _percent(filed.percent, f"/etc/fstab:{filed.line}"),
        "live": _percent(mounted.percent, "/proc/mounts"),
    }


def _percent(percent: Optional[int], origin: str) -> View:
    if percent is None:
        return {"error": "its share of the memory is not known", "from": origin}
    return {"value": str(percent), "from": origin}


# -- compare ----------------------------------------------------------------------------------------------------


def compare(entries: Dict[str, Entry], observed: Observed) -> Dict[str, Finding]:
    """Pure: what the profile wants and what was read, to one finding for each setting."""
    return {name: _compare(name, entry, observed) for name, entry in entries.items()}


def _compare(name: str, entry: Entry, observed: Observed) -> Finding:
    if name == SHM:
        return _compare_shared(entry, observed.shared)
    if limits_of_sessions.subject(name):
        finding = limits_of_sessions.compare(name, entry, observed.sessions)
    elif observed.services is not None and limits_of_services.subject(name):
        finding = limits_of_services.compare(name, entry, observed.services)
    else:
        return settings.unknown("there is no such setting")
    if not settings.mends(entry):
        finding["changes"].clear()
    return finding


def _compare_shared(entry: Entry, views: Dict[str, View]) -> Finding:
    finding: Finding = {
        "holds": [],
        "desired": rules.target(entry["rule"]),
        "views": views,
        "needs": "nothing",
        "detail": [],
        "changes": [],
    }
    wrong = [name for name, view in views.items() if "error" not in view and not rules.satisfied(entry["rule"], view["value"])]
    if not views:
        finding["holds"].append("missing")
        finding["detail"].append("nothing is mounted on /dev/shm")
    elif any("error" in view for view in views.values()):
        finding["holds"].append("unknown")
        finding["detail"].extend(view["error"] for view in views.values() if "error" in view)
    elif wrong:
        finding["holds"].append("live_wrong" if "live" in wrong else "unpersisted")
        finding["detail"].append("in percent of the memory; the size is an option of the mount, and is not changed from here")
    return finding


# -- apply ------------------------------------------------------------------------------------------------------


def write_live(_host: Host, target: str, _value: str) -> None:
    raise HostError(target, "no limit is live")


def persisted(host: Host, files: List[str]) -> List[str]:
    """Let systemd read changed drop-ins; why it could not. A daemon that runs keeps its limits until somebody restarts it."""
    problem = systemd.reload(host) if files != [limits_of_sessions.FILE] else ""
    return [problem] if problem else []


def render(file: str, lines: Dict[str, str]) -> List[str]:
    """The lines of a file of ours."""
    return limits_of_sessions.render(lines) if file == limits_of_sessions.FILE else limits_of_services.render(lines)
