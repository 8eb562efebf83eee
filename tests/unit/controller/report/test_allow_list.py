# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report may hold is what settings read, and no more: no arguments of a process, no environment, no line of a foreign file that is about
something else. Shown with the engine on a made machine full of secrets, and with answers that hold more than they should.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spools
from ansible_collections.gpufleet.node.plugins.module_utils.engine import run
from ansible_collections.gpufleet.node.plugins.plugin_utils.profile import compile_for_host
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, terminal, words, write

from machines import Machine, build

SECRET = "hunter2"


def secretive(folder: Path) -> Machine:
    """A machine on which every file that the engine may look at holds a secret that is none of its business; each has a number of its own."""
    machine = build(folder)
    machine.thp("enabled", "never")  # mending that can disturb the job
    machine.process(4711, "python3", ["/dev/nvidia0", f"/home/{SECRET}-1/data"])
    machine.write("/proc/4711/cmdline", f"python3\0--token={SECRET}-2\0")
    machine.write("/proc/4711/environ", f"PASSWORD={SECRET}-3\0")
    machine.write("/proc/4711/stat", f"4711 (python3) S 1 {SECRET}-4")
    machine.write("/proc/cmdline", f"root=/dev/sda1 password={SECRET}-5 quiet\n")
    machine.write(
        "/etc/sysctl.d/50-foreign.conf",
        f"# {SECRET}-6\nkernel.core_pattern = |/usr/bin/send --key {SECRET}-7\nthe password is {SECRET}-8\nvm.swappiness = 60\n",
    )
    machine.write("/etc/tmpfiles.d/foreign.conf", f"f /run/key 0600 root root - {SECRET}-9\nnonsense {SECRET}-10\n")
    machine.write("/etc/security/limits.d/50-foreign.conf", f"# {SECRET}-11\n{SECRET}-12 is nonsense\n")
    machine.write("/etc/modprobe.d/foreign.conf", f"options foreign key={SECRET}-13\ninstall foreign /bin/send {SECRET}-14\n")
    machine.write("/etc/fstab", f"//server/share /mnt cifs username=u,password={SECRET}-15 0 0\n")
    machine.write("/etc/default/grub", f'GRUB_CMDLINE_LINUX="password={SECRET}-16"\n')
    machine.write("/etc/systemd/system/foreign.service", f"[Service]\nEnvironment=KEY={SECRET}-17\nExecStart=/bin/send {SECRET}-18\n")
    machine.write("/etc/systemd/system/containerd.service.d/proxy.conf", f"[Service]\nEnvironment=HTTPS_PROXY=http://u:{SECRET}-19@proxy\n")
    return machine


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the engine says of that machine under the profile training, with everything that a check would change."""
    machine = secretive(tmp_path_factory.mktemp("secretive") / "machine")
    compiled = compile_for_host({"gpufleet_profile": "training"}, lambda value: value, [])
    request = {"version": 1, "action": "check", "run_id": "r", "root": machine.root, "deadline_s": 60, "subsystems": compiled["subsystems"]}
    response = run.handle(request)
    assert (response["outcome"], response["faults"]) == ("ok", [])
    return {"response": response, "profile": compiled}


def test_the_foreign_files_were_read(told: dict[str, Any]) -> None:
    """Else the next test would prove nothing."""
    swappiness = told["response"]["results"]["sysctl/vm.swappiness"]
    assert swappiness["views"]["persisted"]["from"] == "/etc/sysctl.d/50-foreign.conf:4"
    assert any("/etc/sysctl.d/50-foreign.conf:3" in note for note in told["response"]["notes"])


def test_who_blocks_is_a_pid_and_a_name(told: dict[str, Any]) -> None:
    holders = {holder for result in told["response"]["results"].values() for holder in result.get("blocked_by", [])}
    assert holders == {"pid 4711 (python3) holds /dev/nvidia0"}


def test_no_secret_gets_into_a_report(told: dict[str, Any], tmp_path: Path) -> None:
    entry = spools.answer("a", profile_key=told["profile"]["key"])
    entry["response"] = told["response"]
    made = document.assemble(spools.write(tmp_path, [entry], profiles=(told["profile"],)), finished=spools.FINISHED)
    texts = [Path(path).read_text() for path in write.write_all(made, tmp_path / "reports").values()]
    texts += [terminal.render(made, 10_000), json.dumps(told["response"])]
    assert [text[max(0, text.index(SECRET) - 200) :][:300] for text in texts if SECRET in text] == []


def test_every_fact_of_the_engine_is_on_the_list(told: dict[str, Any]) -> None:
    """A new fact does not come into documents by itself: someone has to think about whether it may be shown."""
    assert set(told["response"]["node"]) <= set(words.FACTS)


def everywhere(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in an answer."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from everywhere(part)


def test_what_is_on_no_list_stays_out(tmp_path: Path) -> None:
    """An answer whose every object holds something more, as that of another version or of someone else may."""
    full = spools.result(
        "blocked",
        winner={"from": "/etc/x:1", "owner": "x"},
        waived={"reason": "x", "until": "2027-01-01"},
        blocked_by=["pid 1 (a) holds /dev/nvidia0"],
        changes=[{"view": "live", "target": "/proc/x", "before": "1", "after": "2"}],
    )
    entry = spools.answer("a", {spools.SWAPPINESS: full})
    entry["response"]["faults"] = [{"subsystem": "sysctl", "error": "x"}]
    names = (entry["response"]["results"], entry)  # of the first every key is a setting, and the second is ours
    for one in list(everywhere(entry)):
        if not any(one is other for other in names):
            one.update(cmdline=SECRET, environment={"KEY": SECRET}, stdout=[SECRET], rc=0)
    made = spools.assemble(tmp_path, [entry])
    assert made["nodes"][0]["results"][spools.SWAPPINESS]["blocked_by"] == full["blocked_by"]
    assert SECRET not in json.dumps(made)
    assert '"rc"' not in json.dumps(made)
