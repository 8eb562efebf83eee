# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled profile of one host, from its variables."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .files import SHIPPED, load_chain
from .layers import VERSION, Layer, compile_layers, key_of
from .plain import Plain, plain
from .problems import InputError, Problems, show

PROFILE_VARIABLE = "gpufleet_profile"
OVERRIDES_PREFIX = "gpufleet_overrides_"
DEFAULT_PROFILE = "training"


@dataclass(frozen=True)
class Wishes:
    """All that a host's variables say about its profile, templates resolved."""

    profile: str
    overrides: tuple[tuple[str, Plain], ...]

    def key(self) -> str:
        """Equal for hosts that need one compiled profile only."""
        return json.dumps([self.profile, self.overrides], sort_keys=True, default=str)


def compile_for_host(
    variables: Mapping[str, Any],
    template: Callable[[Any], Any],
    basedirs: Sequence[str | Path],
    cache_dir: str | Path | None = None,
    shipped: Path = SHIPPED,
) -> dict[str, Any]:
    """The compiled profile of the host with these variables; ProfileError with everything that is wrong.

    `template` resolves one variable's value, `basedirs` (see search_dirs) are where a profile given as a path is looked for. With a `cache_dir` the
    result lies there as <key>.json and is taken from there the next time.
    """
    return compile_wishes(wishes_of(variables, template), basedirs, cache_dir, shipped)


def wishes_of(variables: Mapping[str, Any], template: Callable[[Any], Any]) -> Wishes:
    """The profile's name and the overrides in the order of their variables' names."""
    problems = Problems()
    profile = problems.attempt(PROFILE_VARIABLE, "", _profile_name, variables, template)
    overrides = {}
    for name in sorted(str(name) for name in variables if str(name).startswith(OVERRIDES_PREFIX)):
        overrides[name] = problems.attempt(_layer_name(name), "", _resolved, variables, template, name)
    problems.raise_if_any()
    return Wishes(profile=str(profile), overrides=tuple(overrides.items()))


def _profile_name(variables: Mapping[str, Any], template: Callable[[Any], Any]) -> str:
    if PROFILE_VARIABLE not in variables:
        return DEFAULT_PROFILE
    profile = _resolved(variables, template, PROFILE_VARIABLE)
    if not isinstance(profile, str):
        raise InputError(f"names a profile, so it is text, not {show(profile)}")
    return profile


def _resolved(variables: Mapping[str, Any], template: Callable[[Any], Any], name: str) -> Plain:
    try:
        value = template(variables[name])
    # Whatever a template can raise, the variable's name is what its author needs.
    except Exception as error:
        raise InputError(f"its template cannot be resolved: {error}") from error
    return plain(value)


def compile_wishes(
    wishes: Wishes, basedirs: Sequence[str | Path], cache_dir: str | Path | None = None, shipped: Path = SHIPPED
) -> dict[str, Any]:
    """As compile_for_host, for wishes that are already known."""
    problems = Problems()
    chain = load_chain(wishes.profile, basedirs, problems, shipped=shipped)
    layers = [*chain, *(Layer(name=_layer_name(name), content=content) for name, content in wishes.overrides)]
    if cache_dir is None or len(problems):
        return compile_layers(wishes.profile, layers, problems)
    cached = Path(cache_dir) / f"{key_of(wishes.profile, layers)}.json"
    compiled = _cached(cached)
    if compiled is None:
        compiled = compile_layers(wishes.profile, layers, problems)
        _keep(cached, compiled)
    return compiled


def search_dirs(variables: Mapping[str, Any]) -> list[str]:
    """Where a profile given as a path may lie: beside the playbook, beside the inventory, where the command was typed."""
    places = [variables.get("playbook_dir"), variables.get("inventory_dir"), os.getcwd()]
    return list(dict.fromkeys(str(place) for place in places if place))


def _layer_name(variable: str) -> str:
    return f"variable {variable}"


def _cached(path: Path) -> dict[str, Any] | None:
    try:
        compiled = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    # Anything else than what was written here is not trusted but made again.
    fits = isinstance(compiled, dict) and compiled.get("version") == VERSION and compiled.get("key") == path.stem
    return compiled if fits else None


def _keep(path: Path, compiled: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(compiled, stream, sort_keys=True)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
