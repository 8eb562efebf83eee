# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only door from the engine to the machine: files, commands, identity, time.

`Reader` looks and has no method that writes; audits and check mode get nothing else. `Host` adds the writes.

Both take a root. Below a root other than `/` links are resolved as chroot would (an absolute link inside the tree stays
inside), and identity, time and commands are answered from `RECORD`, a JSON file at the top of the tree:

    {"uid": 0, "uname": {"nodename", "release", "machine"}, "page_size": 4096, "now": 1764540000,
     "commands": [{"argv": ["dpkg-query", "-S", "/x"], "status": 0, "stdout": "..."}],
     "devices": {"/dev/nvidia0": {"mode": 438, "uid": 0, "gid": 0}}}

What the record does not answer raises `HostError`.
"""

import contextlib
import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

RECORD = "gpufleet-record.json"
CHANGES = "gpufleet-changes.jsonl"
LINKS_MAX = 40
TEXT_MAX = 1 << 20
COMMAND_S = 10.0
ROOT_APPLY = "GPUFLEET_APPLY_BELOW_ROOT"


class Answer(NamedTuple):
    status: int
    stdout: str
    stderr: str


class DeviceFile(NamedTuple):
    mode: int
    uid: int
    gid: int


class HostError(Exception):
    """Something on the machine could not be read, run or written. `reason` is for people, `code` an errno or 0."""

    def __init__(self, path: str, reason: str, code: int = 0) -> None:
        Exception.__init__(self, f"{path}: {reason}")
        self.path = path
        self.reason = reason
        self.code = code

    @property
    def absent(self) -> bool:
        """True when the thing is simply not there, which is an answer and not a fault."""
        return self.code in (errno.ENOENT, errno.ENOTDIR)


def _os_error(path: str, error: OSError) -> HostError:
    return HostError(path, error.strerror or str(error), error.errno or 0)


class Reader:
    """Looks at a machine, or at a tree that was recorded from one."""

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.abspath(root)
        self._record: Optional[Dict[str, Any]] = None

    # -- files ------------------------------------------------------------------------------------------------

    def real(self, path: str, follow_last: bool = True) -> str:
        """The path outside the root that `path` (absolute, inside the root) names, links resolved inside the root."""
        try:
            usable = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:  # a name that the locale of this process cannot say
            usable = False
        if not usable:
            raise HostError(path, "is no usable path", errno.EINVAL)
        if self.root == "/":
            return path
        todo = [part for part in path.split("/") if part]
        done: List[str] = []
        links = 0
        while todo:
            part = todo.pop(0)
            if part == ".":
                continue
            if part == "..":
                done = done[:-1]
                continue
            here = os.path.join(self.root, *done, part)
            if (todo or follow_last) and os.path.islink(here):
                links += 1
                if links > LINKS_MAX:
                    raise HostError(path, "too many links", errno.ELOOP)
                target = os.readlink(here)
                if target.startswith("/"):
                    done = []
                todo = [piece for piece in target.split("/") if piece] + todo
                continue
            done.append(part)
        return os.path.join(self.root, *done)

    def read(self, path: str, limit: int = TEXT_MAX) -> str:
        """The text of a regular file. Bytes that are no UTF-8 come back as surrogates; a pipe or device is an error, never a wait."""
        try:
            handle = os.open(self.real(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise _os_error(path, error) from error
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise HostError(path, "is no regular file", errno.EINVAL)
            chunks: List[bytes] = []
            size = 0
            while size <= limit:
                chunk = os.read(handle, 65536)
                if not chunk:
                    break
                chunks.append(chunk)
                size += len(chunk)
        except OSError as error:
            raise _os_error(path, error) from error
        finally:
            os.close(handle)
        if size > limit:
            raise HostError(path, f"is larger than {limit} bytes", errno.EFBIG)
        return b"".join(chunks).decode("utf-8", "surrogateescape")

    def read_or(self, path: str, default: str = "") -> str:
        """The stripped text of a file, or the default when it cannot be read for whatever reason."""
        try:
            return self.read(path).strip()
        except HostError:
            return default

    def names(self, path: str) -> List[str]:
        """The sorted names in a directory; empty when there is no such directory."""
        try:
            return sorted(os.listdir(self.real(path)))
        except OSError as error:
            failure = _os_error(path, error)
            if failure.absent:
                return []
            raise failure from error

    def exists(self, path: str) -> bool:
        try:
            return os.path.exists(self.real(path))
        except HostError:
            return False

    def is_directory(self, path: str) -> bool:
        try:
            return os.path.isdir(self.real(path))
        except HostError:
            return False

    def link(self, path: str) -> Optional[str]:
        """Where a link points to, as written; None when it is no link."""
        try:
            return os.readlink(self.real(path, follow_last=False))
        except (OSError, HostError):
            return None

    def mode(self, path: str) -> int:
        """The permission bits of a file."""
        try:
            return stat.S_IMODE(os.stat(self.real(path)).st_mode)
        except OSError as error:
            raise _os_error(path, error) from error

    def device(self, path: str) -> DeviceFile:
        """A device file; what is there and no device is an error. A tree cannot hold any, so its record tells of them."""
        if self.root != "/":
            about = dict(self.recorded("devices")).get(path)
            if about is None:
                raise HostError(path, os.strerror(errno.ENOENT), errno.ENOENT)
            return DeviceFile(int(about["mode"]), int(about["uid"]), int(about["gid"]))
        try:
            found = os.stat(path)
        except OSError as error:
            raise _os_error(path, error) from error
        if not stat.S_ISCHR(found.st_mode):
            raise HostError(path, "is no device", errno.ENODEV)
        return DeviceFile(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)

    # -- identity and time --------------------------------------------------------------------------------------

    def recorded(self, key: str) -> Any:
        """What the record of a tree says; only for roots other than /."""
        if self._record is None:
            try:
                self._record = json.loads(self.read("/" + RECORD))
            except (HostError, ValueError):
                self._record = {}
        if not isinstance(self._record, dict) or key not in self._record:
            raise HostError("/" + RECORD, f"does not record {key}")
        return self._record[key]

    def uid(self) -> int:
        return os.geteuid() if self.root == "/" else int(self.recorded("uid"))

    def uname(self) -> Dict[str, str]:
        """nodename, release (kernel) and machine (architecture)."""
        if self.root == "/":
            name = os.uname()
            return {"nodename": name.nodename, "release": name.release, "machine": name.machine}
        return dict(self.recorded("uname"))

    def page_size(self) -> int:
        return os.sysconf("SC_PAGE_SIZE") if self.root == "/" else int(self.recorded("page_size"))

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time() if self.root == "/" else float(self.recorded("now"))

    def python(self) -> str:
        return "{}.{}.{}".format(*sys.version_info[:3])

    # -- commands -----------------------------------------------------------------------------------------------

    def run(self, argv: List[str], limit_s: float = COMMAND_S) -> Answer:
        """Run a command in the C locale, without a shell. It is killed with its children after `limit_s` seconds."""
        if self.root != "/":
            for known in self.recorded("commands"):
                if known.get("argv") == argv:
                    return Answer(known.get("status", 0), known.get("stdout", ""), known.get("stderr", ""))
            raise HostError(argv[0], "was not recorded with these arguments")
        environment = {"LC_ALL": "C", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        try:
            child = subprocess.Popen(  # pylint: disable=ansible-bad-function  # there is no AnsibleModule here whose run_command it could be
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise _os_error(argv[0], error) from error
        try:
            out, err = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            raise HostError(argv[0], f"gave no answer in {limit_s:g} s", errno.ETIMEDOUT) from None
        return Answer(child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


class Host(Reader):
    """A machine that may be changed."""

    def may_apply(self) -> Tuple[bool, str]:
        """Whether changes are possible here at all, and why not."""
        if self.root != "/" and not os.environ.get(ROOT_APPLY):
            return False, "changes below a root other than / are for tests only"
        if self.uid() != 0:
            return False, "changes need root"
        return True, ""

    def change(self, argv: List[str], limit_s: float = COMMAND_S) -> str:
        """Run a command that changes the machine; its output. A status other than 0 is an error with the command's own words.

        Below a root other than / nothing is run: the command is added to `CHANGES` in the tree, for tests to look at.
        """
        if self.root != "/":
            self.append("/" + CHANGES, json.dumps(argv) + "\n")
        answer = self.run(argv, limit_s)
        if answer.status != 0:
            words = " ".join((answer.stderr or answer.stdout).split())
            raise HostError(argv[0], words[:300] or f"ended with status {answer.status}")
        return answer.stdout

    def write_live(self, path: str, value: str) -> None:
        """Write a value into a file of the kernel, in one write, as the kernel wants it. Read back is the caller's."""
        try:
            handle = os.open(self.real(path), os.O_WRONLY | os.O_CLOEXEC | (os.O_TRUNC if self.root != "/" else 0))
        except OSError as error:
            raise _os_error(path, error) from error
        try:
            os.write(handle, (value + "\n").encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise _os_error(path, error) from error
        finally:
            os.close(handle)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Replace a file in one step: after any failure the old content is whole.

        An existing file keeps mode, owner and SELinux context, and a link is followed. A new file gets `mode`.
        """
        target = self.real(path)
        if self.root == "/":
            target = os.path.realpath(target)
        folder = os.path.dirname(target)
        temporary = os.path.join(folder, f".gpufleet.{os.path.basename(target)}.{os.getpid()}")
        try:
            os.makedirs(folder, exist_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                _write_all(handle, text.encode("utf-8", "surrogateescape"))
                _copy_identity(target, handle, mode)
                os.fsync(handle)
            finally:
                os.close(handle)
            os.rename(temporary, target)
            _sync_folder(folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _os_error(path, error) from error

    def append(self, path: str, text: str, mode: int = 0o600) -> None:
        """Add lines to a file and have them on the disk before this returns. A last line that a crash cut off is ended first."""
        target = self.real(path)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            handle = os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, mode)
            try:
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    text = "\n" + text
                _write_all(handle, text.encode("utf-8", "surrogateescape"))
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise _os_error(path, error) from error

    def make_link(self, path: str, target: str) -> None:
        """Have a link at this path, in the place of whatever file is there."""
        real = self.real(path, follow_last=False)
        temporary = os.path.join(os.path.dirname(real), f".gpufleet.{os.path.basename(real)}.{os.getpid()}")
        try:
            os.symlink(target, temporary)
            os.rename(temporary, real)
            _sync_folder(os.path.dirname(real))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _os_error(path, error) from error

    def remove(self, path: str) -> None:
        """Remove a file or link (not what the link points to); fine when it is not there."""
        try:
            os.unlink(self.real(path, follow_last=False))
        except OSError as error:
            failure = _os_error(path, error)
            if not failure.absent:
                raise failure from error

    @contextlib.contextmanager
    def locked(self, path: str, wait_s: float) -> Iterator[None]:
        """Hold an exclusive lock. Refused with the holder's pid when it is not free within `wait_s` seconds."""
        target = self.real(path)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _os_error(path, error) from error
        try:
            end = time.monotonic() + wait_s
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.EACCES):
                        raise _os_error(path, error) from error
                if time.monotonic() >= end:
                    holder = os.pread(handle, 64, 0).decode("ascii", "replace").strip() or "unknown"
                    raise HostError(path, f"another run holds the lock: pid {holder}", errno.EBUSY)
                time.sleep(0.1)
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)
            yield
        finally:
            os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _copy_identity(target: str, handle: int, mode: int) -> None:
    """Give the new file the mode, owner and SELinux context of the one that it will replace."""
    try:
        old = os.stat(target)
    except OSError:
        os.fchmod(handle, mode)
        return
    os.fchmod(handle, stat.S_IMODE(old.st_mode))
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):  # no SELinux here, or a file system without attributes
        os.setxattr(handle, "security.selinux", os.getxattr(target, "security.selinux"))


def _sync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
