# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible.plugins.connection.local import Connection as Local

DOCUMENTATION = """
name: no_pipelining
short_description: This machine, without a way to standard input
description:
  - The connection local, as if it were one of those that cannot feed the standard input of a command.
author: gpufleet.node contributors
extends_documentation_fragment:
  - connection_pipelining
"""


class Connection(Local):
    """Says that it cannot, so only the packed module is left."""

    has_pipelining = False
