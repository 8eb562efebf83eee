# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a profile may say about limits: of sessions, of units of systemd, and the size of /dev/shm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.entry import Entry
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.problems import InputError, nearest, show
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.rules import Rule, values
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.values import Value

# What `launchers/LimitMEMLOCK` and `launchers/LimitNOFILE` stand for: the daemons that start jobs, which get what systemd gives to these.
# A further one of yours is named in the profile as unit/NAME.service/LimitMEMLOCK.
LAUNCHERS = (
    *("slurmd.service", "containerd.service", "docker.service", "crio.service", "kubelet.service"),
    *("k3s.service", "k3s-agent.service", "rke2-server.service", "rke2-agent.service"),
    *("nomad.service", "ray.service", "nvidia-dcgm.service"),
)
_ITEMS = ("memlock", "nofile", "nproc", "stack")
_KEYS = ("LimitMEMLOCK", "LimitNOFILE")
_FIXED = (*(f"{who}/{item}" for who in ("users", "root") for item in _ITEMS), *(f"launchers/{key}" for key in _KEYS), "dev_shm")
_UNIT = re.compile(r"[\w:.\\@-]+\.service")
_NAME = re.compile(r"[\w.-]+\$?")

_WORDS = ("unlimited", "infinity")
# The most that fs.nr_open takes on 64 bits.
_NR_OPEN_MAX = 2147483584
# 4 TiB in KiB: what is larger was probably meant in bytes.
_KIB_MAX = 2**32


def spread(key: str) -> tuple[str, ...]:
    """The settings that a key stands for."""
    who, _slash, limit = key.partition("/")
    return tuple(f"unit/{unit}/{limit}" for unit in LAUNCHERS) if who == "launchers" and limit in _KEYS else (key,)


def identify(key: str, trusted: bool = False) -> str:
    """The one spelling of a key; the list is ours, so nothing has to be trusted."""
    parts = key.split("/")
    if key in _FIXED and parts[0] != "launchers":
        return key
    if parts[0] == "unit" and len(parts) == 3:
        return _unit(parts[1], parts[2])
    if parts[0] in ("group", "user") and len(parts) == 3:
        if not _NAME.fullmatch(parts[1]) or (parts[0] == "user" and parts[1] == "root"):
            raise InputError(f"{show(parts[1])} is no name of a {parts[0]} here", f"root/{parts[2]}" if parts[1] == "root" else None)
        if parts[2] not in _ITEMS:
            raise InputError("is no limit of a session", f"{parts[0]}/{parts[1]}/{nearest(parts[2], _ITEMS) or 'memlock'}")
        return key
    raise InputError(
        "is no limit; there are users/…, root/…, group/NAME/…, user/NAME/…, unit/NAME.service/…, launchers/… and dev_shm",
        nearest(key, (*_FIXED, *(f"unit/{unit}/{limit}" for unit in LAUNCHERS for limit in _KEYS))),
    )


def judge(setting: str, rule: Rule) -> None:
    """InputError for values that no node could have."""
    limit = setting.rpartition("/")[2]
    for value in values(rule):
        _judge_value(limit, value)


def contradictions(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str, InputError]]:
    """The one setting here that nothing writes."""
    if "dev_shm" in entries and entries["dev_shm"].written:
        yield "dev_shm", "dev_shm", InputError("is only checked, its size is an option of the mount; write `mend: never` beside its rule")


def _unit(unit: str, limit: str) -> str:
    name = unit if "." in unit else f"{unit}.service"
    if not _UNIT.fullmatch(name):
        raise InputError(f"{show(unit)} is no name of a service", nearest(name, LAUNCHERS))
    if limit not in _KEYS:
        raise InputError("is no limit of a unit that is judged here", f"unit/{name}/{nearest(limit, _KEYS) or _KEYS[0]}")
    return f"unit/{name}/{limit}"


def _judge_value(limit: str, value: Value) -> None:
    endless = value in _WORDS or value == -1
    if limit == "dev_shm":
        if not isinstance(value, int) or not 1 <= value <= 100:
            raise InputError(f"takes percent of the memory, 1 to 100, not {show(value)}")
    elif limit in ("nofile", "LimitNOFILE"):
        if endless:
            raise InputError(
                "open files have an end, which is fs.nr_open, and programs that close every possible file need a small one", "1048576"
            )
        if not isinstance(value, int) or not 1 <= value <= _NR_OPEN_MAX:
            raise InputError(f"takes a number from 1 to {_NR_OPEN_MAX}, not {show(value)}")
    elif not endless:
        if not isinstance(value, int) or value < 0:
            raise InputError(f"takes a number or unlimited, not {show(value)}", nearest(str(value), _WORDS))
        if limit in ("memlock", "stack") and value > _KIB_MAX:
            raise InputError(f"{value} is counted in KiB, as in limits.conf, and is more than 4 TiB; write unlimited, or divide it by 1024")
