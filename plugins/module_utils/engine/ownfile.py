# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How files of ours and lines of others are written: one place for the header, the comparison before writing, and the mark of a line put aside."""

from typing import List

from .host import Host, HostError, Reader

HEADER = """# Written by gpufleet.node, which keeps it in step with the profile of this node.
# To undo what it did: ansible-playbook gpufleet.node.revert
"""
MARK = "# put aside by gpufleet: "


def write(host: Host, path: str, lines: List[str]) -> None:
    """Have exactly these lines in our file; no lines, no file.

    An equal file is not touched. A link in its place is replaced, not followed: it is somebody's mask or mistake.
    """
    if not lines:
        host.remove(path)
        return
    text = HEADER + "".join(line + "\n" for line in lines)
    if host.link(path) is not None:
        host.remove(path)
    elif _holds(host, path, text):
        return
    host.write(path, text)


def put_aside(host: Host, path: str, number: int, line: str) -> None:
    """Make one line of a foreign file a comment, when it still is the line that was read."""
    lines = host.read(path).split("\n")
    if number > len(lines) or lines[number - 1] != line:
        raise HostError(path, f"line {number} is no longer what was read")
    lines[number - 1] = MARK + lines[number - 1]
    host.write(path, "\n".join(lines))


def put_back(host: Host, path: str, line: str) -> None:
    """The inverse: the first line of this text that we made a comment becomes a line again; fine when there is none left."""
    lines = host.read(path).split("\n")
    if MARK + line in lines:
        lines[lines.index(MARK + line)] = line
        host.write(path, "\n".join(lines))


def is_aside(host: Reader, path: str, line: str) -> bool:
    """Whether a line of a foreign file still is the comment that we made of it. Where the file has gone, it is not."""
    try:
        return MARK + line in host.read(path).split("\n")
    except HostError as error:
        if error.absent:
            return False
        raise


def _holds(host: Reader, path: str, text: str) -> bool:
    try:
        return host.read(path) == text
    except HostError:
        return False
