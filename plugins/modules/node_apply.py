#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: node_apply
short_description: Bring a node to its profile
version_added: 0.1.0
description:
  - Mends what differs from the profile of the node in one round trip, and says what is so afterwards.
  - Order is live, read back, persist; what the kernel refuses is not persisted. In check mode it says what it would do.
extends_documentation_fragment:
  - gpufleet.node.engine
options:
  subsystems:
    description: Only these subsystems of the profile. All when it is not given.
    type: list
    elements: str
  disturb:
    description: How much a live write may disturb a running job. What can disturb more waits until no job runs.
    type: str
    choices: [nothing, jitter, job]
    default: nothing
  take_over:
    description: Put aside, as a comment, single lines of other files in C(/etc) that win over ours.
    type: bool
    default: false
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
- name: Bring the node to the profile, also what can make a running job stutter
  gpufleet.node.node_apply:
    disturb: jitter
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
    entry.whole_request("node_apply")


if __name__ == "__main__":
    main()
