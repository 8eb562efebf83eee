# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changing a node: live → read back → persist, each change in the journal before it is made.

A value that the kernel refuses is never persisted, so that it does not wait for the next boot.
"""
import time
from typing import Any, Callable, Dict, List, Optional

from . import journal, memory, ownfile, rules, states
from .context import Context
from .host import Host, HostError

Judge = Callable[[Context, memory.Memory], Dict[str, Any]]


def apply(host, request, subsystem, judge):
    # type: (Host, Dict[str, Any], Any, Judge) -> Dict[str, Any]
    """Mend one subsystem and say what is so afterwards: a part of the response."""
    remembered = memory.read(host)
    before = judge(Context(host), remembered)
    entries = request["subsystems"][subsystem.NAME]
    writer = _Writer(host, request, subsystem)
    prefix = subsystem.NAME + "/"
    for identity, result in before["results"].items():
        writer.live(identity, result, entries[identity[len(prefix):]].get("disturbs", "nothing"))
    released = memory.released(remembered, subsystem.NAME, list(entries)) if request.get("exclusive") else []
    notes = writer.persist(before["results"], released)

    context = Context(host)
    remembered = _remember(request, subsystem, judge(context, remembered)["results"], writer.refused, remembered, released, context.boot_id())
    after = judge(Context(host), remembered)
    memory.write(host, remembered)
    for identity, done in writer.done.items():
        after["results"].setdefault(identity, {"state": "ok", "views": {}, "needs": "nothing"})["changes"] = done
    for identity, reason in writer.failed.items():
        after["results"][identity]["detail"] = reason
    part = {"results": after["results"], "notes": after["notes"] + notes, "changed": bool(writer.done)}  # type: Dict[str, Any]
    if writer.failed:
        part.update(outcome="failed", error="; ".join(sorted(set(writer.failed.values()))))
    return part


class _Writer:
    """The writes of one subsystem in one run, and what became of them."""

    def __init__(self, host, request, subsystem):
        # type: (Host, Dict[str, Any], Any) -> None
        self.host = host
        self.run_id = str(request.get("run_id", ""))
        self.subsystem = subsystem
        self.done = {}  # type: Dict[str, List[Dict[str, Any]]]
        self.refused = {}  # type: Dict[str, Dict[str, str]]
        self.failed = {}  # type: Dict[str, str]

    def live(self, identity, result, disturbs):
        # type: (str, Dict[str, Any], str) -> None
        for change in result.get("changes", []):
            if change["view"] == "foreign":
                self._put_aside(identity, change, disturbs)
            elif change["view"] == "live":
                self.write_live(identity, change, disturbs)

    def persist(self, results, released):
        # type: (Dict[str, Dict[str, Any]], List[str]) -> List[str]
        """Bring our own file up to date in one write; notes for what left the profile."""
        prefix = self.subsystem.NAME + "/"
        lines = self.subsystem.own_lines(self.host)
        wanted = dict(lines)
        told = []  # type: List[Any]
        for identity, result in results.items():
            if identity in self.refused or identity in self.failed:
                continue
            for change in result.get("changes", []):
                if change["view"] == "persisted":
                    wanted[change.get("line", identity[len(prefix):])] = change["after"]
                    told.append((identity, change, "nothing"))
        notes = []
        for name in released:
            notes.append("{0}{1} left the profile: it is no longer kept, the live value stays".format(prefix, name))
            if name in wanted:
                gone = {"view": "persisted", "target": self.subsystem.FILE, "line": name, "before": wanted.pop(name)}
                told.append((prefix + name, gone, "nothing"))
        if not told:
            return notes
        try:
            for identity, change, disturbs in told:
                self.journal(identity, change, disturbs)
            ownfile.write(self.host, self.subsystem.FILE, self.subsystem.render(wanted))
        except HostError as error:
            for identity, _change, _disturbs in told:
                if identity in results:
                    self.failed[identity] = "not persisted: {0}".format(error)
            return notes
        for identity, change, _disturbs in told:
            if identity in results:
                self.did(identity, change)
        return notes

    def write_live(self, identity, change, disturbs):
        # type: (str, Dict[str, Any], str) -> None
        try:
            self.journal(identity, change, disturbs)
        except HostError as error:
            self.failed[identity] = "not changed, since the journal could not be written: {0}".format(error)
            return
        try:
            self.host.write_live(change["target"], change["after"])
            got = self.subsystem.read_live(self.host, change["target"])
        except HostError as error:
            self.refused[identity] = {"value": change["after"], "reason": error.reason}
            return
        if got != change["before"]:
            self.did(identity, dict(change, after=got))
        if not rules.same(got, change["after"]):
            self.refused[identity] = {"value": change["after"], "reason": "the kernel took {0}".format(got)}

    def _put_aside(self, identity, change, disturbs):
        # type: (str, Dict[str, Any], str) -> None
        file, _colon, number = change["target"].rpartition(":")
        try:
            line = self.host.read(file).split("\n")[int(number) - 1]
            told = {"view": "foreign", "target": file, "before": line}
            self.journal(identity, told, disturbs)
            ownfile.put_aside(self.host, file, int(number), line)
        except (HostError, IndexError) as error:
            self.failed[identity] = "not put aside: {0}".format(error)
            return
        self.did(identity, dict(change, before=line))

    def journal(self, identity, change, disturbs):
        # type: (str, Dict[str, Any], str) -> None
        journal.append(self.host, dict(change, time=_stamp(self.host), run=self.run_id, setting=identity, disturbs=disturbs))

    def did(self, identity, change):
        # type: (str, Dict[str, Any]) -> None
        self.done.setdefault(identity, []).append(dict(change, done=True))


def _remember(request, subsystem, results, refused, remembered, released, boot_id):
    # type: (Dict[str, Any], Any, Dict[str, Any], Dict[str, Any], memory.Memory, List[str], str) -> memory.Memory
    """What to remember after this run, also of settings that were right before it."""
    prefix = subsystem.NAME + "/"
    new = {key: value for key, value in remembered.items() if key not in [prefix + name for name in released]}
    for identity, result in results.items():
        rule = request["subsystems"][subsystem.NAME][identity[len(prefix):]]["rule"]
        was = new.get(identity, {})
        right = result["state"] == "ok"
        # a value that was right and is asked for as before stays "right once", also when this run could not mend it
        entry = {"rule": rule, "right": right or (was.get("rule") == rule and bool(was.get("right")))}  # type: Dict[str, Any]
        if identity in refused:
            entry["refused"] = dict(refused[identity], boot_id=boot_id)
        new[identity] = entry
    return new


def revert(host, request, subsystems):
    # type: (Host, Dict[str, Any], Dict[str, Any]) -> Dict[str, Any]
    """Give back the values from before the first run, or from before the run that is named: a part of the response.

    A step that can disturb a running job is not taken while there is one, unless the run consents.
    """
    steps = journal.steps_back(journal.read(host), str(request.get("to", "first")), request.get("only", ()))
    context = Context(host)
    results = {}  # type: Dict[str, Any]
    errors, changed = [], False
    for name, subsystem in subsystems.items():
        mine = [step for step in steps if step.setting.startswith(name + "/")]
        if not mine:
            continue
        writer = _Writer(host, request, subsystem)
        lines = subsystem.own_lines(host)
        wanted = dict(lines)
        for step in mine:
            result = results.setdefault(step.setting, {"state": "ok", "views": {}, "needs": "nothing"})
            try:
                _step_back(host, writer, step, wanted, context, request, result)
            except HostError as error:
                result.update(state="refused", detail=str(error))
                errors.append(str(error))
        if wanted != lines:
            try:
                ownfile.write(host, subsystem.FILE, subsystem.render(wanted))
            except HostError as error:
                errors.append(str(error))
        for identity, done in writer.done.items():
            results[identity]["changes"] = done
            changed = True
    _forget(host, results)
    part = {"results": results, "changed": changed}  # type: Dict[str, Any]
    if errors:
        part.update(outcome="failed", error="; ".join(errors))
    return part


def _step_back(host, writer, step, wanted, context, request, result):
    # type: (Host, _Writer, journal.Step, Dict[str, str], Context, Dict[str, Any], Dict[str, Any]) -> None
    name = step.line
    if step.view == "persisted":
        have = wanted.get(name)  # type: Optional[str]
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
        ownfile.put_back(host, step.target, step.value or "")
        writer.did(step.setting, {"view": "foreign", "target": step.target, "after": step.value or ""})
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


def _forget(host, results):
    # type: (Host, Dict[str, Any]) -> None
    """What was reverted is no longer asked for: a later drift of it is not ours to explain."""
    memory.write(host, {key: value for key, value in memory.read(host).items() if key not in results})


def _stamp(host):
    # type: (Host) -> str
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(host.now()))
