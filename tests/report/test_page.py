# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTML report in a real browser, with simulated fleets."""

from __future__ import annotations

import csv
import io
import re
import time
from pathlib import Path
from typing import Any

import pytest

from browser import Browser

LARGEST_BYTES = 3_000_000
SLOWEST_S = 4.0  # a shared machine with two slow cores; on an idle one it takes a quarter of that
ROWS = "[...document.querySelectorAll('tr.row')].map(row => row.dataset.setting)"
ZONE = "sysctl/vm.zone_reclaim_mode"


def text(page: Browser, selector: str) -> str:
    return str(page.evaluate(f"document.querySelector({selector!r}).innerText"))


@pytest.fixture(autouse=True)
def no_problem(page: Browser) -> Any:
    """No test may leave an error in the console."""
    page.problems.clear()
    yield
    page.evaluate("0")
    assert page.problems == []


def test_a_big_fleet_is_small_and_fast(page: Browser, reports: dict[str, Any]) -> None:
    size = reports["big"].stat().st_size
    began = time.monotonic()
    page.open(reports["big"].as_uri())
    wall = time.monotonic() - began
    drawn = page.evaluate("performance.getEntriesByName('drawn')[0].startTime") / 1000
    print(
        f"\nsimulated fleet of 1,250 nodes × 150 settings: {size / 1e6:.2f} MB, first usable view after {drawn:.2f} s ({wall:.2f} s as seen from outside)"
    )
    assert size < LARGEST_BYTES
    assert drawn < SLOWEST_S


def test_the_five_nodes_and_the_one_setting_are_in_the_first_view(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["big"].as_uri())
    assert page.evaluate(ROWS)[0] == ZONE
    assert page.evaluate("document.querySelector('tr.row').getBoundingClientRect().bottom <= innerHeight")
    first = text(page, "tr.row")
    for said in (*reports["bad"], "/etc/sysctl.d/zzz-vendor-tune.conf:2", "gpufleet_take_over=true"):
        assert said in first
    assert "1 correctness setting differs on 5 nodes" in text(page, "h1")


def test_nothing_is_loaded(page: Browser, reports: dict[str, Any]) -> None:
    address = reports["big"].as_uri()
    page.open(address)
    page.evaluate("document.querySelector('.where .link').click()")
    page.evaluate("new Promise(done => requestIdleCallback(done, {timeout: 2000}))")
    assert [one for one in page.requests if one.split("#")[0] != address] == []


