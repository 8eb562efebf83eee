# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled profile from its layers. Pure: whoever calls has read the files and resolved the templates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .entry import TRUST_NAME, Entry, entry_of
from .plain import Plain
from .problems import InputError, Problem, Problems, ProfileError, nearest, show
from .subsystems import SUBSYSTEMS

VERSION = 1

# What a profile file may have beside its subsystems.
ABOUT_FILE = ("extends", "description")


@dataclass(frozen=True)
class Layer:
    """One profile file, or one variable with overrides."""

    name: str
    content: Plain
    file: str | None = None
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def place(self, *path: str) -> str:
        """Where a key stands, for a person: the file with the line, or the variable."""
        if self.file is None:
            return self.name
        line = self.lines.get(path)
        return f"{self.file}:{line}" if line else self.file

    def origin(self, *path: str) -> dict[str, str | int]:
        """The same for a program."""
        line = self.lines.get(path)
        file = {"file": self.file} if self.file else {}
        return {"layer": self.name, **file, **({"line": line} if line else {})}


@dataclass(frozen=True)
class _Standing:
    """What a layer left for a setting; no entry means that it took it out."""

    layer: Layer
    entry: Entry | None
    key: str


def key_of(profile: str, layers: Sequence[Layer]) -> str:
    """Names a compiled profile: equal for equal layers."""
    told = [VERSION, profile, [[layer.name, layer.file, layer.content] for layer in layers]]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


def compile_layers(profile: str, layers: Sequence[Layer], problems: Problems | None = None) -> dict[str, Any]:
    """The compiled profile (docs/architecture.md); ProfileError with everything that is wrong."""
    problems = problems if problems is not None else Problems()
    history: dict[str, dict[str, list[_Standing]]] = {name: {} for name in SUBSYSTEMS}
    for layer in layers:
        _lay(layer, history, problems)
    for subsystem, settings in history.items():
        _contradictions(subsystem, settings, layers, problems)
    problems.raise_if_any()

    subsystems: dict[str, dict[str, Any]] = {}
    about: dict[str, Any] = {}
    removed: dict[str, Any] = {}
    for subsystem, settings in history.items():
        if settings:
            # Also where nothing is left: a node has to let go of what it was given before.
            subsystems[subsystem] = {}
        for setting, standings in settings.items():
            last = standings[-1]
            lost = [_lost(subsystem, standing) for standing in reversed(standings[:-1])]
            told = {"from": last.layer.origin(subsystem, last.key), "lost": lost}
            if last.entry is None:
                removed[f"{subsystem}/{setting}"] = told
                continue
            subsystems[subsystem][setting] = last.entry.compiled()
            words = {"why": last.entry.why, "source": last.entry.source}
            about[f"{subsystem}/{setting}"] = {**{name: text for name, text in words.items() if text}, **told}
    return {
        "version": VERSION,
        "profile": profile,
        "key": key_of(profile, layers),
        "files": [layer.file for layer in layers if layer.file],
        "subsystems": subsystems,
        "about": about,
        **({"removed": removed} if removed else {}),
    }


def _lost(subsystem: str, standing: _Standing) -> dict[str, Any]:
    what = {"rule": standing.entry.rule} if standing.entry else {"removed": True}
    return {**standing.layer.origin(subsystem, standing.key), **what}


def subsystem_named(name: str) -> str:
    """The name, if a subsystem is called so."""
    if name not in SUBSYSTEMS:
        raise ProfileError([Problem("", "", f"there is no subsystem {name}", nearest(name, SUBSYSTEMS))])
    return name


def _lay(layer: Layer, history: dict[str, dict[str, list[_Standing]]], problems: Problems) -> None:
    content = layer.content
    if content is None and layer.file is None:
        return
    if not isinstance(content, dict):
        problems.add(
            layer.place(),
            "",
            InputError(f"takes a mapping of subsystems, not {show(content)}" if content is not None else "is empty"),
        )
        return
    for name, settings in content.items():
        if name in ABOUT_FILE:
            _about_file(layer, name, settings, problems)
        elif name not in SUBSYSTEMS:
            problems.add(
                layer.place(name),
                name,
                InputError("is no subsystem", nearest(name, (*SUBSYSTEMS, *(ABOUT_FILE if layer.file else ())))),
            )
        elif isinstance(settings, dict):
            _lay_subsystem(layer, name, settings, history[name], problems)
        elif settings is not None:
            problems.add(layer.place(name), name, InputError(f"takes a mapping of settings, not {show(settings)}"))


def _about_file(layer: Layer, name: str, given: Plain, problems: Problems) -> None:
    if layer.file is None:
        problems.add(layer.place(), name, InputError("belongs in a profile file; gpufleet_profile names the profile of a host"))
    elif not isinstance(given, str):
        problems.add(layer.place(name), name, InputError(f"is text, not {show(given)}"))


def _lay_subsystem(
    layer: Layer, subsystem: str, settings: dict[str, Plain], history: dict[str, list[_Standing]], problems: Problems
) -> None:
    known = SUBSYSTEMS[subsystem]
    spelled: dict[str, str] = {}
    faulty: set[str] = set()
    # A key that stands for several settings gives way to one that names a single one of them.
    spread = ((key, name) for key in settings for name in known.spread(key))
    for key, name in sorted(spread, key=lambda pair: pair[0] == pair[1]):
        given = settings[key]
        if key in faulty:
            continue
        place, path = layer.place(subsystem, key), f"{subsystem}/{key}"
        trusted = isinstance(given, dict) and given.get(TRUST_NAME) is True
        setting = problems.attempt(place, path, known.identify, name, trusted)
        if setting is None:
            continue
        if setting in spelled:
            problems.add(
                place,
                path,
                InputError(f"is the same setting as {spelled[setting]} in the same layer", setting if setting != key else None),
            )
            continue
        if name == key:
            spelled[setting] = key
        below = history[setting][-1].entry if setting in history else None
        if given is None:
            if below:
                history[setting].append(_Standing(layer, None, key))
            continue
        entry = entry_of(given, below, partial(known.judge, setting), problems, place, path)
        if entry:
            history.setdefault(setting, []).append(_Standing(layer, entry, key))
        else:
            faulty.add(key)


def _contradictions(subsystem: str, settings: Mapping[str, Sequence[_Standing]], layers: Sequence[Layer], problems: Problems) -> None:
    last = {setting: standings[-1] for setting, standings in settings.items() if standings}
    entries = {setting: standing.entry for setting, standing in last.items() if standing.entry}
    for setting, other, wrong in SUBSYSTEMS[subsystem].contradictions(entries):
        # The layer that came later is the one that can do something about it.
        standing = max(last[setting], last[other], key=lambda one: layers.index(one.layer))
        problems.add(standing.layer.place(subsystem, standing.key), f"{subsystem}/{setting}", wrong)
