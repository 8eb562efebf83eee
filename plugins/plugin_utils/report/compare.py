# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares two documents: what is new, gone and still there, on each node and for each setting; and nodes that came, went or fell silent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .document import SCHEMA, impact_rank
from .words import IMPACTS, STATES, counts_as

COMPARE_SCHEMA = "gpufleet.node/drift-compare/1"
# What became of something that counts as drift or could not be read, in the order in which one wants to know it.
KINDS = ("new", "still", "unseen", "gone")
NOT_ASKED = "not asked"
NO_ANSWER = "no answer"


class Refused(Exception):
    """Two documents that cannot be compared, in words."""


def load(path: Path) -> dict[str, Any]:
    """The document in a file, if it is one that can be compared."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} holds no JSON: {error}") from error
    if not isinstance(found, dict) or "schema" not in found:
        raise Refused(f"{path} is no drift.json: it has no schema")
    if found["schema"] != SCHEMA:
        raise Refused(
            f"{path} has the schema {found['schema']}, and this version compares {SCHEMA}: make both documents with the same version"
        )
    if found.get("run", {}).get("redacted"):
        raise Refused(f"{path} is redacted: its pseudonyms are found in no other document")
    return found


def compare(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The comparison. `unseen` is what differed before and is not known now: the node gave no answer or is not asked any more, or the setting is not.

    Something that could not be read counts as something to look at, like drift, for it has not been shown to be right.
    """
    old, new = ({node["name"]: node for node in document["nodes"]} for document in (before, after))
    made: dict[str, Any] = {
        "version": 1,
        "schema": COMPARE_SCHEMA,
        "before": _about(before),
        "after": _about(after),
        "nodes": {
            "came": sorted(set(new) - set(old)),
            "went": sorted(set(old) - set(new)),
            "silent": [name for name in sorted(set(old) & set(new)) if new[name]["outcome"] != "ok" and old[name]["outcome"] == "ok"],
            "back": [name for name in sorted(set(old) & set(new)) if new[name]["outcome"] == "ok" and old[name]["outcome"] != "ok"],
        },
        **{kind: [] for kind in KINDS},
    }
    for name in sorted({*old, *new}):
        for setting in sorted({*_results(old, name), *_results(new, name)}):
            kind = _kind(_results(old, name).get(setting), _results(new, name).get(setting))
            if kind:
                about = after["settings"].get(setting) or before["settings"][setting]
                change = {"node": name, "setting": setting, "impact": IMPACTS[impact_rank(about)]}
                made[kind].append({**change, "before": _state(old, name, setting), "after": _state(new, name, setting)})
    made["totals"] = {kind: len(made[kind]) for kind in KINDS}
    return made


def checked(before: Path, after: Path) -> dict[str, Any]:
    """The comparison of two files."""
    old, new = load(before), load(after)
    try:
        return compare(old, new)
    except (KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{before} or {after} is malformed: {error!r}") from error


def _kind(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    """Which kind of change; nothing where there was nothing and is nothing to look at."""
    was, is_now = (result is not None and counts_as(result) != "nothing" for result in (old, new))
    if was and new is None:
        return "unseen"
    return {(False, True): "new", (True, True): "still", (True, False): "gone"}.get((was, is_now), "")


def _results(nodes: dict[str, Any], name: str) -> dict[str, Any]:
    results: dict[str, Any] = nodes[name]["results"] if name in nodes else {}
    return results


def _state(nodes: dict[str, Any], name: str, setting: str) -> str:
    """The state as it counts: a waived one is shown as such."""
    result = _results(nodes, name).get(setting)
    if result is None:
        return NO_ANSWER if name in nodes and nodes[name]["outcome"] != "ok" else NOT_ASKED
    return "waived" if "waived" in result and STATES[result["state"]].counts != "nothing" else str(result["state"])


def _about(document: dict[str, Any]) -> dict[str, Any]:
    nodes = document["totals"]["nodes"]
    return {
        **{key: document["run"][key] for key in ("id", "started")},
        "verdict": document["verdict"],
        "nodes": {"asked": nodes["asked"], "ok": nodes["ok"]},
    }


def groups(changes: list[dict[str, str]]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """The same change of the same setting once, with the names of all nodes that have it: worst impact first, then most nodes."""
    names: dict[tuple[str, ...], list[str]] = {}
    for change in changes:
        names.setdefault(tuple(change[key] for key in ("impact", "setting", "before", "after")), []).append(change["node"])
    for key in sorted(names, key=lambda key: (IMPACTS.index(key[0]), -len(names[key]), key)):
        yield dict(zip(("impact", "setting", "before", "after"), key, strict=True)), names[key]
