# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report in at most ten lines and the verdict: what is wrong, where, whose doing, what mends it."""

from __future__ import annotations

from typing import Any

from .mend import Mend, command
from .summary import Row, coverage, faults, rows, sentence, silent_nodes, since_words
from .waivers import about_words, need_words, when_words
from .words import OUTCOME_TITLES, STATES, plural, printable

MOST_LINES = 10
UNCUT = 10_000
COLOURS = {
    "correctness": "31;1",
    "performance": "33",
    "hygiene": "36",
    "clean": "32;1",
    "drift": "33;1",
    "incomplete": "35;1",
    "error": "31;1",
    "quiet": "2",
}


def render(document: dict[str, Any], width: int = 100, colour: bool = False) -> str:
    """At most ten lines, then the line with the verdict."""
    nodes, settings = coverage(document)
    lines = [_line("quiet", f"{_title(document)}: {nodes}; {settings}", width, colour)]
    silent, broken, wrong = silent_nodes(document), faults(document), rows(document)
    if broken:
        lines.append(_line("error", f"fault        {broken[0]}" + (f"  (and {len(broken) - 1} more)" if broken[1:] else ""), width, colour))
    if silent:
        first, which = silent[0], _names([node["name"] for node in silent])
        text = f"no answer    {plural(len(silent), 'node')} ({which}): {OUTCOME_TITLES[first['outcome']]}, {first.get('error', '')}"
        lines.append(_line("incomplete", text, width, colour))
    if document.get("waivers"):
        lines.append(_line("quiet", _waivers(document["waivers"]), width, colour))
    mending = _mending(wrong)
    space = MOST_LINES - len(lines) - len(mending)
    shown = wrong if len(wrong) <= space else wrong[: space - 1]
    lines += [_line(row.impact, _row(row, document["run"]), width, colour) for row in shown]
    if wrong[len(shown) :]:
        lines.append(_line("quiet", f"and {plural(len(wrong) - len(shown), 'more setting')}: see the report", width, colour))
    lines += [_line("", line, width, colour) for line in mending]
    lines.append(_line(document["verdict"], f"{document['verdict'].upper()}: {sentence(document)}", UNCUT, colour))
    return "\n".join(lines)


def _title(document: dict[str, Any]) -> str:
    profiles = sorted({profile["profile"] for profile in document["run"]["profiles"].values()})
    return f"profile {', '.join(profiles)}" if profiles else "no profile"


def _waivers(waivers: list[dict[str, Any]]) -> str:
    """The one that hurts first: ended or nearest to its end among those that something needs."""
    first = next((waiver for waiver in waivers if waiver["needed_by"]), waivers[0])
    more = f"  (and {plural(len(waivers) - 1, 'more waiver')})" if waivers[1:] else ""
    return f"waiver       {first['setting']}: {when_words(first)}{more}; {need_words(first)}; {about_words(first)}"


def _row(row: Row, run: dict[str, Any]) -> str:
    states = ", ".join(STATES[state].title for state in sorted(row.states, key=list(STATES).index))
    where = f" on {plural(len(row.names), 'node')} ({_names(row.names)})" if row.judged_nodes > 1 else ""
    wants = f", wants {_most(row.wants)}" if row.wants else ""
    doing = "; ".join(filter(None, [_most(row.whose), _most(row.causes).replace("_", " "), since_words(row, run)]))
    return f"{row.impact:<12} {row.setting}: {states}{where}; has {_most(row.live)}{wants}; {doing}"


def _mending(wrong: list[Row]) -> list[str]:
    """The commands for the worst settings: at most two."""
    nodes_of: dict[tuple[str, str], set[str]] = {}
    for row in wrong:
        for what, names in row.mends.items():
            if what.playbook:
                nodes_of.setdefault((what.playbook, what.options), set()).update(names)
    lines = []
    for (playbook, options), nodes in list(nodes_of.items())[:2]:
        line = command(Mend("", playbook, options), nodes)
        if len(nodes) > 5:
            line = line.split(" --limit ")[0] + f" --limit <{plural(len(nodes), 'node')}, see the report>"
        lines.append(f"mend with    {line}")
    return lines


def _most(counter: Any) -> str:
    """The most frequent value, and how many others there are."""
    if not counter:
        return ""
    value = counter.most_common(1)[0][0]
    return f"{value} (and {plural(len(counter) - 1, 'other')})" if len(counter) > 1 else str(value)


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]}, …"


def _line(kind: str, text: str, width: int, colour: bool) -> str:
    """One line that fits."""
    safe = printable(text)
    short = safe if len(safe) <= width else safe[: width - 1] + "…"
    return f"\033[{COLOURS[kind]}m{short}\033[0m" if colour and kind in COLOURS else short
