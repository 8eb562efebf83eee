# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work that can be left behind: it runs in a child process, and whoever waits for it stops waiting at a set time.

A read that hangs in the kernel cannot be ended, not even by a signal; the process that waits for it can.
"""

import contextlib
import json
import os
import select
import signal
import time
from typing import Any, Callable, List, NamedTuple


class Outcome(NamedTuple):
    """`parts` are the JSON objects that the work sent; `ended` is false when the time was up; `error` is what
    broke it.
    """

    parts: List[Any]
    ended: bool
    error: str


def bounded(work: Callable[[Callable[[Any], None]], None], seconds: float) -> Outcome:
    """Call `work(send)` in a child. What it sends before the time is up is kept whatever becomes of it."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        _work_and_exit(work, writable)
    os.close(writable)
    data, ended = _collect(readable, time.monotonic() + seconds)
    os.close(readable)
    if not ended:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)  # and it is not waited for: in the worst case it hangs in the kernel
    else:
        os.waitpid(child, 0)
    parts, error = [], ""
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            frame = json.loads(line.decode("utf-8"))
            if isinstance(frame, dict) and "error" in frame:
                error = frame["error"]
            elif isinstance(frame, dict) and "part" in frame:
                parts.append(frame["part"])
    if ended and not error and not data.endswith(b"{}\n"):
        error = "the work ended without a word"
    return Outcome(parts, ended, error)


def _work_and_exit(work: Callable[[Callable[[Any], None]], None], handle: int) -> None:
    def send(part: Any) -> None:
        _write(handle, {"part": part})

    # Who reads our output reads to its end, and would wait for a child that hangs. What is said there all the same is no frame, and lost.
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    try:
        work(send)
        os.write(handle, b"\n{}\n")
    except BaseException as error:  # a child must never return into the code of its parent
        with contextlib.suppress(OSError):
            _write(handle, {"error": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _write(handle: int, frame: Any) -> None:
    data = b"\n" + json.dumps(frame).encode("utf-8") + b"\n"
    while data:
        data = data[os.write(handle, data) :]


def _collect(handle: int, end: float) -> Any:
    """(all bytes, whether the writer closed its end before the time was up)."""
    chunks: List[bytes] = []
    while True:
        ready, _writable, _failed = select.select([handle], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return b"".join(chunks), False
        chunk = os.read(handle, 65536)
        if not chunk:
            return b"".join(chunks), True
        chunks.append(chunk)
