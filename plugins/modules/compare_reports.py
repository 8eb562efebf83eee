#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: compare_reports
short_description: Say what is new, gone and still there between two drift reports
version_added: 0.1.0
description:
  - Reads two C(drift.json), prints in some twenty lines what differs now and did not before, what still differs, what is gone, and which nodes came
    and went, and writes all of it as C(drift-compare.json) and C(drift-compare.md).
  - What differed and was not seen again, since its node gave no answer or nobody asked for it, is not gone; it is told as such.
  - Fails only where the files cannot be compared, such as documents with different schemas or redacted ones. Differences are no failure.
  - Runs on the control node only.
options:
  before:
    description: The older C(drift.json).
    type: path
    required: true
  after:
    description: The newer C(drift.json).
    type: path
    required: true
  report_dir:
    description: Directory for the comparison. The files are readable by their owner only.
    type: path
    required: true
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns details on what has changed when in diff mode.
    support: none
author:
  - gpufleet.node contributors (@gpufleet)
"""

EXAMPLES = r"""
- name: Compare this week with the last
  gpufleet.node.compare_reports:
    before: archive/2026-11-23/drift.json
    after: reports/drift.json
    report_dir: reports
"""

RETURN = r"""
totals:
  description: How many pairs of a node and a setting are new, still there, not seen any more and gone.
  returned: success
  type: dict
  sample: {new: 3, still: 40, unseen: 1, gone: 12}
nodes:
  description: Names of the nodes that came, went, fell silent and answered again.
  returned: success
  type: dict
  sample: {came: [], went: [gpu-017], silent: [], back: []}
paths:
  description: The files that were written, by kind.
  returned: success
  type: dict
  sample: {json: reports/drift-compare.json, markdown: reports/drift-compare.md}
"""
