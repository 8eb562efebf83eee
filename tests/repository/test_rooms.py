# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each room touches only what docs/architecture.md lets it touch; and the checker sees the ways around it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rooms import PLUGINS, room_of, violations

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "plugins").rglob("*.py"))
MODULES = [path for path in SOURCES if path.startswith("plugins/modules/")]

A_MODULE = "plugins/modules/example.py"
THE_BRIDGE = "plugins/module_utils/entry.py"
THE_ENGINE = "plugins/module_utils/engine/example.py"
A_SUBSYSTEM = "plugins/module_utils/engine/subsystems/example.py"
THE_DEADLINE = "plugins/module_utils/engine/deadline.py"
THE_DOOR = "plugins/module_utils/engine/host.py"
CONTROL_NODE = "plugins/plugin_utils/example.py"


def complaints(path: str, source: str) -> list[str]:
    room = room_of(path)
    assert room is not None, f"{path} lies in no room"
    return violations(room, path, source)


@pytest.mark.parametrize("path", SOURCES)
def test_every_file_keeps_to_its_room(path: str) -> None:
    assert complaints(path, (ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", MODULES)
def test_a_module_calls_the_bridge_once_and_nothing_else(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    called = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    # Where an action plugin does all of the work on the control node, the module is its documentation only.
    only_documents = not called and (ROOT / "plugins" / "action" / Path(path).name).exists()
    assert only_documents or len([name for name in called if name not in ("main", "dict")]) == 1, called


@pytest.mark.parametrize(
    ("path", "source", "touched"),
    [
        (THE_ENGINE, "open('/etc/x')", "builtins.open"),
        (THE_ENGINE, "read = open", "builtins.open"),
        (THE_ENGINE, "import io\nio.open('/etc/x')", "io.open"),
        (THE_ENGINE, "from io import open as read\nread('/etc/x')", "io.open"),
        (THE_ENGINE, "import os\nos.open('/etc/x', 0)", "os.open"),
        (THE_ENGINE, "import os as system\nsystem.listdir('/')", "os.listdir"),
        (THE_ENGINE, "import os\nos.readlink('/etc/x')", "os.readlink"),
        (THE_ENGINE, "import os\nos.stat('/')", "os.stat"),
        (THE_ENGINE, "import os\nos.path.exists('/')", "os.path.exists"),
        (THE_ENGINE, "from os import path\npath.isfile('/')", "os.path.isfile"),
        (THE_ENGINE, "from os.path import exists as there\nthere('/')", "os.path.exists"),
        (THE_ENGINE, "import os.path\nfound = map(os.path.isdir, [])", "os.path.isdir"),
        (THE_ENGINE, "import os\ngetattr(os, 'system')('id')", "os.system"),
        (THE_ENGINE, "import os\nhow = 'system'\ngetattr(os, how)('id')", "os"),
        (THE_ENGINE, "import os\nvars(os)['system']('id')", "os"),
        (THE_ENGINE, "import os\nhelp(os)", "os"),
        (THE_ENGINE, "import os\nos.fork()", "os.fork"),
        (THE_ENGINE, "import os\ndef late():\n    return [os.environ for _ in ()]", "os.environ"),
        (THE_ENGINE, "def late():\n    import subprocess\n    subprocess.run(['id'])", "subprocess.run"),
        (THE_ENGINE, "import subprocess", "subprocess"),
        (THE_ENGINE, "from os import *", "os.*"),
        (THE_ENGINE, "import pathlib\npathlib.Path('/etc/x').read_text()", "pathlib.Path"),
        (THE_ENGINE, "import time\ntime.time()", "time.time"),
        (THE_ENGINE, "import datetime\ndatetime.datetime.now()", "datetime.datetime.now"),
        (THE_ENGINE, "import importlib\nimportlib.import_module('os')", "importlib.import_module"),
        (THE_ENGINE, "__import__('os')", "builtins.__import__"),
        (THE_ENGINE, "eval('1')", "builtins.eval"),
        (THE_ENGINE, "__builtins__.open('/etc/x')", "builtins.__builtins__.open"),
        (THE_ENGINE, "from ansible.module_utils.basic import AnsibleModule", "ansible.module_utils.basic.AnsibleModule"),
        (THE_ENGINE, "import yaml", "yaml"),
        (THE_ENGINE, "from ...plugin_utils import profile", f"{PLUGINS}.plugin_utils.profile"),
        (THE_ENGINE, "from ..entry import run", f"{PLUGINS}.module_utils.entry.run"),
        (A_SUBSYSTEM, "import glob\nglob.glob('/etc/*')", "glob.glob"),
        (THE_DEADLINE, "import os\nos.open('/etc/x', 0)", "os.open"),
        (THE_DEADLINE, "import os\nos.execv('/bin/sh', [])", "os.execv"),
        (THE_DOOR, "import importlib", "importlib"),
        (THE_DOOR, "from .subsystems import sysctl", f"{PLUGINS}.module_utils.engine.subsystems.sysctl"),
        (THE_BRIDGE, "import os\nos.uname()", "os.uname"),
        (THE_BRIDGE, "from .engine.host import Host", f"{PLUGINS}.module_utils.engine.host.Host"),
        (A_MODULE, "open('/etc/x')", "builtins.open"),
        (A_MODULE, "from ansible.module_utils.basic import AnsibleModule", "ansible.module_utils.basic.AnsibleModule"),
        (A_MODULE, "from ..module_utils.engine.run import run", f"{PLUGINS}.module_utils.engine.run.run"),
        (CONTROL_NODE, "import subprocess\nsubprocess.run(['id'])", "subprocess.run"),
        (CONTROL_NODE, "from ..module_utils.engine.host import Host", f"{PLUGINS}.module_utils.engine.host.Host"),
    ],
)
def test_the_checker_sees(path: str, source: str, touched: str) -> None:
    assert any(line.endswith(f" may not touch {touched}") for line in complaints(path, source)), complaints(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (THE_ENGINE, "import os\nos.path.join('a', 'b')"),
        (THE_ENGINE, "from os import path\npath.basename('a')"),
        (THE_ENGINE, "from .host import HostError, Reader\ndef look(reader: Reader) -> None:\n    reader.open('/etc/x')"),
        (A_SUBSYSTEM, "from .. import rules\nrules.holds({}, '1')"),
        (THE_DOOR, "import subprocess\nsubprocess.run(['id'])\nopen('/etc/x')"),
        (THE_DEADLINE, "import os\nos.fork()"),
        (THE_BRIDGE, "from ansible.module_utils.basic import AnsibleModule\nfrom .engine.run import run"),
        (A_MODULE, f"from {PLUGINS}.module_utils.entry import run_module\nrun_module('sysctl')"),
        (CONTROL_NODE, "open('/etc/x')"),
    ],
)
def test_the_checker_lets_pass(path: str, source: str) -> None:
    assert complaints(path, source) == []
