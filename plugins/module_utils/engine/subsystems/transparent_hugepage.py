# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""transparent_hugepage: one setting for each knob, `transparent_hugepage/enabled`, `transparent_hugepage/khugepaged/defrag`.

persisted  the write that wins at the next boot: tuned (after tmpfiles.d), tmpfiles.d, the kernel command line, the kernel's configuration
boot       what the command line gave to this boot
live       /sys/kernel/mm/transparent_hugepage (Documentation/admin-guide/mm/transhuge.rst)
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .. import cmdline, configfiles, owners, rules, settings
from ..context import Context
from ..host import Host, HostError, Reader
from ..settings import Entry, Finding, Ours, View, Winner
from ..tmpfiles import Write, Writes, parse
from ..tuned import Tuned

NAME = "transparent_hugepage"
BASE = "/sys/kernel/mm/transparent_hugepage/"
#: Of several tmpfiles.d lines for one path the first counts, so our file sorts first.
FILE = "/etc/tmpfiles.d/00-gpufleet.conf"
DIRECTORIES = ["/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d"]
#: Which word of the command line sets a knob.
WORDS = {"enabled": "transparent_hugepage", "shmem_enabled": "transparent_hugepage_shmem"}
LARGE_PAGE = 65536


class Observed(NamedTuple):
    """What was read. `live`, `choices`, `refusal` and `absent` are by setting name; `choices` is empty for
    numbers.
    """

    files: List[configfiles.ConfigFile]
    writes: Writes
    own: Dict[str, str]
    live: Dict[str, View]
    choices: Dict[str, List[str]]
    refusal: Dict[str, str]
    absent: Dict[str, str]
    cmdline: str
    tuned: Tuned
    kernel_default: str
    owner: Dict[str, str]
    page_size: int


def canonical(name: str) -> str:
    return name.strip("/")


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    host = context.host
    files = configfiles.read_directories(host, DIRECTORIES)
    writes = Writes(files)
    live: Dict[str, View] = {}
    choices: Dict[str, List[str]] = {}
    refusal: Dict[str, str] = {}
    absent: Dict[str, str] = {}
    for name in entries:
        path = BASE + name
        if ".." in name.split("/") or host.is_directory(path) or not host.exists(path):
            absent[name] = (
                "this kernel has no such knob" if host.is_directory(BASE) else "this kernel is built without transparent huge pages"
            )
            continue
        live[name], choices[name] = _live(host, path)
        refusal[name] = "/sys is mounted read-only here" if "ro" in context.mount_options(path).split(",") else ""
    return Observed(
        files,
        writes,
        own_lines(host, FILE),
        live,
        choices,
        refusal,
        absent,
        context.cmdline(),
        context.tuned(),
        _kernel_default(host),
        _owners(host, writes, entries),
        context.facts().get("page_size", 0),
    )


def own_files(_host: Reader) -> List[str]:
    return [FILE]


def own_lines(host: Reader, file: str) -> Dict[str, str]:
    """What a file of ours gives: setting name -> value."""
    if host.link(file) is not None:
        return {}
    try:
        found, _notes = parse(host.read(file), file)
    except HostError:
        return {}
    lines: Dict[str, str] = {}
    for _kind, write in found:
        if write.path.startswith(BASE):
            lines.setdefault(write.path[len(BASE) :], write.value)
    return lines


def line_name(_lines: Dict[str, str], name: str) -> str:
    """The name under which our file has a setting."""
    return name


def read_live(host: Reader, target: str) -> str:
    return _chosen(host.read(target))[0]


def notes(observed: Observed) -> List[str]:
    return configfiles.unread_notes(observed.files) + observed.writes.notes


def _live(host: Reader, path: str) -> Tuple[View, List[str]]:
    try:
        value, choices = _chosen(host.read(path))
    except HostError as error:
        return {"error": error.reason, "from": path}, []
    return {"value": value, "from": path}, choices


def _chosen(text: str) -> Tuple[str, List[str]]:
    """`always [madvise] never` -> (madvise, all three); a plain number has no choices."""
    match = re.search(r"\[([^\[\]\s]+)\]", text)
    if match is None:
        return rules.normal(text), []
    return match.group(1), text.replace("[", " ").replace("]", " ").split()


def _kernel_default(host: Reader) -> str:
    """What the kernel was built to begin with, or nothing when its configuration is not there to be read."""
    try:
        config = host.read("/boot/config-{}".format(host.uname()["release"]))
    except HostError:
        return ""
    for option, word in (("ALWAYS", "always"), ("MADVISE", "madvise"), ("NEVER", "never")):
        if re.search(f"^CONFIG_TRANSPARENT_HUGEPAGE_{option}=y$", config, re.M):
            return word
    return ""


def _owners(host: Reader, writes: Writes, entries: Dict[str, Entry]) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for name, entry in entries.items():
        winner = writes.winner(BASE + name)
        if winner is None or winner.file == FILE or winner.file in found or rules.satisfied(entry["rule"], winner.value):
            continue
        found[winner.file] = owners.owner(host, winner.file)
    return found


