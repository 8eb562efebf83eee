# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as JUnit: one suite a subsystem, one case a setting however many nodes there are.

A setting that is wrong somewhere is a failure. One that could only not be read is an error and not a skip, for a skip looks green. One that is
nowhere to be judged, or wrong only where it is waived, is skipped. Two cases stand for the run: that every node answered, and that the tool worked.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from .mend import command
from .summary import Row, faults, rows, silent_nodes, since_words
from .words import OUTCOME_TITLES, STATES, plural

MOST_NAMES = 50
# XML 1.0 has no way to write these, not even escaped.
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(document: dict[str, Any]) -> str:
    """The XML text."""
    suites: dict[str, list[ElementTree.Element]] = {"run": _run_cases(document)}
    wrong = {row.setting: row for row in rows(document)}
    quiet = _quiet(document)
    for setting, about in document["settings"].items():
        case = _case(about["subsystem"], setting)
        if setting in wrong:
            _fail(case, wrong[setting], document["run"])
        elif setting in quiet:
            ElementTree.SubElement(case, "skipped", message=_clean(quiet[setting]))
        suites.setdefault(about["subsystem"], []).append(case)
    root = ElementTree.Element("testsuites", name="gpufleet.node drift")
    for name, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", name=_clean(name), timestamp=_clean(document["run"]["started"]))
        suite.extend(cases)
        _count(suite, cases)
    _count(root, [case for cases in suites.values() for case in cases])
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _run_cases(document: dict[str, Any]) -> list[ElementTree.Element]:
    answered, worked = _case("run", "every asked node answered in full"), _case("run", "gpufleet itself worked")
    silent, broken = silent_nodes(document), faults(document)
    if silent or not document["nodes"]:
        message = f"{plural(len(silent), 'node')} did not answer in full" if silent else "no node was asked"
        lines = [f"{node['name']}: {OUTCOME_TITLES[node['outcome']]}: {node.get('error', '')}" for node in silent]
        _add(answered, "error", message, lines)
    if broken:
        _add(worked, "error", plural(len(broken), "fault"), broken)
    return [answered, worked]


def _fail(case: ElementTree.Element, row: Row, run: dict[str, Any]) -> None:
    only_unknown = set(row.states) == {"unknown"}
    states = ", ".join(f"{STATES[state].title} on {plural(count, 'node')}" for state, count in row.states.items())
    lines = [f"impact: {row.impact}"]
    for label, values in (("wants", row.wants), ("has", row.live), ("whose doing", row.whose), ("cause", row.causes)):
        lines += [f"{label}: {value} ({plural(count, 'node')})" for value, count in values.most_common(5)]
    lines += filter(None, [since_words(row, run)])
    for state, names in row.nodes.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        lines.append(f"{STATES[state].title}: {', '.join(names[:MOST_NAMES])}{more}")
    lines += [" ".join(filter(None, ["mend:", what.text, command(what, names)])) for what, names in row.mends.items()]
    _add(case, "error" if only_unknown else "failure", states, lines)


def _quiet(document: dict[str, Any]) -> dict[str, str]:
    """Settings with nothing to fail for, of which "passed" would yet be too much to say, with the reason."""
    states: dict[str, set[str]] = {setting: set() for setting in document["settings"]}
    waived = set()
    for node in document["nodes"]:
        for setting, result in node["results"].items():
            states[setting].add(result["state"])
            if "waived" in result and result["state"] != "ok":
                waived.add(setting)
    reasons = {}
    for setting, seen in states.items():
        if not seen:
            reasons[setting] = "no node gave an answer for it"
        elif setting in waived:
            reasons[setting] = "waived where it differs"
        elif seen <= {"not_applicable", "kernel_managed"}:
            reasons[setting] = "nowhere to be judged"
    return reasons


def _case(family: str, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=_clean(f"gpufleet.{family}"), name=_clean(name))


def _add(case: ElementTree.Element, tag: str, message: str, lines: list[str]) -> None:
    ElementTree.SubElement(case, tag, message=_clean(message), type="drift" if tag == "failure" else "incomplete").text = _clean(
        "\n".join(lines)
    )


def _count(element: ElementTree.Element, cases: list[ElementTree.Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))


def _clean(text: str) -> str:
    return UNWRITABLE.sub("\ufffd", text)
