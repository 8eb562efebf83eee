# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysctl: one setting for each key, `sysctl/vm.swappiness`.

persisted  the assignment that wins at the next boot: sysctl.d as systemd reads it (sysctl.d(5)), below it the kernel command line
           (`sysctl.key=`), below that the kernel's own value where it is known
live       /proc/sys
"""

from typing import Any, Dict, List, NamedTuple, Optional

from .. import cmdline, configfiles, owners, rules, settings, sysctl_defaults
from ..context import Context
from ..host import Host, HostError, Reader
from ..settings import Entry, Finding, Ours, View, Winner
from ..sysctl_files import Assignment, Assignments, dot_form, parse, path_form, spelled
from ..tuned import Tuned

NAME = "sysctl"
FILE = "/etc/sysctl.d/zz-gpufleet.conf"
DIRECTORIES = ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"]
SYSTEMD = ("/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl")
#: Setting one of these to a value zeroes the other (Documentation/admin-guide/sysctl/vm.rst).
TWINS: Dict[str, str] = {}
for _one, _other in (
    ("vm.dirty_ratio", "vm.dirty_bytes"),
    ("vm.dirty_background_ratio", "vm.dirty_background_bytes"),
    ("vm.overcommit_ratio", "vm.overcommit_kbytes"),
):
    TWINS[_one], TWINS[_other] = _other, _one
#: Which module brings the keys below a path.
MODULES = (
    ("net/bridge/", "br_netfilter"),
    ("net/netfilter/nf_conntrack", "nf_conntrack"),
    ("sunrpc/", "sunrpc"),
    ("fs/nfs/", "nfs"),
    ("net/rds/", "rds"),
    ("net/sctp/", "sctp"),
)
#: Keys that left /proc/sys, and where to.
MOVED = {
    "kernel/sched_min_granularity_ns": "debugfs in 5.13",
    "kernel/sched_wakeup_granularity_ns": "debugfs in 5.13",
    "kernel/sched_migration_cost_ns": "debugfs in 5.13",
    "kernel/sched_latency_ns": "debugfs in 5.13",
    "kernel/sched_tunable_scaling": "debugfs in 5.13",
}


class Observed(NamedTuple):
    """What was read. `live`, `target`, `refusal` and `absent` are by setting name; `twin` is the live value of a
    key's exclusive twin.
    """

    files: List[configfiles.ConfigFile]
    assignments: Assignments
    own: Dict[str, str]
    live: Dict[str, View]
    target: Dict[str, str]
    refusal: Dict[str, str]
    absent: Dict[str, str]
    twin: Dict[str, str]
    boot: Dict[str, str]
    tuned: Tuned
    owner: Dict[str, str]
    facts: Dict[str, Any]


def canonical(name: str) -> str:
    """One spelling for each key, whichever of the two a person used."""
    return dot_form(path_form(name))


# -- observe ----------------------------------------------------------------------------------------------------


def observe(context: Context, entries: Dict[str, Entry]) -> Observed:
    host = context.host
    files = _files(host)
    assignments = Assignments(files)
    live: Dict[str, View] = {}
    target: Dict[str, str] = {}
    refusal: Dict[str, str] = {}
    absent: Dict[str, str] = {}
    twin: Dict[str, str] = {}
    for name in entries:
        key = _existing(host, path_form(name))
        target[name] = "/proc/sys/" + key
        if ".." in key.split("/") or host.is_directory(target[name]) or not host.exists(target[name]):
            absent[name] = _why_absent(host, key, context.container())
            continue
        live[name] = _live(host, target[name])
        refusal[name] = _refusal(context, target[name])
        if name in TWINS:
            twin[name] = host.read_or("/proc/sys/" + path_form(TWINS[name]), "0")
    boot = {
        path_form(word[len("sysctl.") :]): value or "" for word, value in cmdline.words(context.cmdline()) if word.startswith("sysctl.")
    }
    return Observed(
        files,
        assignments,
        own_lines(host, FILE),
        live,
        target,
        refusal,
        absent,
        twin,
        boot,
        context.tuned(),
        _owners(host, assignments, entries),
        context.facts(),
    )


def own_files(_host: Reader) -> List[str]:
    return [FILE]


def own_lines(host: Reader, file: str) -> Dict[str, str]:
    """What a file of ours gives: setting name -> value. Empty when it is not there, masked or not readable as a file of ours."""
    if host.link(file) is not None:
        return {}
    try:
        found, _notes = parse(host.read(file), file)
    except HostError:
        return {}
    return {dot_form(one.key): one.value for one in found if one.value is not None}


def line_name(lines: Dict[str, str], name: str) -> str:
    """The name under which our file has a setting: that of an interface with a dot may have been asked for with dots alone."""
    flat = name.replace("/", ".")
    return name if name in lines else next((line for line in lines if line.replace("/", ".") == flat), name)


def read_live(host: Reader, target: str) -> str:
    return rules.normal(host.read(target))


def notes(observed: Observed) -> List[str]:
    return configfiles.unread_notes(observed.files) + observed.assignments.notes


def _files(host: Reader) -> List[configfiles.ConfigFile]:
    directories = [path for path in DIRECTORIES if not (path == "/lib/sysctl.d" and host.link("/lib") is not None)]
    files = configfiles.read_directories(host, directories)
    if not any(host.exists(path) for path in SYSTEMD) and host.exists("/etc/sysctl.conf"):
        files.append(configfiles.read_file(host, "/etc/sysctl.conf"))  # procps reads it last, systemd does not read it at all
    return files


def _existing(host: Reader, key: str) -> str:
    """The path that a key names. `net/ipv4/conf/bond0/101/x` came from dots: where it is not there, the parts are joined with dots again
    as the directories that do exist want it."""
    if host.exists("/proc/sys/" + key):
        return key
    return _joined(host, "", key.split("/")) or key


def _joined(host: Reader, above: str, parts: List[str]) -> str:
    """The first path below `above` that exists when some of these parts are joined with dots; nothing when there is none. bond0 and bond0.101
    are both directories, so a way that leads nowhere is left again."""
    for size in range(1, len(parts)):
        folder = above + ".".join(parts[:size])
        if host.is_directory("/proc/sys/" + folder):
            found = _joined(host, folder + "/", parts[size:])
            if found:
                return found
    last = above + ".".join(parts)
    return last if host.exists("/proc/sys/" + last) else ""


def _live(host: Reader, path: str) -> View:
    try:
        return {"value": read_live(host, path), "from": path}
    except HostError as error:
        return {"error": error.reason, "from": path}


def _refusal(context: Context, path: str) -> str:
    try:
        if not context.host.mode(path) & 0o222:
            return "the kernel offers this key for reading only"
    except HostError:
        pass
    if "ro" in context.mount_options(path).split(","):
        return "/proc/sys is mounted read-only here"
    return ""


def _why_absent(host: Reader, key: str, container: str) -> str:
    if ".." in key.split("/"):
        return "this is no name of a key"
    if host.is_directory("/proc/sys/" + key):
        return "this is a directory of keys, not a key"
    if key in MOVED:
        return f"the kernel moved this key to {MOVED[key]}"
    for prefix, module in MODULES:
        if key.startswith(prefix):
            return f"the module {module}, which brings this key, is not loaded"
    if container != "none":
        return f"this key is not visible inside a container ({container})"
    return "this kernel has no such key"


def _owners(host: Reader, assignments: Assignments, entries: Dict[str, Entry]) -> Dict[str, str]:
    """file -> owner, asked only for files that win with a value that is not wanted: each question is a command."""
    found: Dict[str, str] = {}
    for name, entry in entries.items():
        key = _existing(host, path_form(name))
        winner = assignments.winner(key) or assignments.taken_out(key)
        if winner is None or winner.file == FILE or winner.file in found or rules.satisfied(entry["rule"], winner.value or ""):
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
    key = observed.target[name][len("/proc/sys/") :]
    twin = observed.twin.get(name, "0")
    detail: List[str] = []
    if twin not in ("", "0") and live.get("value") == "0":
        sentence = f"its exclusive twin {TWINS[name]} = {twin} is in force"
        if not settings.mends(entry):
            return settings.not_applicable(sentence, {"live": live})
        detail.append(sentence)
    persisted, winner = _persisted(name, key, observed)
    ours = Ours(FILE, observed.own.get(dot_form(key)), configfiles.link_of(observed.files, FILE))
    others = [one for one in observed.assignments.naming(key) if one.file != FILE]
    finding = settings.judge(
        entry,
        live,
        observed.target[name],
        persisted,
        ours,
        winner,
        others[-1].value if others else None,
        _default(name, observed),
        observed.refusal.get(name, ""),
        detail,
    )
    if finding["holds"]:
        finding["detail"].extend(_neighbours(observed, key, winner))
        if settings.may_take_over(entry, finding):
            finding["changes"].extend(_rivals(name, observed))
        finding["changes"] = [_placed(name, key, change, twin) for change in finding["changes"]]
    return finding


def _persisted(name: str, key: str, observed: Observed) -> Any:
    """(view, winner) of the next boot."""
    hidden = configfiles.unreadable(observed.files)
    if hidden:
        return {"error": hidden, "from": DIRECTORIES[0]}, None
    assignments = observed.assignments
    tuned = observed.tuned
    if tuned.running and not tuned.yields_to_sysctl_d and dot_form(key) in tuned.options.get("sysctl", {}):
        origin = "tuned profile {}".format(" ".join(tuned.profiles))
        return {"value": rules.normal(tuned.options["sysctl"][dot_form(key)]), "from": origin}, Winner(origin, "tuned", False)
    mine = assignments.winner(key)
    twin_key = path_form(TWINS[name]) if name in TWINS else ""
    twin = assignments.winner(twin_key) if twin_key else None
    if twin is not None and assignments.position(twin_key) > assignments.position(key) and rules.normal(twin.value) not in ("", "0"):
        return ({"value": "0", "from": f"{_place(twin)}, which sets {TWINS[name]}"}, _winner(twin, observed))
    if mine is not None:
        return {"value": rules.normal(mine.value), "from": _place(mine)}, _winner(mine, observed)
    if key in observed.boot:
        return ({"value": rules.normal(observed.boot[key]), "from": "/proc/cmdline"}, Winner("/proc/cmdline", "kernel command line", False))
    link = configfiles.link_of(observed.files, FILE)
    if link is not None:
        return {"unset": "our file is masked"}, Winner(f"{FILE} -> {link}", "a link in the place of our file", False)
    taken = assignments.taken_out(key)
    winner = _winner(taken, observed) if taken is not None and taken.file != FILE else None
    default = _default(name, observed)
    if default is not None:
        return {"value": default, "from": "kernel default"}, winner
    return {"unset": "no file sets it"}, winner


def _winner(assignment: Assignment, observed: Observed) -> Winner:
    if assignment.file == FILE:
        return Winner(_place(assignment), settings.OWNER, True)
    return Winner(_place(assignment), observed.owner.get(assignment.file, "another file"), False)


def _place(assignment: Assignment) -> str:
    return f"{assignment.file}:{assignment.line}"


def _default(name: str, observed: Observed) -> Optional[str]:
    return sysctl_defaults.boot_default(name, observed.facts, observed.live.get(name, {}).get("value", ""))


def _neighbours(observed: Observed, key: str, winner: Optional[Winner]) -> List[str]:
    """The other places that set this key, for somebody who looks for whose doing it is."""
    others = [one for one in observed.assignments.naming(key) if winner is None or _place(one) != winner.origin]
    if not others:
        return []
    return ["also set by {}".format(", ".join(f"{_place(one)} ({rules.normal(one.value)})" for one in others))]


def _placed(name: str, key: str, change: settings.Change, twin: str) -> settings.Change:
    """A change with what it takes to write and to undo it: our file names a key as systemd will read it, and since setting a key zeroes its
    twin and zero cannot be written back, going back means setting the twin."""
    if change["view"] == "persisted":
        return dict(change, line=dot_form(key))
    if name in TWINS and twin not in ("", "0"):
        return dict(change, undo={"target": "/proc/sys/" + path_form(TWINS[name]), "value": twin})
    return change


def _rivals(name: str, observed: Observed) -> List[settings.Change]:
    """The lines in /etc/sysctl.d that are read after ours, for a user who lets us put them aside. What lies elsewhere belongs to a package or
    the machine, and /etc/sysctl.conf is never touched, also not through a link."""
    key = observed.target[name][len("/proc/sys/") :]
    keys = {key, path_form(TWINS[name])} if name in TWINS else {key}
    links = {file.path for file in observed.files if file.link is not None}
    return [
        settings.put_aside(observed.files, one.file, one.line)
        for one in observed.assignments.all
        if one.key in keys and one.file.startswith("/etc/sysctl.d/") and one.file not in links and configfiles.is_read_after(one.file, FILE)
    ]


# -- apply ------------------------------------------------------------------------------------------------------


def write_live(host: Host, target: str, value: str) -> None:
    host.write_live(target, value)


def persisted(_host: Host, _files: List[str]) -> List[str]:
    return []


def render(_file: str, lines: Dict[str, str]) -> List[str]:
    """The lines of our file."""
    return [f"{spelled(path_form(name))} = {lines[name]}" for name in sorted(lines)]
