# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The door to the machine: links, reads that never wait, writes that are whole or not at all, the lock; and the deadline."""

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import deadline, host
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Host, HostError, Reader

from asking import within
from machines import Machine

AS_ROOT = os.geteuid() == 0


@pytest.fixture
def tree(tmp_path: Path) -> Machine:
    machine = Machine(str(tmp_path / "tree"))
    machine.write("/etc/a.conf", "inside\n")
    (tmp_path / "outside").write_text("outside\n")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "a.conf").write_text("outside\n")
    return machine


# -- links --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "links"),
    [
        ("/etc/a.conf", {}),
        ("/etc/b.conf", {"/etc/b.conf": "a.conf"}),
        ("/etc/b.conf", {"/etc/b.conf": "/etc/a.conf"}),
        ("/etc/b.conf", {"/etc/b.conf": "../etc/a.conf"}),
        ("/etc/b.conf", {"/etc/b.conf": "../../../../../etc/a.conf"}),
        ("/lib/b.conf", {"/lib": "/usr/lib", "/usr/lib": "/etc", "/etc/b.conf": "a.conf"}),
        ("/deep/er/b.conf", {"/deep/er": "../../../../etc", "/etc/b.conf": "./a.conf"}),
        ("/etc/../../../../etc/a.conf", {}),
        ("//etc/./a.conf", {}),
    ],
)
def test_links_are_resolved_inside_the_tree(tree: Machine, path: str, links: Any) -> None:
    for name, target in links.items():
        tree.link(name, target)
    assert Reader(tree.root).read(path) == "inside\n"


@pytest.mark.parametrize("target", ["/outside", "../outside", "../../outside", "/../outside"])
def test_no_link_leads_out_of_the_tree(tree: Machine, target: str) -> None:
    tree.link("/link", target)
    with pytest.raises(HostError) as caught:
        Reader(tree.root).read("/link")
    assert caught.value.absent
    with contextlib.suppress(HostError):
        Host(tree.root).write("/link", "written\n")
    assert (Path(tree.root).parent / "outside").read_text() == "outside\n"


def test_a_loop_of_links_is_an_error_and_no_end_of_the_world(tree: Machine) -> None:
    tree.link("/one", "two")
    tree.link("/two", "one")
    reader = Reader(tree.root)
    for path in ("/one", "/one/below"):
        with pytest.raises(HostError) as caught:
            reader.read(path)
        assert caught.value.code == errno.ELOOP
        assert not reader.exists(path)
        assert not reader.is_directory(path)
    assert reader.link("/one") == "two"
    assert reader.link("/one/below") is None


def test_names_that_no_file_can_have_are_an_error(tree: Machine) -> None:
    for root in (tree.root, "/"):
        with pytest.raises(HostError):
            Reader(root).read("/etc/a\0b")
        assert not Reader(root).exists("/etc/a\0b")


# -- reading ------------------------------------------------------------------------------------------------------


def test_a_pipe_in_the_place_of_a_file_is_an_error_at_once(tree: Machine) -> None:
    tree.fifo("/etc/pipe.conf")
    with within(5), pytest.raises(HostError, match="is no regular file"):
        Reader(tree.root).read("/etc/pipe.conf")


@pytest.mark.parametrize(("content", "text"), [(b"", ""), (b"a\xff\x00b", "a\udcff\0b"), ("\u00e4".encode(), "\u00e4")])
def test_any_byte_can_be_read_and_written_back(tree: Machine, content: bytes, text: str) -> None:
    tree.write("/etc/bytes", content)
    assert Reader(tree.root).read("/etc/bytes") == text
    Host(tree.root).write("/etc/copy", text)
    assert Path(tree.at("/etc/copy")).read_bytes() == content


def test_a_file_that_is_too_large_is_an_error(tree: Machine) -> None:
    tree.write("/etc/large", "x" * (1 << 20))
    assert len(Reader(tree.root).read("/etc/large")) == 1 << 20
    tree.write("/etc/large", "x" * ((1 << 20) + 1))
    with pytest.raises(HostError, match="is larger than"):
        Reader(tree.root).read("/etc/large")


