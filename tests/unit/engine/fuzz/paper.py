# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on paper: a Reader that answers from a mapping of paths to texts, so that thousands of machines are read in a second."""

import errno
from typing import Any, Dict, List, Optional

from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import TEXT_MAX, HostError, Reader

RECORD = {
    "uid": 0,
    "now": 1796050800,
    "page_size": 4096,
    "commands": [],
    "uname": {"nodename": "n", "release": "6.12", "machine": "x86_64"},
}


class Paper(Reader):
    def __init__(self, texts: Dict[str, str]) -> None:
        Reader.__init__(self, "/paper")
        self.texts = texts

    def read(self, path: str, limit: int = TEXT_MAX) -> str:
        if path not in self.texts:
            raise HostError(path, "No such file or directory", errno.ENOENT)
        return self.texts[path]

    def names(self, path: str) -> List[str]:
        below = path.rstrip("/") + "/"
        return sorted({one[len(below) :].split("/")[0] for one in self.texts if one.startswith(below)})

    def exists(self, path: str) -> bool:
        return path in self.texts or self.is_directory(path)

    def is_directory(self, path: str) -> bool:
        return any(one.startswith(path.rstrip("/") + "/") for one in self.texts)

    def link(self, path: str) -> Optional[str]:
        """In /proc/<pid>/fd the text is where a link points to."""
        return self.texts.get(path) if "/fd/" in path else None

    def mode(self, path: str) -> int:
        return 0o644

    def recorded(self, key: str) -> Any:
        return RECORD[key]
