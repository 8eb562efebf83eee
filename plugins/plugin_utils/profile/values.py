# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One value of a rule: an integer or a string, whatever way it was written."""

from __future__ import annotations

import datetime
import re

from .plain import Plain
from .problems import InputError, show

Value = int | str

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_SIZE = re.compile(r"(\d{1,20}) ?(KiB|MiB|GiB|TiB|PiB)")
_UNCLEAR_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KkMGTP])(i?[Bb])?")
# No kernel has a number of more than 64 bits; what is longer is text.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,39})")


def value_of(given: Plain) -> Value:
    """The value in its compiled form; InputError for what could be understood in two ways."""
    if isinstance(given, bool):
        raise InputError(f"YAML reads this as {show(given)}; write 0 or 1, or put the word in quotes")
    if isinstance(given, float):
        raise InputError(f"{given} is a fraction; the kernel takes integers here, write a whole number")
    if given is None:
        raise InputError("has no value")
    if isinstance(given, int):
        return given
    if isinstance(given, datetime.date):
        raise InputError(f"YAML reads {given} as a date; put it in quotes")
    if isinstance(given, dict):
        raise InputError("is a mapping where a plain value belongs")
    if isinstance(given, list):
        return _fields(given)
    return _text(given)


def fields(value: Value) -> list[str]:
    """The parts of a value: most have one, net.ipv4.tcp_rmem has three."""
    return str(value).split()


def numbers(value: Value) -> list[int] | None:
    """The parts as numbers, or None where one is a word."""
    parts = fields(value)
    return [int(part) for part in parts] if parts and all(_INTEGER.fullmatch(part) for part in parts) else None


def _fields(given: list[Plain]) -> Value:
    if not given:
        raise InputError("is an empty list")
    parts = [value_of(part) for part in given if not isinstance(part, list)]
    if len(parts) != len(given):
        raise InputError("is a list within a list")
    return parts[0] if len(parts) == 1 else " ".join(str(part) for part in parts)


def _text(given: str) -> Value:
    if "{{" in given or "{%" in given:
        raise InputError(f"{show(given)} is a template that nothing has resolved")
    if not given.isprintable() and not given.replace("\t", " ").isprintable():
        raise InputError(f"{show(given)} holds a line break or another control character")
    text = " ".join(given.split())
    if not text:
        raise InputError("is empty text")
    if _INTEGER.fullmatch(text):
        return int(text)
    size = _SIZE.fullmatch(text)
    if size:
        return int(size[1]) * _UNITS[size[2]]
    unclear = _UNCLEAR_SIZE.fullmatch(text)
    if unclear:
        raise InputError(
            f"{show(text)} is no size that can be read in one way only; write KiB, MiB, GiB or TiB with a whole number",
            f"{unclear[1]}{unclear[2].upper()}iB" if "." not in unclear[1] else None,
        )
    return text