def test_filters_work_and_survive_a_reload(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    everything = page.evaluate(ROWS)
    assert everything[0] == ZONE
    page.evaluate("document.querySelector('[data-pill=\"state:live_wrong\"]').click()")
    assert page.evaluate(ROWS) == ["sysctl/vm.swappiness"]
    page.evaluate("document.querySelector('[data-pill=\"state:blocked\"]').click()")
    assert set(page.evaluate(ROWS)) == {"sysctl/vm.swappiness", "sysctl/kernel.numa_balancing"}
    page.key("/")
    page.type("swap")
    assert page.evaluate(ROWS) == ["sysctl/vm.swappiness"]
    address = page.evaluate("location.hash")
    assert address == "#q=swap&state=live_wrong%2Cblocked"
    page.reload()
    assert page.evaluate(ROWS) == ["sysctl/vm.swappiness"]
    assert page.evaluate("document.querySelector('#search').value") == "swap"
    assert page.evaluate("document.querySelectorAll('#pills [aria-pressed=true]').length") == 2
    page.evaluate("document.querySelector('#reset').click()")
    assert page.evaluate(ROWS) == everything
    assert page.evaluate("location.hash") in ("", "#")


@pytest.mark.parametrize(
    ("address", "rows"),
    [
        ("impact=correctness", [ZONE]),
        ("impact=hygiene", ["sysctl/kernel.panic_on_oops"]),
        ("owner=vendor-tune", [ZONE]),
        ("subsystem=transparent_hugepage", ["transparent_hugepage/enabled", "transparent_hugepage/defrag"]),
        ("q=zzz-vendor", [ZONE]),
        ("q=no+such+thing", []),
        ("state=waived", ["transparent_hugepage/defrag"]),
        ("state=ok&q=tcp_rmem", ["sysctl/net.ipv4.tcp_rmem"]),
        ("node=gpu-0150&impact=correctness", [ZONE]),
        ("node=gpu-0151&impact=correctness", []),
        ("group=rack04&impact=correctness", [ZONE]),
    ],
)
def test_each_filter(page: Browser, reports: dict[str, Any], address: str, rows: list[str]) -> None:
    page.open(f"{reports['picture'].as_uri()}#{address}")
    assert page.evaluate(ROWS) == rows


def test_keyboard(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    chosen = "document.activeElement.dataset.setting"
    page.key("j")
    assert page.evaluate(chosen) == ZONE
    page.key("j")
    page.key("ArrowDown")
    page.key("k")
    assert page.evaluate(chosen) == page.evaluate(ROWS)[1]
    page.key("ArrowUp")
    page.key("Enter")
    assert page.evaluate(chosen) == ZONE
    assert "Reclaiming the near zone" in text(page, "tr.detail")
    page.key("n")
    assert text(page, ".sheet h2") == reports["bad"][0]
    page.key("Escape")
    assert page.evaluate("document.querySelector('.sheet')") is None
    page.key("Escape")
    assert page.evaluate("document.querySelector('tr.detail')") is None
    page.key("?")
    assert "next and previous" in text(page, ".help")
    page.key("Escape")
    assert page.evaluate("document.querySelector('.help')") is None
    page.key("/")
    page.type("j?")
    assert page.evaluate("document.querySelector('#search').value") == "j?"


def test_a_node_opens_with_all_its_views(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["one"].as_uri())
    page.evaluate("document.querySelector('.matrix .link').click()")
    assert page.evaluate("location.hash") == "#show=localhost"
    sheet = text(page, ".sheet")
    for said in (
        "localhost",
        "6.8.0-60-generic",
        "/proc/cmdline",
        "/etc/default/grub:10",
        "permission denied",
        "/etc/sysctl.d/10-old.conf:7 is no assignment",
    ):
        assert said in sheet, said
    heads = page.evaluate("[...document.querySelectorAll('.sheet th')].map(head => head.innerText)")
    assert heads == ["Setting", "State", "Wants", "persisted", "boot", "live", "Whose doing"]
    differing = page.evaluate("document.querySelectorAll('.sheet tbody tr').length")
    page.evaluate("document.querySelector('.sheet .tools .button').click()")
    assert page.evaluate("document.querySelectorAll('.sheet tbody tr').length") > differing == 6
    page.evaluate("history.back()")
    page.wait_for("!document.querySelector('.sheet')")


def test_on_one_node_the_common_command_stands_once(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["one"].as_uri())
    assert "This mends 4 of them" in text(page, ".common")
    commands = page.evaluate("[...document.querySelectorAll('#settings .command code')].map(one => one.innerText)")
    assert commands == [
        "ansible-playbook gpufleet.node.site --limit localhost",
        "ansible-playbook gpufleet.node.drift --become --limit localhost",
    ]


def test_a_silent_node_is_prominent_and_opens(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    alarm = text(page, "#silent")
    assert "3 nodes unreachable" in alarm
    assert "No route to host" in alarm
    assert page.evaluate("document.querySelector('#silent').getBoundingClientRect().bottom < innerHeight")
    page.evaluate("document.querySelector('#silent .link').click()")
    assert "unreachable" in text(page, ".sheet")


def test_the_odd_ones_are_shown(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    assert "6.5.0-44-generic" in text(page, "#peers")


def test_since_when(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    row = "document.querySelector('tr.row[data-setting=\"sysctl/kernel.panic_on_oops\"] .since').innerText"
    assert page.evaluate(row) == "since 2026-11-26, new on 32 nodes"
    page.evaluate("document.querySelector('tr.row[data-setting=\"sysctl/kernel.panic_on_oops\"]').click()")
    kinds = page.evaluate("[...document.querySelectorAll('tr.detail .since')].map(one => one.innerText)")
    assert kinds == ["since 2026-11-26 03:00, was ok", "since 2026-11-29 03:00, was ok", "new in this run, was ok"]
    page.open(f"{reports['picture'].as_uri()}#show={reports['bad'][0]}")
    assert re.fullmatch(r"since 2026-11-2[69] 03:00, was ok|new in this run, was ok", text(page, ".sheet .since"))
    times = {line["since"] for line in csv.DictReader(io.StringIO(page.evaluate("csv()"))) if line["state"] == "unpersisted"}
    assert times == {"2026-11-26T03:00:02Z", "2026-11-29T03:00:04Z", "2026-11-30T22:55:20Z"}


def test_without_earlier_runs_nothing_is_said_of_them(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["one"].as_uri())
    assert page.evaluate("[...document.querySelectorAll('.since')].filter(one => one.innerText).length") == 0
    assert page.evaluate("document.querySelector('#waivers').childElementCount") == 0


def test_waivers_that_end(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    lines = page.evaluate("[...document.querySelectorAll('#waivers tbody tr')].map(one => one.innerText)")
    assert len(lines) == 3
    assert "ended 3 days ago, on 2026-11-27" in lines[0]
    assert "ends in 4 days, on 2026-12-04" in lines[1]
    assert "nothing differs: it can go" in lines[2]
    page.evaluate("document.querySelector('#waivers .link').click()")
    assert page.evaluate("document.querySelector('.sheet h2').innerText.startsWith('gpu-')")


def test_the_matrix_opens_a_group(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    ranked = page.evaluate(
        "[...document.querySelectorAll('.matrix tbody th .link')].map(one => one.innerText).filter(name => name.startsWith('rack')).slice(0, 5)"
    )
    racks = {f"rack{(int(name[4:]) - 1) // 40 + 1:02d}" for name in reports["bad"]}
    assert set(ranked[: len(racks)]) == racks
    page.evaluate(f"[...document.querySelectorAll('.matrix tbody th .link')].find(one => one.innerText === {ranked[0]!r}).click()")
    assert page.evaluate("location.hash") == f"#group={ranked[0]}"
    worst = page.evaluate("document.querySelector('.matrix tbody th').innerText")
    assert worst in reports["bad"]


def test_csv_holds_what_the_list_shows(page: Browser, reports: dict[str, Any], downloads: Path) -> None:
    page.open(f"{reports['picture'].as_uri()}#impact=correctness")
    page.evaluate("document.querySelector('#csv').click()")
    path = downloads / "drift-20261130T225520Z-simulated.csv"
    end = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < end, "no file was saved"
        page.evaluate("new Promise(done => setTimeout(done, 50))")
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [line["node"] for line in lines] == reports["bad"]
    assert {(line["setting"], line["state"], line["live"], line["winner"], line["owner"]) for line in lines} == {
        (ZONE, "overridden", "1", "/etc/sysctl.d/zzz-vendor-tune.conf:2", "vendor-tune")
    }


def test_csv_also_has_the_silent_nodes(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["picture"].as_uri())
    lines = list(csv.DictReader(io.StringIO(page.evaluate("csv()"))))
    assert sum(line["outcome"] == "unreachable" for line in lines) == 3


def test_csv_fields_are_no_formulas(page: Browser, reports: dict[str, Any]) -> None:
    page.open(reports["one"].as_uri())
    fields = page.evaluate("""['=1+1', '-1', '-1+cmd', '@x', 'a,"b"', 'two\\nlines', undefined].map(csvField)""")
    assert fields == ["'=1+1", "-1", "'-1+cmd", "'@x", '"a,""b"""', '"two\nlines"', ""]


def test_names_and_values_stay_text(page: Browser, tmp_path: Path) -> None:
    from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, html

    import fleets

    evil = "</script><img src=x onerror=document.title='broken'>\"'"
    profile = fleets.compiled(fleets.SETTINGS)
    entry = fleets.node_file(0, evil, [evil], profile, "h100")
    fleets.wrong(entry["response"]["results"][ZONE], "overridden", evil, (evil, evil), detail=evil)
    entry["response"]["notes"] = [evil]
    fleets.SpoolWriter(tmp_path / "spool", [evil], [profile]).node(entry)
    path = tmp_path / "drift.html"
    path.write_text(html.render(document.assemble(tmp_path / "spool")))
    page.open(path.as_uri())
    page.evaluate("document.querySelector('tr.row').click(); document.querySelector('.matrix .link').click()")
    assert text(page, ".sheet h2") == evil
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.title").startswith("drift")


def test_when_nobody_answers(page: Browser, tmp_path: Path) -> None:
    from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, html

    import fleets

    fleets.SpoolWriter(tmp_path / "spool", [f"gpu-{index}" for index in range(20)], [])
    path = tmp_path / "drift.html"
    path.write_text(html.render(document.assemble(tmp_path / "spool")))
    page.open(path.as_uri())
    assert "None of 20 nodes answered in full" in text(page, "h1")
    assert "20 nodes failed" in text(page, "#silent")
    assert "nothing is known" in text(page, "#settings")
