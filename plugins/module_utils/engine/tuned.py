# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon tuned will write after every boot: the options of its active profiles, includes followed.

Only what is needed to name it as the owner of a knob is read; variables and functions of tuned stay as they are written
(`tuned.conf(5)`, `tuned-profiles(7)`). Profiles are found where tuned 2.x looks for them, the administrator's before the packaged.
"""

import configparser
from typing import Dict, List, NamedTuple

from .host import HostError, Reader

FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
DEPTH = 10


class Tuned(NamedTuple):
    """`options`: section -> option -> value; `yields_to_sysctl_d`: tuned writes sysctl.d again over its own values
    (reapply_sysctl).
    """

    profiles: List[str]
    running: bool
    options: Dict[str, Dict[str, str]]
    yields_to_sysctl_d: bool


def read(host: Reader) -> Tuned:
    names = host.read_or("/etc/tuned/active_profile").split()
    options: Dict[str, Dict[str, str]] = {}
    for name in names:
        for section, values in _profile(host, name, DEPTH).items():
            options.setdefault(section, {}).update(values)
    main = _parse("[main]\n" + host.read_or("/etc/tuned/tuned-main.conf"))
    yields = main.get("main", {}).get("reapply_sysctl", "1").strip().lower() in ("1", "true", "yes")
    return Tuned(names, host.exists("/run/tuned/tuned.pid"), options, yields)


def _profile(host: Reader, name: str, depth: int) -> Dict[str, Dict[str, str]]:
    """One profile with what it includes below it."""
    if "/" in name or depth == 0:
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
        for section, values in _profile(host, included, depth - 1).items():
            merged.setdefault(section, {}).update(values)
    for section, values in sections.items():
        merged.setdefault(section, {}).update(values)
    return merged


def _parse(text: str) -> Dict[str, Dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",), inline_comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # option names of tuned are case sensitive
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {section: {key: value or "" for key, value in parser.items(section)} for section in parser.sections()}
