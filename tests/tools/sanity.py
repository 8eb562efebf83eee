# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A home for ansible-test: what it would fetch or lose, it finds there; the user's own home stays as it is.

For each of its sanity tests ansible-test makes a virtual environment without pip and downloads a bootstrap script for pip.
It takes that script from ~/.ansible/test/cache when one is there. And it passes none of pip's settings on from the environment.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

BOOTSTRAP = '''\
"""Puts pip into a virtual environment from the Python itself, then installs what the words on the command line name."""
import ensurepip
import subprocess
import sys

ensurepip.bootstrap()
packages = [word for word in sys.argv[1:] if not word.startswith("-") and not word.startswith("pip==")]
if packages:
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--disable-pip-version-check"] + packages)
'''


def prepare_home(home: Path, commands: Path) -> Path:
    """Write the bootstrap script and pip's settings for the ansible-test in the folder `commands`."""
    cache = home / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in pip_versions(commands):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(BOOTSTRAP, encoding="utf-8")
    settings = home / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(pip_settings(commands), encoding="utf-8")
    return home


def pip_versions(commands: Path) -> list[str]:
    """The versions of pip that this ansible-test asks for."""
    found = [
        path.read_text(encoding="utf-8")
        for path in commands.parent.glob("lib/*/site-packages/ansible_test/_internal/python_requirements.py")
    ]
    return re.findall(r"pip='([0-9.]+)'", "".join(found))


def pip_settings(commands: Path) -> str:
    """What pip has been told here by files and environment, as one settings file."""
    listing = subprocess.run([commands / "pip", "config", "list"], capture_output=True, text=True, check=True).stdout
    settings = dict(re.findall(r"^(?:global|install|user|:env:)\.([a-z-]+)='(.*)'$", listing, re.MULTILINE))
    return "[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())
