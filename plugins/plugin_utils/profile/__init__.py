# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles: from YAML files and variables to what is desired on a host.

    compile_for_host(variables, template, search_dirs(variables), cache_dir) -> the compiled profile of docs/architecture.md

Everything that is wrong comes together in one ProfileError, before any node is touched.
"""

from __future__ import annotations

from .explain import expired_waivers, explain
from .host import Wishes, compile_for_host, compile_wishes, search_dirs, wishes_of
from .layers import Layer, compile_layers, subsystem_named
from .problems import InputError, Problem, ProfileError

__all__ = [
    "InputError",
    "Layer",
    "Problem",
    "ProfileError",
    "Wishes",
    "compile_for_host",
    "compile_layers",
    "compile_wishes",
    "expired_waivers",
    "explain",
    "search_dirs",
    "subsystem_named",
    "wishes_of",
]
