# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that stand in for what a node may have instead of a good Python or a good sudo. They are simulated, nothing is installed."""

from __future__ import annotations

from pathlib import Path

# What Python 2.7 does with options that came later.
OLD_PYTHON = """\
if [ "$1" = -V ]; then echo "Python 2.7.18" >&2; exit 0; fi
echo "Unknown option: -I" >&2
exit 2
"""

HANGING_PYTHON = "exec sleep 30\n"

# A login shell that greets, and words after the answer.
TALKATIVE_PYTHON = """\
echo "Welcome to this node"
echo "GPUFLEET-RESPONSE is a word of this greeting, too"
printf "no end of line"
{python} "$@"
echo "Goodbye"
"""

# The engine is killed in the middle.
DYING_PYTHON = """\
echo GPUFLEET-STARTED
echo "out of memory" >&2
exit 137
"""

# sudo as its plugin calls it: words up to the shell, then the command.
SUDO_TO_NOBODY = """\
while [ "$1" != /bin/sh ]; do shift; done
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""

SUDO_WITH_PASSWORD = """\
while [ "$1" != /bin/sh ]; do [ "$1" = -p ] && prompt=$2; shift; done
printf "%s" "$prompt" >&2
read -r password
[ "$password" = secret ] || { echo "Sorry, try again." >&2; exit 1; }
exec "$@"
"""

SUDO_WITH_TERMINAL = """\
[ -t 1 ] || { echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1; }
while [ "$1" != /bin/sh ]; do shift; done
exec "$@"
"""


def put(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
