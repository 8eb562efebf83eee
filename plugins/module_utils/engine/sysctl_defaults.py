# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The value that a key has after a boot in which no file sets it, where that is known for certain. Pure."""

from typing import Any, Dict, Optional

from . import rules

#: key -> value (Documentation/admin-guide/sysctl/ and the named headers).
FIXED = {
    "vm.swappiness": 60,
    "vm.dirty_ratio": 20,
    "vm.dirty_background_ratio": 10,
    "vm.zone_reclaim_mode": 0,
    "vm.overcommit_memory": 0,
    "vm.max_map_count": 65530,
    "fs.aio-max-nr": 65536,
    "fs.nr_open": 1048576,
    # include/uapi/linux/shm.h: ULONG_MAX - 2^24 on 64-bit kernels since 3.16
    "kernel.shmmax": 2**64 - 1 - 2**24,
    "kernel.shmall": 2**64 - 1 - 2**24,
}
#: systemd raises these to the maximum at each boot, if it was built so; then the live value shows it (NEWS of systemd 240).
RAISED_BY_SYSTEMD = {"fs.file-max": "9223372036854775807", "fs.nr_open": "1073741816"}


def boot_default(name: str, facts: Dict[str, Any], live: str) -> Optional[str]:
    """None when it is not known."""
    if RAISED_BY_SYSTEMD.get(name) == live:
        return live
    if name == "fs.file-max":
        return live if _is_kernels_file_max(live, facts.get("memory_bytes")) else None
    return str(FIXED[name]) if name in FIXED else None


def _is_kernels_file_max(live: str, memory_bytes: Optional[int]) -> bool:
    """Whether this is the kernel's own choice: one file for each 10 KiB of memory (fs/file_table.c, files_maxfiles_init). The kernel counts
    without the memory that it has reserved, hence the margin."""
    if memory_bytes is None:
        return False
    most = memory_bytes // 10240
    return rules.satisfied({"between": [most * 9 // 10, most]}, live)
