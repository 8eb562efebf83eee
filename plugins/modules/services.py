#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: services
short_description: Keep units of systemd enabled and running
version_added: 0.1.0
description:
  - Compares units of systemd with what is wanted of them, and enables and starts what is neither. Each unit has the settings C(UNIT/installed),
    C(UNIT/enabled) and C(UNIT/running).
  - Nothing is ever stopped, restarted, disabled or masked. A unit whose start would stop another one that runs is C(blocked), and so is a unit that cannot be
    enabled without taking accelerators from containers. A masked unit is C(overridden), and unmasked only with O(take_over).
  - Units are known by the names that people use for them, such as C(dcgm) and C(fabric-manager). A unit that is not installed, or for which there is no
    hardware here, is C(not_applicable).
extends_documentation_fragment:
  - gpufleet.node.engine
  - gpufleet.node.engine.settings
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Accelerators stay initialised between jobs
  gpufleet.node.services:
    settings:
      nvidia-persistenced/enabled: enabled
      nvidia-persistenced/running: active

- name: The fabric manager has to be there where there is an NVSwitch
  gpufleet.node.services:
    settings:
      nvidia-fabricmanager/installed: installed
      nvidia-fabricmanager/running: {exact: active, disturbs: job}
"""

RETURN = r"""
settings:
  description: For each setting its state, views and details, by id. See the page on architecture for the shape.
  returned: always
  type: dict
  sample:
    services/nvidia-persistenced/running:
      state: live_wrong
      desired: active
      needs: nothing
      cause: wandered
      views:
        live: {value: failed, from: systemctl show nvidia-persistenced.service}
      detail: "wanted: active; it failed (failed): journalctl -u nvidia-persistenced.service tells why"
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
    entry.one_subsystem("services")


if __name__ == "__main__":
    main()
