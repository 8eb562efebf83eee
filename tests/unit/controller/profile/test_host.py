# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a host's variables to its compiled profile: names, places, templates and the cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils import profile


class TaggedStr(str):
    """As newer ansible-core hands them out."""


class TaggedInt(int):
    """As newer ansible-core hands them out."""


def compile_here(variables: Mapping[str, Any], *basedirs: Path, **options: Any) -> dict[str, Any]:
    return profile.compile_for_host(variables, lambda value: value, basedirs, **options)


def test_overrides_are_laid_in_the_order_of_their_names() -> None:
    variables = {f"gpufleet_overrides_{name}": {"sysctl": {"vm.swappiness": value}} for name, value in (("b", 2), ("c", 3), ("a", 1))}
    result = compile_here(variables)
    assert result["subsystems"]["sysctl"]["vm.swappiness"]["rule"] == {"exact": 3}
    lost = [one["layer"] for one in result["about"]["sysctl/vm.swappiness"]["lost"]]
    assert lost == ["variable gpufleet_overrides_b", "variable gpufleet_overrides_a", "profile base"]


def test_other_variables_are_none_of_ours() -> None:
    assert compile_here({"gpufleet_overrides": {"x": 1}, "gpufleet_report_dir": "x", "overrides_": 3})["key"] == compile_here({})["key"]


def test_templates_are_resolved() -> None:
    def template(value: object) -> object:
        return {"{{ p }}": "inference", "{{ o }}": {"sysctl": {"vm.swappiness": "7"}}}[str(value)]

    result = profile.compile_for_host({"gpufleet_profile": "{{ p }}", "gpufleet_overrides_x": "{{ o }}"}, template, [])
    assert result["profile"] == "inference"
    assert result["subsystems"]["sysctl"]["vm.swappiness"]["rule"] == {"exact": 7}


def test_tags_do_not_leave() -> None:
    override = {
        TaggedStr("sysctl"): {
            TaggedStr("kernel.core_pattern"): {"exact": TaggedStr("core"), "impact": TaggedStr("hygiene")},
            "vm.swappiness": {"one_of": [TaggedInt(1)], "set": TaggedInt(1)},
        }
    }
    result = compile_here({"gpufleet_profile": TaggedStr("base"), "gpufleet_overrides_x": override})

    def types(value: object) -> set[type]:
        inner = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value if isinstance(value, list) else []
        return {type(value)}.union(*(types(part) for part in inner))

    assert types(result) == {dict, list, str, int, bool}


def test_a_profile_of_ones_own_by_path(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yml").write_text("extends: ./parent.yml\nsysctl: {vm.swappiness: 3}\n", encoding="utf-8")
    (tmp_path / "profiles" / "parent.yml").write_text("extends: inference\nsysctl: {vm.swappiness: 2}\n", encoding="utf-8")
    result = compile_here({"gpufleet_profile": "profiles/mine.yml"}, tmp_path / "elsewhere", tmp_path)
    assert result["files"] == [
        "roles/profile/files/base.yml",
        "roles/profile/files/inference.yml",
        "profiles/parent.yml",
        "profiles/mine.yml",
    ]
    assert result["about"]["sysctl/vm.swappiness"]["from"] == {
        "layer": "profile profiles/mine.yml",
        "file": "profiles/mine.yml",
        "line": 2,
    }
    assert compile_here({"gpufleet_profile": str(tmp_path / "profiles" / "mine.yml")})["subsystems"] == result["subsystems"]


def test_where_a_path_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    places = profile.search_dirs({"playbook_dir": "/p", "inventory_dir": "/i"})
    assert places == ["/p", "/i", str(tmp_path)]
    assert profile.search_dirs({"inventory_dir": None}) == [str(tmp_path)]


def test_anchors_and_merge_keys_are_usual_yaml(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(
        "sysctl:\n  vm.swappiness: &usual {exact: 1, impact: hygiene}\n  vm.page-cluster: *usual\n  kernel.sysrq: {<<: *usual, exact: 0}\n",
        encoding="utf-8",
    )
    settings = compile_here({"gpufleet_profile": "./mine.yml"}, tmp_path)["subsystems"]["sysctl"]
    assert {key: entry["rule"]["exact"] for key, entry in settings.items()} == {
        "vm.swappiness": 1,
        "vm.page-cluster": 1,
        "kernel.sysrq": 0,
    }


def test_the_cache_holds_what_was_compiled(tmp_path: Path) -> None:
    first = compile_here({}, cache_dir=tmp_path / "new" / "profiles")
    (file,) = (tmp_path / "new" / "profiles").iterdir()
    assert file.name == f"{first['key']}.json"
    assert json.loads(file.read_text(encoding="utf-8")) == first
    assert compile_here({}, cache_dir=tmp_path / "new" / "profiles") == first


def test_the_cache_is_used(tmp_path: Path) -> None:
    first = compile_here({}, cache_dir=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps({**first, "profile": "from the cache"}), encoding="utf-8")
    assert compile_here({}, cache_dir=tmp_path)["profile"] == "from the cache"
    assert compile_here({"gpufleet_overrides_x": {"sysctl": {"vm.swappiness": 9}}}, cache_dir=tmp_path)["profile"] == "training"


def test_another_file_content_is_another_key(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yml"
    keys = []
    for value in (1, 2):
        mine.write_text(f"extends: base\nsysctl: {{vm.swappiness: {value}}}\n", encoding="utf-8")
        result = compile_here({"gpufleet_profile": "./mine.yml"}, tmp_path, cache_dir=tmp_path / "cache")
        assert result["subsystems"]["sysctl"]["vm.swappiness"]["rule"] == {"exact": value}
        keys.append(result["key"])
    assert len(set(keys)) == 2


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"version": 1, "key": "another"}', "\x00"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str) -> None:
    first = compile_here({}, cache_dir=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(damage, encoding="utf-8")
    assert compile_here({}, cache_dir=tmp_path) == first
    assert json.loads(file.read_text(encoding="utf-8")) == first


def test_a_wrong_profile_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    with pytest.raises(profile.ProfileError):
        compile_here({"gpufleet_overrides_x": {"sysctl": {"vm.swappiness": 999}}}, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wishes_tell_hosts_apart_only_where_they_differ() -> None:
    def key(**variables: Any) -> str:
        return profile.wishes_of(variables, lambda value: value).key()

    assert key(gpufleet_profile="training") == key() == key(ansible_host="192.0.2.1")
    assert len({key(), key(gpufleet_profile="base"), key(gpufleet_overrides_a={}), key(gpufleet_overrides_b={})}) == 4