def test_what_is_not_there_is_an_answer_and_what_cannot_be_read_is_none(tree: Machine) -> None:
    reader = Reader(tree.root)
    for path in ("/nowhere", "/etc/a.conf/below"):
        with pytest.raises(HostError) as caught:
            reader.read(path)
        assert caught.value.absent
        assert reader.names(path) == []
        assert reader.read_or(path, "else") == "else"
    with pytest.raises(HostError) as caught:
        reader.read("/etc")
    assert not caught.value.absent
    assert reader.names("/etc") == ["a.conf"]


def test_a_reader_has_no_method_that_writes() -> None:
    writers = {name for name in vars(Host) if not name.startswith("_")}
    assert {"write", "write_live", "append", "remove", "make_link", "locked"} <= writers
    assert not writers & set(dir(Reader))


def test_a_tree_answers_from_its_record_only(tree: Machine) -> None:
    reader = Reader(tree.root)
    for question in (reader.uid, reader.uname, reader.page_size, reader.now, lambda: reader.run(["true"])):
        with pytest.raises(HostError):
            question()
    tree.is_(uid=7, uname={"nodename": "n"}, page_size=65536)
    tree.command(["dpkg-query", "-S", "/x"], "procps: /x\n")
    reader = Reader(tree.root)
    assert (reader.uid(), reader.uname(), reader.page_size()) == (7, {"nodename": "n"}, 65536)
    assert reader.run(["dpkg-query", "-S", "/x"]) == (0, "procps: /x\n", "")
    with pytest.raises(HostError, match="was not recorded"):
        reader.run(["dpkg-query", "-S", "/y"])


def test_a_command_is_ended_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with pytest.raises(HostError, match="gave no answer in 1 s"):
        Reader().run(["sh", "-c", f"sleep 60 & echo $! > {mark}; wait"], limit_s=1)
    child = int(mark.read_text())
    with within(10):
        while Path(f"/proc/{child}/stat").exists() and ") Z " not in Path(f"/proc/{child}/stat").read_text():
            os.sched_yield()


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(HostError) as caught:
        Reader().run(["gpufleet-no-such-command"])
    assert caught.value.absent


# -- writing ------------------------------------------------------------------------------------------------------


def test_a_new_file_gets_the_mode_and_its_folders(tree: Machine) -> None:
    Host(tree.root).write("/etc/new.d/new.conf", "text\n")
    Host(tree.root).write("/etc/secret", "text\n", mode=0o600)
    assert tree.read("/etc/new.d/new.conf") == "text\n"
    assert stat.S_IMODE(os.stat(tree.at("/etc/new.d/new.conf")).st_mode) == 0o644
    assert stat.S_IMODE(os.stat(tree.at("/etc/secret")).st_mode) == 0o600


def test_an_old_file_keeps_mode_and_owner(tree: Machine) -> None:
    place = tree.at("/etc/a.conf")
    os.chmod(place, 0o640)
    if AS_ROOT:
        os.chown(place, 7, 9)
    before = os.stat(place)
    Host(tree.root).write("/etc/a.conf", "new\n")
    after = os.stat(place)
    assert tree.read("/etc/a.conf") == "new\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino, "the file was written in its place and not replaced in one step"


def test_a_link_is_followed_and_stays(tree: Machine) -> None:
    tree.link("/etc/link.conf", "a.conf")
    Host(tree.root).write("/etc/link.conf", "new\n")
    assert os.readlink(tree.at("/etc/link.conf")) == "a.conf"
    assert tree.read("/etc/a.conf") == "new\n"


@contextlib.contextmanager
def full_disk(folder: str) -> Iterator[None]:
    """A file system without room, on which `folder` lies; as root a real one, else every write fails with its error."""
    os.makedirs(folder, exist_ok=True)
    mounted = AS_ROOT and subprocess.call(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], stderr=subprocess.DEVNULL) == 0
    try:
        yield
    finally:
        if mounted:
            subprocess.check_call(["umount", folder])


