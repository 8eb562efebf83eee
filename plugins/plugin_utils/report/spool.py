# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the files of one run's spool. What is in them came from nodes: nothing is believed before its shape was seen, and only what is on a list
here is taken along, so that whatever else an answer may hold gets no further."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from .words import CAUSES, FACTS, NEEDS, OUTCOMES, STATES, VIEWS

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
# The only keys that get from a node into a document, beside those of the contract that are read one by one.
VIEW_KEYS = ("value", "error", "unset", "from")
WINNER_KEYS = ("from", "owner")
WAIVED_KEYS = ("reason", "ticket", "until")
CHANGE_KEYS = ("view", "target", "before", "after", "line", "take_over", "done", "error")


class Spool:
    """Everything that could be read, and what could not, in words."""

    def __init__(self, run: dict[str, Any], profiles: dict[str, Any], nodes: dict[str, Any], faults: list[str]):
        self.run = run
        self.profiles = profiles
        self.nodes = nodes
        self.faults = faults


def read(directory: Path) -> Spool:
    """Read a spool. A broken file becomes a fault of the run, or a failed node where it is a node's."""
    faults: list[str] = []
    run = _object_or_fault(directory / "run.json", faults)
    profiles = {}
    for path in _json_files(directory / "profiles"):
        try:
            profiles[path.stem] = compiled_profile(_read_object(path))
        except (OSError, ValueError) as error:
            faults.append(f"profile {path.stem} of the run cannot be read: {_words(error)}")
    nodes = {}
    for path in _json_files(directory / "nodes"):
        name = unquote(path.stem)
        try:
            nodes[name] = node_entry(_read_object(path))
        except (OSError, ValueError) as error:
            nodes[name] = failed(f"the recorded answer {path.name} cannot be read: {_words(error)}")
    return Spool(run, profiles, nodes, faults)


def begun(directory: Path) -> dict[str, str]:
    """Which run an earlier spool is of and when it began; nothing where that cannot be told."""
    run = _object_or_fault(directory / "run.json", [])
    started = _text(run.get("started", ""))
    return {"run": _text(run.get("run_id", directory.name)), "started": started} if TIME.fullmatch(started) else {}


def states_of(directory: Path, name: str) -> dict[str, str]:
    """Setting -> its state, as an earlier run found a node; nothing where it has left no answer that can be read."""
    entry = _object_or_fault(directory / "nodes" / f"{quote(name, safe='')}.json", [])
    results = _dict(_dict(entry.get("response")).get("results"))
    return {
        setting: result["state"] for setting, result in results.items() if isinstance(result, dict) and result.get("state") in tuple(STATES)
    }


def failed(error: str) -> dict[str, Any]:
    """The entry of a node of which nothing is known but why."""
    return {"outcome": "failed", "error": error, "transport": "none", "groups": [], "duration_s": 0.0}


def compiled_profile(raw: dict[str, Any]) -> dict[str, Any]:
    """A compiled profile whose entries can be relied on to be entries; ValueError where they are not."""
    for subsystem, entries in _dict(raw.get("subsystems")).items():
        for name, entry in _dict(entries).items():
            if not isinstance(entry, dict) or not isinstance(entry.get("rule"), dict):
                raise ValueError(f"{subsystem}/{name} has no rule")
    return {
        "profile": _text(raw.get("profile", "unnamed")),
        "files": [_text(name) for name in _list(raw.get("files"))],
        "subsystems": {_text(subsystem): _dict(entries) for subsystem, entries in _dict(raw.get("subsystems")).items()},
        "about": {_text(setting): _dict(about) for setting, about in _dict(raw.get("about")).items()},
    }


