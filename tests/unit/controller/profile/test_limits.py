# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits in a profile: one key for all launchers, what a single one says beside it, and what a shared node must not be given."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import ProfileError, compile_for_host
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile.subsystems.limits import LAUNCHERS


def compiled(profile: str = "base", **layers: Any) -> dict[str, Any]:
    variables = {f"gpufleet_overrides_{name}": {"limits": limits} for name, limits in layers.items()}
    return compile_for_host({"gpufleet_profile": profile, **variables}, lambda value: value, [])


def limits(*arguments: Any, **layers: Any) -> dict[str, Any]:
    return {name: entry["rule"] for name, entry in compiled(*arguments, **layers)["subsystems"]["limits"].items()}


def files_of(found: dict[str, Any]) -> dict[str, Any]:
    return {name.split("/")[1]: rule for name, rule in found.items() if name.endswith("/LimitNOFILE")}


def test_one_key_is_a_setting_of_each_launcher() -> None:
    assert files_of(limits()) == {unit: {"at_least": 1048576} for unit in LAUNCHERS}
    assert not any("launchers" in name for name in limits())


def test_a_later_layer_changes_all_of_them() -> None:
    assert files_of(limits(mine={"launchers/LimitNOFILE": {"at_least": 65536}})) == {unit: {"at_least": 65536} for unit in LAUNCHERS}
    assert files_of(limits(mine={"launchers/LimitNOFILE": None})) == {}


@pytest.mark.parametrize("turned", [False, True])
def test_a_single_one_wins_over_all_in_the_same_layer_wherever_it_stands(turned: bool) -> None:
    mine = {"unit/slurmd/LimitNOFILE": {"at_least": 4096}, "launchers/LimitNOFILE": {"at_least": 65536}}
    found = files_of(limits(mine=dict(reversed(mine.items())) if turned else mine))
    assert found.pop("slurmd.service") == {"at_least": 4096}
    assert set(map(str, found.values())) == {str({"at_least": 65536})}


def test_a_single_one_is_taken_out_or_added() -> None:
    added = {"at_least": 65536, "impact": "correctness"}
    found = files_of(limits(mine={"unit/ray.service/LimitNOFILE": None, "unit/pbs.service/LimitNOFILE": added}))
    assert "ray.service" not in found
    assert found["pbs.service"] == {"at_least": 65536}


def test_what_is_wrong_with_all_is_said_once() -> None:
    with pytest.raises(ProfileError) as caught:
        limits(mine={"launchers/LimitNOFILE": {"at_least": 0}})
    assert [problem.key for problem in caught.value.problems] == ["limits/launchers/LimitNOFILE"]


def test_where_it_comes_from_is_the_line_of_the_one_key() -> None:
    about = compiled()["about"]
    assert about["limits/unit/slurmd.service/LimitNOFILE"]["from"] == about["limits/unit/docker.service/LimitNOFILE"]["from"]
    assert about["limits/unit/slurmd.service/LimitNOFILE"]["from"]["line"] > 1


def test_not_everybody_may_lock_all_memory_of_a_shared_node() -> None:
    assert limits("training")["users/memlock"] == {"exact": "unlimited"}
    rule = limits("shared")["users/memlock"]
    assert rule == {"between": [8192, 67108864], "set": 8388608}
    assert limits("shared")["root/memlock"] == {"exact": "unlimited"}
