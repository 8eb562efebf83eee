#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: explain
short_description: Say where a setting of a host comes from
version_added: 0.1.0
description:
  - Prints for a setting which file or variable gave it, its rule, why, after which source, and what it replaced.
  - Runs on the control node only and makes no connection.
attributes:
  check_mode:
    description: Runs in check mode as it does otherwise, since it changes nothing.
    support: full
options:
  setting:
    description:
      - The id of a setting, such as V(sysctl/vm.swappiness), its name without the subsystem, or the name of a subsystem.
      - All settings of the host when it is not given.
    type: str
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Who wants this value
  gpufleet.node.explain:
    setting: sysctl/vm.swappiness
"""

RETURN = r"""
profile:
  description: The profile of the host.
  returned: success
  type: str
  sample: training
files:
  description: The files that it is made of, base first.
  returned: success
  type: list
  elements: str
  sample: [roles/profile/files/base.yml, roles/profile/files/training.yml]
explanation:
  description: The lines that were printed.
  returned: success
  type: list
  elements: str
"""

# The work is done by the action plugin of the same name.
