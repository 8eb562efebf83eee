# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pythons that the tests run on, and where they are.

Looked for on PATH, then among pyenv's, then taken from Debian's archive where a release of Debian has it: the packages
are only unpacked below .cache, nothing of the machine changes.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

# Nodes run any of these (3.6 is that of RHEL 8). CI fails when one is not there.
REQUIRED = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")

# The release of Debian that has the Python. It is called by its name, so a later testing does not change what we test.
DEBIAN_RELEASE = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}

PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.executable)"


def find_all(cache: Path) -> dict[str, Path]:
    """Every Python of the required set that works here, oldest first."""
    found = {version: find(version, cache) for version in REQUIRED}
    return {version: python for version, python in found.items() if python}


def find(version: str, cache: Path) -> Path | None:
    name = f"python{version}"
    on_path = [Path(folder) / name for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    from_pyenv = sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"), reverse=True)
    for python in [*on_path, *from_pyenv]:
        interpreter = interpreter_behind(python, version)
        if interpreter:
            return interpreter
    return from_debian(version, cache)


def interpreter_behind(python: Path, version: str) -> Path | None:
    """The interpreter that runs under this name, if it is what the name says and can make virtual environments.

    A pyenv shim is a script that finds one, or none.
    """
    if not os.access(python, os.X_OK):
        return None
    answer = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
    found = answer.stdout.strip().split(" ", maxsplit=1)
    return Path(found[1]) if answer.returncode == 0 and found[0] == version else None


def from_debian(version: str, cache: Path) -> Path | None:
    """Unpack Debian's packages into the cache and make the interpreter run from there."""
    release = DEBIAN_RELEASE.get(version)
    tools = all(shutil.which(tool) for tool in ("mmdebstrap", "patchelf"))
    if not release or not tools:
        return None
    tree = cache / f"python-{version}-{release}"
    python = tree / "usr" / "bin" / f"python{version}"
    if interpreter_behind(python, version):
        return python
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=extract",
        f"--include=python{version}-venv",
        # A testing release is only signed for some days; its signature is still checked.
        '--aptopt=Acquire::Check-Valid-Until "false"',
        release,
        str(tree),
    ]
    if subprocess.run(command, check=False).returncode != 0:
        return None
    make_relocatable(python, tree, version)
    return interpreter_behind(python, version)


def make_relocatable(python: Path, tree: Path, version: str) -> None:
    """Point the interpreter to the loader, the libraries and the wheels of its own tree."""
    triplet = f"{platform.machine()}-linux-gnu"
    libraries = [tree / "usr" / "lib" / triplet, tree / "lib" / triplet]  # older releases still use both
    loaders = [path for folder in libraries for path in folder.glob("ld-linux-*.so.*")]
    rpath = ":".join(map(str, libraries))
    subprocess.run(["patchelf", "--set-interpreter", loaders[0], "--force-rpath", "--set-rpath", rpath, python], check=True)
    for settings in (tree / "usr" / "lib" / f"python{version}").glob("_sysconfigdata_*.py"):
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace("'/usr/share/python-wheels", f"'{tree}/usr/share/python-wheels"), encoding="utf-8")
