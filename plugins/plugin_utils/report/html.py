# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as one HTML file that loads nothing: the verdict as text, the data interned, drawn on demand by the scripts in page/."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Hashable
from html import escape
from pathlib import Path
from typing import Any

from .mend import mend
from .peers import odd_ones
from .summary import coverage, faults, rule_words, seen, sentence, whose
from .waivers import about_words, need_words, when_words
from .words import CAUSES, IMPACTS, OUTCOME_TITLES, STATES, VIEWS, counts_as

PAGE = Path(__file__).parent / "page"
# In this order they are one script.
SCRIPTS = (
    *("elements", "data", "filters", "counting", "commands", "overview", "filterbar"),
    *("settings", "matrix", "node", "csv", "keyboard", "start"),
)

SHELL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body data-verdict="{verdict}">
<header class="verdict">
<p class="run">{run}</p>
<h1><span class="word">{verdict}</span> <span class="sentence">{sentence}</span></h1>
<p class="coverage">{nodes}<span class="sep"> · </span>{settings}</p>
</header>
<noscript><p class="noscript">The tables are drawn by a script in this file; it is switched off here. drift.md says the same as text.</p></noscript>
<main id="page"></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def render(document: dict[str, Any]) -> str:
    """The whole page."""
    style = (PAGE / "page.css").read_text(encoding="utf-8")
    script = "\n".join((PAGE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    nodes, settings = coverage(document)
    profiles = ", ".join(sorted({profile["profile"] for profile in document["run"]["profiles"].values()}))
    run = [f"profile {profiles}" if profiles else "no profile", document["run"]["finished"], f"run {document['run']['id']}"]
    return SHELL.format(
        script_hash=_sha256(script),
        style_hash=_sha256(style),
        title=escape(f"{document['verdict']}: {nodes}"),
        style=style,
        script=script,
        verdict=document["verdict"],
        run="".join(f"<span>{escape(part)}</span>" for part in ["gpufleet.node drift report", *run]),
        sentence=escape(sentence(document)),
        nodes=escape(nodes),
        settings=escape(settings),
        data=_embedded(interned(document)),
    )


def interned(document: dict[str, Any]) -> dict[str, Any]:
    """The document with everything that repeats stated once: a node is a list of indexes into the results, one a setting, -1 for none."""
    ids = list(document["settings"])
    results, mends, facts, groups = _Pool(), _Pool(), _Pool(), _Pool()
    nodes = []
    for node in document["nodes"]:
        row = []
        for setting in ids:
            result = node["results"].get(setting)
            row.append(-1 if result is None else results.add(_result(result, document["settings"][setting], mends)))
        nodes.append(
            {
                **{
                    key: node[key]
                    for key in ("name", "outcome", "error", "transport", "profile_key", "duration_s", "notes", "faults")
                    if key in node
                },
                "groups": [groups.add(group) for group in node["groups"]],
                "facts": [facts.add([key, value]) for key, value in node["facts"].items()],
                "results": row,
            }
        )
    return {
        "words": {
            "states": {state: {**about._asdict()} for state, about in STATES.items()},
            "impacts": IMPACTS,
            "causes": CAUSES,
            "views": VIEWS,
            "outcomes": OUTCOME_TITLES,
        },
        "run": document["run"],
        "totals": document["totals"],
        "settings": [{"id": setting, **document["settings"][setting]} for setting in ids],
        "rules": {name: rule_words(rule) for name, rule in document["rules"].items()},
        "results": results.items,
        "mends": mends.items,
        "facts": facts.items,
        "groups": groups.items,
        "nodes": nodes,
        "faults": faults(document),
        "waivers": [
            {key: waiver[key] for key in ("setting", "days", "needed_by")}
            | {"when": when_words(waiver), "about": about_words(waiver), "need": need_words(waiver)}
            for waiver in document.get("waivers", [])
        ],
        "peers": [odd._asdict() for odd in odd_ones(document)],
    }


def _result(result: dict[str, Any], setting: dict[str, str], mends: _Pool) -> dict[str, Any]:
    """A result as the page wants it: with what it counts as, and what mends it where something is to be mended."""
    counts = counts_as(result)
    shown = {key: value for key, value in result.items() if key != "changes"}
    shown["counts"] = counts
    shown["seen"] = seen(result)
    shown["whose"] = whose(result)
    if counts != "nothing":
        shown["mend"] = mends.add(mend(result, setting)._asdict())
    return shown


class _Pool:
    """Equal values get the same index."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._index: dict[Hashable, int] = {}

    def add(self, value: Any) -> int:
        key = json.dumps(value, sort_keys=True)
        if key not in self._index:
            self._index[key] = len(self.items)
            self.items.append(value)
        return self._index[key]


def _embedded(data: Any) -> str:
    """JSON that no HTML parser can take for the end of the element that holds it."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