def node_entry(raw: dict[str, Any]) -> dict[str, Any]:
    """One node's file with only what the document may hold; ValueError where it says nothing usable."""
    if raw.get("outcome") not in OUTCOMES:
        raise ValueError("it has no outcome")
    entry: dict[str, Any] = {
        "outcome": raw["outcome"],
        "transport": _text(raw.get("transport", "none")),
        "groups": [_text(group) for group in _list(raw.get("groups"))],
        "duration_s": _seconds(raw.get("duration_s")),
    }
    if "profile_key" in raw:
        entry["profile_key"] = _text(raw["profile_key"])
    if raw["outcome"] != "ok":
        entry["error"] = _text(raw.get("error", "no reason was recorded"))
    response = raw.get("response")
    if isinstance(response, dict) and response:
        entry["response"] = _response(response)
        if entry["outcome"] == "ok" and response.get("outcome") in ("failed", "timed_out"):
            # The transport worked and the engine says that it did not get through: the engine is right.
            entry["outcome"] = response["outcome"]
            entry["error"] = _text(response.get("error", "no reason was recorded"))
    elif entry["outcome"] == "ok":
        raise ValueError("it says ok and holds no response")
    return entry


def _response(raw: dict[str, Any]) -> dict[str, Any]:
    """The parts of a response that a document shows."""
    faults = [
        {"subsystem": _text(fault.get("subsystem", "engine")), "error": _text(fault.get("error", "no reason was given"))}
        for fault in _list(raw.get("faults"))
        if isinstance(fault, dict)
    ]
    results = {}
    for setting, result in sorted(_dict(raw.get("results")).items()):
        try:
            results[_text(setting)] = _result(result)
        except ValueError as error:
            faults.append(
                {"subsystem": _text(setting).split("/", maxsplit=1)[0], "error": f"the answer for {setting} is malformed: {error}"}
            )
            results[_text(setting)] = {"state": "unknown", "needs": "nothing", "views": {}, "detail": f"the answer is malformed: {error}"}
    node = _dict(raw.get("node"))
    facts = {
        key: node[key] if isinstance(node[key], (bool, int)) else _text(node[key])
        for key in FACTS
        if isinstance(node.get(key), (str, int, float))
    }
    return {"results": results, "facts": facts, "notes": [_text(note) for note in _list(raw.get("notes"))], "faults": faults}


def _result(raw: Any) -> dict[str, Any]:
    """One result with the keys of the contract, in its types."""
    if not isinstance(raw, dict):
        raise ValueError("it is no object")
    if raw.get("state") not in tuple(STATES):
        raise ValueError(f"{raw.get('state')!r} is no state")
    result: dict[str, Any] = {"state": raw["state"], "needs": raw["needs"] if raw.get("needs") in NEEDS else "nothing"}
    if "desired" in raw:
        result["desired"] = _text(raw["desired"])
    if raw.get("cause") in tuple(CAUSES):
        result["cause"] = raw["cause"]
    views = _dict(raw.get("views"))
    result["views"] = {name: _strings(views[name], VIEW_KEYS) for name in VIEWS if isinstance(views.get(name), dict)}
    for key, parts in (("winner", WINNER_KEYS), ("waived", WAIVED_KEYS)):
        if isinstance(raw.get(key), dict):
            result[key] = _strings(raw[key], parts)
    if "detail" in raw:
        result["detail"] = _text(raw["detail"])
    if _list(raw.get("blocked_by")):
        result["blocked_by"] = [_text(holder) for holder in raw["blocked_by"]]
    changes = [change for change in _list(raw.get("changes")) if isinstance(change, dict)]
    if changes:
        result["changes"] = [
            {key: change[key] if isinstance(change[key], bool) else _text(change[key]) for key in CHANGE_KEYS if key in change}
            for change in changes
        ]
    return result


def _json_files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.json") if path.is_file())


def _object_or_fault(path: Path, faults: list[str]) -> dict[str, Any]:
    try:
        return _read_object(path)
    except (OSError, ValueError) as error:
        faults.append(f"{path.name} of the run cannot be read: {_words(error)}")
        return {}


def _read_object(path: Path) -> dict[str, Any]:
    """A JSON object; OSError or ValueError (bad JSON, bad UTF-8, nested too deep) otherwise."""
    try:
        data = json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    return data


def _words(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(value: dict[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    return {key: _text(value[key]) for key in keys if key in value}


def _text(value: Any) -> str:
    """A string that any file can hold: JSON may carry halves of surrogate pairs, UTF-8 may not."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _seconds(value: Any) -> float:
    return round(float(value), 3) if isinstance(value, (int, float)) and 0 <= value < 1e9 else 0.0
