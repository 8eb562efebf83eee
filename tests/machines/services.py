# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd as somebody who enables and starts units meets it: simulated, in the place of `Reader.run`.

    manager = Manager(machine)
    manager.has("nvidia-dcgm.service", UnitFileState="disabled", ActiveState="inactive")
    monkeypatch.setattr(Reader, "run", manager.run)

Without `run` in its place, `record` writes what it would answer into the record of the machine.
"""

from typing import Any, Dict, List

from ansible_collections.gpufleet.node.plugins.module_utils.engine import systemd
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Answer, Reader

from .machine import Machine

STATES = {"enable": "enabled", "disable": "disabled", "mask": "masked"}


class Manager:
    """`units`: real name -> properties; `broken`: units whose start fails; `skips`: units whose conditions do not hold; `calls`: what changed
    something, in order.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.units: Dict[str, Dict[str, str]] = {}
        self.broken: List[str] = []
        self.skips: List[str] = []
        self.calls: List[List[str]] = []
        machine.folder("/run/systemd/system")

    def has(self, unit: str, **properties: str) -> None:
        """A unit that is enabled and runs, but for these properties."""
        about = {
            "Id": unit,
            "Names": unit,
            "LoadState": "loaded",
            "ActiveState": "active",
            "SubState": "running",
            "UnitFileState": "enabled",
        }
        about.update(FragmentPath=f"/usr/lib/systemd/system/{unit}", NeedDaemonReload="no", Conflicts="shutdown.target", MainPID="700")
        self.units[unit] = dict(about, **properties)

    def is_(self, unit: str, **properties: str) -> None:
        self.units[unit].update(properties)

    def lacks(self, unit: str) -> None:
        del self.units[unit]

    def mask(self, unit: str, folder: str = "/etc/systemd/system", state: str = "masked") -> None:
        self.machine.link(f"{folder}/{unit}", "/dev/null")
        self.is_(unit, LoadState="masked", UnitFileState=state)

    def record(self, asked: List[str]) -> None:
        """Let the record of the machine answer the one question about these units."""
        self.machine.command(systemd.argv(asked), self._show(sorted(asked)))

    @property
    def run(self) -> Any:
        """To stand in the place of the method of Reader; what is not of systemctl goes to the record as ever."""
        recorded = Reader.run
        return lambda host, argv, limit_s=0.0: self._run(argv) if argv[0] == "systemctl" else recorded(host, argv)

    def _run(self, argv: List[str]) -> Answer:
        if argv[1] == "show":
            return Answer(0, self._show(argv[argv.index("--") + 1 :]), "")
        self.calls.append(argv[1:])
        if argv[1] == "daemon-reload":
            for about in self.units.values():
                about["NeedDaemonReload"] = "no"
            return Answer(0, "", "")
        unit = argv[-1]
        if argv[1] == "start":
            return self._start(unit)
        if argv[1] == "unmask":
            self.machine.remove(("/run" if "--runtime" in argv else "/etc") + f"/systemd/system/{unit}")
            self.is_(unit, LoadState="loaded", UnitFileState="disabled")
        else:
            self.is_(unit, UnitFileState=STATES[argv[1]] + ("-runtime" if "--runtime" in argv else ""))
        if argv[1] == "mask":
            self.mask(unit)
        return Answer(0, "", "")

    def _start(self, unit: str) -> Answer:
        if self.units[unit]["LoadState"] == "masked":
            return Answer(1, "", f"Failed to start {unit}: Unit {unit} is masked.\n")
        if unit in self.broken:
            self.is_(unit, ActiveState="failed", SubState="failed")
            return Answer(1, "", f"Job for {unit} failed because the control process exited with error code.\n")
        if unit not in self.skips:
            self.is_(unit, ActiveState="active", SubState="running")
        return Answer(0, "", "")

    def _show(self, asked: List[str]) -> str:
        by_name = {name: about for about in self.units.values() for name in about["Names"].split()}
        answers = [by_name.get(unit, {"Id": unit, "Names": unit, "LoadState": "not-found", "ActiveState": "inactive"}) for unit in asked]
        return "\n".join("".join(f"{key}={value}\n" for key, value in answer.items()) for answer in answers)
