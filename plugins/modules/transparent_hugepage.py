#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: transparent_hugepage
short_description: Keep transparent huge pages as wanted, live and at the next boot
version_added: 0.1.0
description:
  - Compares the knobs below C(/sys/kernel/mm/transparent_hugepage) with rules, live and persisted, and mends what differs.
  - Persists in C(/etc/tmpfiles.d/00-gpufleet.conf), which is applied early in the boot and sorts first, since of several lines for one path the first
    counts. The kernel command line and tuned are named when they own a knob as well.
  - On kernels with 64 KiB pages V(always) is never taken as right for V(enabled), since a huge page is 512 MiB there.
extends_documentation_fragment:
  - gpufleet.node.engine
  - gpufleet.node.engine.settings
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Huge pages only for programs that ask for them
  gpufleet.node.transparent_hugepage:
    settings:
      enabled: {one_of: [madvise, always], set: madvise}
      defrag: {one_of: [madvise, defer+madvise], set: madvise}
      khugepaged/scan_sleep_millisecs: 10000
"""

RETURN = r"""
settings:
  description: For each setting its state, views, winner and what was changed, by id. See the page on architecture for the shape.
  returned: always
  type: dict
  sample:
    transparent_hugepage/enabled:
      state: unpersisted
      desired: madvise
      needs: nothing
      cause: never_applied
      views:
        live: {value: madvise, from: /sys/kernel/mm/transparent_hugepage/enabled}
        persisted: {unset: no file sets it}
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
  sample: 2026-11-30T22:55:20Z-transparent_hugepage
outcome:
  description: Whether the node could be looked at in time.
  returned: always
  type: str
  sample: ok
"""

from ansible_collections.gpufleet.node.plugins.module_utils import entry


def main() -> None:
    entry.one_subsystem("transparent_hugepage")


if __name__ == "__main__":
    main()
