# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a configuration file is: the package that brought it, or the person who runs the machine."""

from .host import HostError, Reader


def owner(host: Reader, path: str) -> str:
    """`package procps`, `no package`, or what keeps us from knowing."""
    if path.startswith("/run/"):
        return "made since the start of the machine"
    queries = (
        ("/var/lib/dpkg/status", ["dpkg-query", "-S", path]),
        ("/var/lib/rpm", ["rpm", "-qf", "--qf", "%{NAME}\n", path]),
        ("/usr/lib/sysimage/rpm", ["rpm", "-qf", "--qf", "%{NAME}\n", path]),
    )
    for database, argv in queries:
        if not host.exists(database):
            continue
        try:
            answer = host.run(argv)
        except HostError as error:
            return f"unknown ({error.reason})"
        if answer.status != 0:
            return "no package"
        return "package {}".format(answer.stdout.split("\n")[0].split(":")[0].strip())
    return "unknown (no package database)"
