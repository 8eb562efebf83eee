# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A redacted report: no name of a machine, no serial number, no address and no folder of the user is left in any of its files; values are."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import spools
from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document, redact, schema, terminal, write
from spools import ENABLED, OVERCOMMIT, SWAPPINESS, answer, result, silence

HOME = Path("/home/alice")
FOLDER = "/home/alice/secret-customer/profiles"
ALIASES = {"gpu-017.fleet.example.org": ["10.20.30.17"], "dead": ["dead-mgmt.fleet.example.org"]}
SECRETS = (
    *(
        "gpu-017",
        "gpu-018",
        "GPU-018",
        "gpu-019",
        "fleet.example.org",
        "dead-mgmt",
        "S1234567",
        "00112233",
        "boot-of-17",
        "secret-customer",
        "alice",
    ),
    *(
        "10.20.30.17",
        "10.20.30.99",
        "fd00:17::1",
        "fe80::1ff:fe23:4567:890a",
        "0c:42:a1:00:00:17",
        "80:00:00:48:fe:80:00:00:00:00:00:00:0c:42",
    ),
)


def everywhere(name: str, other: str) -> dict[str, Any]:
    """A node that tells names in every place where a node can tell anything."""
    said = (
        f"{name} and {other} at 10.20.30.99, fd00:17::1/64, fe80::1ff:fe23:4567:890a%eth0, 0c:42:a1:00:00:17, "
        f"80:00:00:48:fe:80:00:00:00:00:00:00:0c:42, S1234567; ib0-{name}, dns.fleet.example.org"
    )
    taken = result(
        "overridden",
        f"60 {name}",
        desired=f"1 {other}",
        detail=f"ours loses: {said}",
        winner={"from": f"/etc/sysctl.d/{name}.conf:2", "owner": f"package for {name}"},
        blocked_by=[f"pid 4711 ({name}) holds /dev/nvidia0"],
        changes=[{"view": "foreign", "target": f"/etc/sysctl.d/{name}.conf", "before": said, "after": "1"}],
        waived={"reason": f"ask {other}", "ticket": f"OPS-{name}", "until": "2026-12-03"},
    )
    views = {"live": {"error": said, "from": f"/proc/{name}"}, "persisted": {"unset": said}, "boot": {"value": said}}
    node = answer(name, {SWAPPINESS: taken, ENABLED: result("unknown", views=views)}, groups=[f"rack-of-{name}", "a100"])
    facts = {
        "hostname": name.partition(".")[0],
        "serial": "S1234567",
        "boot_id": "boot-of-17",
        "kernel": "6.8.0-60-generic",
        "product": f"of {other}",
    }
    node["response"].update(node=facts, notes=[said], faults=[{"subsystem": "sysctl", "error": said}])
    return node


def made(folder: Path, *more: dict[str, Any]) -> dict[str, Any]:
    profile = copy.deepcopy(spools.PROFILE)
    profile.update(profile=f"{FOLDER}/mine.yml", files=["roles/profile/files/base.yml", f"{FOLDER}/mine.yml"])
    profile["subsystems"]["sysctl"]["vm.swappiness"]["waive"] = {"reason": "for gpu-018", "until": "2026-12-03", "serial": "S1234567"}
    profile["subsystems"]["sysctl"]["vm.overcommit_memory"].update(rule={"one_of": ["0", "gpu-019"], "set": "0"})
    profile["about"][SWAPPINESS] = {"why": "gpu-018 was slow", "source": f"{FOLDER}/mine.yml and /home/alice/notes.txt"}
    other = everywhere("gpu-018", "gpu-017")
    other["response"]["node"]["serial"] = "00112233"
    nodes = [
        everywhere("gpu-017.fleet.example.org", "GPU-018"),
        other,
        answer("gpu-019"),
        silence("dead", "unreachable", "Could not resolve hostname dead-mgmt.fleet.example.org; alice@10.20.30.17 /home/alice/.ssh/key"),
        *more,
    ]
    spool = spools.write(folder, nodes, profiles=(profile,))
    (spool / "profiles" / "k9.json").write_text(f'{{"subsystems": {{"sysctl": {{"{FOLDER}/mine.yml": 1}}}}}}')
    return document.assemble(spool, finished=spools.FINISHED)


def texts(shown: dict[str, Any], folder: Path) -> dict[str, str]:
    """Every file, and what is printed."""
    written = {kind: Path(path).read_text() for kind, path in write.write_all(shown, folder).items()}
    return {**written, "terminal": terminal.render(shown, width=10_000)}


def left(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower() in text.lower()]


def test_the_names_are_everywhere_before(tmp_path: Path) -> None:
    """Else the next test would prove nothing."""
    plain = texts(made(tmp_path), tmp_path / "reports")
    assert left(plain["json"], SECRETS) == list(SECRETS)
    assert left(plain["html"], ["gpu-017", "S1234567", "10.20.30.99"])
    assert left(plain["terminal"], ["gpu-018"])


def test_no_name_is_left_in_any_file(tmp_path: Path) -> None:
    shown = redact.redact(made(tmp_path), ALIASES, HOME)
    jsonschema.Draft202012Validator(schema.DOCUMENT).validate(shown)
    files = texts(shown, tmp_path / "reports")
    assert {kind: names for kind, text in files.items() for names in [left(text, SECRETS)] if names} == {}
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "reports").iterdir()} == {0o600}


