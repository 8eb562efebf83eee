#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: node_revert
short_description: Give back the values from before
version_added: 0.1.0
description:
  - Undoes on one node what earlier runs did, from the journal of that node.
  - Goes back to the first value of each setting, or to that from before a run.
extends_documentation_fragment:
  - gpufleet.node.engine
options:
  to:
    description: V(first), or the id of a run. That run and all later ones are undone.
    type: str
    default: first
  only:
    description: Only these settings.
    type: list
    elements: str
  disturb:
    description: How much a live write may disturb a running job. What can disturb more waits until no job runs.
    type: str
    choices: [nothing, jitter, job]
    default: nothing
  spool:
    description:
      - Directory on the control node that keeps the answer of each node. Without it the whole response is in the result.
    type: path
  run_id:
    description: Name of the run, which the journal of the node keeps. Made up when it is not given.
    type: str
  deadline_s:
    description: Seconds after which the node is given up; what was read by then is kept.
    type: int
    default: 60
  root:
    description: Directory to look at in the place of C(/), such as a tree that was recorded from a node. Changes below it are for tests only.
    type: path
    default: /
  request:
    description: Filled in by the action plugin.
    type: dict
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Give back everything
  gpufleet.node.node_revert:

- name: Undo one run and what came after it, for one setting
  gpufleet.node.node_revert:
    to: 20261130T225520Z-1a2b3c
    only: [sysctl/vm.swappiness]
"""

RETURN = r"""
outcome:
  description: V(ok), V(failed) or V(timed_out).
  returned: always
  type: str
  sample: ok
transport:
  description: The way that led to the node, V(stdin) or V(module).
  returned: always
  type: str
  sample: stdin
by_state:
  description: How many settings are in which state, without those that are waived.
  returned: always
  type: dict
  sample: {ok: 17, live_wrong: 1}
differs:
  description: The settings that count as drift.
  returned: always
  type: list
  elements: str
  sample: [sysctl/vm.swappiness]
response:
  description: The whole response of the engine.
  returned: when O(spool) is not given
  type: dict
"""

from ansible_collections.gpufleet.node.plugins.module_utils import entry


def main() -> None:
    entry.whole_request("node_revert")


if __name__ == "__main__":
    main()
