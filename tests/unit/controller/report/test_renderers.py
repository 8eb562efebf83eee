# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every renderer on the same documents: what must be said is said, and nothing that a node says can break out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import html, junit, markdown, peers, summary, terminal, write
from ansible_collections.gpufleet.node.plugins.plugin_utils.report.mend import command, mend
from spools import ENABLED, OVERCOMMIT, SWAPPINESS, answer, assemble, result, silence

EVIL = "</script><b>\"'`|\n[x](y) \x1b[31m\u2028&amp;"
RENDERERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "html": html.render,
    "markdown": markdown.render,
    "junit": junit.render,
    "terminal": terminal.render,
}


@pytest.fixture
def mixed(tmp_path: Path) -> dict[str, Any]:
    """Two nodes differ in a correctness setting, one in a hygiene setting, one is silent, something is unknown, something is waived."""
    taken = result("overridden", "2", desired="0", winner={"from": "/etc/sysctl.d/zzz.conf:2", "owner": "package vendor-tune"})
    return assemble(
        tmp_path,
        [
            answer("gpu-1", {OVERCOMMIT: taken, ENABLED: result("pending", "always", needs="reboot")}),
            answer(
                "gpu-2", {OVERCOMMIT: taken, SWAPPINESS: result("live_wrong", "60", waived={"reason": "a benchmark", "ticket": "OPS-1"})}
            ),
            answer(
                "gpu-3", {SWAPPINESS: result("unknown", views={"live": {"error": "Permission denied", "from": "/proc/sys/vm/swappiness"}})}
            ),
            silence("gpu-4", "unreachable", "No route to host"),
        ],
    )


@pytest.mark.parametrize("renderer", ["markdown", "terminal", "junit"])
def test_what_where_whose_and_what_mends_it(renderer: str, mixed: dict[str, Any]) -> None:
    text = RENDERERS[renderer](mixed) if renderer != "terminal" else terminal.render(mixed, width=400)
    for said in (
        OVERCOMMIT,
        "/etc/sysctl.d/zzz.conf:2",
        "vendor-tune",
        "gpufleet.node.site -e gpufleet_take_over=true --limit gpu-1,gpu-2",
        "No route to host",
        "gpu-4",
    ):
        assert said in text.replace("\\", ""), said


def test_the_terminal_fits(mixed: dict[str, Any]) -> None:
    lines = terminal.render(mixed, width=100).split("\n")
    assert len(lines) <= 11
    assert all(len(line) <= 100 for line in lines[:-1])
    wrong = [line for line in lines if "sysctl/" in line or "hugepage/" in line]
    assert [line.split()[0] for line in wrong] == ["correctness", "performance", "hygiene"]
    assert (
        lines[-1]
        == "INCOMPLETE: 1 correctness setting differs on 2 nodes, 1 other on 1; 1 node did not answer in full; 1 setting could not be read on 1 node."
    )


def test_the_terminal_says_how_much_it_left_out(tmp_path: Path) -> None:
    many = {f"sysctl/vm.made_up_{index:02d}": result("live_wrong", "7") for index in range(40)}
    lines = terminal.render(assemble(tmp_path, [answer("a", many)])).split("\n")
    assert len(lines) == 11
    shown = sum("made_up" in line for line in lines)
    assert f"and {40 - shown} more settings: see the report" in "\n".join(lines)


def test_colour_only_where_asked(mixed: dict[str, Any]) -> None:
    assert "\033[" not in terminal.render(mixed)
    coloured = terminal.render(mixed, width=100, colour=True)
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == terminal.render(mixed, width=100)
    assert "\033[" in coloured


