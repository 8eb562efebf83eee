# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as Markdown, for tickets and for pages of a merge request."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .mend import command
from .peers import odd_ones
from .summary import Row, coverage, faults, rows, sentence, silent_nodes, since_words
from .waivers import about_words, need_words, when_words
from .words import CAUSES, OUTCOME_TITLES, STATES, number, plural, printable

MOST_NAMES = 20
MOST_LINES = 200
SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~&$"})


def render(document: dict[str, Any]) -> str:
    """Verdict and coverage, then what is wrong, where, whose doing, what mends it."""
    nodes, settings = coverage(document)
    run = document["run"]
    parts = [
        f"# {document['verdict'].capitalize()}: {text(sentence(document))}",
        f"{text(nodes)}; {text(settings)}. Run {code(run['id'])}, {text(run['finished'])}.",
        *_faults(document),
        *_silent(document),
        *_settings(document),
        *_waived(document),
        *_ending(document),
        *_peers(document),
    ]
    return "\n\n".join(parts) + "\n"


def _faults(document: dict[str, Any]) -> list[str]:
    found = faults(document)
    return ["## Faults of gpufleet itself", _bullets([text(fault) for fault in found])] if found else []


def _silent(document: dict[str, Any]) -> list[str]:
    of: dict[tuple[str, str], list[str]] = {}
    for node in silent_nodes(document):
        of.setdefault((node["outcome"], node.get("error", "")), []).append(node["name"])
    if not of:
        return []
    lines = [[OUTCOME_TITLES[outcome], number(len(names)), listed(names), text(error)] for (outcome, error), names in of.items()]
    return ["## Nodes that did not answer in full", table(["outcome", "nodes", "which", "why"], lines)]


def _settings(document: dict[str, Any]) -> list[str]:
    found = rows(document)
    if not found:
        return []
    lines = [
        [
            row.impact,
            code(row.setting),
            _counts(Counter({STATES[state].title: count for state, count in row.states.items()})),
            listed(row.names),
            _values(row.wants),
            _values(row.live),
            _counts(row.whose),
            _counts(Counter({CAUSES[cause]: count for cause, count in row.causes.items()})),
            text(since_words(row, document["run"])),
        ]
        for row in found
    ]
    head = ["impact", "setting", "state", "nodes", "wants", "has", "whose doing", "cause", "since"]
    return ["## Settings that differ", table(head, lines), "## What mends them", _bullets([line for row in found for line in _mends(row)])]


def _mends(row: Row) -> list[str]:
    lines = []
    for what, names in row.mends.items():
        line = command(what, names)
        lines.append(" ".join(filter(None, [f"{code(row.setting)}:", text(what.text), code(line) if line else ""])))
    return lines


def _waived(document: dict[str, Any]) -> list[str]:
    of: dict[tuple[str, str], list[str]] = {}
    for node in document["nodes"]:
        for setting, result in node["results"].items():
            if "waived" in result:
                waiver = result["waived"]
                words = ", ".join(
                    filter(None, [waiver.get("reason"), waiver.get("ticket"), waiver.get("until") and f"until {waiver['until']}"])
                )
                of.setdefault((setting, words), []).append(node["name"])
    if not of:
        return []
    return [
        "## Waived",
        table(["setting", "nodes", "waiver"], [[code(setting), listed(names), text(words)] for (setting, words), names in of.items()]),
    ]


def _ending(document: dict[str, Any]) -> list[str]:
    lines = [
        [
            code(waiver["setting"]),
            text(when_words(waiver)),
            text(about_words(waiver)),
            text(need_words(waiver)),
            listed(waiver["needed_by"]),
        ]
        for waiver in document.get("waivers", [])
    ]
    return ["## Waivers that end soon or have ended", table(["setting", "end", "waiver", "without it", "nodes"], lines)] if lines else []


def _peers(document: dict[str, Any]) -> list[str]:
    lines = [
        [code(odd.what), f"{code(odd.usual)} on {plural(odd.usual_nodes, 'node')}", code(value), listed(names)]
        for odd in odd_ones(document)
        for value, names in odd.odd.items()
    ]
    return ["## Odd ones out among nodes of the same hardware", table(["what", "usual", "odd", "nodes"], lines)] if lines else []


def table(head: list[str], lines: list[list[str]]) -> str:
    shown = lines[:MOST_LINES]
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *shown])
    return body if len(lines) == len(shown) else f"{body}\n\nand {number(len(lines) - len(shown))} more"


def _bullets(lines: list[str]) -> str:
    shown = lines[:MOST_LINES]
    return "\n".join(f"- {line}" for line in shown) + (
        "" if len(lines) == len(shown) else f"\n- and {number(len(lines) - len(shown))} more"
    )


def _counts(counter: Counter[str]) -> str:
    """`live wrong ×4, pending ×1`; without the numbers where there is only one kind."""
    kinds = counter.most_common(5)
    shown = [text(value) + (f" ×{number(count)}" if len(counter) > 1 else "") for value, count in kinds]
    return ", ".join(shown) + (f" and {plural(len(counter) - len(kinds), 'other')}" if len(counter) > len(kinds) else "")


def _values(counter: Counter[str]) -> str:
    kinds = counter.most_common(5)
    shown = [code(value) + (f" ×{number(count)}" if len(counter) > 1 else "") for value, count in kinds]
    return ", ".join(shown) + (f" and {plural(len(counter) - len(kinds), 'other')}" if len(counter) > len(kinds) else "")


def listed(names: list[str]) -> str:
    shown = ", ".join(text(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {number(len(names) - MOST_NAMES)} more"


def text(raw: str) -> str:
    """Text that no Markdown reader takes for anything else."""
    return printable(" ".join(raw.split())).translate(SPECIAL)


def code(raw: str) -> str:
    """A code span; the fence is longer than any run of backquotes inside. A table ends a cell at a bar even in code."""
    flat = printable(" ".join(raw.split())).replace("|", "\\|")
    longest = max((len(run) for run in "".join(char if char == "`" else " " for char in flat).split()), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"
