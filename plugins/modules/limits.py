#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: limits
short_description: Keep the resource limits of sessions and of the daemons that start jobs as wanted
version_added: 0.1.0
description:
  - Compares what pam_limits gives to the next session, what systemd gives to services, and what their running daemons have, with rules.
  - Writes C(/etc/security/limits.d/zz-gpufleet.conf) and, for units that exist, C(/etc/systemd/system/UNIT.d/zz-gpufleet.conf). Other files are named
    where they win.
  - Lets systemd read changed drop-ins, unless a running container would lose its GPUs by that. No daemon is restarted, so that one with older
    limits stays V(pending) until somebody restarts it.
  - Never writes more open files than C(fs.nr_open) allows, since no session could be opened then.
extends_documentation_fragment:
  - gpufleet.node.engine
  - gpufleet.node.engine.settings
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Memory that may be locked and files that may be open, for users, for root and for what Slurm starts
  gpufleet.node.limits:
    settings:
      users/memlock: unlimited
      root/memlock: unlimited
      users/nofile: {at_least: 1048576}
      root/nofile: {at_least: 1048576}
      unit/slurmd.service/LimitMEMLOCK: infinity
      unit/slurmd.service/LimitNOFILE: {at_least: 1048576}
      dev_shm: {at_least: 50, mend: never}
"""

RETURN = r"""
settings:
  description: For each setting its state, views, winner and what was changed, by id. See the page on architecture for the shape.
  returned: always
  type: dict
  sample:
    limits/unit/slurmd.service/LimitMEMLOCK:
      state: pending
      desired: unlimited
      needs: service_restart
      cause: never_applied
      views:
        persisted: {value: unlimited, from: "/etc/systemd/system/slurmd.service.d/zz-gpufleet.conf:4"}
        live: {value: unlimited, from: systemd}
        effective: {value: "8388608", from: /proc/900/limits}
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
    entry.one_subsystem("limits")


if __name__ == "__main__":
    main()
