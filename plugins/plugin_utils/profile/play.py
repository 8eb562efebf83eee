# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts of a play and what their variables say about profiles. Knows Ansible; the rest of the loader does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.template import Templar

from .host import OVERRIDES_PREFIX, PROFILE_VARIABLE, Wishes, wishes_of


def wishes_of_hosts(task_vars: Mapping[str, Any], loader: Any, hosts: Iterable[str]) -> dict[str, Wishes]:
    """The wishes of every host, from one task that runs for all of them. No host is spoken to."""
    of_the_play = _variables_of_the_play(task_vars)
    return {host: _wishes(_variables(task_vars, host) | of_the_play, task_vars, loader) for host in hosts}


def _wishes(variables: dict[str, Any], task_vars: Mapping[str, Any], loader: Any) -> Wishes:
    variables["hostvars"] = task_vars["hostvars"]
    return wishes_of(variables, Templar(loader=loader, variables=variables).template)


def _variables(task_vars: Mapping[str, Any], host: str) -> dict[str, Any]:
    if host not in task_vars["hostvars"]:
        raise AnsibleError(f"there is no host {host} in the inventory")
    return dict(task_vars["hostvars"].raw_get(host))


def _variables_of_the_play(task_vars: Mapping[str, Any]) -> dict[str, Any]:
    # hostvars know nothing of a play's or a task's own vars: what this host sees and its hostvars do not, all hosts see.
    own = _variables(task_vars, str(task_vars["inventory_hostname"]))
    return {
        name: task_vars[name]
        for name in task_vars
        if (name == PROFILE_VARIABLE or name.startswith(OVERRIDES_PREFIX)) and (name not in own or own[name] != task_vars[name])
    }
