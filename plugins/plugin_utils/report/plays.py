# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what happened in a play in check mode as the spool of a run, so that the same report can be made of it. Knows nothing of Ansible's classes.

What the modules of this collection answer is written down at once, a line each, and put together in the end: a fleet's answers do not fit into memory
twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ...module_utils.engine import requests
from .. import spool
from .words import TASK

OWN_ACTIONS = "gpufleet.node."
# A task that was skipped for one of these has nothing to say here; any other that is skipped in check mode has kept it to itself.
REASONS = ("false_condition", "skip_reason", "skipped_reason")
ALREADY_THERE = re.compile(r"\b(creates|removes|exists?)\b")
MOST_NOTES = 200

Mask = Callable[[str], str]


class Host(NamedTuple):
    """A node as the play knows it."""

    name: str
    groups: list[str]


class Task(NamedTuple):
    """A task in plain words. `place` is `file:line`, `settings` what it asks of a subsystem."""

    name: str
    action: str
    place: str
    settings: Any
    has_own_report: bool

    @property
    def label(self) -> str:
        """Its name and where it is, since names may be there twice."""
        return f"{self.name} ({os.path.basename(self.place)})" if self.place else self.name


class _Heard:
    """What is kept of a node in memory."""

    def __init__(self, groups: list[str]):
        self.groups = groups
        self.answered = False
        self.lost = False  # it should have answered and did not
        self.error = ""
        self.would_change: dict[str, str] = {}
        self.passed_over: dict[str, str] = {}

    def says_something(self) -> bool:
        return bool(self.answered or self.lost or self.would_change or self.passed_over)