SENTENCES = {
    "clean fleet": ([answer("a"), answer("b")], "Every setting is right on all 2 nodes."),
    "clean node": ([answer("a")], "Every setting is right on this node."),
    "nobody": ([], "No node was asked, so nothing is known."),
    "all unreachable": ([silence("a", "unreachable"), silence("b", "failed")], "None of 2 nodes answered in full."),
    "one silent": ([silence("a", "unreachable")], "The node did not answer in full."),
    "one setting": ([answer("a", {SWAPPINESS: result("live_wrong", "60")})], "1 setting differs."),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_sentence(case: str, tmp_path: Path) -> None:
    nodes, sentence = SENTENCES[case]
    made = assemble(tmp_path, nodes)
    assert summary.sentence(made) == sentence
    for render in RENDERERS.values():
        assert render(made)


@pytest.fixture
def evil(tmp_path: Path) -> dict[str, Any]:
    """A node whose every word tries to be something else."""
    taken = result("overridden", EVIL, detail=EVIL, winner={"from": "/etc/" + EVIL, "owner": EVIL})
    node = answer("gpu-" + EVIL.replace("/", ""), {SWAPPINESS: taken}, groups=[EVIL])
    node["response"]["notes"] = [EVIL]
    return assemble(tmp_path, [node, silence("other", "failed", EVIL)])


def test_nothing_breaks_out_of_the_html(evil: dict[str, Any]) -> None:
    text = html.render(evil)
    assert text.count("</script>") == 2
    assert "<b>" not in text
    embedded = text.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&") & set(embedded)
    assert EVIL in [view["value"] for one in json.loads(embedded)["results"] for view in one["views"].values()]


def test_nothing_breaks_out_of_the_xml(evil: dict[str, Any]) -> None:
    root = ElementTree.fromstring(junit.render(evil))
    assert EVIL.replace("\x1b", "\ufffd").partition("\n")[0] in "".join(root.itertext())


def test_nothing_breaks_out_of_the_markdown(evil: dict[str, Any]) -> None:
    text = markdown.render(evil)
    assert all(char.isprintable() or char == "\n" for char in text)
    outside_code = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "code", text)
    assert not re.search(r"(?<!\\)[<\[]", outside_code)
    tables = [block.split("\n") for block in text.split("\n\n") if block.startswith("|")]
    assert tables
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_nothing_breaks_out_of_the_terminal(evil: dict[str, Any]) -> None:
    lines = terminal.render(evil).split("\n")
    assert len(lines) <= 11
    assert all(line.isprintable() for line in lines)


def test_the_html_loads_nothing(mixed: dict[str, Any]) -> None:
    text = html.render(mixed)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert not re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?:https?:|//)", text)


def test_html_interns(tmp_path: Path) -> None:
    made = assemble(tmp_path, [answer(f"gpu-{index}") for index in range(30)])
    data = html.interned(made)
    # The three settings are alike but for their rules.
    assert len(data["results"]) == 3
    assert {len(node["results"]) for node in data["nodes"]} == {3}
    assert len(data["groups"]) == 1


