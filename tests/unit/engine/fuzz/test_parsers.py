# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All parsers, fed with anything: 10,000 inputs each in CI (`CI=true`), few elsewhere."""

import json
from typing import Any, Dict, List

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import (
    cmdline,
    conditions,
    configfiles,
    context,
    journal,
    memory,
    rules,
    run,
    sysctl_files,
    tmpfiles,
    tuned,
    workload,
)
from ansible_collections.gpufleet.node.plugins.module_utils.engine.configfiles import ConfigFile
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import TEXT_MAX
from ansible_collections.gpufleet.node.plugins.module_utils.engine.subsystems import sysctl, transparent_hugepage
from hypothesis import given, settings
from hypothesis import strategies as st
from paper import Paper

import shape
from asking import FILE, SYSCTL, THP, THP_FILE, within

BASE = "/sys/kernel/mm/transparent_hugepage/"
KEY = "vm/swappiness"

#: Pieces of which real files are made, so that much of what is tried gets far.
PIECES = [
    *("vm.swappiness", "vm/swappiness", "vm.*", "vm.dirty_bytes", "-", "=", " = ", "1", "60", "99999999999999999999", "\u00b2", "9" * 5000),
    *(
        "#",
        ";",
        "\n",
        "\n",
        "\n",
        "\r",
        "\t",
        " ",
        "\0",
        '"',
        "'",
        "\\",
        "\\x",
        "\\x4",
        "[",
        "]",
        "[^",
        "*",
        "?",
        "/",
        "//",
        ".",
        "..",
        "%",
        "!",
    ),
    *("w ", "w+ ", "f+ ", "F ", BASE + "enabled", BASE + "*", " - - - - ", "always", "[madvise] never", "never"),
    *("[main]", "[sysctl]", "[vm]", "include=", "mine", "transparent_hugepages=", "transparent_hugepage=", "sysctl.vm.swappiness=", " -- "),
    *(
        "MemTotal: ",
        " kB",
        "model name : x",
        "flags : hypervisor",
        "ID=debian",
        "VERSION_ID=",
        "/dev/nvidia0",
        "ro",
        "rw",
        "proc /proc/sys proc ",
    ),
    *("{", "}", "[" * 2000, '"settings"', ":", ",", "null", "\udcff", "\u2028", "\x85", "\x1c"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    st.binary(max_size=80).map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.text(max_size=40),
)


def files(texts: List[str]) -> List[ConfigFile]:
    return [ConfigFile(str(number), text, "", False, None, ()) for number, text in enumerate(texts)]


def lines_of(texts: List[str]) -> Any:
    return {str(number): text.count("\n") + 1 for number, text in enumerate(texts)}


@given(st.lists(TEXT, max_size=3))
def test_sysctl_d(texts: List[str]) -> None:
    assignments = sysctl_files.Assignments(files(texts))
    for one in assignments.all:
        assert 1 <= one.line <= lines_of(texts)[one.file]
        assert one.key
        assert one.value is None or one.value == one.value.strip()
        assert one.value is None or one.value in texts[int(one.file)]
    winner = assignments.winner(KEY)
    assert (winner is not None) == (assignments.position(KEY) >= 0)
    assert winner is None or winner in assignments.naming(KEY)
    assert winner is None or assignments.taken_out(KEY) is None


@given(TEXT)
def test_a_key_has_one_path(text: str) -> None:
    path = sysctl_files.path_form(text)
    assert sysctl_files.path_form("/" + path) == path
    assert "//" not in path


@given(st.lists(TEXT, max_size=3))
def test_tmpfiles_d(texts: List[str]) -> None:
    writes = tmpfiles.Writes(files(texts))
    for one in writes.all:
        assert 1 <= one.line <= lines_of(texts)[one.file]
        assert one.path.startswith("/")
        assert one.value.strip()
    winner = writes.winner(BASE + "enabled")
    naming = writes.naming(BASE + "enabled")
    assert (winner in naming) if winner else naming == []


@given(TEXT)
def test_command_line(text: str) -> None:
    words = cmdline.words(text)
    assert all(value is None or name + "=" + value for name, value in words)
    last = cmdline.last(text, "transparent_hugepage")
    assert last is None or ("transparent_hugepage", last) in [(name.replace("-", "_"), value) for name, value in words]


@given(TEXT, TEXT, TEXT)
def test_tuned(active: str, profile: str, main: str) -> None:
    found = tuned.read(
        Paper({"/etc/tuned/active_profile": active + " mine", "/etc/tuned/mine/tuned.conf": profile, "/etc/tuned/tuned-main.conf": main})
    )
    assert found.profiles == list(dict.fromkeys((active + " mine").split()))[: tuned.PROFILES_MAX]
    assert all(isinstance(value, str) for options in found.options.values() for value in options.values())


@given(TEXT, TEXT, TEXT)
def test_processes(name: str, target: str, cgroup: str) -> None:
    folder = "/proc/4711/"
    found = workload.read(Paper({folder + "comm": name, folder + "fd/0": target, folder + "cgroup": cgroup}))
    assert found.blind == ""
    assert len(found.holders) <= 1


@given(TEXT, TEXT, TEXT, TEXT)
def test_facts(memory_info: str, cpu: str, release: str, mounts: str) -> None:
    paper = Paper({"/proc/meminfo": memory_info, "/proc/cpuinfo": cpu, "/etc/os-release": release, "/proc/mounts": mounts})
    asked = context.Context(paper)
    json.dumps(asked.facts())
    assert isinstance(asked.mount_options("/proc/sys/vm"), str)
    assert conditions.unmet({"memory_bytes": {"at_least": 10**30}}, asked)


@given(TEXT, TEXT)
def test_rules_and_live_values(one: str, other: str) -> None:
    assert rules.same(one, rules.normal(one))
    assert rules.satisfied({"exact": one}, one)
    for kind in ({"at_least": one}, {"between": [one, one], "set": one}, {"one_of": [one]}):
        written = rules.target(kind, other)
        assert written == rules.normal(written)
    paper = Paper({"/live": one})
    assert transparent_hugepage.read_live(paper, "/live") is not None
    assert sysctl.read_live(paper, "/live") == rules.normal(one)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["live", "persisted", "foreign", "r1", "job"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["target", "value", "rule", "refused", "exact"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ("run", "setting", "view", "target", "before", "after", "line", "link", "undo", "disturbs", "time")
RECORD = st.fixed_dictionaries(
    {"run": st.just("r1"), "setting": st.sampled_from(["sysctl/a", "b"]), "view": st.sampled_from(["live", "foreign"])}
)
BROKEN = st.builds(
    lambda record, more: json.dumps(dict(dict(record, target="/x"), **more)),
    RECORD,
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3),
)


@given(st.lists(st.one_of(TEXT, BROKEN, JSON.map(json.dumps)), max_size=4))
def test_journal(lines: List[str]) -> None:
    records = journal.read(Paper({journal.PATH: "\n".join(lines)}))
    for step in journal.steps_back(records, "first"):
        assert all(isinstance(text, str) for text in (step.setting, step.line, step.view, step.target))
        assert step.value is None or isinstance(step.value, str)
        assert step.link is None or isinstance(step.link, str)
        assert step.disturbs in ("nothing", "jitter", "job")


@given(st.one_of(TEXT, JSON.map(lambda inner: json.dumps({"version": 1, "settings": {"sysctl/a": inner}}))))
def test_memory(text: str) -> None:
    for remembered in memory.read(Paper({memory.PATH: text})).values():
        assert memory.cause(remembered, {"exact": 1}) in ("intent", "wandered", "never_applied")
        assert isinstance(memory.refusal(remembered, "1", "b"), str)


@given(TEXT)
def test_lines_keep_their_numbers(text: str) -> None:
    split = text.split("\n")
    for line in configfiles.lines(text):
        assert line.text in split[line.number - 1]


@pytest.mark.parametrize("piece", ["[", "[a ", "a", "1 ", "=", '"', "\\\\", "*", "-", "w ", "\n", "w /x - - - - [\n", "a.b=[\n", "[x]\n"])
def test_a_large_file_takes_no_time(piece: str) -> None:
    """A parser whose time grows with the square of the size needs minutes for a quarter of the largest file that is read."""
    text = piece * (TEXT_MAX // 4 // len(piece))
    with within(30):
        assert transparent_hugepage.read_live(Paper({"/live": text}), "/live") is not None
        sysctl_files.Assignments(files([text])).winner(KEY)
        tmpfiles.Writes(files([text])).winner(BASE + "enabled")
        cmdline.last(text, "transparent_hugepage")
        tuned.read(Paper({"/etc/tuned/active_profile": text, "/etc/tuned/mine/tuned.conf": text}))
        context.Context(Paper({"/proc/meminfo": text, "/proc/cpuinfo": text, "/etc/os-release": text})).facts()


@settings(max_examples=max(40, settings().max_examples // 10))
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("/etc/sysctl.d/10.conf", "/etc/sysctl.d/zzz.conf", "/etc/sysctl.conf", FILE, "/etc/tmpfiles.d/00-a.conf", THP_FILE),
                *("/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_ratio", "/proc/sys/vm/dirty_bytes", "/proc/sys/net/ipv4/tcp_rmem"),
                *(BASE + "enabled", BASE + "defrag", BASE + "khugepaged/defrag", "/proc/cmdline", "/proc/mounts", "/proc/meminfo"),
                *("/etc/tuned/active_profile", "/etc/tuned/mine/tuned.conf", "/run/tuned/tuned.pid", "/run/systemd/container", memory.PATH),
            ]
        ),
        TEXT,
        max_size=12,
    )
)
def test_a_whole_machine_on_paper(texts: Dict[str, str]) -> None:
    """The same judgement as on a node, of a machine on which every file says anything."""
    paper = Paper(texts)
    request = {"action": "check", "subsystems": {"sysctl": SYSCTL, "transparent_hugepage": THP}, "take_over": True}
    for module in (sysctl, transparent_hugepage):
        judged = run.judge(module, request, context.Context(paper), memory.read(paper))
        printable = run._printable(judged)
        assert len(printable["results"]) == len(request["subsystems"][module.NAME])
        for identity, result in printable["results"].items():
            shape.check_result(identity, result)
        json.dumps(printable).encode("ascii")
