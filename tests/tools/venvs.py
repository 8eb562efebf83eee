# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments of the tests: made once, and again only when their requirements or their Python change."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

Command = list[str | Path]

STAMP = "gpufleet.stamp"

# The pip that comes with 3.6 takes releases that 3.6 cannot run.
PIP = "pip==21.3.1; python_version == '3.6'"


def make(folder: Path, python: Path, requirements: Path) -> Path:
    """The folder of the environment's commands."""
    stamp = folder / STAMP
    wanted = fingerprint(python, requirements)
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == wanted):
        print(f"making {folder.name} from {requirements.name}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        pip: Command = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install"]
        do([python, "-m", "venv", folder])
        do([*pip, PIP])
        do([*pip, "--requirement", requirements])
        stamp.write_text(wanted, encoding="utf-8")
    return folder / "bin"


def do(command: Command) -> None:
    """Run it quietly; when it fails the end of what it said is the message."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        sys.exit(f"{words}\nfailed with status {done.returncode}:\n{done.stdout[-2000:]}")


def fingerprint(python: Path, requirements: Path) -> str:
    digest = hashlib.sha256(str(python.resolve()).encode())
    for path in with_includes(requirements):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def with_includes(requirements: Path) -> list[Path]:
    """This file and those that its `-r` lines name."""
    included = re.findall(r"^-r (\S+)", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    return [requirements, *(path for name in included for path in with_includes(requirements.parent / name))]
