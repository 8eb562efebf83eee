# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How layers add up to what a host is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import Layer, ProfileError, compile_layers

BASE = {
    "sysctl": {
        "vm.swappiness": {
            "between": [0, 10],
            "set": 1,
            "impact": "performance",
            "disturbs": "jitter",
            "why": "base says so",
            "source": "a manual page",
            "when": {"cpus": {"at_least": 2}},
        },
        "vm.dirty_ratio": {"exact": 20, "impact": "hygiene", "mend": "never"},
    }
}


def compiled(*overrides: dict[str, Any] | None, base: dict[str, Any] | None = None) -> dict[str, Any]:
    layers = [Layer("profile base", base or BASE, file="base.yml", lines={("sysctl", "vm.swappiness"): 3})]
    layers += [Layer(f"variable {number}", content) for number, content in enumerate(overrides)]
    return compile_layers("base", layers)


def swappiness(*overrides: dict[str, Any] | None) -> dict[str, Any]:
    entry: dict[str, Any] = compiled(*overrides)["subsystems"]["sysctl"]["vm.swappiness"]
    return entry


def test_the_shape_is_the_one_of_the_contract() -> None:
    result = compiled({"sysctl": {"vm.swappiness": 5}})
    key = result.pop("key")
    assert result == {
        "version": 1,
        "profile": "base",
        "files": ["base.yml"],
        "subsystems": {
            "sysctl": {
                "vm.swappiness": {
                    "rule": {"exact": 5},
                    "impact": "performance",
                    "disturbs": "jitter",
                    "owner": "gpufleet",
                    "mend": "always",
                    "when": {"cpus": {"at_least": 2}},
                },
                "vm.dirty_ratio": {
                    "rule": {"exact": 20},
                    "impact": "hygiene",
                    "disturbs": "nothing",
                    "owner": "gpufleet",
                    "mend": "never",
                },
            }
        },
        "about": {
            "sysctl/vm.swappiness": {
                "why": "base says so",
                "source": "a manual page",
                "from": {"layer": "variable 0"},
                "lost": [{"layer": "profile base", "file": "base.yml", "line": 3, "rule": {"between": [0, 10], "set": 1}}],
            },
            "sysctl/vm.dirty_ratio": {"from": {"layer": "profile base", "file": "base.yml"}, "lost": []},
        },
    }
    assert len(key) == 16
    assert json.loads(json.dumps(result)) == result


def test_a_rule_is_replaced_whole() -> None:
    assert swappiness({"sysctl": {"vm.swappiness": {"at_least": 3}}})["rule"] == {"at_least": 3}


def test_the_last_layer_wins_and_what_lost_is_told_newest_first() -> None:
    result = compiled({"sysctl": {"vm.swappiness": 5}}, {"sysctl": {"vm.swappiness": 6}}, {"sysctl": {"vm.swappiness": 7}})
    assert result["subsystems"]["sysctl"]["vm.swappiness"]["rule"] == {"exact": 7}
    lost = result["about"]["sysctl/vm.swappiness"]["lost"]
    assert [(one["layer"], one["rule"]) for one in lost] == [
        ("variable 1", {"exact": 6}),
        ("variable 0", {"exact": 5}),
        ("profile base", {"between": [0, 10], "set": 1}),
    ]


def test_layers_add_up_setting_by_setting() -> None:
    result = compiled({"transparent_hugepage": {"enabled": {"exact": "never", "impact": "hygiene"}}}, None, {"sysctl": None})
    assert set(result["about"]) == {"sysctl/vm.swappiness", "sysctl/vm.dirty_ratio", "transparent_hugepage/enabled"}


def test_another_spelling_is_the_same_setting() -> None:
    assert swappiness({"sysctl": {"vm/swappiness": 5}})["rule"] == {"exact": 5}


def test_what_an_override_gives_itself_it_does_not_inherit() -> None:
    given = {"exact": 5, "impact": "hygiene", "disturbs": "job", "why": "mine", "source": "me", "owner": "leave", "when": None}
    result = compiled({"sysctl": {"vm.swappiness": given}})
    entry = result["subsystems"]["sysctl"]["vm.swappiness"]
    assert (entry["impact"], entry["disturbs"], entry["owner"]) == ("hygiene", "job", "leave")
    assert "when" not in entry
    assert (result["about"]["sysctl/vm.swappiness"]["why"], result["about"]["sysctl/vm.swappiness"]["source"]) == ("mine", "me")


