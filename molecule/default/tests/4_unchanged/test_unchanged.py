# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second converge has run on the converged machine."""

from __future__ import annotations

import machine
import snapshot


def test_nothing_was_written_again(here: machine.Machine) -> None:
    found = snapshot.differences(snapshot.kept(here, "converged"), snapshot.take(here))
    # Two converges at once are kept apart by a file in memory, which says who has it.
    assert [line for line in found if not line.startswith("/run/gpufleet/lock:")] == []
