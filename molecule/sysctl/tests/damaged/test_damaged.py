# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role has converged the machine, then somebody has changed things (side_effect.yml)."""

from __future__ import annotations

import plays


def test_check_mode_names_exactly_the_damage() -> None:
    results = plays.roles_in_check_mode("sysctl")["sysctl"]
    states = {name: result["state"] for name, result in results.items() if result["state"] not in ("ok", "not_applicable")}
    assert states == {
        "sysctl/vm.swappiness": "live_wrong",
        "sysctl/fs.aio-max-nr": "unpersisted",
        "sysctl/net.core.rmem_max": "overridden",
    }
