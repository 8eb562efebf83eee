# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One running machine for each distribution: start, end, reboot, and how to reach it."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import image
import qemu

START_LIMIT_S = 600


class Machine(NamedTuple):
    distro: str
    folder: Path
    port: int
    key: Path

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def disk(self) -> Path:
        return self.folder / "disk.qcow2"


def folder(distro: str) -> Path:
    return image.CACHE / f"machine-{distro}"


def running(distro: str) -> Machine | None:
    """The machine of this distribution, where its process lives."""
    place = folder(distro)
    try:
        state = json.loads((place / "state.json").read_text())
    except FileNotFoundError:
        return None
    machine = Machine(distro, place, state["port"], Path(state["key"]))
    return machine if pid(machine) else None


def pid(machine: Machine) -> int | None:
    """The process of exactly this machine: a number that somebody else has now does not count."""
    try:
        number = int((machine.folder / "qemu.pid").read_text())
        arguments = Path(f"/proc/{number}/cmdline").read_bytes()
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return None
    return number if str(machine.disk).encode() in arguments else None


def up(distro: str) -> Machine:
    """A machine that answers; a pristine one, unless it runs already."""
    already = running(distro)
    if already:
        return already
    base = image.get(distro)
    shutil.rmtree(folder(distro), ignore_errors=True)
    folder(distro).mkdir(parents=True)
    image.forget_others(base)
    machine = Machine(distro, folder(distro), free_port(), base.key)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", base.disk, "-F", "raw", machine.disk], check=True)
    accelerator = qemu.accelerator(base.kernel)
    (machine.folder / "state.json").write_text(json.dumps({"port": machine.port, "key": str(base.key), "accelerator": accelerator}))
    subprocess.run(
        [
            *qemu.base(accelerator),
            *qemu.machine(machine.disk, machine.port),
            *("-serial", f"file:{machine.console}", "-daemonize", "-pidfile", str(machine.folder / "qemu.pid")),
        ],
        check=True,
    )
    try:
        wait(machine)
    except qemu.StartFailed:
        down(distro)
        raise
    return machine


def down(distro: str) -> None:
    machine = running(distro)
    if machine:
        close_shared_connection(machine)
        number = pid(machine)
        if number:
            descriptor = os.pidfd_open(number)
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            select.select([descriptor], [], [], 30)
            os.close(descriptor)
    shutil.rmtree(folder(distro), ignore_errors=True)


def reboot(machine: Machine) -> None:
    before = boot_id(machine)
    ssh(machine, ["systemctl", "reboot"], check=False)
    close_shared_connection(machine)
    wait(machine, not_boot_id=before)


def wait(machine: Machine, not_boot_id: str | None = None) -> None:
    """Until the machine is reachable and has finished its start; after a reboot: until it is another boot."""
    begin = time.monotonic()
    while time.monotonic() - begin < START_LIMIT_S:
        if pid(machine) is None:
            raise qemu.StartFailed("the machine has ended", machine.console)
        # Patience grows: short while the machine is starting and drops what it is sent, long on a busy host.
        if greets(machine.port, timeout_s=2 + (time.monotonic() - begin) / 20):
            answer = ssh(machine, ["cat", "/proc/sys/kernel/random/boot_id", "&&", "systemctl", "is-system-running", "--wait"], check=False)
            words = answer.stdout.split()
            if len(words) == 2 and words[0] != not_boot_id and words[1] in ("running", "degraded"):
                return
        time.sleep(0.5)
    raise qemu.StartFailed(f"no answer for {START_LIMIT_S} s", machine.console)


def greets(port: int, timeout_s: float) -> bool:
    """Whether an ssh server speaks first, as they do. QEMU accepts connections long before the machine does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def boot_id(machine: Machine) -> str:
    return ssh(machine, ["cat", "/proc/sys/kernel/random/boot_id"]).stdout.strip()


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return int(any_port.getsockname()[1])


def ssh(machine: Machine, command: list[str], *, stdin: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs a command on the machine; its words are joined by blanks and read by the shell there, as ssh does it."""
    return subprocess.run(ssh_command(machine) + command, input=stdin, text=True, errors="replace", capture_output=True, check=check)


def ssh_command(machine: Machine) -> list[str]:
    return ["ssh", *ssh_options(machine), "-p", str(machine.port), "-i", str(machine.key), "root@127.0.0.1"]


def ssh_options(machine: Machine) -> list[str]:
    # The machine is thrown away and reached through the loopback only: its host key says nothing. A shared connection saves
    # a second for each command on an emulated CPU.
    return [
        *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes"),
        *("-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=12"),
        *("-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", f"ControlPath={socket_path(machine)}"),
    ]


def socket_path(machine: Machine) -> Path:
    """Short, since a socket's path may have 107 bytes only; per user and machine."""
    name = hashlib.sha256(f"{machine.folder} {machine.port}".encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"vm-{os.getuid()}-{name}"


def close_shared_connection(machine: Machine) -> None:
    subprocess.run([*ssh_command(machine)[:-1], "-O", "exit", "root@127.0.0.1"], capture_output=True, check=False)


def inventory(machine: Machine | None) -> dict[str, object]:
    """As an Ansible inventory script answers. Without a machine it is empty, and plays that need one have to say so."""
    if machine is None:
        return {"_meta": {"hostvars": {}}}
    variables = {
        "ansible_host": "127.0.0.1",
        "ansible_port": machine.port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(machine.key),
        "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes",
        "ansible_ssh_timeout": 60,
        "ansible_ssh_pipelining": True,
        "ansible_python_interpreter": "/usr/bin/python3",
    }
    return {"machines": {"hosts": [machine.distro]}, "_meta": {"hostvars": {machine.distro: variables}}}
