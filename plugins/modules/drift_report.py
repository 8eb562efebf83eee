#!/usr/bin/python
# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


DOCUMENTATION = r"""
---
module: drift_report
short_description: Write the drift report of a run, on the control node
version_added: 0.1.0
description:
  - Reads the answers of the nodes from the spool of a run, writes C(drift.json), C(drift.html), C(drift.md) and C(drift.junit.xml), and prints the
    most important of it in at most ten lines and a verdict.
  - A node that was asked and left no answer is in the report as such.
  - Runs on the control node only and touches no node. It writes the report in check mode too.
options:
  spool:
    description: Directory that keeps the answers of the nodes, as M(gpufleet.node.run_begin) returns it.
    type: path
    required: true
  report_dir:
    description: Directory for the reports. The files are readable by their owner only.
    type: path
    required: true
  history:
    description:
      - Directory with the spools of earlier runs, from which it is told since when a setting is as it is. At most the 30 latest runs are read.
      - The directory C(spool) in O(report_dir) when it is not given.
    type: path
  waiver_days:
    description: Waivers that end within so many days are told. One that has ended always is.
    type: int
    default: 14
  redact:
    description:
      - Write pseudonyms in the place of names of nodes, serial numbers and addresses, and only the last part of the paths of profiles. Values stay.
      - A pseudonym is the same all over one report and another in the next. The spool is left as it is.
    type: bool
    default: false
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
- name: Write the report
  gpufleet.node.drift_report:
    spool: "{{ begun.spool }}"
    report_dir: reports
  run_once: true
  register: report

- name: Write one to show to others, beside it
  gpufleet.node.drift_report:
    spool: "{{ begun.spool }}"
    history: "{{ begun.report_dir }}/spool"
    report_dir: reports/to_show
    redact: true
  run_once: true

- name: Fail unless all is as the profile wants it
  ansible.builtin.assert:
    that: report.verdict == 'clean'
"""

RETURN = r"""
verdict:
  description: V(clean), V(drift), V(incomplete) or V(error); the worst that holds.
  returned: success
  type: str
  sample: drift
totals:
  description: How many nodes and settings were asked, answered and judged.
  returned: success
  type: dict
  sample: {nodes: {asked: 1, ok: 1}, settings: {asked: 12, judged: 12}, faults: 0}
paths:
  description: The files that were written, by kind.
  returned: success
  type: dict
  sample: {html: reports/drift.html, json: reports/drift.json}
"""
