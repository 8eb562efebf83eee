# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets every test import the collection by its full name, wherever the checkout lies."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMPORT_ROOT = os.path.join(ROOT, ".cache", "import")


def link_the_checkout():
    # type: () -> None
    """`.cache/import/ansible_collections/gpufleet/node` is this checkout."""
    link = os.path.join(IMPORT_ROOT, "ansible_collections", "gpufleet", "node")
    if os.path.islink(link) and os.readlink(link) == ROOT:
        return
    os.makedirs(os.path.dirname(link), exist_ok=True)
    # Several Pythons may start at the same moment: a rename is atomic, a removal followed by a link is not.
    fresh = f"{link}.{os.getpid()}"
    os.symlink(ROOT, fresh)
    os.replace(fresh, link)


link_the_checkout()
sys.path.insert(0, IMPORT_ROOT)
