# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd on a made machine: the units that it has loaded, as `systemctl show` tells, and the limits of their daemons. Simulated.

daemons = Daemons(machine, ["slurmd.service", "docker.service"])
daemons.runs("slurmd.service", pid=900, LimitMEMLOCK="8388608")
daemons.reload()        # what the drop-ins of a unit say becomes what is loaded; a daemon keeps what it has
"""

from typing import Any, Dict, List

from ansible_collections.gpufleet.node.plugins.module_utils.engine import systemd

from .machine import Machine

UNIT = "[Unit]\nDescription=made\n\n[Service]\nExecStart=/usr/sbin/made\n"
DEFAULTS = {"LimitMEMLOCK": "8388608", "LimitMEMLOCKSoft": "8388608", "LimitNOFILE": "524288", "LimitNOFILESoft": "1024"}
LIMITS = "Limit                     Soft Limit           Hard Limit           Units     \n"


class Daemons:
    """`asked` are the units of the one question; those that nobody made are not found."""

    def __init__(self, machine: Machine, asked: List[str]) -> None:
        self.machine = machine
        self.asked = asked
        self.units: Dict[str, Dict[str, str]] = {}
        machine.folder("/run/systemd/system")
        machine.command(systemd.RELOAD)
        self.tell()

    def runs(self, unit: str, pid: int = 0, text: str = UNIT, **properties: str) -> None:
        """A unit with its file, and its daemon where it has a pid."""
        path = f"/usr/lib/systemd/system/{unit}"
        self.machine.write(path, text)
        about = {"Id": unit, "Names": unit, "LoadState": "loaded", "FragmentPath": path, "NeedDaemonReload": "no", "MainPID": str(pid)}
        about["ActiveState"] = "active" if pid else "inactive"
        self.units[unit] = dict(about, **DEFAULTS)
        self.is_(unit, **properties)
        if pid:
            self.machine.process(pid, unit.split(".")[0], cgroup=f"0::/system.slice/{unit}\n")
            self.restart(unit)

    def is_(self, unit: str, **properties: str) -> None:
        """Let systemd say something else about a unit."""
        self.units[unit].update(properties)
        self.tell()

    def restart(self, unit: str) -> None:
        """The daemon now has what is loaded."""
        about = self.units[unit]
        self.limits(
            int(about["MainPID"]), **{key: (about.get(key + "Soft", about[key]), about[key]) for key in ("LimitMEMLOCK", "LimitNOFILE")}
        )

    def limits(self, pid: int, **limits: Any) -> None:
        """The soft and hard limits of a process, as /proc shows them."""
        rows = (("Max locked memory", "LimitMEMLOCK", "bytes"), ("Max open files", "LimitNOFILE", "files"))
        shown = ["{:<26}{:<21}{:<21}{:<10}\n".format(label, *_words(limits[key]), unit) for label, key, unit in rows]
        self.machine.write(f"/proc/{pid}/limits", LIMITS + "".join(shown))

    def reload(self) -> None:
        """systemd reads the drop-ins of ours, and no other files: that is what these tests change."""
        for unit, about in self.units.items():
            path = f"/etc/systemd/system/{unit}.d/zz-gpufleet.conf"
            lines = self.machine.read(path).split("\n") if self.machine.exists(path) else []
            about.update(DEFAULTS)
            for key, _sign, value in (line.partition("=") for line in lines if line.startswith("Limit")):
                about.update({key: value, key + "Soft": value})
        self.tell()

    def tell(self) -> None:
        answers = [self.units.get(unit, {"Id": unit, "Names": unit, "LoadState": "not-found"}) for unit in sorted(self.asked)]
        text = "\n".join("".join(f"{key}={value}\n" for key, value in answer.items()) for answer in answers)
        argv = systemd.argv(self.asked)
        self.machine.record["commands"] = [one for one in self.machine.record["commands"] if one["argv"] != argv]
        self.machine.command(argv, text)


def _words(pair: Any) -> Any:
    return ["unlimited" if value == "infinity" else value for value in pair]
