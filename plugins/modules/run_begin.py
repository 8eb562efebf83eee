#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: run_begin
short_description: Begin a run over nodes, on the control node
version_added: 0.1.0
description:
  - Makes the directory that keeps the answers of the nodes of one run, and writes down which nodes are asked, so that a node that never answers is
    missed.
  - Runs on the control node only and touches no node.
extends_documentation_fragment:
  - gpufleet.node.engine
options:
  report_dir:
    description: Directory for the reports; the answers are kept below it.
    type: path
    required: true
  hosts:
    description: The nodes that will be asked. All nodes of the play when it is not given.
    type: list
    elements: str
  purpose:
    description: What the run is for.
    type: str
    choices: [audit, apply, revert]
    default: audit
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Begin the run
  gpufleet.node.run_begin:
    report_dir: reports
  run_once: true
  register: begun
"""

RETURN = r"""
run_id:
  description: Name of the run.
  returned: always
  type: str
  sample: 20261130T225520Z-1a2b3c
spool:
  description: Directory that keeps the answers of the nodes.
  returned: always
  type: str
report_dir:
  description: Directory for the reports, as an absolute path.
  returned: always
  type: str
nodes:
  description: How many nodes are asked.
  returned: always
  type: int
"""

# The work is done by the action plugin of the same name.
