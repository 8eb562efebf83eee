# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two documents beside one another: new, still, unseen, gone; in some twenty lines; and what cannot be compared is refused in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spools
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import compare, compare_words, redact, write
from spools import ENABLED, OVERCOMMIT, SWAPPINESS, answer, assemble, result, silence

WAIVER = {"reason": "x", "until": "2027-01-31"}
LIVE_WRONG = {SWAPPINESS: result("live_wrong", "60")}
FINE = answer("a")
STATES: dict[str, dict[str, Any]] = {
    "ok": FINE,
    "live wrong": answer("a", LIVE_WRONG),
    "overridden": answer("a", {SWAPPINESS: result("overridden", "60")}),
    "unknown": answer("a", {SWAPPINESS: result("unknown")}),
    "waived": answer("a", {SWAPPINESS: result("live_wrong", "60", waived=WAIVER)}),
    "not applicable": answer("a", {SWAPPINESS: result("not_applicable")}),
    "silent": silence("a", "unreachable"),
    "went": answer("b"),
}

# before, after, kind, the two states as they are told
CASES: list[tuple[str, str, str, str, str]] = [
    ("ok", "live wrong", "new", "ok", "live_wrong"),
    ("ok", "unknown", "new", "ok", "unknown"),
    ("silent", "live wrong", "new", "no answer", "live_wrong"),
    ("went", "live wrong", "new", "not asked", "live_wrong"),
    ("waived", "live wrong", "new", "waived", "live_wrong"),
    ("live wrong", "live wrong", "still", "live_wrong", "live_wrong"),
    ("live wrong", "overridden", "still", "live_wrong", "overridden"),
    ("live wrong", "unknown", "still", "live_wrong", "unknown"),
    ("live wrong", "ok", "gone", "live_wrong", "ok"),
    ("live wrong", "waived", "gone", "live_wrong", "waived"),
    ("unknown", "ok", "gone", "unknown", "ok"),
    ("live wrong", "not applicable", "gone", "live_wrong", "not_applicable"),
    ("live wrong", "silent", "unseen", "live_wrong", "no answer"),
    ("live wrong", "went", "unseen", "live_wrong", "not asked"),
]
QUIET = [("ok", "ok"), ("ok", "silent"), ("ok", "went"), ("waived", "ok"), ("silent", "ok"), ("ok", "waived")]


