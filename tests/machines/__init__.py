# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines made for tests: a directory that looks to the engine like the sysfs, proc and etc of named hardware.

    machine = build(tmp_path, hardware="dgx-a100", system="debian-12")
    machine.sysctl("vm.swappiness", 100)
    response = run.handle({..., "root": machine.root})

They are simulated: what a kernel does on a write is in `kernel.py`, as far as tests need it. Python 3.6 grammar, since they are used
on every Python that a node may have.
"""

from .machine import Machine, build

__all__ = ["Machine", "build"]
