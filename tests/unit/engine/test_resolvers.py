# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files count, in which order, and which line of them decides: sysctl.d and tmpfiles.d.

Where systemd is installed its own tools are asked the same questions.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import configfiles, sysctl_files, tmpfiles
from ansible_collections.gpufleet.node.plugins.module_utils.engine.configfiles import ConfigFile
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Reader
from ansible_collections.gpufleet.node.plugins.module_utils.engine.subsystems import sysctl
from hypothesis import given
from hypothesis import strategies as st

from machines import Machine

DIRECTORIES = ["/etc/x.d", "/run/x.d", "/usr/local/lib/x.d", "/usr/lib/x.d"]
NULL = object()  # a link to /dev/null

# -- files --------------------------------------------------------------------------------------------------------

#: what is there → the files that count, in order
FILES: Dict[str, Tuple[Dict[str, Any], List[str]]] = {
    "all directories, by name": (
        {"/usr/lib/x.d/40.conf": "", "/etc/x.d/30.conf": "", "/usr/local/lib/x.d/20.conf": "", "/run/x.d/10.conf": ""},
        ["/run/x.d/10.conf", "/usr/local/lib/x.d/20.conf", "/etc/x.d/30.conf", "/usr/lib/x.d/40.conf"],
    ),
    "bytes, not letters": (
        {"/etc/x.d/b.conf": "", "/etc/x.d/A.conf": "", "/etc/x.d/\u00e4.conf": "", "/etc/x.d/9.conf": "", "/etc/x.d/10.conf": ""},
        ["/etc/x.d/10.conf", "/etc/x.d/9.conf", "/etc/x.d/A.conf", "/etc/x.d/b.conf", "/etc/x.d/\u00e4.conf"],
    ),
    "a name hides that name further down": (
        {"/usr/lib/x.d/50.conf": "v", "/usr/local/lib/x.d/50.conf": "l", "/run/x.d/50.conf": "r", "/etc/x.d/50.conf": "e"},
        ["/etc/x.d/50.conf"],
    ),
    "in /run too": ({"/usr/lib/x.d/50.conf": "v", "/run/x.d/50.conf": "r"}, ["/run/x.d/50.conf"]),
    "an empty file hides": ({"/usr/lib/x.d/50.conf": "v", "/etc/x.d/50.conf": ""}, ["/etc/x.d/50.conf"]),
    "a link to /dev/null hides": ({"/usr/lib/x.d/50.conf": "v", "/etc/x.d/50.conf": NULL}, ["/etc/x.d/50.conf"]),
    "other names do not count": (
        {"/etc/x.d/.50.conf": "", "/etc/x.d/50.cnf": "", "/etc/x.d/50.conf.bak": "", "/etc/x.d/README": "", "/etc/x.d/60.conf": ""},
        ["/etc/x.d/60.conf"],
    ),
    "no directory at all": ({}, []),
}


def lay_out(machine: Machine, files: Dict[str, Any]) -> None:
    for path, content in files.items():
        if content is NULL:
            machine.link(path, "/dev/null")
        else:
            machine.write(path, content)


@pytest.mark.parametrize("case", sorted(FILES))
def test_the_files_that_count(case: str, tmp_path: Path) -> None:
    machine = Machine(str(tmp_path))
    files, expected = FILES[case]
    lay_out(machine, files)
    found = configfiles.read_directories(Reader(machine.root), DIRECTORIES)
    assert [file.path for file in found] == expected
    for file in found:
        assert file.text == ("" if files[file.path] is NULL else files[file.path])