def test_an_own_value_for_what_was_only_checked_is_mended() -> None:
    entries = compiled({"sysctl": {"vm.dirty_ratio": 5}})["subsystems"]["sysctl"]
    assert entries["vm.dirty_ratio"]["mend"] == "always"


def test_without_a_rule_only_what_is_named_changes() -> None:
    waive = {"reason": "kernel bug", "until": "2027-01-31", "ticket": 17}
    result = compiled({"sysctl": {"vm.dirty_ratio": {"waive": waive}, "vm.swappiness": {"owner": "leave"}}})
    entries = result["subsystems"]["sysctl"]
    assert entries["vm.dirty_ratio"]["rule"] == {"exact": 20}
    assert entries["vm.dirty_ratio"]["mend"] == "never"
    assert entries["vm.dirty_ratio"]["waive"] == {"reason": "kernel bug", "until": "2027-01-31", "ticket": "17"}
    assert entries["vm.swappiness"]["rule"] == {"between": [0, 10], "set": 1}
    assert entries["vm.swappiness"]["owner"] == "leave"


def test_a_waiver_ends_with_the_rule_that_it_was_for() -> None:
    waived = {"sysctl": {"vm.swappiness": {"waive": {"reason": "x", "until": "2027-01-31"}}}}
    assert "waive" in swappiness(waived)
    assert "waive" not in swappiness(waived, {"sysctl": {"vm.swappiness": 5}})
    assert "waive" not in swappiness(waived, {"sysctl": {"vm.swappiness": {"waive": None}}})


def test_null_removes_and_is_told() -> None:
    result = compiled({"sysctl": {"vm.swappiness": None, "vm.dirty_ratio": None}})
    assert result["subsystems"] == {"sysctl": {}}
    assert result["about"] == {}
    assert result["removed"]["sysctl/vm.swappiness"]["from"] == {"layer": "variable 0"}
    assert [one["layer"] for one in result["removed"]["sysctl/vm.swappiness"]["lost"]] == ["profile base"]


def test_what_was_removed_inherits_nothing_when_it_comes_back() -> None:
    with pytest.raises(ProfileError, match="impact is missing"):
        compiled({"sysctl": {"vm.swappiness": None}}, {"sysctl": {"vm.swappiness": 5}})
    back = compiled({"sysctl": {"vm.swappiness": None}}, {"sysctl": {"vm.swappiness": {"exact": 5, "impact": "hygiene"}}})
    assert back["about"]["sysctl/vm.swappiness"]["lost"][0] == {"layer": "variable 0", "removed": True}
    assert "removed" not in back


def test_to_remove_what_is_not_there_is_no_fault() -> None:
    assert "removed" not in compiled({"sysctl": {"vm.page-cluster": None}})


def test_a_contradiction_is_told_at_the_layer_that_brought_it() -> None:
    with pytest.raises(ProfileError) as caught:
        compiled({"sysctl": {"vm.dirty_background_ratio": {"exact": 20, "impact": "hygiene"}}})
    assert caught.value.problems[0].file == "variable 0"
    with pytest.raises(ProfileError) as caught:
        compiled({"sysctl": {"vm.dirty_background_ratio": {"exact": 10, "impact": "hygiene"}}}, {"sysctl": {"vm.dirty_ratio": 10}})
    assert (caught.value.problems[0].file, caught.value.problems[0].key) == ("variable 1", "sysctl/vm.dirty_background_ratio")


def test_twins_are_right_where_one_is_only_checked_or_both_have_conditions() -> None:
    compiled({"sysctl": {"vm.dirty_bytes": {"exact": "8GiB", "impact": "hygiene"}}})
    small, large = {"memory_bytes": {"between": [0, 1]}}, {"memory_bytes": {"at_least": 2}}
    compiled(
        {
            "sysctl": {
                "vm.dirty_ratio": {"exact": 20, "when": small},
                "vm.dirty_bytes": {"exact": "8GiB", "impact": "hygiene", "when": large},
            }
        }
    )


def test_equal_layers_have_an_equal_key_and_others_not() -> None:
    keys = [
        compiled()["key"],
        compiled({"sysctl": {"vm.swappiness": 5}})["key"],
        compiled({"sysctl": {"vm.swappiness": 6}})["key"],
        compiled({"sysctl": {"vm.swappiness": {"why": "because"}}})["key"],
    ]
    assert len(set(keys)) == 4
    assert compiled()["key"] == keys[0]


def test_a_file_without_settings_of_its_own_is_a_profile(tmp_path: Path) -> None:
    assert compiled(base={"description": "nothing yet"})["subsystems"] == {}
