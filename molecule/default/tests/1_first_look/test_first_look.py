# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing has been done yet: what the machine is like now is what a revert has to give back."""

from __future__ import annotations

import machine
import snapshot


def test_the_machine_is_pristine(here: machine.Machine) -> None:
    first = snapshot.take(here)
    snapshot.keep(here, "first", first)
    assert first["kernel"]["/proc/sys/vm/swappiness"] == "60"
    assert first["kernel"]["/sys/kernel/mm/transparent_hugepage/enabled"] == "[always] madvise never"
    assert not [path for path in first["files"] if "gpufleet" in path]