@pytest.mark.parametrize("case", sorted(FILES))
def test_systemd_takes_the_same_files_in_the_same_order(case: str, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed here")
    machine = Machine(str(tmp_path))
    files = {path.replace("x.d", "sysctl.d"): content for path, content in FILES[case][0].items()}
    lay_out(machine, files)
    answer = subprocess.run(
        [analyze, "--root=" + machine.root, "--no-pager", "cat-config", "sysctl.d"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert answer.returncode == 0, answer.stdout
    lines = answer.stdout.decode("utf-8").split("\n")
    told = [line[2 + len(machine.root) :] for line in lines if line.startswith("# " + machine.root)]
    found = configfiles.read_directories(Reader(machine.root), sysctl.DIRECTORIES)
    assert [file.path for file in found] == told


def test_what_a_file_hides_is_known(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path))
    lay_out(machine, {"/etc/x.d/5.conf": "", "/run/x.d/5.conf": "", "/usr/lib/x.d/5.conf": ""})
    assert configfiles.read_directories(Reader(machine.root), DIRECTORIES)[0].masks == ("/run/x.d/5.conf", "/usr/lib/x.d/5.conf")


def test_a_file_that_the_boot_cannot_read_either_says_nothing_and_one_that_it_can_hides_all(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path))
    machine.link("/etc/x.d/1.conf", "/nowhere")
    machine.folder("/etc/x.d/2.conf")
    machine.fifo("/etc/x.d/3.conf")
    machine.link("/etc/x.d/4.conf", "4.conf")
    files = configfiles.read_directories(Reader(machine.root), DIRECTORIES)
    assert [bool(file.error) for file in files] == [True] * 4
    assert len(configfiles.unread_notes(files)) == 4
    assert configfiles.unreadable(files) == ""
    machine.write("/etc/x.d/5.conf", "x" * (1 << 20) + "y")
    assert "5.conf could not be read: is larger" in configfiles.unreadable(configfiles.read_directories(Reader(machine.root), DIRECTORIES))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n  \n\t\n", []),
        ("# a\n; b\n  # c\nd # e\n", [(4, "d # e")]),
        ("  a = 1  \r\nb = 2", [(1, "a = 1"), (2, "b = 2")]),
        ("a = 1\0b = 2\n", [(1, "a = 1"), (1, "b = 2")]),
    ],
)
def test_lines_that_say_something(text: str, lines: Any) -> None:
    assert [tuple(line) for line in configfiles.lines(text)] == lines


