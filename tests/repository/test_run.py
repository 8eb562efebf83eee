# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a new user does: `./run drift` in a fresh checkout, here one with a blank in its path and called from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tests" / "tools"))

from stage import sources  # noqa: E402 (it is no package: it is found by the line above)

EXIT_STATUS = {"clean": 0, "error": 1, "drift": 2, "incomplete": 3}
REPORTS = ["drift.json", "drift.html", "drift.md", "drift.junit.xml"]

# A profile of one's own.
MINE = """\
description: The least that can be asked for.
sysctl:
  kernel.pid_max: {at_least: 301, impact: hygiene, disturbs: nothing, why: Only to see whether this file is taken., source: none}
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a checkout")
    for name in sources(ROOT):
        if name.parts[0] not in ("tests", "docs"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run(checkout: Path, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
    return subprocess.run([checkout / "run", *words], cwd=folder or "/", env=environment, capture_output=True, text=True, check=False)


def document(folder: Path) -> Any:
    return json.loads((folder / "drift.json").read_text(encoding="utf-8"))


def test_the_first_run_reports_on_this_machine(checkout: Path) -> None:
    done = run(checkout, "drift")
    found = document(checkout / "reports")
    assert found["run"]["profiles"].popitem()[1]["profile"] == "training"
    assert found["totals"]["nodes"] == {"asked": 1, "ok": 1, "unreachable": 0, "failed": 0, "timed_out": 0}
    assert done.returncode == EXIT_STATUS[found["verdict"]], done.stderr
    assert all((checkout / "reports" / name).stat().st_size for name in REPORTS)
    assert found["verdict"].upper() in done.stdout
    assert "PLAY RECAP" not in done.stdout
    assert "PLAY RECAP" in (checkout / "reports" / "ansible.log").read_text(encoding="utf-8")


def test_the_next_run_sets_nothing_up_again(checkout: Path) -> None:
    made = [checkout / ".venv" / "pyvenv.cfg", checkout / ".cache" / "collections" / "gpufleet.stamp"]
    before = [path.stat().st_mtime_ns for path in made]
    assert "first run" not in run(checkout, "drift").stderr
    assert [path.stat().st_mtime_ns for path in made] == before


def test_a_change_of_the_collection_is_taken(checkout: Path) -> None:
    page = checkout / "playbooks" / "drift.yml"
    page.write_text(page.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    run(checkout, "drift")
    installed = checkout / ".cache" / "collections" / "ansible_collections" / "gpufleet" / "node" / "playbooks" / "drift.yml"
    assert installed.read_bytes() == page.read_bytes()


def test_a_report_folder_a_profile_and_an_inventory_of_ones_own(checkout: Path, tmp_path: Path) -> None:
    here = tmp_path / "with a 'quote'"
    here.mkdir()
    (here / "mine.yml").write_text(MINE, encoding="utf-8")
    (here / "hosts.ini").write_text("[all]\none ansible_connection=local\ntwo ansible_connection=local\n", encoding="utf-8")
    words = ["--profile", "./mine.yml", "--inventory=hosts.ini", "--limit", "two", "--report-dir", "out here"]
    done = run(checkout, "drift", *words, folder=here)
    assert done.returncode != 1, done.stderr
    found = document(here / "out here")
    assert [node["name"] for node in found["nodes"]] == ["two"]
    assert list(found["settings"]) == ["sysctl/kernel.pid_max"]
    assert done.returncode == EXIT_STATUS[found["verdict"]]


def test_a_node_that_does_not_answer_makes_it_incomplete(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text("[all]\nsilent ansible_host=127.0.0.1 ansible_port=1\n", encoding="utf-8")
    done = run(checkout, "drift", "--inventory", "hosts.ini", "--report-dir", "out", folder=tmp_path)
    assert document(tmp_path / "out")["verdict"] == "incomplete"
    assert done.returncode == 3


def test_an_old_report_is_not_taken_for_a_new_one(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "drift.json").write_text('{"verdict": "clean"}', encoding="utf-8")
    done = run(checkout, "drift", "--report-dir", str(tmp_path), "--profile", "no-such-profile")
    assert done.returncode == 1
    assert "no-such-profile" in done.stderr
    assert not (tmp_path / "drift.json").exists()


def test_ansible_speaks_when_asked_to(checkout: Path, tmp_path: Path) -> None:
    done = run(checkout, "drift", "--report-dir", str(tmp_path), "--", "-v")
    assert "PLAY RECAP" in done.stdout
    assert done.returncode == EXIT_STATUS[document(tmp_path)["verdict"]]


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["help"], 0, "drift"),
        ([], 0, "drift"),
        (["drift", "--help"], 0, "--report-dir"),
        (["drift", "--nonsense"], 1, "--nonsense"),
        (["drift", "--profile"], 1, "--profile"),
        (["drift", "--limit="], 1, "--limit"),
        (["drift", "stray"], 1, "stray"),
        (["nonsense"], 1, "nonsense"),
    ],
)
def test_help_and_wrong_words(checkout: Path, words: list[str], status: int, says: str) -> None:
    done = run(checkout, *words)
    assert done.returncode == status
    assert says in (done.stderr if status else done.stdout)