def both(folder: Path, before: list[dict[str, Any]], after: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    old, new = assemble(folder / "before", before), assemble(folder / "after", after, **more)
    return compare.compare(old, new)


@pytest.mark.parametrize(("before", "after", "kind", "was", "now"), CASES)
def test_kinds(before: str, after: str, kind: str, was: str, now: str, tmp_path: Path) -> None:
    made = both(tmp_path, [STATES[before]], [STATES[after]])
    expected = {"node": "a", "setting": SWAPPINESS, "impact": "performance", "before": was, "after": now}
    assert {one: made[one] for one in compare.KINDS if made[one]} == {kind: [expected]}
    assert made["totals"] == {**dict.fromkeys(compare.KINDS, 0), kind: 1}


@pytest.mark.parametrize(("before", "after"), QUIET)
def test_nothing_to_tell(before: str, after: str, tmp_path: Path) -> None:
    made = both(tmp_path, [STATES[before]], [STATES[after]])
    assert not any(made[kind] for kind in compare.KINDS)
    assert compare_words.terminal(made).rpartition("\n")[2] == "Nothing differed before, and nothing differs now."


def test_a_setting_that_left_the_profile_is_not_gone(tmp_path: Path) -> None:
    smaller = json.loads(json.dumps(spools.PROFILE))
    del smaller["subsystems"]["sysctl"]["vm.swappiness"]
    now = answer("a")
    del now["response"]["results"][SWAPPINESS]
    made = both(tmp_path, [answer("a", LIVE_WRONG)], [now], profiles=(smaller,))
    assert [(one["setting"], one["after"]) for one in made["unseen"]] == [(SWAPPINESS, "not asked")]


def test_nodes_that_come_and_go(tmp_path: Path) -> None:
    made = both(
        tmp_path,
        [answer("a"), answer("b"), silence("c", "failed"), silence("d", "failed"), answer("f")],
        [answer("a"), silence("b", "timed_out"), answer("c"), silence("d", "unreachable"), answer("e")],
    )
    assert made["nodes"] == {"came": ["e"], "went": ["f"], "silent": ["b"], "back": ["c"]}


@pytest.fixture
def many(tmp_path: Path) -> dict[str, Any]:
    """More of everything than some lines can hold."""
    old = [answer(f"n{index}", {f"sysctl/old.{at}": result("live_wrong") for at in range(30)}) for index in range(4)]
    new = [answer(f"n{index}", {f"sysctl/new.{at}": result("live_wrong") for at in range(30)}) for index in range(4)]
    for node in old:
        node["response"]["results"].update({OVERCOMMIT: result("live_wrong", "2"), ENABLED: result("live_wrong")})
    new[0]["response"]["results"][OVERCOMMIT] = result("overridden", "2")
    return both(tmp_path, [*old, answer("x")], [*new, answer("y")])


def test_some_lines(many: dict[str, Any]) -> None:
    lines = compare_words.terminal(many).split("\n")
    assert len(lines) <= 19
    assert all(len(line) <= 100 for line in lines)
    kinds = [line.split()[0] for line in lines]
    assert kinds == sorted(kinds, key=["before", "nodes", *compare.KINDS, "120"].index)
    told = dict.fromkeys(compare.KINDS, 0)
    for line in lines:
        kind = line.split()[0]
        if kind in told:
            told[kind] += int(line.split()[2]) if " more setting" in line else 1
    assert told == {"new": 30, "still": 1, "unseen": 30, "gone": 2}
    assert lines[-1] == "120 differences new, 1 still there, 120 not seen any more, 7 gone."
    gone = [line for line in lines if line.startswith("gone")]
    assert gone[0] == f"gone         correctness {OVERCOMMIT}: live wrong → ok on 3 nodes (n1, n2, n3)"


def test_markdown_has_everything(many: dict[str, Any]) -> None:
    text = compare_words.markdown(many)
    assert text.count("`sysctl/new.") == 30
    assert "| 4 | n0, n1, n2, n3 |" in text
    assert "asked now and not before | 1 | y |" in text


def test_nothing_breaks_out(tmp_path: Path) -> None:
    evil = "</b>|`[x](y)\x1b[31m\n"
    made = both(tmp_path, [answer("a")], [answer("a" + evil.replace("/", ""), {SWAPPINESS: result("live_wrong")})])
    assert "\x1b" not in compare_words.terminal(made) + compare_words.markdown(made)
    assert "<b>" not in compare_words.markdown(made)


def test_the_files_are_for_the_owner_only(many: dict[str, Any], tmp_path: Path) -> None:
    paths = write.write_comparison(many, tmp_path / "reports")
    assert sorted(Path(path).name for path in paths.values()) == ["drift-compare.json", "drift-compare.md"]
    assert {Path(path).stat().st_mode & 0o777 for path in paths.values()} == {0o600}
    assert json.loads(Path(paths["json"]).read_text()) == many


REFUSED: dict[str, tuple[str, str]] = {
    "another schema": (
        '{"schema": "gpufleet.node/drift/7"}',
        "has the schema gpufleet.node/drift/7, and this version compares gpufleet.node/drift/1",
    ),
    "no schema": ('{"nodes": []}', "is no drift.json"),
    "a list": ("[]", "is no drift.json"),
    "half": ('{"schema": ', "holds no JSON"),
    "malformed": ('{"schema": "gpufleet.node/drift/1", "nodes": [7]}', "is malformed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_words(case: str, tmp_path: Path) -> None:
    content, words = REFUSED[case]
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(assemble(tmp_path, [answer("a")])))
    bad.write_text(content)
    for pair in ((good, bad), (bad, good), (bad, bad)):
        with pytest.raises(compare.Refused, match=words):
            compare.checked(*pair)


def test_a_redacted_document_and_none_at_all_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "drift.json"
    path.write_text(json.dumps(redact.redact(assemble(tmp_path, [answer("a")]))))
    with pytest.raises(compare.Refused, match="is redacted"):
        compare.checked(path, path)
    with pytest.raises(compare.Refused, match="No such file"):
        compare.checked(tmp_path / "nowhere", path)


@pytest.mark.parametrize(("schema", "status"), [("gpufleet.node/drift/1", 0), ("gpufleet.node/drift/2", 2)])
def test_the_playbook(schema: str, status: int, tmp_path: Path) -> None:
    pytest.importorskip("ansible")
    for name, nodes in (("before", [FINE]), ("after", [answer("a", LIVE_WRONG)])):
        (tmp_path / f"{name}.json").write_text(json.dumps({**assemble(tmp_path / name, nodes), "schema": schema}))
    roots = [path for path in sys.path if (Path(path) / "ansible_collections" / "gpufleet" / "node").is_dir()]
    (tmp_path / "ansible.cfg").touch()
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(roots),
        "ANSIBLE_CONFIG": str(tmp_path / "ansible.cfg"),
        "LC_ALL": "C.UTF-8",
    }
    words = ["gpufleet.node.compare", "-e", "gpufleet_before=before.json", "-e", "gpufleet_after=after.json"]
    command = [sys.executable, "-m", "ansible", "playbook", *words]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, done.stdout
    if status:
        assert "has the schema gpufleet.node/drift/2, and this version compares gpufleet.node/drift/1" in " ".join(done.stdout.split())
    else:
        assert f"new          performance {SWAPPINESS}: ok → live wrong on 1 node (a)" in done.stdout
        assert json.loads((tmp_path / "reports" / "drift-compare.json").read_text())["totals"]["new"] == 1
