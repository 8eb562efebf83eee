# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kernel does on a write, as far as tests of the engine need it: simulated, in the place of `Host.write_live`.

kernel = Kernel(machine)
kernel.refuses["vm/swappiness"] = errno.EINVAL
monkeypatch.setattr(Host, "write_live", kernel.write_live)
"""

import errno
import os
from typing import Any, Dict, List, Tuple

from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import HostError

from .machine import THP, Machine

PROC_SYS = "/proc/sys/"
TWINS = {
    "vm/dirty_ratio": "vm/dirty_bytes",
    "vm/dirty_bytes": "vm/dirty_ratio",
    "vm/dirty_background_ratio": "vm/dirty_background_bytes",
    "vm/dirty_background_bytes": "vm/dirty_background_ratio",
}


class Kernel:
    """`refuses`: key -> errno; `at_most`: key -> the most that it takes; `writes`: what was written, in order."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.refuses: Dict[str, int] = {}
        self.at_most: Dict[str, int] = {}
        self.writes: List[Tuple[str, str]] = []

    @property
    def write_live(self) -> Any:
        """To stand in the place of the method of Host."""
        return lambda _host, path, value: self._write(path, value)

    def _write(self, path: str, value: str) -> None:
        key = path[len(PROC_SYS) :] if path.startswith(PROC_SYS) else path
        if not os.path.exists(self.machine.at(path)):
            raise _error(path, errno.ENOENT)
        if key in TWINS and key.endswith("_bytes") and value == "0":
            raise _error(path, errno.EINVAL)
        if key in self.refuses:
            raise _error(path, self.refuses[key])
        if path.startswith(THP):
            self._write_thp(path, value)
        else:
            taken = str(min(int(value), self.at_most[key])) if key in self.at_most else value.replace(" ", "\t")
            self.machine.sysctl(key, taken)
            if key in TWINS and value != "0":
                self.machine.sysctl(TWINS[key], "0")
        self.writes.append((path, value))

    def _write_thp(self, path: str, value: str) -> None:
        words = self.machine.read(path).replace("[", "").replace("]", "").split()
        if len(words) > 1 and value not in words:
            raise _error(path, errno.EINVAL)
        self.machine.thp(path[len(THP) :], value)


def _error(path: str, code: int) -> HostError:
    return HostError(path, os.strerror(code), code)
