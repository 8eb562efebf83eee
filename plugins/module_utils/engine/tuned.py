# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon tuned will write after every boot: the options of its active profiles, includes followed.

Only what is needed to name it as the owner of a knob is read; variables and functions of tuned stay as they are written
(`tuned.conf(5)`, `tuned-profiles(7)`). Profiles are found where tuned 2.x looks for them, the administrator's before the packaged.
"""

import re
from typing import Dict, List, NamedTuple, Tuple

from .configfiles import lines
from .host import HostError, Reader

FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
#: Real machines have one or two; what has more is no list of profiles.
PROFILES_MAX = 16


class Tuned(NamedTuple):
    """`options`: section -> option -> value; `yields_to_sysctl_d`: tuned writes sysctl.d again over its own values
    (reapply_sysctl).
    """

    profiles: List[str]
    running: bool
    options: Dict[str, Dict[str, str]]
    yields_to_sysctl_d: bool


def read(host: Reader) -> Tuned:
    names = list(dict.fromkeys(host.read_or("/etc/tuned/active_profile").split()))[:PROFILES_MAX]
    options: Dict[str, Dict[str, str]] = {}
    for name in names:
        for section, values in _profile(host, name, ()).items():
            options.setdefault(section, {}).update(values)
    main = _parse("[main]\n" + host.read_or("/etc/tuned/tuned-main.conf"))
    yields = main.get("main", {}).get("reapply_sysctl", "1").strip().lower() in ("1", "true", "yes")
    return Tuned(names, host.exists("/run/tuned/tuned.pid"), options, yields)


def _profile(host: Reader, name: str, above: Tuple[str, ...]) -> Dict[str, Dict[str, str]]:
    """One profile with what it includes below it. One that includes itself is left out there."""
    if "/" in name or name in above:
        return {}
    sections: Dict[str, Dict[str, str]] = {}
    for folder in FOLDERS:
        try:
            sections = _parse(host.read(f"{folder}/{name}/tuned.conf"))
            break
        except HostError:
            continue
    merged: Dict[str, Dict[str, str]] = {}
    for included in sections.get("main", {}).get("include", "").replace(",", " ").split():
        for section, values in _profile(host, included, (*above, name)).items():
            merged.setdefault(section, {}).update(values)
    for section, values in sections.items():
        merged.setdefault(section, {}).update(values)
    return merged


def _parse(text: str) -> Dict[str, Dict[str, str]]:
    """Sections of `option = value`; a blank and a # begin a comment. What is neither section nor option says nothing."""
    sections: Dict[str, Dict[str, str]] = {}
    options: Dict[str, str] = {}
    for line in lines(text):
        header = re.match(r"\[([^\]]+)\]", line.text)
        if header is not None:
            options = sections.setdefault(header.group(1), {})
            continue
        option, equals, value = line.text.partition("=")
        if equals:
            options[option.strip()] = re.split(r"\s#", value)[0].strip()
    return sections