def test_junit_has_one_case_a_setting(mixed: dict[str, Any]) -> None:
    root = ElementTree.fromstring(junit.render(mixed))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert set(cases) == {OVERCOMMIT, SWAPPINESS, ENABLED, "every asked node answered in full", "gpufleet itself worked"}
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    assert kinds == {
        OVERCOMMIT: ["failure"],
        ENABLED: ["failure"],
        SWAPPINESS: ["error"],
        "every asked node answered in full": ["error"],
        "gpufleet itself worked": [],
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("5", "2", "2", "0")


def test_junit_skips_what_is_nowhere_judged_or_waived(tmp_path: Path) -> None:
    made = assemble(
        tmp_path, [answer("a", {SWAPPINESS: result("live_wrong", "60", waived={"reason": "x"}), ENABLED: result("not_applicable")})]
    )
    root = ElementTree.fromstring(junit.render(made))
    skipped = {case.get("name"): case[0].get("message") for case in root.iter("testcase") if case.find("skipped") is not None}
    assert skipped == {SWAPPINESS: "waived where it differs", ENABLED: "nowhere to be judged"}


MENDS = {
    "live": (result("live_wrong"), {}, "ansible-playbook gpufleet.node.site --limit a,b"),
    "file": (
        result("overridden", winner={"from": "/etc/sysctl.d/z.conf:1"}),
        {},
        "ansible-playbook gpufleet.node.site -e gpufleet_take_over=true --limit a,b",
    ),
    "command line": (result("overridden", winner={"from": "/proc/cmdline"}), {}, ""),
    "left to others": (result("live_wrong"), {"owner": "leave"}, ""),
    "check only": (result("live_wrong"), {"mend": "never"}, ""),
    "missing": (result("missing"), {}, ""),
    "reboot": (result("pending", needs="reboot"), {}, ""),
    "rights": (
        result("unknown", views={"live": {"error": "Permission denied"}}),
        {},
        "ansible-playbook gpufleet.node.drift --become --limit a,b",
    ),
    "unreadable": (
        result("unknown", views={"live": {"error": "Input/output error"}}),
        {},
        "ansible-playbook gpufleet.node.drift --limit a,b",
    ),
}


@pytest.mark.parametrize("case", MENDS)
def test_what_mends(case: str) -> None:
    what, about, line = MENDS[case]
    mending = mend(what, about)
    assert command(mending, ["b", "a"]) == line
    assert mending.text or line


def test_a_name_cannot_leave_its_place_in_a_command() -> None:
    line = command(mend(result("live_wrong"), {}), ["a;reboot", "it's"])
    assert line.endswith("""--limit 'a;reboot,it'"'"'s'""")


def peer(name: str, kernel: str = "6.12.0", fingerprint: str = "f", memory: int = 2**40, live: str = "1") -> dict[str, Any]:
    node = answer(name, {SWAPPINESS: result(live=live)})
    node["response"]["node"] = {"hostname": name, "kernel": kernel, "fingerprint": fingerprint, "memory_bytes": memory}
    return node


def test_the_odd_one_out(tmp_path: Path) -> None:
    nodes = [peer(f"a{index}", memory=2**40 + 4096 * index) for index in range(5)] + [peer("a5", kernel="6.1.0", live="60")]
    found = {odd.what: odd.odd for odd in peers.odd_ones(assemble(tmp_path, nodes))}
    assert found == {"kernel": {"6.1.0": ["a5"]}, SWAPPINESS: {"60": ["a5"]}}


def server(name: str, fingerprint: str = "f", **facts: Any) -> dict[str, Any]:
    node = peer(name, fingerprint=fingerprint)
    whole = {
        "vendor": "Maker",
        "product": "Box",
        "architecture": "x86_64",
        "accelerators": "8x 10de:2330",
        "bios": "1.27",
        "virtualised": False,
    }
    node["response"]["node"].update({**whole, **facts})
    return node


def test_a_node_that_lost_an_accelerator_is_odd_though_its_fingerprint_is_another(tmp_path: Path) -> None:
    lost = server("a5", "g", accelerators="7x 10de:2330", bios="1.12")
    others = [server(f"b{index}", "h", product="Other") for index in range(5)]
    made = assemble(tmp_path, [*(server(f"a{index}") for index in range(5)), lost, *others])
    found = {odd.what: (odd.usual, odd.odd) for odd in peers.odd_ones(made)}
    assert found == {"accelerators": ("8x 10de:2330", {"7x 10de:2330": ["a5"]}), "bios": ("1.27", {"1.12": ["a5"]})}


def test_virtual_machines_are_of_no_make(tmp_path: Path) -> None:
    nodes = [server(f"a{index}", str(index), virtualised=True) for index in range(5)]
    odd = server("a5", "g", virtualised=True, accelerators="none")
    assert peers.odd_ones(assemble(tmp_path, [*nodes, odd])) == []


PAIRS = {
    "too few": [peer("a0", "5"), *[peer(f"a{index}") for index in range(1, 4)]],
    "two camps": [peer(f"a{index}", "5" if index < 3 else "6") for index in range(6)],
    "other hardware": [peer("a0", "5", fingerprint="g"), *[peer(f"a{index}") for index in range(1, 6)]],
}


@pytest.mark.parametrize("case", PAIRS)
def test_no_odd_one_out(case: str, tmp_path: Path) -> None:
    assert peers.odd_ones(assemble(tmp_path, PAIRS[case])) == []


def test_all_files_are_written_for_the_owner_only(mixed: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "reports"
    for _time in range(2):
        paths = write.write_all(mixed, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["drift.html", "drift.json", "drift.junit.xml", "drift.md"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert json.loads(Path(paths["json"]).read_text()) == mixed


def test_a_write_that_fails_leaves_the_old_file(mixed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write.write_all(mixed, tmp_path / "reports")
    before = (tmp_path / "reports" / "drift.json").read_bytes()

    def full(*_ignored: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write.write_all({**mixed, "verdict": "clean"}, tmp_path / "reports")
    assert (tmp_path / "reports" / "drift.json").read_bytes() == before
    assert len(list((tmp_path / "reports").iterdir())) == 4