def fill(folder: str) -> None:
    with contextlib.suppress(OSError), open(os.path.join(folder, "filler"), "wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


def test_a_full_disk_leaves_the_old_content_whole(tree: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    if not AS_ROOT or not can_mount(tree):
        monkeypatch.setattr(host, "_write_all", no_room)
    with full_disk(tree.at("/full")):
        tree.write("/full/a.conf", "old\n")
        if AS_ROOT and os.path.ismount(tree.at("/full")):
            fill(tree.at("/full"))
        for write in (Host(tree.root).write, Host(tree.root).append):
            with pytest.raises(HostError) as caught:
                write("/full/a.conf", "new\n" * 5000)
            assert caught.value.code == errno.ENOSPC
            assert "/full/a.conf" in str(caught.value)
            assert tree.read("/full/a.conf").startswith("old\n")
        assert set(os.listdir(tree.at("/full"))) <= {"a.conf", "filler"}, "something is left behind"


def can_mount(tree: Machine) -> bool:
    with full_disk(tree.at("/try")):
        return os.path.ismount(tree.at("/try"))


def no_room(_handle: int, _data: bytes) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("call", ["fsync", "fchmod", "rename"])
def test_a_write_that_fails_at_any_step_leaves_the_old_content_whole(tree: Machine, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*_arguments: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(HostError, match=r"/etc/a\.conf: Input/output error"):
        Host(tree.root).write("/etc/a.conf", "new\n")
    assert tree.read("/etc/a.conf") == "inside\n"
    assert os.listdir(tree.at("/etc")) == ["a.conf"]


@pytest.mark.skipif(not AS_ROOT, reason="only root can mount read-only")
def test_a_read_only_directory_leaves_the_old_content_whole(tree: Machine) -> None:
    folder = tree.at("/etc")
    subprocess.check_call(["mount", "--bind", folder, folder])
    try:
        subprocess.check_call(["mount", "-o", "remount,ro,bind", folder])
        for write in (
            lambda: Host(tree.root).write("/etc/a.conf", "new\n"),
            lambda: Host(tree.root).append("/etc/a.conf", "new\n"),
            lambda: Host(tree.root).remove("/etc/a.conf"),
            lambda: Host(tree.root).make_link("/etc/a.conf", "/dev/null"),
            lambda: Host(tree.root).write_live("/etc/a.conf", "new"),
        ):
            with pytest.raises(HostError) as caught:
                write()
            assert caught.value.code == errno.EROFS
        assert tree.read("/etc/a.conf") == "inside\n"
    finally:
        subprocess.check_call(["umount", folder])


def test_append_adds_whole_lines_also_after_one_that_was_cut_off(tree: Machine) -> None:
    made = Host(tree.root)
    made.append("/var/journal", "one\n")
    made.append("/var/journal", "two\n")
    assert tree.read("/var/journal") == "one\ntwo\n"
    assert stat.S_IMODE(os.stat(tree.at("/var/journal")).st_mode) == 0o600
    tree.write("/var/journal", "one\ntw")
    made.append("/var/journal", "three\n")
    assert tree.read("/var/journal") == "one\ntw\nthree\n"


def test_remove_takes_the_link_and_not_what_it_points_to(tree: Machine) -> None:
    tree.link("/etc/link.conf", "a.conf")
    Host(tree.root).remove("/etc/link.conf")
    Host(tree.root).remove("/etc/link.conf")
    assert not tree.exists("/etc/link.conf")
    assert tree.exists("/etc/a.conf")


def test_make_link_takes_the_place_of_a_file(tree: Machine) -> None:
    Host(tree.root).make_link("/etc/a.conf", "/dev/null")
    assert os.readlink(tree.at("/etc/a.conf")) == "/dev/null"
    assert os.listdir(tree.at("/etc")) == ["a.conf"]


@pytest.mark.parametrize(("uid", "allowed"), [(0, True), (1000, False)])
def test_only_root_may_apply(tree: Machine, uid: int, allowed: bool) -> None:
    tree.is_(uid=uid)
    assert Host(tree.root).may_apply()[0] is allowed


def test_nobody_applies_below_another_root_unless_it_is_a_test(tree: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.is_(uid=0)
    monkeypatch.delenv(host.ROOT_APPLY)
    assert Host(tree.root).may_apply() == (False, "changes below a root other than / are for tests only")


# -- the lock -----------------------------------------------------------------------------------------------------


def test_a_second_holder_is_refused_with_the_pid_of_the_first(tree: Machine) -> None:
    with Host(tree.root).locked("/run/lock", 0):
        started = time.monotonic()
        with pytest.raises(HostError) as caught, Host(tree.root).locked("/run/lock", 0.3):
            raise AssertionError("both hold it")
        assert f"another run holds the lock: pid {os.getpid()}" in str(caught.value)
        assert 0.3 <= time.monotonic() - started < 5
        assert caught.value.code == errno.EBUSY
    with Host(tree.root).locked("/run/lock", 0):
        pass


def test_the_lock_of_a_killed_holder_is_free(tree: Machine) -> None:
    child = os.fork()
    if child == 0:
        with Host(tree.root).locked("/run/lock", 0):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert tree.read("/run/lock") == f"{child}\n"
    with Host(tree.root).locked("/run/lock", 0):
        assert tree.read("/run/lock") == f"{os.getpid()}\n"


# -- the deadline -------------------------------------------------------------------------------------------------


def test_work_that_ends_in_time() -> None:
    def work(send: Any) -> None:
        send({"a": 1})
        send(["\udcff", "x" * 200000])

    assert deadline.bounded(work, 30) == ([{"a": 1}, ["\udcff", "x" * 200000]], True, "")


def test_work_that_hangs_is_left_behind_and_what_it_sent_is_kept() -> None:
    def work(send: Any) -> None:
        send("before")
        signal.pause()

    started = time.monotonic()
    with within(20):
        outcome = deadline.bounded(work, 0.5)
    assert outcome == (["before"], False, "")
    assert time.monotonic() - started < 10


def test_work_that_breaks_says_how_and_what_it_sent_is_kept() -> None:
    def work(send: Any) -> None:
        send("before")
        raise KeyError("broken")

    assert deadline.bounded(work, 30) == (["before"], True, "KeyError: 'broken'")


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(0)], ids=["killed", "gone"])
def test_work_that_dies_without_a_word_is_no_success(end: Any) -> None:
    def work(send: Any) -> None:
        send("before")
        end()

    assert deadline.bounded(work, 30) == (["before"], True, "the work ended without a word")


def test_what_cannot_be_sent_is_an_error() -> None:
    assert "not JSON serializable" in deadline.bounded(lambda send: send({1, 2}), 30).error


def test_what_the_work_prints_by_mistake_is_lost_and_nothing_else(capfd: Any) -> None:
    def work(send: Any) -> None:
        os.write(1, b"no end of line")
        send("said")
        os.write(2, b"5\n{\n")

    assert deadline.bounded(work, 30) == (["said"], True, "")
    assert capfd.readouterr() == ("", "")


def test_whoever_reads_our_output_does_not_wait_for_what_was_left_behind() -> None:
    # A process that even SIGKILL does not end cannot be made; one that was not sent it stands in.
    program = """
import os, signal
from ansible_collections.gpufleet.node.plugins.module_utils.engine import deadline
def work(send):
    if os.fork() == 0:
        os.setsid()
        send(os.getpid())
    signal.pause()
print(deadline.bounded(work, 1).parts[0], flush=True)
"""
    python = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    )
    left = int(python.communicate(timeout=20)[0])
    os.kill(left, signal.SIGKILL)