# -- compare ----------------------------------------------------------------------------------------------------


def compare(entries: Dict[str, Entry], observed: Observed) -> Dict[str, Finding]:
    """Pure: what the profile wants and what was read, to one finding for each setting."""
    return {name: _compare(name, entry, observed) for name, entry in entries.items()}


def _compare(name: str, entry: Entry, observed: Observed) -> Finding:
    if name in observed.absent:
        return settings.not_applicable(observed.absent[name])
    live = observed.live[name]
    entry, refusal = _for_page_size(name, entry, observed.page_size)
    desired = rules.target(entry["rule"], live.get("value"))
    choices = observed.choices[name]
    if not refusal and choices and desired not in choices:
        refusal = "this kernel takes only: {}".format(", ".join(choices))
    boot = cmdline.last(observed.cmdline, WORDS[name]) if name in WORDS else None
    persisted, winner = _persisted(name, boot, observed)
    ours = Ours(FILE, observed.own.get(name), configfiles.link_of(observed.files, FILE))
    finding = settings.judge(entry, live, BASE + name, persisted, ours, winner, refusal=refusal or observed.refusal.get(name, ""))
    if boot is not None:
        finding["views"]["boot"] = {"value": boot, "from": "/proc/cmdline"}
    if settings.may_take_over(entry, finding):
        finding["changes"].extend(_rivals(name, observed))
    if finding["holds"]:
        finding["detail"].extend(_neighbours(name, boot, observed, winner))
    return finding


def _for_page_size(name: str, entry: Entry, page_size: int) -> Tuple[Entry, str]:
    """On kernels with 64 KiB pages a huge page is 512 MiB: `always` wastes memory by the gigabyte and is never taken as right."""
    if page_size != LARGE_PAGE or name != "enabled":
        return entry, ""
    rule = entry["rule"]
    if rule.get("exact") == "always":
        return entry, "on a kernel with 64 KiB pages a huge page is 512 MiB: always is not set here"
    if "one_of" in rule:
        words = [word for word in rule["one_of"] if word != "always"]
        chosen = rule.get("set") if rule.get("set") in words else (words or ["madvise"])[0]
        return dict(entry, rule={"one_of": words or ["madvise"], "set": chosen}), ""
    return entry, ""


def _persisted(name: str, boot: Optional[str], observed: Observed) -> Any:
    """(view, winner) of the next boot."""
    hidden = configfiles.unreadable(observed.files)
    if hidden:
        return {"error": hidden, "from": DIRECTORIES[0]}, None
    tuned = observed.tuned
    vm = tuned.options.get("vm", {})
    said = vm.get("transparent_hugepages", vm.get("transparent_hugepage"))
    if name == "enabled" and tuned.running and said and boot is None:  # tuned leaves it alone when the command line sets it
        origin = "tuned profile {}".format(" ".join(tuned.profiles))
        return {"value": said, "from": origin}, Winner(origin, "tuned", False)
    write = observed.writes.winner(BASE + name)
    if write is not None:
        owner = settings.OWNER if write.file == FILE else observed.owner.get(write.file, "another file")
        return {"value": rules.normal(write.value), "from": _place(write)}, Winner(_place(write), owner, write.file == FILE)
    if boot is not None:
        return {"value": boot, "from": "/proc/cmdline"}, Winner("/proc/cmdline", "kernel command line", False)
    if name == "enabled" and observed.kernel_default:
        return {"value": observed.kernel_default, "from": "kernel configuration"}, None
    return {"unset": "no file sets it"}, None


def _neighbours(name: str, boot: Optional[str], observed: Observed, winner: Optional[Winner]) -> List[str]:
    found = [f"{_place(one)} ({one.value})" for one in observed.writes.naming(BASE + name)]
    if boot is not None:
        found.append(f"/proc/cmdline ({boot})")
    others = [one for one in found if winner is None or not one.startswith(winner.origin + " ")]
    return ["also set by {}".format(", ".join(others))] if others else []


def _place(write: Write) -> str:
    return f"{write.file}:{write.line}"


def _rivals(name: str, observed: Observed) -> List[settings.Change]:
    """The lines in /etc/tmpfiles.d that are read before ours and so win, for a user who lets us put them aside. A glob that wins stays: it may be
    meant for other files too."""
    links = {file.path for file in observed.files if file.link is not None}
    return [
        settings.put_aside(observed.files, one.file, one.line)
        for one in observed.writes.naming(BASE + name)
        if one.path == BASE + name
        and one.file.startswith("/etc/tmpfiles.d/")
        and one.file not in links
        and configfiles.is_read_after(FILE, one.file)
    ]


# -- apply ------------------------------------------------------------------------------------------------------


def write_live(host: Host, target: str, value: str) -> None:
    host.write_live(target, value)


def persisted(_host: Host, _files: List[str]) -> List[str]:
    return []


def render(_file: str, lines: Dict[str, str]) -> List[str]:
    """The lines of our file."""
    return [f"w {BASE}{name} - - - - {lines[name]}" for name in sorted(lines)]
