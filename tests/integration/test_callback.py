# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback drift_report: a play of one's own in check mode leaves the same report, with the oldest core and the newest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import right_machine, wrong_machine
from plays import Core, Done

SWAPPINESS = "sysctl/vm.swappiness"
OURS = {
    "name": "Keep swapping rare",
    "gpufleet.node.sysctl": {
        "root": "{{ gpufleet_root }}",
        "settings": {"vm.swappiness": {"exact": 1, "impact": "correctness"}, "vm.max_map_count": {"at_least": 1}},
    },
}
THP = {"name": "Huge pages", "gpufleet.node.transparent_hugepage": {"root": "{{ gpufleet_root }}", "settings": {"enabled": "never"}}}
WRONG = {"name": "Wrong", "gpufleet.node.sysctl": {"settings": {"vm.swappiness": {"exact": 1.5}}}}


def play(core: Core, folder: Path, hosts: dict[str, Any], *tasks: dict[str, Any], words: tuple[str, ...] = ("--check",)) -> Done:
    """A play with these tasks and the callback enabled."""
    plays = [{"name": "A play of mine", "hosts": "all", "gather_facts": False, "tasks": list(tasks)}]
    return core.play(folder, plays, hosts, *words, callback=True)


@pytest.fixture(scope="module")
def mixed(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Everything that can be in a play, over nodes of every kind."""
    folder = tmp_path_factory.mktemp("callback")
    (folder / "there").touch()
    file = {"path": str(folder / "new"), "state": "touch", "mode": "0600"}
    tasks: tuple[dict[str, Any], ...] = (
        {"name": "Look whether it is there", "ansible.builtin.ping": None},
        OURS,
        {"name": "Nothing to do", "ansible.builtin.file": {"path": str(folder), "state": "directory"}},
        {"name": "Make a file", "ansible.builtin.file": file},
        {
            "name": "Make a secret",
            "ansible.builtin.copy": {"content": "hunter2", "dest": str(folder / "secret"), "mode": "0600"},
            "no_log": True,
        },
        {"name": "Make files", "ansible.builtin.file": {**file, "path": str(folder / "{{ item }}")}, "loop": ["one", "two"]},
        {"name": "Ask something", "ansible.builtin.command": "/bin/true hunter2"},
        {"name": "Not in check mode", "ansible.builtin.raw": "/bin/true"},
        {"name": "Not for this node", "ansible.builtin.command": "/bin/true", "when": False},
        {"name": "Commands", "ansible.builtin.command": "/bin/true", "loop": [1, 2]},
        {"name": "Has been done", "ansible.builtin.script": {"cmd": "/bin/true", "creates": str(folder / "there")}},
        {"name": "A probe", "ansible.builtin.command": "/bin/true", "check_mode": False, "changed_when": True},
        THP,
        {"name": "Break one", "ansible.builtin.fail": {"msg": "broken on purpose"}, "when": "inventory_hostname == 'breaking'"},
        {"name": "Break and go on", "ansible.builtin.fail": {"msg": "never mind"}, "ignore_errors": True},
    )
    right, wrong = right_machine(folder / "right"), wrong_machine(folder / "wrong")
    hosts = {
        "right": {"gpufleet_root": right.root},
        "wrong": {"gpufleet_root": wrong.root},
        "breaking": {"gpufleet_root": right.root},
        "unreachable": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    }
    return play(core, folder, hosts, *tasks)


def node(done: Done, name: str) -> Any:
    return next(one for one in done.document["nodes"] if one["name"] == name)


def test_the_answers_of_our_tasks_are_the_document(mixed: Done) -> None:
    results = node(mixed, "wrong")["results"]
    assert results[SWAPPINESS]["state"] == "live_wrong"
    assert results[SWAPPINESS]["views"]["live"] == {"value": "60", "from": "/proc/sys/vm/swappiness"}
    assert set(results) >= {SWAPPINESS, "sysctl/vm.max_map_count", "transparent_hugepage/enabled"}
    assert mixed.document["rules"][results[SWAPPINESS]["rule"]] == {"exact": 1}
    assert mixed.document["settings"][SWAPPINESS]["impact"] == "correctness"
    assert node(mixed, "wrong")["facts"]["kernel"]
    assert mixed.document["run"]["action"] == "check"


def test_every_node_is_counted(mixed: Done) -> None:
    assert mixed.outcomes() == {"right": "ok", "wrong": "ok", "breaking": "failed", "unreachable": "unreachable"}
    assert "broken on purpose" in node(mixed, "breaking")["error"]
    assert node(mixed, "breaking")["results"][SWAPPINESS]["state"] == "ok"
    assert mixed.document["totals"]["faults"] == 0
    assert mixed.document["verdict"] == "incomplete"


def test_what_others_would_change_are_notes(mixed: Done) -> None:
    notes = [note for note in node(mixed, "right")["notes"] if note.startswith("task: ")]
    # Where a task stands is not known of a play in JSON with the oldest core.
    names = [note.partition(" (play.json")[0].partition(" would")[0] for note in notes]
    assert names == ["task: Make a file", "task: Make a secret", "task: Make files"]
    kinds = ("file", "copy", "file")
    assert all(note.endswith(f" would change something, says ansible.builtin.{kind}") for note, kind in zip(notes, kinds, strict=True))


def test_what_check_mode_passed_over_is_unknown(mixed: Done) -> None:
    over = {key: one for key, one in node(mixed, "right")["results"].items() if key.startswith("task/")}
    assert [key.partition(" (play.json")[0] for key in over] == ["task/Ask something", "task/Commands", "task/Not in check mode"]
    assert {one["state"] for one in over.values()} == {"unknown"}
    assert {mixed.document["settings"][key]["impact"] for key in over} == {"hygiene"}
    # What cores call it differs: "check mode", "check_mode".
    assert [one["detail"] for one in over.values() if "check" not in one["detail"]] == []


def test_nothing_hidden_is_told(mixed: Done) -> None:
    written = [path.read_text(encoding="utf-8") for path in mixed.reports.rglob("*") if path.is_file()]
    assert len(written) > 6
    assert not [text for text in written if "hunter2" in text]


def test_the_files_are_for_the_owner_only(mixed: Done) -> None:
    files = [path for path in mixed.reports.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.name for path in mixed.reports.iterdir()} == {"drift.json", "drift.html", "drift.md", "drift.junit.xml", "spool"}
    assert not list(mixed.reports.rglob("parts"))


def test_it_is_said(mixed: Done) -> None:
    assert f"correctness  {SWAPPINESS}: live wrong on 1 node (wrong)" in mixed.output
    assert "INCOMPLETE: " in mixed.output
    assert f"The report is {mixed.reports / 'drift.html'}" in mixed.output
    assert "Failure" not in mixed.output
    assert "deprecat" not in mixed.output.lower()


def test_a_later_run_knows_since_when(core: Core, tmp_path: Path) -> None:
    hosts = {"one": {"gpufleet_root": wrong_machine(tmp_path / "one").root}}
    first = play(core, tmp_path, hosts, OURS).document
    again = play(core, tmp_path, hosts, OURS).document
    assert first["verdict"] == "drift"
    since = again["nodes"][0]["results"][SWAPPINESS]["since"]
    assert since == {"run": first["run"]["id"], "started": first["run"]["started"]}


def test_a_clean_play(core: Core, tmp_path: Path) -> None:
    done = play(core, tmp_path, {"one": {"gpufleet_root": right_machine(tmp_path / "one").root}}, OURS)
    assert (done.status, done.document["verdict"]) == (0, "clean")


def test_our_task_in_a_loop(core: Core, tmp_path: Path) -> None:
    looped = {
        "name": "Two of ours",
        "gpufleet.node.sysctl": {"root": "{{ gpufleet_root }}", "settings": "{{ item }}"},
        "loop": [{"vm.swappiness": 1}, {"vm.max_map_count": {"at_least": 1}}],
    }
    done = play(core, tmp_path, {"one": {"gpufleet_root": wrong_machine(tmp_path / "one").root}}, looped)
    results = done.document["nodes"][0]["results"]
    assert {key: one["state"] for key, one in results.items()} == {SWAPPINESS: "live_wrong", "sysctl/vm.max_map_count": "ok"}


SILENT: dict[str, tuple[dict[str, Any], str, str]] = {
    "hidden by no_log": ({**OURS, "no_log": True}, "ok", "no_log"),
    "wrong arguments": (WRONG, "failed", "no whole number"),
    "rescued": ({"block": [WRONG], "rescue": [{"ansible.builtin.ping": None}]}, "failed", "no whole number"),
    "ignored": ({**WRONG, "ignore_errors": True}, "ok", "no whole number"),
}


@pytest.mark.parametrize("case", SILENT)
def test_an_answer_that_is_not_there_is_not_right(case: str, core: Core, tmp_path: Path) -> None:
    task, outcome, words = SILENT[case]
    done = play(core, tmp_path, {"one": {"gpufleet_root": wrong_machine(tmp_path / "one").root}}, task)
    assert done.document["verdict"] == "incomplete"
    assert done.outcomes() == {"one": outcome}
    assert words in json.dumps(done.document["nodes"])


RIGHT = {"name": "Right", "gpufleet.node.sysctl": {"root": "{{ gpufleet_root }}", "settings": {"vm.max_map_count": {"at_least": 1}}}}
NOTHING: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "not in check mode": ((), RIGHT),
    "nothing of ours": (("--check",), {"name": "Look whether it is there", "ansible.builtin.ping": None}),
    "ours was not for this node": (("--check",), {**OURS, "when": False}),
}


@pytest.mark.parametrize("case", NOTHING)
def test_no_report(case: str, core: Core, tmp_path: Path) -> None:
    words, task = NOTHING[case]
    done = play(core, tmp_path, {"one": {"gpufleet_root": right_machine(tmp_path / "one").root}}, task, words=words)
    assert done.status == 0, done.output
    assert not done.reports.exists()