def test_what_is_no_name_stays(tmp_path: Path) -> None:
    plain = made(tmp_path)
    shown = redact.redact(plain, ALIASES, HOME)
    assert (shown["verdict"], shown["totals"]) == (plain["verdict"], plain["totals"])
    assert shown["rules"]["r1"] == plain["rules"]["r1"]
    one = {node["name"]: node for node in shown["nodes"]}[pseudonym_of(plain, shown, "gpu-019")]["results"]
    assert one == {node["name"]: node for node in plain["nodes"]}["gpu-019"]["results"]
    assert shown["nodes"][1]["facts"]["kernel"] == "6.8.0-60-generic"
    assert shown["run"]["redacted"] is True
    files = next(iter(shown["run"]["profiles"].values()))
    assert files == {"profile": "mine.yml", "files": ["base.yml", "mine.yml"]}
    assert shown["settings"][SWAPPINESS]["source"] == "mine.yml and ~/notes.txt"


def pseudonym_of(plain: dict[str, Any], shown: dict[str, Any], name: str) -> str:
    return next(new["name"] for old, new in zip(plain["nodes"], shown["nodes"], strict=True) if old["name"] == name)


def test_a_name_has_one_pseudonym_in_a_document_and_another_in_the_next(tmp_path: Path) -> None:
    plain = made(tmp_path)
    shown = redact.redact(plain, ALIASES, HOME)
    whole, second = (pseudonym_of(plain, shown, name) for name in ("gpu-017.fleet.example.org", "gpu-018"))
    by_name = {node["name"]: node for node in shown["nodes"]}
    assert by_name[whole]["facts"]["hostname"] == whole  # its first label alone is the same machine
    assert by_name[second]["notes"][0].startswith(f"{second} and {whole} at addr-")
    assert by_name[whole]["results"][SWAPPINESS]["winner"]["from"] == f"/etc/sysctl.d/{whole}.conf:2"
    assert whole in by_name[pseudonym_of(plain, shown, "dead")]["error"]  # by the address under which it is reached
    assert shown["waivers"][0]["needed_by"] == [whole]
    assert shown["waivers"][0]["serial"] == by_name[whole]["facts"]["serial"] != by_name[second]["facts"]["serial"]
    again = {node["name"] for node in redact.redact(plain, ALIASES, HOME)["nodes"]}
    assert not again & set(by_name)


def test_a_name_that_looks_like_a_value_is_a_name_only_in_its_own_place(tmp_path: Path) -> None:
    plain = made(tmp_path, answer("1"), answer("60"), answer("none"))
    shown = redact.redact(plain)
    assert all(node["name"].startswith("node-") for node in shown["nodes"])
    values = [node["results"][OVERCOMMIT]["views"] for node in shown["nodes"] if node["results"]]
    assert values == [node["results"][OVERCOMMIT]["views"] for node in plain["nodes"] if node["results"]]


KEPT = (
    *(
        "6.8.0",
        "0000:3b:00.0",
        "4096 131072 268435456",
        "127.0.0.1",
        "0.0.0.0",
        "::",
        "::1",
        "22:55:20",
        "0-47,96-143",
        "2026-11-30T22:55:20Z",
    ),
    *("a10", "gpu-10", "gpufleet-node", "deadbeef", "/sys/devices/system/node/node0", "1:2", "a::b::c", "300.1.1.1", "550.54.15"),
)


@pytest.mark.parametrize("value", KEPT)
def test_what_only_looks_like_a_name_stays(value: str, tmp_path: Path) -> None:
    node = answer("gpu-1", {SWAPPINESS: result(live=value)})
    shown = redact.redact(spools.assemble(tmp_path, [node, answer("a1")]))
    kept = {one["results"][SWAPPINESS]["views"]["live"]["value"] for one in shown["nodes"]}
    assert value in kept


ADDRESSES = ("10.0.0.1", "10.0.0.1/24", "(10.0.0.1)", "10.0.0.1:22", "fd00::1", "[fd00::1]:22", "::ffff:10.0.0.1", "0c:42:a1:00:00:17")


@pytest.mark.parametrize("value", ADDRESSES)
def test_addresses_do_not_stay(value: str, tmp_path: Path) -> None:
    shown = redact.redact(spools.assemble(tmp_path, [answer("a1", {SWAPPINESS: result(live=f"at {value}.")})]))
    said = shown["nodes"][0]["results"][SWAPPINESS]["views"]["live"]["value"]
    assert not re.search(r"10\.0\.0\.1|fd00::1|42:a1", said), said
    assert re.search(r"(addr|mac)-[0-9a-f]{10}", said)


def test_a_big_fleet_takes_no_minutes(tmp_path: Path) -> None:
    nodes = [answer(f"gpu-{index:04d}", {SWAPPINESS: result(detail=f"as on gpu-{index + 1:04d}")}) for index in range(1250)]
    plain = spools.assemble(tmp_path, nodes)
    begun = time.process_time()
    shown = redact.redact(plain)
    assert time.process_time() - begun < 20
    assert len({node["name"] for node in shown["nodes"]}) == 1250
    assert not re.search("gpu-[0-9]{4}", str(shown).replace("gpu-1250", ""))
