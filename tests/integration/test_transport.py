# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to a node: standard input where it is open, the packed module where a terminal or a password is in the way."""

from __future__ import annotations

import getpass
import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils import transport

import stand_ins
from conftest import profile, right_machine
from plays import Core, Done

SSHD = Path("/usr/sbin/sshd")
# Whom one becomes is the stand-in's business; Ansible shall not leave it out.
ROOT = {"ansible_become": True, "ansible_become_user": "root"}
REQUEST = {"version": 1, "action": "audit", "run_id": "r", "subsystems": {"sysctl": {"vm.swappiness": {"rule": {"exact": 1}}}}}


# -- through ansible-playbook -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_sudo(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Nodes of connection local that want a password."""
    folder = tmp_path_factory.mktemp("sudo")
    sudo = {**ROOT, "ansible_become_exe": stand_ins.put(folder / "sudo", stand_ins.SUDO_WITH_PASSWORD)}
    hosts = {
        "password": {**sudo, "ansible_become_pass": "secret"},
        "password-pipelining": {**sudo, "ansible_become_pass": "secret", "ansible_pipelining": True},
        "wrong-password": {**sudo, "ansible_become_pass": "wrong", "ansible_pipelining": True},
    }
    return audit(core, folder, hosts)


def test_a_password_asked_for_on_a_terminal_leaves_the_module(with_sudo: Done) -> None:
    assert said(with_sudo, "password") == ("ok", "module")


def test_with_pipelining_the_password_goes_before_the_engine(with_sudo: Done) -> None:
    assert said(with_sudo, "password-pipelining") == ("ok", "stdin")


def test_a_wrong_password_is_no_answer(with_sudo: Done) -> None:
    assert said(with_sudo, "wrong-password")[0] in ("failed", "unreachable")
    assert with_sudo.document["verdict"] == "incomplete"
    assert "wrong\n" not in with_sudo.output


