# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison for people: some lines for a terminal, or Markdown."""

from __future__ import annotations

from typing import Any

from .compare import KINDS, groups
from .markdown import code, listed, table, text
from .words import STATES, number, plural, printable

MOST_LINES = 19  # and one that says where the rest is
TITLES = {
    "new": "New",
    "still": "Still",
    "unseen": "Not seen any more",
    "gone": "Gone",
}
NODES = {
    "came": "asked now and not before",
    "went": "asked before and not now",
    "silent": "answered before and not now",
    "back": "answered again",
}


def terminal(comparison: dict[str, Any], width: int = 100) -> str:
    """What is new first; of each kind the worst."""
    lines = [_head(comparison)]
    for kind, title in NODES.items():
        names = comparison["nodes"][kind]
        if names:
            lines.append(f"nodes        {title}: {plural(len(names), 'node')} ({_some(names)})")
    space = MOST_LINES - len(lines) - 1
    shares = _shares({kind: len(list(groups(comparison[kind]))) for kind in KINDS}, space)
    for kind, share in shares.items():
        found = list(groups(comparison[kind]))
        shown = found if len(found) <= share else found[: share - 1]
        lines += [f"{kind:<12} {one['impact']:<11} {_change(one)} on {plural(len(names), 'node')} ({_some(names)})" for one, names in shown]
        if len(found) > len(shown):
            lines.append(f"{kind:<12} and {plural(len(found) - len(shown), 'more setting')}")
    lines.append(sentence(comparison))
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in map(printable, lines))


def markdown(comparison: dict[str, Any]) -> str:
    """Everything, each change of a setting once."""
    parts = [f"# {text(sentence(comparison))}", text(_head(comparison)) + "."]
    moved = [[text(title), number(len(comparison["nodes"][kind])), listed(comparison["nodes"][kind])] for kind, title in NODES.items()]
    moved = [line for line in moved if line[1] != "0"]
    if moved:
        parts += ["## Nodes", table(["", "nodes", "which"], moved)]
    for kind in KINDS:
        lines = [
            [
                one["impact"],
                code(one["setting"]),
                text(_title(one["before"])),
                text(_title(one["after"])),
                number(len(names)),
                listed(names),
            ]
            for one, names in groups(comparison[kind])
        ]
        if lines:
            parts += [f"## {TITLES[kind]}", table(["impact", "setting", "before", "after", "nodes", "which"], lines)]
    return "\n\n".join(parts) + "\n"


def sentence(comparison: dict[str, Any]) -> str:
    """How many of each kind."""
    new, still, unseen, gone = (comparison["totals"][kind] for kind in KINDS)
    if not any((new, still, unseen, gone)):
        return "Nothing differed before, and nothing differs now."
    hidden = f", {number(unseen)} not seen any more" if unseen else ""
    return f"{plural(new, 'difference')} new, {number(still)} still there{hidden}, {number(gone)} gone."


def _head(comparison: dict[str, Any]) -> str:
    sides = []
    for side in ("before", "after"):
        about = comparison[side]
        answered = f"{number(about['nodes']['ok'])} of {plural(about['nodes']['asked'], 'node')} answered"
        sides.append(f"{side} {about['started']} ({about['verdict']}, {answered})")
    return ", ".join(sides)


def _shares(wanted: dict[str, int], space: int) -> dict[str, int]:
    """How many lines each kind gets: a few for each, and what one leaves over to those that need it, in their order."""
    given = {kind: min(count, space // len(wanted)) for kind, count in wanted.items()}
    for kind, count in wanted.items():
        given[kind] += min(count - given[kind], space - sum(given.values()))
    return {kind: share for kind, share in given.items() if share}


def _change(one: dict[str, str]) -> str:
    return f"{one['setting']}: {_title(one['before'])} → {_title(one['after'])}"


def _title(state: str) -> str:
    return STATES[state].title if state in STATES else state


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
