# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a role says of itself is true: its specification, its defaults and its tasks agree, and it is documented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())

# A role calls modules; what these do is not seen in check mode and not in a report.
FREE_HAND = {"command", "shell", "raw", "script", "lineinfile", "blockinfile", "replace", "expect"}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


def options(role: str) -> dict[str, dict[str, Any]]:
    specs = load(ROOT / "roles" / role / "meta" / "argument_specs.yml")
    if specs is None and not any(tasks(role)):  # a role that only brings files has no options
        return {}
    return specs["argument_specs"]["main"].get("options") or {}


def tasks(role: str) -> Iterator[dict[str, Any]]:
    for folder in ("tasks", "handlers"):
        for path in sorted((ROOT / "roles" / role / folder).glob("*.yml")):
            yield from with_blocks(load(path) or [])


def with_blocks(listed: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in listed:
        yield task
        for part in ("block", "rescue", "always"):
            yield from with_blocks(task.get(part) or [])


def test_there_are_roles() -> None:
    assert {"profile", "sysctl", "transparent_hugepage"} <= set(ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_the_specification_gives_the_defaults(role: str) -> None:
    defaults = load(ROOT / "roles" / role / "defaults" / "main.yml") or {}
    specified = {name: option["default"] for name, option in options(role).items() if "default" in option}
    assert defaults == specified


@pytest.mark.parametrize("role", ROLES)
def test_every_option_is_named_after_its_role_and_described(role: str) -> None:
    for name, option in options(role).items():
        assert name.startswith(f"{role}_")
        assert option["description"]
        assert option["type"]


@pytest.mark.parametrize("role", ROLES)
def test_tasks_use_every_option_and_no_other(role: str) -> None:
    used = set(re.findall(rf"\b{role}_\w+", yaml.safe_dump(list(tasks(role)))))
    assert used == set(options(role))


@pytest.mark.parametrize("role", ROLES)
def test_a_role_holds_no_logic_of_its_own(role: str) -> None:
    called = {name.rsplit(".", maxsplit=1)[-1] for task in tasks(role) for name in task}
    assert not called & FREE_HAND


@pytest.mark.parametrize("role", ROLES)
def test_the_role_is_documented(role: str) -> None:
    text = (ROOT / "roles" / role / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) > 40
    assert all(name in text for name in options(role))
