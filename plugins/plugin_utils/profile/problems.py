# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a profile, in words: where, what, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Problem:
    """One fault of one file or variable."""

    file: str
    key: str
    message: str
    nearest: str | None = None

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.file, self.key) if part)
        hint = f" (nearest valid name: {self.nearest})" if self.nearest else ""
        return f"{place}: {self.message}{hint}" if place else f"{self.message}{hint}"


class ProfileError(Exception):
    """All problems of one profile with its layers; nothing was compiled."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InputError(Exception):
    """Raised where a fault is seen; who knows the file and the key makes a Problem of it."""

    def __init__(self, message: str, nearest: str | None = None, at: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.nearest = nearest
        self.at = at


class Problems:
    """Collects, so that one run shows every fault and not only the first."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def add(self, file: str, key: str, wrong: InputError) -> None:
        path = "/".join(part for part in (key, wrong.at) if part)
        self._found.append(Problem(file, path, wrong.message, wrong.nearest))

    def attempt(self, file: str, key: str, function: Callable[..., Result], *given: Any) -> Result | None:
        """The function's answer, or None and one problem more."""
        try:
            return function(*given)
        except InputError as wrong:
            self.add(file, key, wrong)
            return None

    def raise_if_any(self) -> None:
        if self._found:
            raise ProfileError(self._found)


def nearest(name: str, valid: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The valid name that looks most like this one, if any does."""
    folded = {candidate.lower(): candidate for candidate in valid}
    found = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def one_of_words(value: object, words: Iterable[str], what: str) -> str:
    """The value if it is one of the words; else a InputError that lists them."""
    words = list(words)
    if isinstance(value, str) and value in words:
        return value
    raise InputError(
        f"{what} is {', '.join(words[:-1])} or {words[-1]}, not {show(value)}",
        nearest(value, words) if isinstance(value, str) else None,
    )


def show(value: object) -> str:
    """A value as a person would write it in YAML, cut to a readable length."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
