#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: sysctl
short_description: Keep kernel parameters, live and at the next boot
version_added: 0.1.0
description:
  - Compares kernel parameters with rules in two views, live in C(/proc/sys) and persisted as C(systemd-sysctl) will apply it at the next boot, and mends what
    differs.
  - Writes one file, C(/etc/sysctl.d/zz-gpufleet.conf), with only the keys that were asked for; only these keys are written live. Other files are
    read, never written, unless O(take_over) is given.
  - Each live write is read back, and what the kernel refuses is not persisted.
extends_documentation_fragment:
  - gpufleet.node.engine
  - gpufleet.node.engine.settings
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Keep swapping rare and map counts high
  gpufleet.node.sysctl:
    settings:
      vm.swappiness: {between: [0, 10], set: 1}
      vm.max_map_count: {at_least: 1048576}

- name: All that the profile of this node says about kernel parameters
  gpufleet.node.sysctl:
    settings: "{{ lookup('gpufleet.node.desired', 'sysctl') }}"
    exclusive: true
"""

RETURN = r"""
settings:
  description: For each setting its state, views, winner and what was changed, by id. See the page on architecture for the shape.
  returned: always
  type: dict
  sample:
    sysctl/vm.swappiness:
      state: ok
      desired: '1'
      needs: nothing
      views:
        live: {value: '1', from: /proc/sys/vm/swappiness}
        persisted: {value: '1', from: '/etc/sysctl.d/zz-gpufleet.conf:3'}
node:
  description: Facts of the node, as far as they could be read.
  returned: always
  type: dict
notes:
  description: Remarks on files that were read, such as lines that say nothing.
  returned: always
  type: list
  elements: str
run_id:
  description: Name of the run in the journal of the node, for O(gpufleet.node.node_revert#module:to).
  returned: always
  type: str
  sample: 2026-11-30T22:55:20Z-sysctl
outcome:
  description: Whether the node could be looked at in time.
  returned: always
  type: str
  sample: ok
"""

from ansible_collections.gpufleet.node.plugins.module_utils import entry


def main() -> None:
    entry.one_subsystem("sysctl")


if __name__ == "__main__":
    main()
