# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each file in bad/ is a profile that has to be refused; its first lines say with which key, nearest name and words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import ProfileError, compile_for_host

HERE = Path(__file__).parent
BAD = sorted((HERE / "bad").glob("*.profile"))


def expected(path: Path) -> dict[str, str]:
    head = path.read_text(encoding="utf-8").split("---\n")[0]
    return {name: text.strip() for name, text in re.findall(r"^# (key|nearest|says):(.*)$", head, re.M)}


def refuse(reference: str, *, basedir: Path = HERE) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        compile_for_host({"gpufleet_profile": reference}, lambda value: value, [basedir])
    return caught.value


def test_there_are_enough_of_them() -> None:
    assert len(BAD) >= 30


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_refused_with_file_key_and_nearest_name(path: Path) -> None:
    wanted = expected(path)
    error = refuse(f"bad/{path.name}")
    found = [problem for problem in error.problems if problem.key == wanted["key"] and wanted["says"] in problem.message]
    assert len(found) == 1, str(error)
    assert found[0].nearest == wanted.get("nearest")
    # What a person reads has all of it too.
    line = next(line for line in str(error).splitlines() if wanted["says"] in line)
    assert re.match(rf"bad/{re.escape(path.name)}(:\d+)?: ", line)
    assert wanted["key"] in line
    assert wanted.get("nearest", "") in line


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_nothing_else_is_wrong_with_it(path: Path) -> None:
    assert len(refuse(f"bad/{path.name}").problems) == 1


def test_the_line_is_that_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("extends: base\nsysctl:\n  # why\n  vm.swappiness: 300\n", encoding="utf-8")
    assert str(refuse("./mine.yml", basedir=tmp_path)).startswith("mine.yml:4: sysctl/vm.swappiness: ")


def test_all_faults_come_together(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(
        "sysctl:\n  vm.swapiness: {exact: 1, impact: x}\n  vm.dirty_ratio: {exact: 200, impact: y, mend: z}\nfoo: {}\n",
        encoding="utf-8",
    )
    keys = {problem.key for problem in refuse("./mine.yml", basedir=tmp_path).problems}
    assert keys == {
        "sysctl/vm.swapiness",
        "sysctl/vm.dirty_ratio",
        "sysctl/vm.dirty_ratio/impact",
        "sysctl/vm.dirty_ratio/mend",
        "foo",
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"sysctl:\n  vm.swappiness: \xff\xfe", "is no UTF-8 text"),
        (b"\x7fELF\x00\x00", "holds binary data"),
        (b"sysctl: {vm.swappiness: {exact: 1, impact", "not valid YAML"),
        (b"a: !!python/object/apply:os.system [id]\n", "is no subsystem"),
        (b"#" * 1_000_001, "is larger than"),
        (b"just words", "takes a mapping"),
    ],
)
def test_files_that_hold_no_profile(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "mine.yml").write_bytes(content)
    error = refuse("./mine.yml", basedir=tmp_path)
    assert says in str(error)
    assert all(problem.file.startswith("mine.yml") for problem in error.problems)


def test_a_directory_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").mkdir()
    assert "mine.yml: cannot be read: Is a directory" in str(refuse("./mine.yml", basedir=tmp_path))


def test_a_loop_of_links_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").symlink_to("mine.yml")
    assert "mine.yml" in str(refuse("./mine.yml", basedir=tmp_path))


def test_anchors_cannot_unfold_without_end(tmp_path: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (tmp_path / "mine.yml").write_text("\n".join(levels), encoding="utf-8")
    assert "unfolds to more than" in str(refuse("./mine.yml", basedir=tmp_path))


def test_a_circle_of_three_is_told_in_order(tmp_path: Path) -> None:
    for name, extends in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.yml").write_text(f"extends: ./{extends}.yml\n", encoding="utf-8")
    assert "c.yml:1: extends: goes in a circle: a.yml extends b.yml extends c.yml extends a.yml" in str(refuse("./a.yml", basedir=tmp_path))


@pytest.mark.parametrize(
    ("profile", "says", "nearest"),
    [
        ("trainig", "there is no profile 'trainig'", "training"),
        ("./inferenc.yml", "there is no file inferenc.yml", "inference.yml"),
        ("", "is empty", "training"),
        (7, "is text, not 7", None),
        (None, "is text, not null", None),
    ],
)
def test_profile_names(tmp_path: Path, profile: object, says: str, nearest: str | None) -> None:
    (tmp_path / "inference.yml").write_text("extends: inference\n", encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        compile_for_host({"gpufleet_profile": profile}, lambda value: value, [tmp_path])
    (problem,) = caught.value.problems
    assert (problem.file, problem.nearest) == ("gpufleet_profile", nearest)
    assert says in problem.message


@pytest.mark.parametrize(
    ("overrides", "key", "says", "nearest"),
    [
        ([1], "", "takes a mapping of subsystems, not [1]", None),
        ({"extends": "base"}, "extends", "belongs in a profile file", None),
        ({"sysctll": {}}, "sysctll", "is no subsystem", "sysctl"),
        ({"sysctl": {"vm.swapiness": None}}, "sysctl/vm.swapiness", "is no known key", "vm.swappiness"),
        ({"sysctl": {"vm.page-cluster": 0}}, "sysctl/vm.page-cluster", "impact is missing", None),
        ({"sysctl": {"vm.swappiness": True}}, "sysctl/vm.swappiness/exact", "write 0 or 1", None),
        ({"sysctl": {"vm.swappiness": {"waive": {"reason": "x"}}}}, "sysctl/vm.swappiness/waive", "until is missing", None),
        ({"sysctl": {7: 1}}, "sysctl", "the key 7 is not text", None),
        ({"sysctl": {"vm.swappiness": object()}}, "sysctl/vm.swappiness", "a value of type object", None),
    ],
)
def test_wrong_overrides(overrides: object, key: str, says: str, nearest: str | None) -> None:
    with pytest.raises(ProfileError) as caught:
        compile_for_host({"gpufleet_overrides_x": overrides}, lambda value: value, [])
    (problem,) = caught.value.problems
    assert (problem.file, problem.key, problem.nearest) == ("variable gpufleet_overrides_x", key, nearest)
    assert says in problem.message


def test_a_template_that_fails_names_its_variable() -> None:
    def template(value: object) -> object:
        raise ValueError("'floor' is undefined")

    with pytest.raises(ProfileError, match="variable gpufleet_overrides_x: its template cannot be resolved: 'floor'"):
        compile_for_host({"gpufleet_overrides_x": "{{ floor }}"}, template, [])


@pytest.mark.parametrize("reference", ["./a\0b.yml", "./" + "a" * 5000 + ".yml", "~nobody-has-this-name/x.yml"])
def test_paths_that_cannot_be(tmp_path: Path, reference: str) -> None:
    assert "leads nowhere" in str(refuse(reference, basedir=tmp_path))
