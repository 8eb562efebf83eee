# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`when`: on which nodes an entry holds. Checked here, resolved on the node."""

from __future__ import annotations

from .plain import Plain
from .problems import InputError, nearest, show
from .rules import KINDS, Rule, rule_of
from .values import Value, value_of

GLOBS = ("vendor", "product", "architecture", "distribution")
NUMBERS = ("numa_nodes", "cpus", "memory_bytes", "page_size")
CONDITIONS = (*GLOBS, "virtualised", *NUMBERS)

_ARCHITECTURES = ("x86_64", "aarch64", "ppc64le", "riscv64", "s390x", "loongarch64")
# What package tools call them; the kernel's word is the one that a node reports.
_OTHER_WORDS = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "arm64": "aarch64",
    "ppc64el": "ppc64le",
    "virtualized": "virtualised",
    "numa": "numa_nodes",
    "memory": "memory_bytes",
    "os": "distribution",
    "arch": "architecture",
    "sockets": "numa_nodes",
}

Condition = Value | bool | list[Value] | Rule


def when_of(given: Plain) -> dict[str, Condition]:
    """The conditions, all of which have to hold."""
    if not isinstance(given, dict) or not given:
        raise InputError(f"takes a mapping of conditions ({', '.join(CONDITIONS)}), not {show(given)}")
    return {name: _condition(name, value) for name, value in given.items()}


def _condition(name: str, given: Plain) -> Condition:
    if name not in CONDITIONS:
        raise InputError("is no condition that a node can be asked for", _OTHER_WORDS.get(name) or nearest(name, CONDITIONS), at=name)
    try:
        if name == "virtualised":
            return _yes_or_no(given)
        if isinstance(given, dict):
            return _rule(name, given)
        return [_one(name, part) for part in given] if isinstance(given, list) and given else _one(name, given)
    except InputError as wrong:
        raise InputError(wrong.message, wrong.nearest, at="/".join(part for part in (name, wrong.at) if part)) from None


def _yes_or_no(given: Plain) -> bool:
    if isinstance(given, bool):
        return given
    # A templated variable of older ansible-core arrives as text.
    if isinstance(given, str) and given.lower() in ("true", "false"):
        return given.lower() == "true"
    raise InputError(f"is true or false, not {show(given)}")


def _rule(name: str, given: dict[str, Plain]) -> Rule:
    unknown = [key for key in given if key not in (*KINDS, "set")]
    if unknown:
        raise InputError("is no kind of rule", nearest(unknown[0], KINDS), at=unknown[0])
    rule = rule_of(given, with_set=False)
    for part in rule.values():
        for value in part if isinstance(part, list) else [part]:
            _judge(name, value)
    return rule


def _one(name: str, given: Plain) -> Value:
    if isinstance(given, list):
        raise InputError("is an empty list: it would hold nowhere")
    value = value_of(given)
    _judge(name, value)
    return value


def _judge(name: str, value: Value) -> None:
    if name in NUMBERS:
        if not isinstance(value, int) or value < 0:
            raise InputError(f"is a number, not {show(value)}")
        if name == "page_size" and value & (value - 1):
            raise InputError(f"{value} is no page size; kernels have 4096, 16384 or 65536")
    elif name == "architecture" and str(value).lower() not in _ARCHITECTURES and not set("*?[") & set(str(value)):
        known = _OTHER_WORDS.get(str(value).lower()) or nearest(str(value), _ARCHITECTURES)
        raise InputError(f"{show(value)} is no architecture as `uname -m` says it", known)
