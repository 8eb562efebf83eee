# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on the machine: prints everything that a tool could have changed there, and changes nothing. Knows nothing of the engine."""

import errno
import hashlib
import json
import os
import stat
import sys
from typing import Any

KERNEL_TREES = ["/proc/sys", "/sys/kernel/mm/transparent_hugepage"]
AUTOMOUNT = "/proc/sys/fs/binfmt_misc"  # looking into it mounts it


def main() -> None:
    kernel: dict[str, str] = {}
    for tree in KERNEL_TREES:
        kernel.update(kernel_values(tree))
    files: dict[str, Any] = {}
    for tree in ["/", "/run"]:
        files.update(file_states(tree))
    json.dump({"kernel": kernel, "files": files}, sys.stdout)


def kernel_values(tree: str) -> dict[str, str]:
    values = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if os.path.join(folder, name) != AUTOMOUNT]
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as knob:
                    values[path] = knob.read(65536).decode(errors="replace").strip()
            except OSError as error:
                values[path] = "cannot be read: " + errno.errorcode.get(error.errno or 0, str(error))
    return values


def file_states(tree: str) -> dict[str, Any]:
    """All of one file system, directories too: kind and rights, owner, size, both times, inode, content."""
    states = {}
    device = os.stat(tree).st_dev
    waiting = [tree]
    while waiting:
        path = waiting.pop()
        try:
            state = os.lstat(path)
            if state.st_dev != device:
                continue
            if stat.S_ISDIR(state.st_mode):
                waiting.extend(os.path.join(path, name) for name in os.listdir(path))
            states[path] = {
                "mode": oct(state.st_mode),
                "owner": f"{state.st_uid}:{state.st_gid}",
                "size": state.st_size,
                "mtime": state.st_mtime_ns,
                "ctime": state.st_ctime_ns,
                "inode": state.st_ino,
                "content": content(path, state.st_mode),
            }
        except FileNotFoundError:
            pass  # gone between listing and looking: the comparison shows it, if it matters
    return states


def content(path: str, mode: int) -> str:
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    if not stat.S_ISREG(mode):
        return ""
    digest = hashlib.md5()  # a question of speed: nobody attacks this comparison
    with open(path, "rb") as source:
        for block in iter(lambda: source.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


main()
