# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose doing a drift is: nobody is blamed for a line that is right."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import summary

FILE = {"from": "/usr/lib/sysctl.d/50-pid-max.conf:16", "owner": "package procps"}
OURS = {"from": "/etc/sysctl.d/zz-gpufleet.conf:3", "owner": "gpufleet"}
LIVE = {"view": "live", "target": "/proc/sys/x", "before": "1", "after": "2"}
FILED = {"view": "persisted", "target": "/etc/sysctl.d/zz-gpufleet.conf", "after": "2"}


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"state": "live_wrong", "winner": FILE, "changes": [LIVE, FILED]}, "/usr/lib/sysctl.d/50-pid-max.conf:16 (package procps)"),
        (
            {"state": "live_wrong", "winner": FILE, "changes": [LIVE]},
            "not what the files say, /usr/lib/sysctl.d/50-pid-max.conf:16 is right",
        ),
        ({"state": "live_wrong", "winner": OURS, "changes": [LIVE]}, "changed live, our file is right"),
        ({"state": "live_wrong", "winner": FILE}, "/usr/lib/sysctl.d/50-pid-max.conf:16 (package procps)"),
        ({"state": "live_wrong", "changes": [LIVE, FILED]}, "no file sets it"),
        ({"state": "overridden", "winner": FILE}, "/usr/lib/sysctl.d/50-pid-max.conf:16 (package procps)"),
    ],
)
def test_the_one_to_blame(result: dict[str, Any], words: str) -> None:
    assert summary.whose_words({"views": {}, "needs": "nothing", **result}) == words
