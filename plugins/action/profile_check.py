# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import datetime
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.profile import ProfileError, compile_wishes, expired_waivers, search_dirs
from ..plugin_utils.profile.play import wishes_of_hosts


class ActionModule(ActionBase):
    """profile_check: see the module of the same name for its options. Runs on the control node only."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self._task.args
        hosts = [str(host) for host in options.get("hosts") or task_vars["ansible_play_hosts_all"]]
        cache_dir = options.get("cache_dir")
        try:
            wishes = wishes_of_hosts(task_vars, self._loader, hosts)
        except ProfileError as error:
            return result | {"failed": True, "msg": str(error)}
        of_wishes: dict[str, list[str]] = {}
        for host, wish in wishes.items():
            of_wishes.setdefault(wish.key(), []).append(host)

        wrong: list[str] = []
        notes: list[str] = []
        for same in of_wishes.values():
            try:
                compiled = compile_wishes(wishes[same[0]], search_dirs(task_vars), str(cache_dir) if cache_dir else None)
            except ProfileError as error:
                wrong.append(f"{_named(same)}:\n{error}")
                continue
            notes += [note for note in expired_waivers(compiled, datetime.date.today()) if note not in notes]
        result.update(changed=False, hosts=len(hosts), distinct=len(of_wishes), notes=notes, warnings=notes)
        if wrong:
            result.update(failed=True, msg="No node was touched, since a profile is wrong.\n" + "\n".join(wrong))
        return result


def _named(hosts: list[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{hosts[0]} and {len(hosts) - 1} more with the same profile and overrides"
