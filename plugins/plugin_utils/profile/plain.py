# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain Python values from whatever a YAML file or an Ansible variable gives.

Newer ansible-core hands out subclasses of str, int, dict and list that carry tags or template lazily. What leaves for JSON, a hash or a node has
to be the bare type.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from .problems import InputError, show

Plain = None | bool | int | float | str | datetime.date | list["Plain"] | dict[str, "Plain"]


def plain(value: object, at: str = "") -> Plain:
    """The value as bare built-in types; InputError for a type that no profile can hold."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat(timespec="seconds")
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    if isinstance(value, Mapping):
        return {_key(key, at): plain(inner, f"{at}/{key}".lstrip("/")) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(inner, at) for inner in value]
    raise InputError(f"a value of type {type(value).__name__} has no place in a profile", at=at)


def _key(key: object, at: str) -> str:
    if isinstance(key, str):
        return str(key)
    raise InputError(f"the key {show(key)} is not text; put it in quotes", at=at)
