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
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ansible import constants
from ansible.errors import AnsibleConnectionFailure

ENGINE = Path(__file__).resolve().parent.parent / "module_utils" / "engine"
PACKAGE = "gpufleet_engine"
STARTED = "GPUFLEET-STARTED"
RESPONSE = "GPUFLEET-RESPONSE "
NO_PYTHON = "GPUFLEET-NO-PYTHON"
OLD_PYTHON = "GPUFLEET-OLD-PYTHON"
#: Where a Python 3 may be, the distribution's own first: it is the one that is always there for the system's sake.
PYTHONS = ("/usr/bin/python3", "/usr/libexec/platform-python", "python3", "/usr/local/bin/python3")
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
    if feeds_standard_input(action._connection):
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
        raise AnsibleConnectionFailure(str(result.get("msg", "")))
    words = [str(result[key]).strip() for key in ("msg", "module_stderr", "module_stdout") if result.get(key)]
    return Answer("module", None, "; ".join(words)[:1000] or "the module gave no answer")


def feeds_standard_input(connection: Any) -> bool:
    """Whether it is worth trying. A terminal in the way that nothing here tells of is found out by the shell, see `command`."""
    become = connection.become
    # su has no pipelining in newer cores; older ones know it by its name only.
    becomes = become is None or (getattr(become, "pipelining", become.name != "su") and not become.require_tty)
    return bool(connection.has_pipelining and becomes)


def command(interpreter: str | None) -> str:
    """The shell's part: start the first Python that is there, or say that none is or that it is too old.

    Nothing is said where standard input is a terminal, since the program would not come through that. An interpreter is put in as it is, as Ansible
    does, so that `~/bin/python` and `/usr/bin/env python3` work. Status 2 is that of a Python which does not know the options, and never ours.
    """
    start = f'"$@" -I -S -; [ $? -ne 2 ] || echo "{OLD_PYTHON} $* is $("$@" -V 2>&1)"; exit'
    tries = "; ".join(f"try {choice}" for choice in ((interpreter,) if interpreter else PYTHONS))
    return f'[ -t 0 ] && exit; try() {{ if command -v "$1" >/dev/null 2>&1; then {start}; fi; }}; {tries}; echo {NO_PYTHON} {interpreter or ""}'


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
    lines = stdout.splitlines()
    for line in lines:
        if line.startswith(RESPONSE):
            try:
                return Answer("stdin", json.loads(line[len(RESPONSE) :]))
            except ValueError:  # cut off, or somebody else's words
                continue
    # At the end of a line: what a shell says before may lack its own end, and a terminal shows the program itself.
    if any(line.endswith(STARTED) for line in lines):
        return Answer("stdin", None, "the engine broke off: " + (stderr.strip() or stdout.strip())[-500:])
    told = {line.split(" ")[0]: line.partition(" ")[2].strip() for line in lines}
    if OLD_PYTHON in told:
        return Answer("stdin", None, f"needs Python 3.6 or newer: {told[OLD_PYTHON]}")
    if NO_PYTHON in told:
        named = told[NO_PYTHON] or "Python 3"
        return Answer("stdin", None, f"there is no {named} on this node: ansible_python_interpreter says where Python is")
    return None


def _interpreter(action: Any, task_vars: Mapping[str, Any]) -> str | None:
    """The interpreter that inventory or configuration name; None when Ansible would go and look for one."""
    named = action._templar.template(constants.config.get_config_value("INTERPRETER_PYTHON", variables=task_vars))
    return None if not named or str(named).startswith("auto") else str(named).strip()