# -- sysctl.d -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("vm.swappiness", "vm/swappiness"),
        ("vm/swappiness", "vm/swappiness"),
        ("/vm/swappiness", "vm/swappiness"),
        ("vm//swappiness", "vm/swappiness"),
        ("net.ipv4.conf.eth0/100.rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("net.ipv4.conf.*.rp_filter", "net/ipv4/conf/*/rp_filter"),
        ("kernel", "kernel"),
    ],
)
def test_both_separators(written: str, path: str) -> None:
    assert sysctl_files.path_form(written) == path
    assert sysctl_files.path_form(sysctl_files.dot_form(path)) == path
    assert sysctl_files.path_form(sysctl_files.spelled(path)) == path


KEY = "net/ipv4/conf/eth0/rp_filter"
#: files in their order → the line that decides KEY, or None
WINNERS: Dict[str, Tuple[List[str], Optional[Tuple[str, int, str]]]] = {
    "nobody": (["vm.swappiness = 1"], None),
    "one line": (["net.ipv4.conf.eth0.rp_filter = 1"], ("0", 1, "1")),
    "without blanks": (["net.ipv4.conf.eth0.rp_filter=1"], ("0", 1, "1")),
    "the later line of a file": (["net.ipv4.conf.eth0.rp_filter=1\n\n# x\nnet.ipv4.conf.eth0.rp_filter=2"], ("0", 4, "2")),
    "the later file": (["net.ipv4.conf.eth0.rp_filter=1", "net.ipv4.conf.eth0.rp_filter=2"], ("1", 1, "2")),
    "the other spelling": (["net.ipv4.conf.eth0.rp_filter=1", "net/ipv4/conf/eth0/rp_filter=2"], ("1", 1, "2")),
    "a key that may fail": (["net.ipv4.conf.eth0.rp_filter=1", "-net.ipv4.conf.eth0.rp_filter=2"], ("1", 1, "2")),
    "a glob": (["net.ipv4.conf.*.rp_filter=2"], ("0", 1, "2")),
    "a glob with a question mark": (["net.ipv4.conf.eth?.rp_filter=2"], ("0", 1, "2")),
    "a glob with letters": (["net.ipv4.conf.[d-f]th0.rp_filter=2"], ("0", 1, "2")),
    "a glob with letters that are not meant": (["net.ipv4.conf.[^a-d]th0.rp_filter=2"], ("0", 1, "2")),
    "a glob with other letters": (["net.ipv4.conf.[^d-f]th0.rp_filter=2"], None),
    "no glob crosses a slash": (["net.*.rp_filter=2", "net.ipv4.*.eth0.*.rp_filter=2"], None),
    "the later glob": (["net.ipv4.conf.*.rp_filter=2", "net.ipv4.*.eth0.rp_filter=1"], ("1", 1, "1")),
    "its name before a later glob": (["net.ipv4.conf.eth0.rp_filter=1", "net.ipv4.conf.*.rp_filter=2"], ("0", 1, "1")),
    "taken out of the globs": (["net.ipv4.conf.*.rp_filter=2", "-net.ipv4.conf.eth0.rp_filter"], None),
    "taken out before the glob": (["-net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.*.rp_filter=2"], None),
    "taken out and given a value again": (["-net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.eth0.rp_filter=1"], ("1", 1, "1")),
    "given a value and taken out": (["net.ipv4.conf.eth0.rp_filter=1", "-net.ipv4.conf.eth0.rp_filter"], None),
    "an empty value": (["net.ipv4.conf.eth0.rp_filter ="], ("0", 1, "")),
    "more than one =": (["net.ipv4.conf.eth0.rp_filter = a=b"], ("0", 1, "a=b")),
    "comments": (["#net.ipv4.conf.eth0.rp_filter=1\n;net.ipv4.conf.eth0.rp_filter=1\n"], None),
}


def config_files(texts: List[str]) -> List[ConfigFile]:
    return [ConfigFile(str(number), text, "", False, None, ()) for number, text in enumerate(texts)]


@pytest.mark.parametrize("case", sorted(WINNERS))
def test_the_line_that_decides_a_key(case: str) -> None:
    texts, expected = WINNERS[case]
    winner = sysctl_files.Assignments(config_files(texts)).winner(KEY)
    assert (winner and (winner.file, winner.line, winner.value)) == expected


def test_lines_that_are_no_assignments_are_noted_and_lose_nothing_else() -> None:
    assignments = sysctl_files.Assignments(config_files(["vm.swappiness\n= 3\n-\n\0\nvm.x = 1"]))
    assert assignments.notes == [f"0:{line} is no assignment and is ignored" for line in (1, 2, 3)]
    assert [one.key for one in assignments.all] == ["vm/x"]


def test_a_file_that_is_no_configuration_has_few_notes() -> None:
    text = "nonsense\n" * 1000
    expected = [f"0:{line} is no assignment and is ignored" for line in range(1, 6)] + ["0: 995 more lines are ignored"]
    assert sysctl_files.Assignments(config_files([text])).notes == expected
    assert len(tmpfiles.Writes(config_files(["w\n" * 1000, "w\n" * 5])).notes) == 11


def test_a_line_that_repeats_a_value_does_not_move_its_key_to_the_end() -> None:
    assignments = sysctl_files.Assignments(config_files(["vm.a = 1", "vm.b = 1", "vm.a = 1", "vm.c = 1", "vm.a = 2"]))
    assert [assignments.position("vm/" + key) for key in "abc"] == [4, 1, 3]
    assignments = sysctl_files.Assignments(config_files(["vm.a = 1", "vm.b = 1", "vm.a = 1"]))
    assert [assignments.position("vm/" + key) for key in "abc"] == [0, 1, -1]
    winner = assignments.winner("vm/a")
    assert winner is not None
    assert winner.file == "2"


@given(st.lists(st.sampled_from(["net.ipv4.conf.eth0.rp_filter", "net/ipv4/conf/eth0/rp_filter", "vm.x"]), max_size=6))
def test_the_last_line_that_names_a_key_decides(keys: List[str]) -> None:
    winner = sysctl_files.Assignments(config_files([f"{key} = {number}" for number, key in enumerate(keys)])).winner(KEY)
    naming = [number for number, key in enumerate(keys) if key != "vm.x"]
    assert (winner and winner.value) == (str(naming[-1]) if naming else None)


# -- tmpfiles.d ---------------------------------------------------------------------------------------------------

#: files in their order, where @ is the path → what the path holds afterwards; None: untouched
TMPFILES: Dict[str, Tuple[List[str], Optional[str]]] = {
    "nobody": (["d /x 0755 - - -"], None),
    "one line": (["w @ - - - - one"], "one"),
    "the first line": (["w @ - - - - one\nw @ - - - - two"], "one"),
    "the first file": (["w @ - - - - one", "w @ - - - - two"], "one"),
    "w+ after w": (["w @ - - - - one", "w+ @ - - - - two"], "one"),
    "w after w+": (["w+ @ - - - - one", "w @ - - - - two"], "one"),
    "w+ after w+": (["w+ @ - - - - one", "w+ @ - - - - two"], "two"),
    "the same twice": (["w @ - - - - one\nw @ - - - - one\nw @ - - - - two"], "one"),
    "another glob is later": (["w @ - - - - one", "w /x/* - - - - two"], "two"),
    "another glob is earlier": (["w /x/* - - - - two", "w @ - - - - one"], "one"),
    "a glob that does not match": (["w @ - - - - one", "w /x/g* - - - - two", "w /*/y/knob - - - - two"], "one"),
    "a glob with letters that are not meant": (["w /x/[^g]nob - - - - one"], "one"),
    "f+": (["f+ @ - - - - one"], "one"),
    "F": (["F @ - - - - one"], "one"),
    "f+ without argument": (["f+ @ - - - -"], None),
    "f leaves what is there": (["f @ - - - - one"], None),
    "f+ comes before w": (["w @ - - - - one", "f+ @ - - - - two"], "one"),
    "the first f+": (["f+ @ - - - - one", "f+ @ - - - - two"], "one"),
    "an argument of several words": (["w @ - - - -   one  two  "], "one  two"),
    "an argument in quotes keeps them": (['w @ - - - - "one"'], '"one"'),
    "a path in quotes": (['w "@" - - - - one'], "one"),
    "a path in single quotes": (["w '@' - - - - one"], "one"),
    "an escaped blank": (["w @ - - - - one\\x20two"], "one two"),
    "an escaped tab": (["w @ - - - - one\\ttwo"], "one\ttwo"),
    "a comment is no part of a line": (["w @ - - - - one # two"], "one # two"),
    "comments": (["# w @ - - - - one\n  # w @ - - - - one"], None),
    "no argument": (["w @ - - - - -", "w @ - - - -", "w @"], None),
    "two slashes": (["w /x//knob - - - - one", "w @ - - - - two"], "one"),
    "a slash at the end": (["w /x/knob/ - - - - one"], "one"),
    "a modifier": (["w- @ - - - - one"], "one"),
    "tabs": (["w\t@\t-\t-\t-\t-\tone"], "one"),
}
SEED = "seed"