@pytest.fixture(scope="module")
def over_ssh(core: Core, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Nodes behind a real ssh and sshd that speak through a pipe: no port is opened and nothing keeps running."""
    if not SSHD.exists():
        pytest.skip(f"there is no {SSHD} (Debian's openssh-server)")
    folder = tmp_path_factory.mktemp("ssh")
    connection = {
        "ansible_connection": "ssh",
        "ansible_user": getpass.getuser(),
        "ansible_ssh_args": "-F none -o ControlMaster=no",
        "ansible_ssh_common_args": f"-o ProxyCommand='{SSHD} -i -f {sshd(folder)}' -o UserKnownHostsFile=/dev/null -i {folder}/key",
    }
    terminal = {**ROOT, "ansible_become_exe": stand_ins.put(folder / "sudo-terminal", stand_ins.SUDO_WITH_TERMINAL)}
    password = {**ROOT, "ansible_become_exe": stand_ins.put(folder / "sudo-password", stand_ins.SUDO_WITH_PASSWORD)}
    hosts = {
        "plain": connection,
        "pipelining": {**connection, "ansible_pipelining": True},
        "forced-terminal": {**connection, "ansible_ssh_extra_args": "-tt"},
        "sudo-wants-terminal": {**connection, **terminal},
        "sudo-wants-password": {**connection, **password, "ansible_become_pass": "secret"},
    }
    return audit(core, folder, hosts)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("plain", "stdin"),
        ("pipelining", "stdin"),
        ("forced-terminal", "module"),
        ("sudo-wants-terminal", "module"),
        ("sudo-wants-password", "stdin"),
    ],
)
def test_the_way_over_ssh(over_ssh: Done, name: str, way: str) -> None:
    assert said(over_ssh, name) == ("ok", way), over_ssh.node(name)


def test_an_interpreter_from_the_configuration_is_taken(newest: Core, tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").write_text("[defaults]\ninterpreter_python = /nowhere/from-configuration\n", encoding="utf-8")
    done = audit(newest, tmp_path, {"one": {}}, ansible_python_interpreter=None)
    assert "/nowhere/from-configuration" in done.node("one")["error"]


def audit(core: Core, folder: Path, hosts: dict[str, dict[str, Any]], **variables: Any) -> Done:
    right = right_machine(folder / "node")
    return core.play(
        folder, "gpufleet.node.drift", hosts, gpufleet_profile=profile(folder), gpufleet_root=right.root, gpufleet_timeout_s=60, **variables
    )


def said(done: Done, name: str) -> tuple[str, str]:
    node = done.node(name)
    return node["outcome"], node["transport"]


def sshd(folder: Path) -> Path:
    """The settings of a daemon that lets in whoever runs this, with a key made here."""
    for name in ("key", "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    if os.geteuid() == 0:  # where its unit has never been started its folder is not there
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    settings = {
        "HostKey": folder / "host_key",
        "AuthorizedKeysFile": folder / "key.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
        "PidFile": "none",
        "Subsystem": "sftp internal-sftp",
    }
    path = folder / "sshd_config"
    path.write_text("".join(f"{key} {value}\n" for key, value in settings.items()), encoding="utf-8")
    return path


# -- the shell's part and the reader ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    root = right_machine(tmp_path_factory.mktemp("machine")).root
    return transport.program({**REQUEST, "root": root}).encode("ascii")


def shell(interpreter: str | None, stdin: bytes, path: str = os.defpath) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", transport.command(interpreter)], input=stdin, capture_output=True, env={"PATH": path, "HOME": "/"}, check=False
    )


def answer(done: subprocess.CompletedProcess[bytes]) -> transport.Answer | None:
    return transport.read(done.stdout.decode(), done.stderr.decode())


def test_one_round_trip_gives_the_response(sent: bytes) -> None:
    found = answer(shell(sys.executable, sent))
    assert found is not None
    assert found.response is not None, found.error
    assert found.response["results"]["sysctl/vm.swappiness"]["state"] == "ok"


def test_an_interpreter_may_have_words_and_a_tilde(sent: bytes, tmp_path: Path) -> None:
    stand_ins.put(tmp_path / "python", f'exec {sys.executable} "$@"\n')
    for interpreter in ("/usr/bin/env python", f"~{getpass.getuser()}/../{tmp_path}/python"):
        found = answer(shell(interpreter, sent, f"{tmp_path}:{os.defpath}"))
        assert found is not None
        assert found.response is not None, (interpreter, found.error)


def test_where_no_interpreter_is_named_the_first_that_is_there_is_taken(sent: bytes, tmp_path: Path) -> None:
    here = [str(path) for path in map(Path, transport.PYTHONS) if path.is_absolute() and path.exists()]
    stand_ins.put(tmp_path / "python3", f'exec {sys.executable} "$@"\n')
    found = answer(shell(None, sent, f"{tmp_path}:{os.defpath}"))
    assert found is not None
    assert found.response is not None, (here, found.error)


def test_a_terminal_as_standard_input_gives_no_answer_at_once() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(["/bin/sh", "-c", transport.command(sys.executable)], stdin=theirs, capture_output=True, timeout=10, check=False)
    os.close(ours)
    os.close(theirs)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert answer(done) is None


@pytest.mark.parametrize(
    ("stdout", "error"),
    [
        ("GPUFLEET-NO-PYTHON \n", "there is no Python 3 on this node"),
        ("hello\nGPUFLEET-NO-PYTHON /x/python\n", "there is no /x/python on this node"),
        ("GPUFLEET-OLD-PYTHON /x is Python 2.7.18\n", "needs Python 3.6 or newer: /x is Python 2.7.18"),
        ("GPUFLEET-STARTED\n", "the engine broke off: killed"),
        ('GPUFLEET-STARTED\nGPUFLEET-RESPONSE {"outcome": "o', "the engine broke off: killed"),
    ],
)
def test_no_response_is_said_in_words(stdout: str, error: str) -> None:
    found = transport.read(stdout, "killed")
    assert found is not None
    assert found.response is None
    assert found.error.startswith(error)


def test_words_that_are_not_ours_are_no_answer() -> None:
    assert transport.read("sudo: a terminal is required\n", "GPUFLEET-STARTED") is None
    assert transport.read(transport.program(REQUEST), "") is None  # a terminal shows what it is sent


def test_the_response_is_found_among_other_words() -> None:
    found = transport.read('motd GPUFLEET-STARTED\nGPUFLEET-RESPONSE oops\nGPUFLEET-RESPONSE {"a": "\\u2028"}\nbye', "")
    assert found == transport.Answer("stdin", {"a": "\u2028"})


@pytest.mark.parametrize(
    ("become", "feeds"),
    [
        (None, True),
        (SimpleNamespace(name="sudo", require_tty=False), True),
        (SimpleNamespace(name="sudo", pipelining=True, require_tty=False), True),
        (SimpleNamespace(name="su", require_tty=False), False),
        (SimpleNamespace(name="ansible.builtin.su", pipelining=False, require_tty=False), False),
        (SimpleNamespace(name="community.general.machinectl", pipelining=True, require_tty=True), False),
    ],
)
def test_which_ways_of_becoming_somebody_leave_standard_input(become: Any, feeds: bool) -> None:
    assert transport.feeds_standard_input(SimpleNamespace(has_pipelining=True, become=become)) is feeds
    assert transport.feeds_standard_input(SimpleNamespace(has_pipelining=False, become=become)) is False
