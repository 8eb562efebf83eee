# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the checkout at …/ansible_collections/gpufleet/node, for tools that work nowhere else.

ansible-test resolves links, so it has to be a copy; it lists files through git, so the copy is a repository too.
"""

from __future__ import annotations

import filecmp
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def stage(root: Path, into: Path) -> Path:
    """Bring the copy up to date and give back its folder. Files that did not change keep their times."""
    copy = into / "ansible_collections" / "gpufleet" / "node"
    copy.mkdir(parents=True, exist_ok=True)
    wanted = set(sources(root))
    for old in set(files_below(copy)) - wanted:
        (copy / old).unlink()
    for name in sorted(wanted):
        target = copy / name
        if not (target.is_file() and filecmp.cmp(root / name, target, shallow=False)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)
    if not (copy / ".git").exists():
        subprocess.run(["git", "init", "--quiet", copy], check=True)
    return copy


def sources(root: Path) -> Iterator[Path]:
    """What git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    names = (Path(name) for name in listing.stdout.split("\0") if name)
    return (name for name in names if (root / name).is_file())


def files_below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and name.parts[0] not in (".git", ".ansible"):
            yield name
