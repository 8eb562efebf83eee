# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations


class ModuleDocFragment:
    """Documentation that all modules of the collection share."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Runs in check mode and says what it would change, without writing anything.
    support: full
  diff_mode:
    description: Returns what it changed, or would change, as a difference.
    support: full
  platform:
    description: Systems that the module works on.
    support: full
    platforms: linux
"""

    SETTINGS = r"""
options:
  settings:
    description:
      - The settings to judge and to mend, by name.
      - A plain value is an exact rule. A rule is a dictionary with exactly one of V(exact), V(at_least), V(between) and
        V(one_of); beside the last two stands V(set), the value to write.
      - Beside the rule may stand V(disturbs), V(mend), V(owner), V(when) and V(waive), as in a profile.
      - The lookup P(gpufleet.node.desired#lookup) gives the settings of the profile of a node.
    type: dict
    required: true
  disturb:
    description:
      - How much a live write may disturb a running job. A setting that can disturb more is only persisted while a job runs, and its state is
        C(blocked).
    type: str
    choices: [nothing, jitter, job]
    default: nothing
  take_over:
    description:
      - Put aside, as a comment, single lines of other files that win over ours. Only files that lie in the directory of ours in C(/etc) are
        touched, each such line is in the journal, and a revert brings it back.
    type: bool
    default: false
  exclusive:
    description:
      - The settings are all that this node shall have of this subsystem. What an earlier run has set and is no longer named is released, that is, its
        line leaves our file and its live value stays.
    type: bool
    default: false
  deadline_s:
    description: Seconds after which the node is given up; what was read by then is returned.
    type: int
    default: 60
  root:
    description: Directory to look at in the place of C(/), such as a tree that was recorded from a node. Changes below it are for tests only.
    type: path
    default: /
"""
