# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door of the engine: a request in, a response out (docs/architecture.md has both shapes).

audit, check   observe → compare → settle
apply          the same, then change, then observe → compare → settle again: the read-back is the audit's own code
revert         steps back from the journal
"""

import functools
import re
import time
import traceback
from typing import Any, Callable, Dict, List, NamedTuple

from . import apply, conditions, deadline, memory, rules, states
from .context import Context
from .host import Host, HostError, Reader

VERSION = "0.1.0"
ACTIONS = ("audit", "check", "apply", "revert")
LOCK = "/run/gpufleet/lock"
LOCK_S = 60.0
#: How text holds the bytes that are none (PEP 383).
_BYTES = re.compile("[\udc80-\udcff]")
DEADLINE_S = 60.0

Request = Dict[str, Any]
Response = Dict[str, Any]
Result = Dict[str, Any]


class Consent(NamedTuple):
    """What the user of a run allows: how much a live write may disturb a job, and whether lines of others may be
    put aside.
    """

    disturb: str
    take_over: bool


def subsystems() -> Dict[str, Any]:
    """All subsystems in the one fixed order in which they are looked at and changed."""
    from .subsystems import hardware, limits, services, sysctl, transparent_hugepage

    return {module.NAME: module for module in (sysctl, transparent_hugepage, limits, services, hardware)}


def handle(request: Request) -> Response:
    """Carry out a request within its deadline. Never raises: what went wrong is in the response."""
    clock = Reader()
    begun = clock.now()
    response: Response = {
        "version": 1,
        "engine": VERSION,
        "action": request.get("action", ""),
        "run_id": request.get("run_id", ""),
        "outcome": "ok",
        "changed": False,
        "started": stamp(begun),
        "node": {},
        "results": {},
        "notes": [],
        "faults": [],
    }
    try:
        limit = float(request.get("deadline_s", DEADLINE_S))
        request = dict(request, subsystems=_canonical(request.get("subsystems", {})))
    except (ValueError, TypeError, AttributeError) as error:
        response.update(outcome="failed", error=f"not a request: {error}", duration_s=0.0)
        return response
    done = deadline.bounded(lambda send: work(request, send), limit)
    for part in done.parts:
        _merge(response, part)
    if done.error:
        response.update(outcome="failed", error=done.error)
    if not done.ended:
        response.update(outcome="timed_out", error=f"not finished after {limit:g} s")
        for identity in _asked(request):
            response["results"].setdefault(
                identity, {"state": "unknown", "needs": "nothing", "views": {}, "detail": "not read before the time was up"}
            )
    response["duration_s"] = round(clock.now() - begun, 3)
    printable: Response = _printable(response)
    return printable


def work(request: Request, send: Callable[[Response], None]) -> None:
    """Carry out a request; parts of the response are sent as they are ready."""
    action = request.get("action")
    root = str(request.get("root", "/"))
    if action not in ACTIONS:
        raise ValueError(f"no such action: {action}")
    if action in ("audit", "check"):
        context = Context(Reader(root))
        send({"node": context.facts()})
        _judge_all(request, context, send)
        return
    host = Host(root)
    allowed, reason = host.may_apply()
    if not allowed:
        send({"node": Context(host).facts(), "outcome": "failed", "error": reason})
        return
    try:
        with host.locked(LOCK, float(request.get("lock_s", LOCK_S))):
            send({"node": Context(host).facts()})
            _change_all(request, host, send)
    except HostError as error:
        send({"outcome": "failed", "error": str(error)})


def _judge_all(request: Request, context: Context, send: Callable[[Response], None]) -> None:
    remembered = memory.read(context.host)
    for name, subsystem in _wanted(request):
        try:
            judged = judge(subsystem, request, context, remembered)
        except Exception as error:  # a fault in one subsystem must not take the others with it, and is never silent
            send(_fault(request, name, error))
            continue
        if request["action"] == "check":
            for identity, changes in apply.released(context.host, request, subsystem, remembered).items():
                judged["results"][identity] = {"state": "ok", "views": {}, "needs": "nothing", "changes": changes}
        changed = request["action"] == "check" and any(result.get("changes") for result in judged["results"].values())
        send({"results": judged["results"], "notes": judged["notes"], "changed": changed})


def _change_all(request: Request, host: Host, send: Callable[[Response], None]) -> None:
    if request["action"] == "revert":
        send(apply.revert(host, request, subsystems()))
        return
    for name, subsystem in _wanted(request):
        try:
            send(apply.apply(host, request, subsystem, functools.partial(judge, subsystem, request)))
        except HostError as error:
            send(dict(_fault(request, name, error), faults=[], outcome="failed", error=str(error)))
        except Exception as error:
            send(_fault(request, name, error))


def judge(subsystem: Any, request: Request, context: Context, remembered: memory.Memory) -> Dict[str, Any]:
    """Observe and compare one subsystem: {"results": id -> result, "notes"}."""
    prefix = subsystem.NAME + "/"
    entries: Dict[str, Any] = {}
    findings: Dict[str, Any] = {}
    for name, entry in request["subsystems"][subsystem.NAME].items():
        waived = conditions.waived(entry, context)
        entries[name] = dict(entry, waived=waived) if waived else entry
        reason = conditions.unmet(entry.get("when"), context)
        if reason:
            findings[name] = {"holds": ["not_applicable"], "views": {}, "needs": "nothing", "detail": [reason], "changes": []}
    judged = {name: entry for name, entry in entries.items() if name not in findings}
    observed = subsystem.observe(context, judged)
    findings.update(subsystem.compare(judged, observed))
    consent = Consent(request.get("disturb", "nothing"), bool(request.get("take_over")))
    results = {
        prefix + name: settle(entries[name], finding, remembered.get(prefix + name), context, consent) for name, finding in findings.items()
    }
    return {"results": results, "notes": subsystem.notes(observed)}


def settle(entry: Dict[str, Any], finding: Dict[str, Any], remembered: Any, context: Context, consent: Consent) -> Result:
    """Make a result of a finding: what only memory and the workload know is added, and the first state that holds is the state."""
    holds, detail = list(finding["holds"]), list(finding["detail"])
    changes = [change for change in finding["changes"] if consent.take_over or not change.get("take_over")]
    result: Result = {"views": finding["views"], "needs": finding["needs"]}
    for key in ("desired", "winner"):
        if key in finding:
            result[key] = finding[key]
    told = memory.refusal(remembered, finding["desired"], context.boot_id()) if "live_wrong" in holds or finding.get("again") else ""
    if told and holds:
        if finding.get("again"):  # not the kernel's last word, but a program's, which may do better now
            detail.append(f"the last try failed: {told}")
        else:
            holds.append("refused")
            detail.append(f"the kernel refused this since the last boot: {told}; it is tried again after the next boot")
            changes = []
    disturbs = entry.get("disturbs", "nothing")
    if any(change["view"] == "live" for change in changes) and not states.consents(disturbs, consent.disturb):
        workload = context.workload()
        if workload.holders:
            holds.append("blocked")
            result["blocked_by"] = workload.holders
            detail.append(f"a live change can disturb a running job ({disturbs})")
            changes = [change for change in changes if change["view"] != "live"]
    if entry.get("waived"):
        result["waived"] = entry["waived"]
        changes = []
    state = states.first(holds)
    result["state"] = state
    if states.is_drift(state, result["needs"]):
        result["cause"] = memory.cause(remembered, entry["rule"])
        detail.insert(0, "wanted: {}".format(rules.words(entry["rule"])))
    if detail and (state != "ok" or entry.get("waived")):
        result["detail"] = "; ".join(detail)
    if changes:
        result["changes"] = changes
    return result


def name_of_run(what: str) -> str:
    """A name for a run that nobody has named: its time and what it is about."""
    return f"{stamp(Reader().now())}-{what}"


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _canonical(wanted: Dict[str, Any]) -> Dict[str, Any]:
    """The same with one spelling for each setting; a subsystem that is not known is an error."""
    known = subsystems()
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise ValueError("no such subsystem: {}".format(", ".join(unknown)))
    return {name: {known[name].canonical(key): entry for key, entry in entries.items()} for name, entries in wanted.items()}


def _printable(value: Any) -> Any:
    """The same without the bytes that are no text: they are shown as \\xNN, so that everybody can print and store a response."""
    if isinstance(value, str):
        return _BYTES.sub(_shown, value).encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_printable(key): _printable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_printable(part) for part in value]
    return value


def _shown(match: Any) -> str:
    return f"\\x{ord(match.group()) - 0xDC00:02x}"


def _wanted(request: Request) -> List[Any]:
    known = subsystems()
    return [(name, module) for name, module in known.items() if name in request["subsystems"]]


def _asked(request: Request) -> List[str]:
    return [f"{subsystem}/{name}" for subsystem, entries in request.get("subsystems", {}).items() for name in entries]


def _fault(request: Request, name: str, error: Exception) -> Response:
    """A fault of ours: said, with its place, and every setting of the subsystem is unknown."""
    told = f"{type(error).__name__}: {error}"
    places = traceback.extract_tb(error.__traceback__)
    place = f"{places[-1].filename}:{places[-1].lineno}" if places else "no place"
    results = {
        f"{name}/{key}": {"state": "unknown", "needs": "nothing", "views": {}, "detail": f"a fault of gpufleet: {told}"}
        for key in request["subsystems"][name]
    }
    return {"faults": [{"subsystem": name, "error": f"{told} ({place})"}], "results": results}


def _merge(response: Response, part: Response) -> None:
    for key in ("notes", "faults"):
        response[key].extend(part.pop(key, []))
    response["results"].update(part.pop("results", {}))
    response["changed"] = part.pop("changed", False) or response["changed"]
    if "error" in part and "error" in response:
        part["error"] = "{}; {}".format(response["error"], part["error"])
    response.update(part)
