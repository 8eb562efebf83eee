#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: profile_check
short_description: Refuse a wrong profile before any node is touched
version_added: 0.1.0
description:
  - Compiles the profile of every host with its overrides, and fails with everything that is wrong, that is file, key and the nearest valid name.
  - Hosts with the same profile and the same overrides are compiled once. Meant to run once for a whole play, with C(run_once).
  - Runs on the control node only and makes no connection.
attributes:
  check_mode:
    description: Runs in check mode as it does otherwise, since it changes nothing.
    support: full
options:
  hosts:
    description: The hosts whose profiles are compiled. All hosts of the play when it is not given.
    type: list
    elements: str
  cache_dir:
    description:
      - Directory that keeps each compiled profile as C(KEY.json), for the tasks that follow. It is made where it is not there.
    type: path
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Refuse a wrong profile before any node is touched
  gpufleet.node.profile_check:
    hosts: "{{ ansible_play_hosts_all }}"
  run_once: true
"""

RETURN = r"""
hosts:
  description: How many hosts were looked at.
  returned: always
  type: int
  sample: 1250
distinct:
  description: How many different profiles they have, overrides included.
  returned: always
  type: int
  sample: 4
notes:
  description: What is worth knowing and no fault, such as a waiver that has ended.
  returned: always
  type: list
  elements: str
  sample: ["sysctl/vm.swappiness: the waiver ended on 2026-06-30 (kernel bug, see the ticket)"]
"""

# The work is done by the action plugin of the same name.
