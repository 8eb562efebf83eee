# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changing a node: live → read back → persist, each change in the journal before it is made.

A value that the kernel refuses is never persisted, so that it does not wait for the next boot.
"""

import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import journal, memory, ownfile, rules, states
from .context import Context
from .host import Host, HostError, Reader

Judge = Callable[[Context, memory.Memory], Dict[str, Any]]


def apply(host: Host, request: Dict[str, Any], subsystem: Any, judge: Judge) -> Dict[str, Any]:
    """Mend one subsystem and say what is so afterwards: a part of the response."""
    remembered = memory.read(host)
    before = judge(Context(host), remembered)
    entries = request["subsystems"][subsystem.NAME]
    writer = _Writer(host, request, subsystem)
    prefix = subsystem.NAME + "/"
    for identity, result in before["results"].items():
        writer.live(identity, result, entries[identity[len(prefix) :]].get("disturbs", "nothing"))
    gone = memory.released(remembered, subsystem.NAME, list(entries)) if request.get("exclusive") else []
    notes = writer.persist(before["results"], released(host, request, subsystem, remembered))
    writer.put_aside(before["results"])

    context = Context(host)
    remembered = _remember(request, subsystem, judge(context, remembered)["results"], writer.refused, remembered, gone, context.boot_id())
    after = judge(Context(host), remembered)
    errors = _memorised(host, remembered)
    for identity, done in writer.done.items():
        after["results"].setdefault(identity, {"state": "ok", "views": {}, "needs": "nothing"})["changes"] = done
    for identity, reason in writer.failed.items():
        after["results"].setdefault(identity, {"state": "ok", "views": {}, "needs": "nothing"})["detail"] = reason
    part: Dict[str, Any] = {"results": after["results"], "notes": after["notes"] + notes, "changed": bool(writer.done)}
    errors = sorted(set(writer.failed.values())) + errors
    if errors:
        part.update(outcome="failed", error="; ".join(errors))
    return part


def released(host: Reader, request: Dict[str, Any], subsystem: Any, remembered: memory.Memory) -> Dict[str, List[Dict[str, Any]]]:
    """What left the profile and still stands in our files, where the request wants it out: id -> the changes that take it out."""
    if not request.get("exclusive"):
        return {}
    changes: Dict[str, List[Dict[str, Any]]] = {}
    for name in memory.released(remembered, subsystem.NAME, list(request["subsystems"][subsystem.NAME])):
        for file in subsystem.own_files(host):
            lines = subsystem.own_lines(host, file)
            line = subsystem.line_name(lines, name)
            if line in lines:
                change = {"view": "persisted", "target": file, "line": line, "before": lines[line]}
                changes.setdefault(f"{subsystem.NAME}/{name}", []).append(change)
    return changes


class _Writer:
    """The writes of one subsystem in one run, and what became of them."""

    def __init__(self, host: Host, request: Dict[str, Any], subsystem: Any) -> None:
        self.host = host
        self.run_id = str(request.get("run_id", ""))
        self.subsystem = subsystem
        self.done: Dict[str, List[Dict[str, Any]]] = {}
        self.refused: Dict[str, Dict[str, str]] = {}
        self.failed: Dict[str, str] = {}

    def live(self, identity: str, result: Dict[str, Any], disturbs: str) -> None:
        for change in result.get("changes", []):
            if change["view"] == "live":
                self.write_live(identity, change, disturbs)

    def persist(self, results: Dict[str, Dict[str, Any]], gone: Dict[str, List[Dict[str, Any]]]) -> List[str]:
        """Bring our own files up to date, each in one write; notes for what left the profile and what the subsystem says of it."""
        told = self._to_be_made(results, "persisted") + [(identity, change) for identity, changes in gone.items() for change in changes]
        files = sorted({change["target"] for _identity, change in told})
        written = [file for file in files if self._persist_file(file, [one for one in told if one[1]["target"] == file])]
        notes = [f"{identity} left the profile: it is no longer kept, the live value stays" for identity in gone]
        return notes + (self.subsystem.persisted(self.host, written) if written else [])

    def _persist_file(self, file: str, told: List[Tuple[str, Dict[str, Any]]]) -> bool:
        wanted = self.subsystem.own_lines(self.host, file)
        for identity, change in told:
            line = change.get("line", identity.split("/", 1)[1])
            if "after" in change:
                wanted[line] = change["after"]
            else:
                del wanted[line]
        link = self.host.link(file)
        if link is not None:
            told = [(identity, dict(change, link=link)) for identity, change in told]
        try:
            for identity, change in told:
                self.journal(identity, change, "nothing")
            ownfile.write(self.host, file, self.subsystem.render(file, wanted))
        except HostError as error:
            for identity, _change in told:
                self.failed[identity] = f"not persisted: {error}"
            return False
        for identity, change in told:
            self.did(identity, change)
        return True

    def put_aside(self, results: Dict[str, Dict[str, Any]]) -> None:
        """Make comments of the lines of others that win over ours, now that ours is there."""
        for identity, change in self._to_be_made(results, "foreign"):
            file, _colon, number = change["target"].rpartition(":")
            try:
                self.journal(identity, {"view": "foreign", "target": file, "before": change["before"]}, "nothing")
                ownfile.put_aside(self.host, file, int(number), change["before"])
            except HostError as error:
                self.failed[identity] = f"not put aside: {error}"
            else:
                self.did(identity, change)

    def _to_be_made(self, results: Dict[str, Dict[str, Any]], view: str) -> List[Tuple[str, Dict[str, Any]]]:
        """The changes of files for what the kernel took."""
        return [
            (identity, change)
            for identity, result in results.items()
            if identity not in self.refused and identity not in self.failed
            for change in result.get("changes", [])
            if change["view"] == view
        ]

    def write_live(self, identity: str, change: Dict[str, Any], disturbs: str) -> None:
        try:
            self.journal(identity, change, disturbs)
        except HostError as error:
            self.failed[identity] = f"not changed, since the journal could not be written: {error}"
            return
        try:
            self.subsystem.write_live(self.host, change["target"], change["after"])
            got = self.subsystem.read_live(self.host, change["target"])
        except HostError as error:
            self.refused[identity] = {"value": change["after"], "reason": error.reason}
            return
        if got != change["before"]:
            self.did(identity, dict(change, after=got))
        if not rules.same(got, change["after"]):
            self.refused[identity] = {"value": change["after"], "reason": f"the kernel took {got}"}

    def journal(self, identity: str, change: Dict[str, Any], disturbs: str) -> None:
        journal.append(self.host, dict(change, time=_stamp(self.host), run=self.run_id, setting=identity, disturbs=disturbs))

    def did(self, identity: str, change: Dict[str, Any]) -> None:
        self.done.setdefault(identity, []).append(dict(change, done=True))


def _remember(
    request: Dict[str, Any],
    subsystem: Any,
    results: Dict[str, Any],
    refused: Dict[str, Any],
    remembered: memory.Memory,
    gone: List[str],
    boot_id: str,
) -> memory.Memory:
    """What to remember after this run, also of settings that were right before it."""
    prefix = subsystem.NAME + "/"
    new = {key: value for key, value in remembered.items() if key not in [prefix + name for name in gone]}
    for identity, result in results.items():
        rule = request["subsystems"][subsystem.NAME][identity[len(prefix) :]]["rule"]
        was = new.get(identity, {})
        right = result["state"] == "ok"
        # a value that was right and is asked for as before stays "right once", also when this run could not mend it
        entry: Dict[str, Any] = {"rule": rule, "right": right or (was.get("rule") == rule and bool(was.get("right")))}
        if result["state"] == "refused" and "refused" in was:
            entry["refused"] = was["refused"]
        if identity in refused:
            entry["refused"] = dict(refused[identity], boot_id=boot_id)
        new[identity] = entry
    return new


def revert(host: Host, request: Dict[str, Any], subsystems: Dict[str, Any]) -> Dict[str, Any]:
    """Give back the values from before the first run, or from before the run that is named: a part of the response.

    A step that can disturb a running job is not taken while there is one, unless the run consents.
    """
    steps = journal.steps_back(journal.read(host), str(request.get("to", "first")), request.get("only", ()))
    context = Context(host)
    results: Dict[str, Any] = {}
    errors, changed = [], False
    for name, subsystem in subsystems.items():
        mine = [step for step in steps if step.setting.startswith(name + "/")]
        if not mine:
            continue
        writer = _Writer(host, request, subsystem)
        wanted: Dict[str, Dict[str, str]] = {
            step.target: subsystem.own_lines(host, step.target) for step in mine if step.view == "persisted"
        }
        lines = {file: dict(values) for file, values in wanted.items()}
        for step in mine:
            result = results.setdefault(step.setting, {"state": "ok", "views": {}, "needs": "nothing"})
            try:
                _step_back(host, writer, step, wanted.get(step.target, {}), context, request, result)
            except HostError as error:
                result.update(state="refused", detail=str(error))
                errors.append(str(error))
        for file in sorted(wanted):
            if wanted[file] != lines[file]:
                errors.extend(_persist_steps(host, writer, file, [step for step in mine if step.target == file], wanted[file], results))
        for identity, done in writer.done.items():
            results[identity]["changes"] = done
            changed = True
    errors.extend(_forget(host, results))
    part: Dict[str, Any] = {"results": results, "changed": changed}
    if errors:
        part.update(outcome="failed", error="; ".join(errors))
    return part


def _persist_steps(
    host: Host, writer: _Writer, file: str, steps: List[journal.Step], wanted: Dict[str, str], results: Dict[str, Any]
) -> List[str]:
    """Write our file as the steps left it; errors. When nothing of ours is left, a link that stood in its place comes back."""
    links = [step.link for step in steps if step.link is not None]
    try:
        ownfile.write(host, file, writer.subsystem.render(file, wanted))
        writer.subsystem.persisted(host, [file])
        if links and not wanted:
            host.make_link(file, links[0])
    except HostError as error:
        for identity, done in list(writer.done.items()):
            left = [change for change in done if change["view"] != "persisted" or change["target"] != file]
            if left != done:
                results[identity].update(state="refused", detail=str(error))
                writer.done[identity] = left
        writer.done = {identity: done for identity, done in writer.done.items() if done}
        return [str(error)]
    return []


def _step_back(
    host: Host,
    writer: _Writer,
    step: journal.Step,
    wanted: Dict[str, str],
    context: Context,
    request: Dict[str, Any],
    result: Dict[str, Any],
) -> None:
    name = step.line
    if step.view == "persisted":
        have: Optional[str] = wanted.get(name)
        change = {"view": "persisted", "target": step.target, "line": name}
        change.update({} if have is None else {"before": have})
        change.update({} if step.value is None else {"after": step.value})
        if have != step.value:
            writer.journal(step.setting, change, step.disturbs)
            if step.value is None:
                wanted.pop(name, None)
            else:
                wanted[name] = step.value
            writer.did(step.setting, change)
    elif step.view == "foreign":
        change = {"view": "foreign", "target": step.target, "before": ownfile.MARK + (step.value or ""), "after": step.value or ""}
        if ownfile.is_aside(host, step.target, step.value or ""):
            writer.journal(step.setting, change, step.disturbs)
            ownfile.put_back(host, step.target, step.value or "")
            writer.did(step.setting, change)
    else:
        have_live = writer.subsystem.read_live(host, step.target)
        if step.value is None or rules.same(have_live, step.value):
            return
        holders = [] if states.consents(step.disturbs, request.get("disturb", "nothing")) else context.workload().holders
        if holders:
            result.update(state="blocked", blocked_by=holders)
            return
        writer.write_live(step.setting, {"view": "live", "target": step.target, "before": have_live, "after": step.value}, step.disturbs)
        if step.setting in writer.refused:
            raise HostError(step.target, writer.refused[step.setting]["reason"])


def _forget(host: Host, results: Dict[str, Any]) -> List[str]:
    """What was reverted is no longer asked for: a later drift of it is not ours to explain."""
    reverted = [identity for identity, result in results.items() if result["state"] == "ok"]
    return _memorised(host, {key: value for key, value in memory.read(host).items() if key not in reverted})


def _memorised(host: Host, remembered: memory.Memory) -> List[str]:
    """Errors of writing down what is remembered. What was done stays done, and its results are told all the same."""
    try:
        memory.write(host, remembered)
    except HostError as error:
        return [str(error)]
    return []


def _stamp(host: Host) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(host.now()))