def tmpfiles_texts(case: str, path: str) -> List[str]:
    return [text.replace("@", path) for text in TMPFILES[case][0]]


@pytest.mark.parametrize("case", sorted(TMPFILES))
def test_what_a_boot_writes(case: str) -> None:
    winner = tmpfiles.Writes(config_files(tmpfiles_texts(case, "/x/knob"))).winner("/x/knob")
    assert (winner.value if winner else None) == TMPFILES[case][1]


def replaced_or_appended(expected: str) -> List[str]:
    """On a disk, unlike in sysfs, a shorter text leaves the rest of what was there, and w+ appends."""
    return [expected, expected + SEED[len(expected) :], SEED + "one" + expected, SEED + expected]


#: On a disk it empties the file; the kernel does not hear of that.
ONLY_ON_A_DISK = {"f+ without argument"}


@pytest.mark.parametrize("case", sorted(set(TMPFILES) - ONLY_ON_A_DISK))
def test_systemd_writes_the_same(case: str, tmp_path: Path) -> None:
    tool = shutil.which("systemd-tmpfiles")
    if tool is None:
        pytest.skip("systemd-tmpfiles is not installed here")
    machine = Machine(str(tmp_path))
    machine.write("/x/knob", SEED)
    for number, text in enumerate(tmpfiles_texts(case, "/x/knob")):
        machine.write(f"/etc/tmpfiles.d/{number}.conf", text + "\n")
    subprocess.run([tool, "--root=" + machine.root, "--create"], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expected = TMPFILES[case][1]
    assert machine.read("/x/knob") in ([SEED] if expected is None else replaced_or_appended(expected))


def test_lines_that_write_nothing_are_noted_and_lines_of_other_kinds_are_not() -> None:
    writes = tmpfiles.Writes(config_files(["w\nw relative - - - - 1\nw /x\nd /y\nL /z - - - - /x\nf+ /y\nw /x - - - - 1\nw // - - - - 1"]))
    assert writes.notes == [f"0:{line} writes nothing and is ignored" for line in (1, 2, 3)]
    assert [write.path for write in writes.all] == ["/x", "/"]


def test_the_writes_that_name_a_path_are_all_known() -> None:
    writes = tmpfiles.Writes(config_files(["w /x/a - - - - 1", "w /x/a - - - - 2\nw /x/* - - - - 3\nw /x/b - - - - 4"]))
    assert [(write.file, write.line, write.value) for write in writes.naming("/x/a")] == [("0", 1, "1"), ("1", 1, "2"), ("1", 2, "3")]
