# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since when: the first run of the unbroken series, with as few earlier runs read as that takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import spools
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import (
    document,
    history,
    html,
    junit,
    markdown,
    schema,
    summary,
    terminal,
)
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import spool as spool_files
from spools import SWAPPINESS, answer, result, silence

WRONG = "live_wrong"
TODAY = 20


def day(number: int) -> str:
    return f"2026-11-{number:02d}T03:00:00Z"


def name_of(number: int) -> str:
    return f"202611{number:02d}T030000Z-aaaaaa"


def past(folder: Path, number: int, *nodes: dict[str, Any]) -> Path:
    """The spool of the run of one day."""
    return spools.write(folder, list(nodes), name=name_of(number), started=day(number))


def was(state: str, name: str = "a") -> dict[str, Any]:
    """What one day's run saw: a state, or "silent"."""
    return silence(name, "unreachable") if state == "silent" else answer(name, {SWAPPINESS: result(state, "60")})


def report(folder: Path, *nodes: dict[str, Any]) -> dict[str, Any]:
    spool = past(folder, TODAY, *nodes)
    made = document.assemble(spool, finished=spools.FINISHED, history=folder)
    jsonschema.Draft202012Validator(schema.DOCUMENT).validate(made)
    return made


def since(made: dict[str, Any]) -> Any:
    return made["nodes"][0]["results"][SWAPPINESS].get("since")


# Days 16 to 19, the state today, and since which day and what it was before.
SERIES: dict[str, tuple[list[str], str, int, str | None]] = {
    "new": (["ok", "ok", "ok", "ok"], WRONG, 20, "ok"),
    "for two runs": (["ok", "ok", "ok", WRONG], WRONG, 19, "ok"),
    "always": ([WRONG, WRONG, WRONG, WRONG], WRONG, 16, None),
    "was mended in between": ([WRONG, WRONG, "ok", WRONG], WRONG, 19, "ok"),
    "another state ends it": ([WRONG, "overridden", WRONG, WRONG], WRONG, 18, "overridden"),
    "silence ends nothing": (["ok", WRONG, "silent", WRONG], WRONG, 17, "ok"),
    "silence begins nothing": (["ok", "silent", "silent", WRONG], WRONG, 19, "ok"),
    "unreadable in between": (["ok", WRONG, "unknown", WRONG], WRONG, 17, "ok"),
    "unreadable is a state too": (["ok", "unknown", "silent", "unknown"], "unknown", 17, "ok"),
    "only silence": (["silent", "silent", "silent", "silent"], WRONG, 20, None),
}


@pytest.mark.parametrize("case", SERIES)
def test_series(case: str, tmp_path: Path) -> None:
    states, today, first, before = SERIES[case]
    for at, state in enumerate(states):
        past(tmp_path, 16 + at, was(state))
    expected = {"run": name_of(first), "started": day(first), **({"before": before} if before else {})}
    assert since(report(tmp_path, was(today))) == expected


def test_each_node_has_its_own_series(tmp_path: Path) -> None:
    past(tmp_path, 18, was(WRONG), was("ok", "b"))
    past(tmp_path, 19, was(WRONG))  # limited to one node
    made = report(tmp_path, was(WRONG), was(WRONG, "b"), was(WRONG, "c"))
    begins = [node["results"][SWAPPINESS]["since"] for node in made["nodes"]]
    assert [one["started"] for one in begins] == [day(18), day(20), day(20)]
    assert [one.get("before") for one in begins] == [None, "ok", None]


def test_only_what_is_not_right_has_a_since(tmp_path: Path) -> None:
    past(tmp_path, 19, was("ok"))
    made = report(tmp_path, was(WRONG))
    assert [setting for setting, one in made["nodes"][0]["results"].items() if "since" in one] == [SWAPPINESS]


def test_without_a_history_there_is_no_since(tmp_path: Path) -> None:
    made = document.assemble(past(tmp_path, TODAY, was(WRONG)), finished=spools.FINISHED)
    assert since(made) is None


def test_later_runs_and_runs_without_audits_do_not_matter(tmp_path: Path) -> None:
    past(tmp_path, 18, was("ok"))
    (tmp_path / name_of(19)).mkdir()
    past(tmp_path, 21, was("ok"))
    assert since(report(tmp_path, was(WRONG))) == {"run": name_of(20), "started": day(20), "before": "ok"}


@pytest.mark.parametrize("broken", ["run.json", "nodes/a.json"])
def test_a_broken_earlier_run_is_passed_over(broken: str, tmp_path: Path) -> None:
    past(tmp_path, 18, was(WRONG))
    (past(tmp_path, 19, was("ok")) / broken).write_text('{"half')
    assert since(report(tmp_path, was(WRONG)))["started"] == day(18)


def test_oddities_of_an_earlier_answer_do_no_harm(tmp_path: Path) -> None:
    past(tmp_path, 17, was("ok"))
    for number, results in ((18, {SWAPPINESS: {"state": ["ok"]}}), (19, {SWAPPINESS: 7})):
        entry = was("ok")
        entry["response"]["results"] = results
        past(tmp_path, number, entry)
    assert since(report(tmp_path, was(WRONG)))["before"] == "ok"


def test_only_what_may_go_on_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (17, 18, 19):
        past(tmp_path, number, was("ok"), was(WRONG if number > 17 else "ok", "b"), was("ok", "c"))
    read: list[tuple[str, str]] = []
    plain = spool_files.states_of
    monkeypatch.setattr(history.spool_files, "states_of", lambda spool, name: read.append((spool.name, name)) or plain(spool, name))
    report(tmp_path, was(WRONG), was(WRONG, "b"), was("ok", "c"))
    assert read == [(name_of(19), "a"), (name_of(19), "b"), (name_of(18), "b"), (name_of(17), "b")]


def test_the_reading_is_bounded(tmp_path: Path) -> None:
    for number in range(history.MOST_RUNS + 5):
        spools.write(tmp_path, [was(WRONG)], name=f"2025-{number:03d}", started=f"2025-01-01T00:{number:02d}:00Z")
    # The thirty newest of thirty-five: the sixth is the oldest that is read.
    assert since(report(tmp_path, was(WRONG)))["started"] == "2025-01-01T00:05:00Z"


def test_the_words(tmp_path: Path) -> None:
    past(tmp_path, 12, was("ok"), was("ok", "b"))
    past(tmp_path, 15, was(WRONG), was("ok", "b"), was("ok", "c"))
    made = report(tmp_path, was(WRONG), was(WRONG, "b"), was(WRONG, "c"))
    assert summary.since_words(summary.rows(made)[0], made["run"]) == "since 2026-11-15, new on 2 nodes"
    for render in (terminal.render, markdown.render, junit.render):
        text = render(made, 400) if render is terminal.render else render(made)
        assert "since 2026-11-15, new on 2 nodes" in text.replace("\\", "")
    kept = [one["since"] for one in html.interned(made)["results"] if "since" in one]
    assert {"run": name_of(15), "started": day(15), "before": "ok"} in kept


FEWER_WORDS: dict[str, tuple[list[str], str]] = {
    "new": (["ok"], "new"),
    "longer": ([WRONG], "since 2026-11-19 or longer"),
    "first look": ([], ""),
}


@pytest.mark.parametrize("case", FEWER_WORDS)
def test_fewer_words(case: str, tmp_path: Path) -> None:
    states, said = FEWER_WORDS[case]
    for state in states:
        past(tmp_path, 19, was(state))
    made = report(tmp_path, was(WRONG))
    assert summary.since_words(summary.rows(made)[0], made["run"]) == said
    assert json.loads(json.dumps(made)) == made
