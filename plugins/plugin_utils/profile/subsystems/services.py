# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a profile may want of units of systemd."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ansible_collections.gpufleet.node.plugins.module_utils.engine.units import FABRIC, NVIDIA, OTHER_NAMES, WANTED, canonical
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError, nearest, show
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule, values

_UNIT = re.compile(r"[A-Za-z0-9:_.\\@-]+")
_KNOWN = {*NVIDIA, *FABRIC, *OTHER_NAMES}
# Closer than this to a known name and yet not it is taken for a slip.
_SLIP = 0.86


def identify(key: str, trusted: bool = False) -> str:
    """The unit by its own name and without `.service`, and what is wanted of it."""
    unit, _slash, what = key.rpartition("/")
    if not unit:
        raise InputError("says nothing of a unit", f"{canonical(key)}/running")
    if what not in WANTED:
        raise InputError(f"a unit is {', '.join(WANTED)}", f"{canonical(unit)}/{nearest(what, WANTED, 0.4) or 'running'}")
    if not _UNIT.fullmatch(unit):
        raise InputError("is no name of a unit")
    setting = canonical(unit)
    if not trusted and setting not in _KNOWN and (name := nearest(setting, _KNOWN, _SLIP)):
        raise InputError(
            "is no known unit; if there really is one of this name, write `trust_name: true` beside its rule", f"{canonical(name)}/{what}"
        )
    return f"{setting}/{what}"


def judge(setting: str, rule: Rule) -> None:
    """InputError for every wish but the one that can be met: nothing is stopped, disabled or removed."""
    wanted = WANTED[setting.rpartition("/")[2]]
    if "exact" not in rule or values(rule) != [wanted]:
        raise InputError(f"can only be wanted {wanted}, not {show(values(rule)[0])}: units are enabled and started, never stopped", wanted)


def contradictions(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, InputError]]:
    """None: there is one wish for each setting."""
    return iter(())
