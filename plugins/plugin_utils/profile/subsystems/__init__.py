# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the loader knows of each subsystem. A new one is a module beside these and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule

from . import hardware, limits, services, sysctl, transparent_hugepage


@dataclass(frozen=True)
class Subsystem:
    """Questions that a profile's keys and values are asked. `spread` names the settings that one key stands for, which is mostly itself."""

    identify: Callable[[str, bool], str]
    judge: Callable[[str, Rule], None]
    contradictions: Callable[[Mapping[str, Entry]], Iterator[tuple[str, str, InputError]]]
    spread: Callable[[str], tuple[str, ...]] = lambda key: (key,)


SUBSYSTEMS = {
    "limits": Subsystem(limits.identify, limits.judge, limits.contradictions, limits.spread),
    "sysctl": Subsystem(sysctl.identify, sysctl.judge, sysctl.contradictions),
    "transparent_hugepage": Subsystem(transparent_hugepage.identify, transparent_hugepage.judge, transparent_hugepage.contradictions),
    "services": Subsystem(services.identify, services.judge, services.contradictions),
    "hardware": Subsystem(hardware.identify, hardware.judge, hardware.contradictions),
}
