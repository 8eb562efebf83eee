#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: hardware
short_description: Check that the hardware that a node is declared to have is there
version_added: 0.1.0
description:
  - Counts accelerators, network adapters, drives, memory modules, CPUs and NUMA nodes, compares PCIe links with what both of their ends can do,
    compares firmware versions, and looks at the device files of accelerators.
  - What is not as declared is C(missing). Nothing is ever written; an apply only remembers what was right, which gives a later difference its cause.
  - The firmware's table of memory modules can only be read by root. Without it the drivers of memory controllers are asked, and where there are none the
    setting is C(unknown).
extends_documentation_fragment:
  - gpufleet.node.engine
  - gpufleet.node.engine.settings
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: A server with eight accelerators
  gpufleet.node.hardware:
    settings:
      accelerators/nvidia: 8
      infiniband: 8
      nvme: 8
      memory_bytes: {at_least: 2113929216000}
      dimms: 32
      smt: "on"
      link_width/accelerators: max
      link_speed/accelerators: {at_least: 32}
      firmware/bios: {one_of: ["1.27", "1.28"], set: "1.28"}
      device_nodes/nvidia: "0666 root:root"
"""

RETURN = r"""
settings:
  description: For each setting its state, views and details, by id. See the page on architecture for the shape.
  returned: always
  type: dict
  sample:
    hardware/accelerators/nvidia:
      state: missing
      desired: "8"
      needs: drain
      cause: wandered
      views:
        live: {value: "7", from: /sys/bus/pci/devices}
node:
  description: Facts of the node, as far as they could be read.
  returned: always
  type: dict
notes:
  description: Remarks on files that were read, such as lines that say nothing.
  returned: always
  type: list
  elements: str
outcome:
  description: Whether the node could be looked at in time.
  returned: always
  type: str
  sample: ok
"""

from ansible_collections.gpufleet.node.plugins.module_utils import entry


def main() -> None:
    entry.one_subsystem("hardware")


if __name__ == "__main__":
    main()
