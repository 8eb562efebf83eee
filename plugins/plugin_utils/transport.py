# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a request reaches the engine on a node, and how the response comes back.

The fastest way that works is taken, and named in what is recorded of the node:

stdin   the engine's source on the standard input of the node's Python, in one round trip and with no file on the node
module  the packed Ansible module: where the connection cannot feed standard input, or become needs a terminal
"""

from __future__ import annotations

import base64
import functools
import json
import shlex
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

ENGINE = Path(__file__).resolve().parent.parent / "module_utils" / "engine"
PACKAGE = "gpufleet_engine"
STARTED = "GPUFLEET-STARTED"
RESPONSE = "GPUFLEET-RESPONSE "
NO_PYTHON = "GPUFLEET-NO-PYTHON"
#: Where a Python 3 may be, the distribution's own first: it is the one that is always there for the system's sake.
PYTHONS = ("/usr/bin/python3", "/usr/libexec/platform-python", "python3", "/usr/local/bin/python3")
#: Ways of becoming another user that want a terminal, or take standard input for themselves.
BECOME_WITH_TERMINAL = ("su", "runas", "machinectl", "enable")

# What the node's Python runs: a finder for the sources that are in this very text, and one call. It is kept to what every Python 3 can parse, so that an
# old one can say that it is too old.
PROGRAM = """\
import sys
print("{started}")
if sys.version_info < (3, 6):
    print("{response}" + '{{"outcome": "failed", "error": "needs Python 3.6 or newer, here is %d.%d"}}' % sys.version_info[:2])
    sys.exit(0)
sys.stdout.flush()
import base64, json, zlib
sources, request = json.loads(zlib.decompress(base64.b64decode("{payload}")).decode("utf-8"))
class Sources:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in sources:
            return None
        spec = type(sys.__spec__)(name, Sources, is_package=sources[name][0])
        return spec
    @staticmethod
    def create_module(spec):
        return None
    @staticmethod
    def exec_module(module):
        exec(compile(sources[module.__name__][1], module.__name__, "exec", dont_inherit=True), module.__dict__)
sys.meta_path.insert(0, Sources)
from {package}.run import handle
print("{response}" + json.dumps(handle(request)))
"""


class Answer(NamedTuple):
    """What came back: the response, or why there is none."""

    transport: str
    response: dict[str, Any] | None
    error: str = ""


def ask(action: Any, request: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Answer:
    """Carry a request to the node of an action plugin. A node that cannot be reached raises what Ansible raises."""
    if _feeds_standard_input(action):
        output = action._low_level_execute_command(command(_interpreter(action, task_vars)), in_data=program(request).encode("ascii"))
        answer = read(str(output.get("stdout", "")), str(output.get("stderr", "")))
        if answer is not None:
            return answer
    result = action._execute_module(
        module_name=f"gpufleet.node.{action._task.action.rpartition('.')[2]}", module_args={"request": dict(request)}, task_vars=task_vars
    )
    if isinstance(result.get("response"), dict):
        return Answer("module", result["response"])
    if result.get("unreachable"):
        return Answer("none", None, str(result.get("msg", "")))
    return Answer("module", None, str(result.get("msg") or result.get("module_stderr") or "the module gave no answer"))


def command(interpreter: str | None) -> str:
    """The shell's part: start the first Python that is there, or say that none is."""
    choices = (interpreter,) if interpreter else PYTHONS
    tries = " ".join(shlex.quote(choice) for choice in choices)
    return f'for python in {tries}; do command -v "$python" >/dev/null 2>&1 && exec "$python" -I -S -; done; echo {NO_PYTHON}'


def program(request: Mapping[str, Any]) -> str:
    """The text that the node's Python reads from its standard input."""
    payload = base64.b64encode(zlib.compress(json.dumps([sources(), request]).encode("utf-8"), 6)).decode("ascii")
    return PROGRAM.format(started=STARTED, response=RESPONSE, payload=payload, package=PACKAGE)


@functools.cache
def sources() -> dict[str, tuple[bool, str]]:
    """Module name -> (is a package, source) of the whole engine."""
    found = {}
    for path in sorted(ENGINE.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(ENGINE).with_suffix("").parts]
        package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if package else parts)] = (package, path.read_text(encoding="utf-8"))
    return found


def read(stdout: str, stderr: str) -> Answer | None:
    """The answer in what the node printed, whatever its shell printed around it; None when our program never started."""
    for line in stdout.splitlines():
        if line.startswith(RESPONSE):
            try:
                response = json.loads(line[len(RESPONSE) :])
            except ValueError:
                break
            return Answer("stdin", response)
    if STARTED in stdout:
        return Answer("stdin", None, "the engine broke off: " + (stderr.strip() or stdout.strip())[-500:])
    if NO_PYTHON in stdout:
        return Answer("stdin", None, "there is no Python 3 on this node (set ansible_python_interpreter if it lies elsewhere)")
    return None


def _feeds_standard_input(action: Any) -> bool:
    connection = action._connection
    become = getattr(connection, "become", None)
    return bool(getattr(connection, "has_pipelining", False)) and (
        become is None or become.name.rpartition(".")[2] not in BECOME_WITH_TERMINAL
    )


def _interpreter(action: Any, task_vars: Mapping[str, Any]) -> str | None:
    """The interpreter that the inventory names; None when Ansible would go and look for one."""
    named = action._templar.template(task_vars.get("ansible_python_interpreter"))
    return None if not named or str(named).startswith("auto") else str(named)