class Recorder:
    """One playbook's run. `folder` is the spool that it writes; nothing is written before there is something to write."""

    def __init__(self, folder: Path, mask: Mask):
        self._folder = folder
        self._mask = mask
        self._started = spool.stamp()
        self._hosts: dict[str, _Heard] = {}
        self._ours = False

    def add(self, event: str, host: Host, task: Task, fields: Mapping[str, Any]) -> None:
        """Take a result of a task in check mode: event is ok, failed, ignored, skipped or unreachable."""
        if task.has_own_report:
            return
        heard = self._hosts.setdefault(host.name, _Heard(host.groups))
        answer = _answer(fields, task.settings, failed=event in ("failed", "ignored"))
        ours = task.action.startswith(OWN_ACTIONS)
        self._ours = self._ours or answer is not None or (ours and event != "skipped")
        if answer is not None:
            heard.answered = True
            self._keep(host.name, answer)
        else:
            self._note(heard, event, task, ours, fields)

    def has_something(self) -> bool:
        """Whether a task of this collection had a part."""
        return self._ours

    def close(self, ends: Mapping[str, Mapping[str, int]], playbook: str, controller: Mapping[str, str]) -> Path:
        """Write the spool. `ends` says of each host how many failures it ended with and how often it was unreachable."""
        asked = []
        for name, heard in self._hosts.items():
            end = ends.get(name, {})
            outcome = "unreachable" if end.get("unreachable") else "failed" if end.get("failures") else "ok"
            if outcome != "ok" or heard.says_something():
                asked.append(name)
                # A play may go on without a node, or rescue it; that it gave no answer stays true.
                self._write_node(name, heard, "failed" if outcome == "ok" and heard.lost and not heard.answered else outcome, playbook)
        begun = {"run_id": self._folder.name, "started": self._started, "action": "check", "asked": asked, "controller": dict(controller)}
        spool.write(self._folder / "run.json", begun)
        shutil.rmtree(self._folder / "parts", ignore_errors=True)
        return self._folder

    def _note(self, heard: _Heard, event: str, task: Task, ours: bool, fields: Mapping[str, Any]) -> None:
        """What a result without an answer says of its node."""
        message = self._mask(str(fields.get("msg", "")).strip())
        if event in ("failed", "unreachable"):
            heard.error = f"{task.label}: {message or 'no reason was given'}"
            heard.lost = heard.lost or ours or event == "unreachable"
        elif ours and event == "ignored":
            heard.passed_over[task.label] = f"it failed, which the play ignores: {message}"
        elif ours and "censored" in fields:
            heard.passed_over[task.label] = "its answer is hidden by no_log"
        elif event == "skipped":
            if not any(reason in fields for reason in REASONS) and not ALREADY_THERE.search(message):
                heard.passed_over[task.label] = message or "check mode passes it over"
        elif fields.get("changed"):
            heard.would_change[task.label] = task.action

    def _keep(self, name: str, answer: Mapping[str, Any]) -> None:
        path = self._part(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        line = json.dumps(_plain(answer, self._mask)) + "\n"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as file:
            file.write(line)

    def _part(self, name: str) -> Path:
        return self._folder / "parts" / f"{quote(name, safe='')}.jsonl"

    def _write_node(self, name: str, heard: _Heard, outcome: str, playbook: str) -> None:
        parts = [json.loads(line) for line in self._part(name).read_text(encoding="utf-8").splitlines()] if heard.answered else []
        response: dict[str, Any] = {"version": 1, "outcome": "ok", "node": {}, "results": {}, "notes": list(_notes(heard)), "faults": []}
        asked: dict[str, Any] = {}
        for part in parts:
            response["results"].update(part["results"])
            response["node"].update(part["node"])
            response["notes"] += [note for note in part["notes"] if note not in response["notes"]]
            response["faults"] += part["faults"]
            response.update({key: part[key] for key in ("outcome", "error") if key in part and part["outcome"] != "ok"})
            asked.update(part["asked"])
        for label, reason in heard.passed_over.items():
            response["results"][f"{TASK}/{label}"] = {"state": "unknown", "needs": "nothing", "views": {}, "detail": reason}
        record: dict[str, Any] = {
            "version": 1,
            "node": name,
            "groups": heard.groups,
            "profile_key": self._write_profile({key: asked[key] for key in sorted(asked) if key in response["results"]}, playbook),
            "transport": "module" if heard.answered else "none",
            "started": self._started,
            "outcome": outcome,
            "response": response,
        }
        if outcome != "ok":
            record["error"] = heard.error or "no reason was given"
        spool.write(spool.node_file(self._folder, name), record)

    def _write_profile(self, asked: Mapping[str, Any], playbook: str) -> str:
        """What the tasks asked of a node, in the shape of a profile; nodes that were asked the same share it."""
        subsystems: dict[str, Any] = {}
        for identity, entry in asked.items():
            subsystem, name = identity.split("/", maxsplit=1)
            subsystems.setdefault(subsystem, {})[name] = entry
        key = hashlib.sha256(json.dumps(subsystems, sort_keys=True).encode()).hexdigest()[:16]
        path = self._folder / "profiles" / f"{key}.json"
        if not path.exists():
            spool.write(path, {"version": 1, "profile": f"of {playbook}", "key": key, "files": [], "subsystems": subsystems, "about": {}})
        return key


def _answer(fields: Mapping[str, Any], settings: Any, failed: bool) -> dict[str, Any] | None:
    """What a module of this collection said of its node, whatever the task's name; None for a result of another module."""
    response = fields.get("response")
    if not isinstance(response, Mapping):
        response = {**fields, "results": fields.get("settings")}
    if not all(isinstance(response.get(key), Mapping) for key in ("results", "node")) or "outcome" not in response:
        return None
    message = str(fields.get("msg", ""))
    answer = {key: response[key] for key in ("results", "node", "outcome")}
    answer.update(
        notes=list(response.get("notes", [])), faults=list(response.get("faults", [])), asked=_asked(response["results"], settings)
    )
    if response["outcome"] != "ok":
        answer["error"] = str(response.get("error", message))
    elif failed and not answer["faults"]:
        answer["faults"] = [{"subsystem": next((key.split("/")[0] for key in response["results"]), "engine"), "error": message}]
    return answer


def _asked(results: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """Id -> entry, of a task of one subsystem."""
    subsystem = next((key.split("/")[0] for key in results), "")
    if not isinstance(settings, Mapping):
        return {}
    try:
        return {f"{subsystem}/{name}": entry for name, entry in requests.entries(_plain(settings, str)).items()}
    except ValueError:
        return {}


def _notes(heard: _Heard) -> Iterator[str]:
    """One for each task of others that would change something."""
    for label, action in list(heard.would_change.items())[:MOST_NOTES]:
        yield f"task: {label} would change something, says {action}"
    if len(heard.would_change) > MOST_NOTES:
        yield f"task: and {len(heard.would_change) - MOST_NOTES} more would change something"


def _plain(value: Any, mask: Mask) -> Any:
    """A copy of plain types: cores hand out texts and dictionaries of their own kinds, which all callbacks share."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part, mask) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple, set)):
        return [_plain(part, mask) for part in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    return mask(str(value))
