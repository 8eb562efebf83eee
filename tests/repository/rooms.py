# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a source file touches, and whether its room may (docs/architecture.md, "Rooms").

`violations` walks the syntax tree and looks at every name of a module or built-in that the code uses, written out in
full (`os.path.exists`, `builtins.open`), whether it calls it, hands it on or fetches it with getattr. A `Room` says which
are allowed. Allowed is what is listed: a new name has to be put on a list by someone who thought about it.
"""

from __future__ import annotations

import ast
import fnmatch
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

PLUGINS = "ansible_collections.gpufleet.node.plugins"
ENGINE = f"{PLUGINS}.module_utils.engine"

# Built-ins that reach out of the program or run text as code.
EFFECTFUL_BUILTINS = frozenset({"open", "exec", "eval", "compile", "input", "breakpoint", "__import__", "__builtins__"})

# Standard library from which code may take everything: no file, process, clock or chance behind it.
PURE_MODULES = (
    *("__future__", "abc", "ast", "base64", "bisect", "collections", "contextlib", "copy", "dataclasses", "difflib"),
    *("enum", "errno", "fnmatch", "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "shlex"),
    *("stat", "string", "struct", "textwrap", "traceback", "types", "typing", "unicodedata", "zlib", "configparser"),
)

# Of modules that also have effects, the names without any.
PURE_NAMES = (
    *("os.path.join", "os.path.dirname", "os.path.basename", "os.path.normpath", "os.path.split", "os.path.splitext"),
    *("os.path.isabs", "os.path.commonprefix", "os.sep", "os.linesep", "os.fsencode", "os.fsdecode", "os.strerror"),
    *("datetime.timedelta", "datetime.timezone", "datetime.datetime.strptime", "datetime.datetime.utcfromtimestamp"),
    *("datetime.datetime.fromtimestamp", "datetime.datetime.strftime", "datetime.date.fromisoformat"),
    *("time.strftime", "time.gmtime", "calendar.timegm", "sys.version_info", "sys.maxsize", "sys.byteorder"),
)

# What it takes to do work in a child that can be left behind: no file and no command.
CHILD_PROCESS = (
    *("os.fork", "os.pipe", "os.read", "os.write", "os.close", "os.dup2", "os.kill", "os.waitpid", "os.dup2", "os._exit"),
    *("signal.SIGKILL", "select.select", "time.monotonic"),
)
STANDARD_LIBRARY = (*sorted(sys.stdlib_module_names), *(f"builtins.{name}" for name in EFFECTFUL_BUILTINS))


class Touch(NamedTuple):
    """One place where code uses a name that it did not make itself."""

    line: int
    name: str


@dataclass(frozen=True)
class Room:
    """Files with the same rights. A full name in `allows` allows what lies below it too; None allows everything."""

    name: str
    files: tuple[str, ...]
    allows: tuple[str, ...] | None = None
    but_not: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.files)

    def may(self, name: str) -> bool:
        return (self.allows is None or is_below(name, self.allows)) and not is_below(name, self.but_not)

    def may_import(self, name: str) -> bool:
        """A module may be imported when some of what is in it may be used."""
        return self.may(name) or any(self.may(allowed) and is_below(allowed, [name]) for allowed in self.allows or ())


# The first room that holds a file is the file's room.
ROOMS = (
    Room(
        "a module",
        files=("plugins/modules/*.py",),
        allows=("__future__", "typing", f"{PLUGINS}.module_utils.entry", f"{PLUGINS}.module_utils.options"),
    ),
    Room(
        "the bridge to AnsibleModule",
        files=("plugins/module_utils/entry.py",),
        allows=(*PURE_MODULES, "ansible.module_utils.basic", f"{PLUGINS}.module_utils.options", ENGINE),
        but_not=(f"{ENGINE}.host", f"{ENGINE}.subsystems"),
    ),
    Room(
        "the door to the machine",
        files=("plugins/module_utils/engine/host.py",),
        allows=STANDARD_LIBRARY,
        but_not=("importlib",),
    ),
    Room(
        "the deadline",
        files=("plugins/module_utils/engine/deadline.py",),
        allows=(*PURE_MODULES, *PURE_NAMES, *CHILD_PROCESS),
    ),
    Room(
        "the engine",
        files=("plugins/module_utils/*.py",),
        allows=(*PURE_MODULES, *PURE_NAMES, ENGINE),
    ),
    Room(
        "the control node",
        files=tuple(f"plugins/{kind}/*.py" for kind in ("plugin_utils", "action", "callback", "lookup", "doc_fragments")),
        but_not=(
            "subprocess",
            "os.system",
            "os.fork",
            "os.popen",
            "builtins.exec",
            "builtins.eval",
            f"{ENGINE}.host",
            f"{ENGINE}.run.handle",
            f"{ENGINE}.run.main",
            f"{ENGINE}.subsystems",
            f"{PLUGINS}.modules",
        ),
    ),
)


def room_of(path: str) -> Room | None:
    return next((room for room in ROOMS if room.holds(path)), None)


def violations(room: Room, path: str, source: str) -> list[str]:
    """Each thing in this source that its room may not touch, as `file:line: words`."""
    tree = ast.parse(source)
    package = package_of(path)
    names = dict(imported_names(tree, package))
    wrong = [touch for touch in used_names(tree, names) if not room.may(touch.name)]
    wrong += [touch for touch in imports(tree, package) if not room.may_import(touch.name)]
    return [f"{path}:{touch.line}: {room.name} may not touch {touch.name}" for touch in sorted(set(wrong))]


def package_of(path: str) -> str:
    """The full name of the package that the file at `plugins/…` is in."""
    return ".".join([PLUGINS, *path.split("/")[1:-1]])


def is_below(name: str, roots: Iterable[str]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


# -- reading a syntax tree ------------------------------------------------------------------------------------------


def imported_names(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Local name and the full name that it stands for, of all imports in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{source_module(node, package)}.{alias.name}"


def imports(tree: ast.AST, package: str) -> Iterator[Touch]:
    """The full name of each thing that is imported, used or not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Touch(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Touch(node.lineno, f"{source_module(node, package)}.{alias.name}") for alias in node.names)


def source_module(node: ast.ImportFrom, package: str) -> str:
    """The full name of the module in `from … import`, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def used_names(node: ast.AST, names: dict[str, str]) -> Iterator[Touch]:
    """Every use of a name from outside, as long as the code writes it out: os.path.join, not os and os.path as well."""
    name = full_name(node, names)
    if name:
        yield Touch(getattr(node, "lineno", 0), name)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "vars"):
        name = fetched_name(node.args, names)
        if name:
            yield Touch(node.lineno, name)
            return
    for child in ast.iter_child_nodes(node):
        yield from used_names(child, names)


def full_name(node: ast.AST, names: dict[str, str]) -> str | None:
    """`path.exists` after `from os import path` is os.path.exists; None for what the code made itself."""
    if isinstance(node, ast.Name):
        if node.id in names:
            return names[node.id]
        return f"builtins.{node.id}" if node.id in EFFECTFUL_BUILTINS else None
    if isinstance(node, ast.Attribute):
        base = full_name(node.value, names)
        return f"{base}.{node.attr}" if base else None
    return None


def fetched_name(arguments: list[ast.expr], names: dict[str, str]) -> str | None:
    """getattr(os, "open") uses os.open; with a name that is not written out it uses all of os."""
    base = full_name(arguments[0], names) if arguments else None
    if not base:
        return None
    wanted = arguments[1] if len(arguments) > 1 else None
    return f"{base}.{wanted.value}" if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str) else base
