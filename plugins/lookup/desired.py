# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: desired
short_description: What the profile of a host asks for
version_added: 0.1.0
description:
  - Gives the settings that the profile and the overrides of the current host ask for, as the modules of this collection take them.
  - The profile is named by the variable C(gpufleet_profile), C(training) where it is not set. All variables whose names begin with
    C(gpufleet_overrides_) are laid over it in the order of their names.
  - A wrong profile fails with everything that is wrong in it.
options:
  _terms:
    description: Names of subsystems.
    type: list
    elements: str
    required: true
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Bring the kernel parameters to what the profile of this host asks for
  gpufleet.node.sysctl:
    settings: "{{ lookup('gpufleet.node.desired', 'sysctl') }}"
"""

RETURN = r"""
_raw:
  description: For each subsystem a dictionary of its settings by name. It is empty where the profile asks for nothing.
  type: list
  elements: dict
"""

from collections.abc import Sequence
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..plugin_utils.profile import ProfileError, compile_for_host, search_dirs, subsystem_named


class LookupModule(LookupBase):
    """desired: see DOCUMENTATION."""

    def run(self, terms: Sequence[Any], variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        variables = variables or {}
        try:
            names = [subsystem_named(str(term)) for term in terms]
            compiled = compile_for_host(variables, self._templar.template, search_dirs(variables))
        except ProfileError as error:
            raise AnsibleError(str(error)) from error
        return [compiled["subsystems"].get(name, {}) for name in names]
