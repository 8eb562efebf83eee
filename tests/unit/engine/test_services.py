# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of systemd: what the audit says of a server on which one thing is not as wanted, and what apply does and never does.

A table. Every setting that a case does not name must be ok, so that a case also shows that nobody else is blamed.
"""

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import pci, units
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Reader

import asking
from asking import ask, ask_well, entry
from machines import Machine, build
from machines.services import Manager

PERSISTENCED, DCGM, FABRIC = "nvidia-persistenced.service", "nvidia-dcgm.service", "nvidia-fabricmanager.service"
#: A container that holds an accelerator to which no link in /dev/char leads: a daemon-reload would take it away.
CONTAINER = ("process", 4711, "python3", ["/dev/nvidia3"], "0::/system.slice/docker-abc.scope\n")
ASKED = [PERSISTENCED, DCGM, "dcgm.service", FABRIC]
WANTED: Dict[str, Any] = {
    "nvidia-persistenced/enabled": "enabled",
    "nvidia-persistenced/running": "active",
    "nvidia-dcgm/installed": "installed",
    "nvidia-dcgm/enabled": "enabled",
    "nvidia-dcgm/running": "active",
    "nvidia-fabricmanager/enabled": "enabled",
    "nvidia-fabricmanager/running": "active",
}


class Case(NamedTuple):
    """`damage`: methods of the manager, or of the machine, with what they are given; `says`: setting → what is expected of its result: state,
    value (of its view), detail (a part of it), from and owner (of the winner), needs.
    """

    damage: List[Tuple[Any, ...]]
    says: Dict[str, Dict[str, str]]


def says(state: str, value: str, **more: str) -> Dict[str, str]:
    return dict(more, state=state, value=value)


def of(unit: str, **properties: str) -> Tuple[Any, ...]:
    return ("is_", unit, properties)


MASK = "/etc/systemd/system/nvidia-dcgm.service -> /dev/null"
DAMAGE: Dict[str, Case] = {
    "nothing": Case([], {}),
    "not enabled": Case(
        [of(DCGM, UnitFileState="disabled")], {"nvidia-dcgm/enabled": says("unpersisted", "disabled", detail="wanted: enabled")}
    ),
    "enabled until the next boot": Case(
        [of(DCGM, UnitFileState="enabled-runtime")], {"nvidia-dcgm/enabled": says("unpersisted", "enabled-runtime")}
    ),
    "enabled by another unit only": Case([of(DCGM, UnitFileState="indirect")], {"nvidia-dcgm/enabled": says("unpersisted", "indirect")}),
    "only linked": Case(
        [of(DCGM, UnitFileState="linked")], {"nvidia-dcgm/enabled": says("unpersisted", "linked", detail="enable it by its path")}
    ),
    "static": Case(
        [of(PERSISTENCED, UnitFileState="static")],
        {"nvidia-persistenced/enabled": says("not_applicable", "static", detail="started by what wants it")},
    ),
    "made at each boot": Case(
        [of(PERSISTENCED, UnitFileState="generated")], {"nvidia-persistenced/enabled": says("not_applicable", "generated")}
    ),
    "stopped": Case(
        [of(DCGM, ActiveState="inactive", SubState="dead")],
        {"nvidia-dcgm/running": says("live_wrong", "inactive", detail="wanted: active")},
    ),
    "failed": Case(
        [of(FABRIC, ActiveState="failed", SubState="failed")],
        {
            "nvidia-fabricmanager/running": says(
                "live_wrong", "failed", detail="it failed (failed): journalctl -u nvidia-fabricmanager.service"
            )
        },
    ),
    "started again and again": Case(
        [of(FABRIC, ActiveState="activating", SubState="auto-restart")],
        {"nvidia-fabricmanager/running": says("live_wrong", "activating", detail="it failed (auto-restart)")},
    ),
    "starting": Case(
        [of(FABRIC, ActiveState="activating", SubState="start-pre")],
        {"nvidia-fabricmanager/running": says("pending", "activating", needs="time", detail="it is starting (start-pre)")},
    ),
    "reading its configuration": Case([of(FABRIC, ActiveState="reloading")], {}),
    "masked and running": Case(
        [("mask", DCGM)],
        {"nvidia-dcgm/enabled": says("overridden", "masked", detail="it is masked", owner="no package", **{"from": MASK})},
    ),
    "masked and stopped": Case(
        [("mask", DCGM), of(DCGM, ActiveState="inactive")],
        {
            "nvidia-dcgm/enabled": says("overridden", "masked", **{"from": MASK}),
            "nvidia-dcgm/running": says("overridden", "inactive", detail="it is masked", **{"from": MASK}),
        },
    ),
    "masked until the next boot": Case(
        [("mask", DCGM, "/run/systemd/system", "masked-runtime")],
        {
            "nvidia-dcgm/enabled": says(
                "overridden",
                "masked-runtime",
                owner="made since the start of the machine",
                **{"from": "/run/systemd/system/nvidia-dcgm.service -> /dev/null"},
            )
        },
    ),
    "masked where no link is seen": Case(
        [of(DCGM, LoadState="masked", UnitFileState="masked")],
        {"nvidia-dcgm/enabled": says("overridden", "masked", owner="unknown (no link to /dev/null was found)")},
    ),
    "files changed under a running unit": Case(
        [of(DCGM, NeedDaemonReload="yes")],
        {"nvidia-dcgm/running": says("pending", "active", needs="service_restart", detail="until daemon-reload and a restart")},
    ),
    "files changed under a stopped unit": Case(
        [of(DCGM, NeedDaemonReload="yes", ActiveState="inactive")], {"nvidia-dcgm/running": says("live_wrong", "inactive")}
    ),
    "a file that systemd does not understand": Case(
        [of(DCGM, LoadState="bad-setting", UnitFileState="enabled", ActiveState="inactive")],
        {
            "nvidia-dcgm/enabled": says("refused", "enabled", detail="systemd does not load it: bad-setting"),
            "nvidia-dcgm/running": says("refused", "inactive", detail="systemd does not load it: bad-setting"),
        },
    ),
    "a rival runs": Case(
        [of(DCGM, ActiveState="inactive", ConflictedBy="other-monitor.service"), ("has", "other-monitor.service")],
        {"nvidia-dcgm/running": says("blocked", "inactive", detail="a start would stop other-monitor.service")},
    ),
    "a rival that does not run": Case(
        [of(DCGM, ActiveState="inactive", Conflicts="other-monitor.service shutdown.target"), ("has", "shutdown.target")],
        {"nvidia-dcgm/running": says("live_wrong", "inactive")},
    ),
    "not enabled while a container would lose its accelerators": Case(
        [of(DCGM, UnitFileState="disabled"), CONTAINER],
        {"nvidia-dcgm/enabled": says("blocked", "disabled", detail="pid 4711 (python3) in a container holds /dev/nvidia3")},
    ),
    "not installed": Case(
        [("lacks", DCGM)],
        {
            "nvidia-dcgm/installed": says("missing", "not installed", detail="finds no nvidia-dcgm.service and no dcgm.service"),
            "nvidia-dcgm/enabled": says("not_applicable", "", detail="nvidia-dcgm.service or dcgm.service is not installed"),
            "nvidia-dcgm/running": says("not_applicable", "", detail="is not installed"),
        },
    ),
    "installed under its older name": Case([("lacks", DCGM), ("has", "dcgm.service")], {}),
    "installed under its older name and stopped": Case(
        [("lacks", DCGM), ("has", "dcgm.service", {"ActiveState": "inactive"})],
        {"nvidia-dcgm/running": says("live_wrong", "inactive", detail="the unit is dcgm.service")},
    ),
    "an alias": Case([("lacks", DCGM), ("has", DCGM, {"Names": f"{DCGM} dcgm.service"})], {}),
    "without NVSwitch": Case(
        [("remove", "/dev/nvidia-nvswitch0"), ("lacks", FABRIC)],
        {
            "nvidia-fabricmanager/enabled": says("not_applicable", "", detail="there is no NVSwitch here"),
            "nvidia-fabricmanager/running": says("not_applicable", "", detail="there is no NVSwitch here"),
        },
    ),
    "without systemd": Case(
        [("move", "/run/systemd", "/run/another")],
        {name: says("not_applicable", "", detail="systemd does not run here") for name in WANTED},
    ),
}


@pytest.fixture
def server(tmp_path: Path) -> Machine:
    machine = build(tmp_path / "machine", hardware="dgx-a100")
    machine.write("/dev/nvidia-nvswitch0", "")
    machine.folder("/etc/systemd/system")
    machine.no_package("/etc/systemd/system/nvidia-dcgm.service")
    return machine


@pytest.fixture
def manager(server: Machine, monkeypatch: pytest.MonkeyPatch) -> Manager:
    made = Manager(server)
    for unit in (PERSISTENCED, DCGM, FABRIC):
        made.has(unit)
    monkeypatch.setattr(Reader, "run", made.run)
    return made


def do(manager: Manager, damage: List[Tuple[Any, ...]]) -> None:
    for what, *given in damage:
        named = given.pop() if given and isinstance(given[-1], dict) else {}
        getattr(manager if hasattr(manager, what) else manager.machine, what)(*given, **named)


def call(machine: Machine, action: str, wanted: Dict[str, Any], **more: Any) -> Dict[str, Any]:
    response = ask_well(machine, action, subsystems={"services": asking.entries(wanted)}, **more)
    return {key[len("services/") :]: result for key, result in response["results"].items()}


def differing(results: Dict[str, Any]) -> Dict[str, str]:
    return {name: result["state"] for name, result in results.items() if result["state"] != "ok"}


def assert_says(result: Dict[str, Any], expected: Dict[str, str]) -> None:
    view = next(iter(result["views"].values()), {})
    found = {"state": result["state"], "value": view.get("value", ""), "needs": result["needs"], **result.get("winner", {})}
    assert {key: found.get(key) for key in expected if key != "detail"} == {key: expected[key] for key in expected if key != "detail"}
    assert expected.get("detail", "") in result.get("detail", "")


@pytest.mark.parametrize("case", sorted(DAMAGE))
def test_the_audit_says_what_is_not_as_wanted(server: Machine, manager: Manager, case: str) -> None:
    damage, expected = DAMAGE[case]
    do(manager, damage)
    before = server.snapshot()
    results = call(server, "audit", WANTED)
    assert set(differing(results)) == set(expected)
    for name, one in expected.items():
        assert_says(results[name], one)
    assert manager.calls == []
    assert server.snapshot() == before


#: Of one damage: what apply runs, with take_over or without; and what is left afterwards.
MENDED: Dict[str, Tuple[List[Tuple[Any, ...]], bool, List[str], Dict[str, str]]] = {
    "nothing": ([], False, [], {}),
    "not enabled": ([of(DCGM, UnitFileState="disabled")], False, ["enable -- nvidia-dcgm.service"], {}),
    "enabled until the next boot": ([of(DCGM, UnitFileState="enabled-runtime")], False, ["enable -- nvidia-dcgm.service"], {}),
    "failed": ([of(FABRIC, ActiveState="failed")], False, ["start -- nvidia-fabricmanager.service"], {}),
    "neither": (
        [of(DCGM, UnitFileState="disabled", ActiveState="inactive")],
        False,
        ["enable -- nvidia-dcgm.service", "start -- nvidia-dcgm.service"],
        {},
    ),
    "stopped, its files changed": (
        [of(DCGM, NeedDaemonReload="yes", ActiveState="inactive")],
        False,
        ["daemon-reload", "start -- nvidia-dcgm.service"],
        {},
    ),
    "running, its files changed": ([of(DCGM, NeedDaemonReload="yes")], False, [], {"nvidia-dcgm/running": "pending"}),
    "masked": ([("mask", DCGM)], False, [], {"nvidia-dcgm/enabled": "overridden"}),
    "masked, and a user who takes over": (
        [("mask", DCGM), of(DCGM, ActiveState="inactive")],
        True,
        ["unmask -- nvidia-dcgm.service", "enable -- nvidia-dcgm.service", "start -- nvidia-dcgm.service"],
        {},
    ),
    "masked until the next boot, and a user who takes over": (
        [("mask", DCGM, "/run/systemd/system", "masked-runtime")],
        True,
        ["unmask --runtime -- nvidia-dcgm.service", "enable -- nvidia-dcgm.service"],
        {},
    ),
    "static": ([of(DCGM, UnitFileState="static")], False, [], {"nvidia-dcgm/enabled": "not_applicable"}),
    "a rival runs": (
        [of(DCGM, ActiveState="inactive", Conflicts="other.service"), ("has", "other.service")],
        True,
        [],
        {"nvidia-dcgm/running": "blocked"},
    ),
    "a container would lose its accelerators": (
        [of(DCGM, UnitFileState="disabled"), CONTAINER],
        False,
        [],
        {"nvidia-dcgm/enabled": "blocked"},
    ),
    "by its older name": (
        [("lacks", DCGM), ("has", "dcgm.service", {"ActiveState": "inactive"})],
        False,
        ["start -- dcgm.service"],
        {},
    ),
}


@pytest.mark.parametrize("case", sorted(MENDED))
def test_apply_enables_and_starts_and_nothing_else(server: Machine, manager: Manager, case: str) -> None:
    damage, take_over, calls, left = MENDED[case]
    do(manager, damage)
    results = call(server, "apply", WANTED, take_over=take_over)
    assert [" ".join(one) for one in manager.calls] == calls
    assert differing(results) == left
    # a second apply has nothing to do
    manager.calls.clear()
    assert differing(call(server, "apply", WANTED, take_over=take_over)) == left
    assert manager.calls == []


def test_check_says_what_apply_would_do(server: Machine, manager: Manager) -> None:
    do(manager, [of(DCGM, UnitFileState="disabled", ActiveState="inactive")])
    response = ask_well(server, "check", subsystems={"services": asking.entries(WANTED)})
    assert asking.changes(response) == {
        "services/nvidia-dcgm/enabled": [("live", f"{DCGM}/UnitFileState", "disabled", "enabled")],
        "services/nvidia-dcgm/running": [("live", f"{DCGM}/ActiveState", "inactive", "active")],
    }
    assert manager.calls == []


def test_a_start_that_fails_is_told_and_tried_again(server: Machine, manager: Manager) -> None:
    do(manager, [of(DCGM, ActiveState="inactive")])
    manager.broken = [DCGM]
    for _time in range(2):
        result = call(server, "apply", WANTED)["nvidia-dcgm/running"]
        assert result["state"] == "live_wrong"
        assert "the last try failed: Job for nvidia-dcgm.service failed because the control process" in result["detail"]
        assert manager.calls == [["start", "--", DCGM]]
        manager.calls.clear()
    manager.broken = []
    assert call(server, "apply", WANTED)["nvidia-dcgm/running"]["state"] == "ok"
    assert "the last try" not in str(call(server, "audit", WANTED))


def test_a_unit_whose_conditions_do_not_hold(server: Machine, manager: Manager) -> None:
    do(manager, [of(DCGM, ActiveState="inactive")])
    manager.skips = [DCGM]
    result = call(server, "apply", WANTED)["nvidia-dcgm/running"]
    assert result["state"] == "live_wrong"
    assert "a condition of it does not hold" in result["detail"]


def test_a_start_that_disturbs_waits_for_an_idle_node(server: Machine, manager: Manager) -> None:
    do(manager, [of(DCGM, ActiveState="inactive", UnitFileState="disabled"), ("process", 4711, "python3", ["/dev/nvidia0"])])
    wanted = {"nvidia-dcgm/enabled": "enabled", "nvidia-dcgm/running": entry("active", disturbs="jitter")}
    results = call(server, "apply", wanted)
    assert {name: result["state"] for name, result in results.items()} == {"nvidia-dcgm/enabled": "ok", "nvidia-dcgm/running": "blocked"}
    assert results["nvidia-dcgm/running"]["blocked_by"] == ["pid 4711 (python3) holds /dev/nvidia0"]
    assert manager.calls == [["enable", "--", DCGM]]
    assert call(server, "apply", wanted, disturb="jitter")["nvidia-dcgm/running"]["state"] == "ok"


def test_what_is_only_checked_is_not_changed(server: Machine, manager: Manager) -> None:
    do(manager, [of(DCGM, ActiveState="inactive", UnitFileState="disabled")])
    checked = {name: entry(value, mend="never") for name, value in WANTED.items()}
    assert set(differing(call(server, "apply", checked))) == {"nvidia-dcgm/enabled", "nvidia-dcgm/running"}
    assert manager.calls == []


@pytest.mark.parametrize(
    ("damage", "calls"),
    [
        ([of(DCGM, UnitFileState="disabled")], ["disable -- nvidia-dcgm.service"]),
        ([of(DCGM, UnitFileState="enabled-runtime")], ["disable -- nvidia-dcgm.service", "enable --runtime -- nvidia-dcgm.service"]),
        ([("mask", DCGM)], ["mask -- nvidia-dcgm.service"]),
        ([of(DCGM, ActiveState="inactive")], []),
    ],
)
def test_a_revert_gives_the_unit_file_back_and_stops_nothing(server: Machine, manager: Manager, damage: Any, calls: List[str]) -> None:
    do(manager, damage)
    before = dict(manager.units[DCGM])
    call(server, "apply", WANTED, take_over=True)
    assert manager.calls
    manager.calls.clear()
    ask_well(server, "revert")
    assert [" ".join(one) for one in manager.calls] == calls
    assert dict(manager.units[DCGM], ActiveState="") == dict(before, ActiveState="", SubState=manager.units[DCGM]["SubState"])
    assert manager.units[DCGM]["ActiveState"] == "active"


def test_cause(server: Machine, manager: Manager) -> None:
    call(server, "apply", WANTED)
    do(manager, [of(DCGM, ActiveState="inactive")])
    assert call(server, "audit", WANTED)["nvidia-dcgm/running"]["cause"] == "wandered"


# -- with answers that lie in the tree --------------------------------------------------------------------------


def test_one_question_to_systemd_whose_answer_was_recorded(server: Machine) -> None:
    recorded = Manager(server)
    for unit in (PERSISTENCED, DCGM, FABRIC):
        recorded.has(unit)
    recorded.is_(DCGM, UnitFileState="disabled")
    recorded.record(ASKED)
    assert differing(call(server, "audit", WANTED)) == {"nvidia-dcgm/enabled": "unpersisted"}


def test_a_systemd_that_does_not_answer(server: Machine) -> None:
    server.folder("/run/systemd/system")
    results = call(server, "audit", WANTED)
    assert {result["state"] for result in results.values()} == {"unknown"}
    assert "systemd could not be asked: was not recorded" in results["nvidia-dcgm/running"]["detail"]
    response = ask(server, "apply", subsystems={"services": asking.entries(WANTED)})
    assert {result["state"] for result in response["results"].values()} == {"unknown"}


def test_a_machine_without_accelerators(tmp_path: Path) -> None:
    machine = build(tmp_path / "vm")
    Manager(machine)
    results = call(machine, "audit", WANTED)
    assert {result["state"] for result in results.values()} == {"not_applicable"}
    assert results["nvidia-dcgm/installed"]["detail"] == "there is no accelerator of NVIDIA here"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("fabric-manager/enabled", "nvidia-fabricmanager/enabled"),
        ("nvidia-fabricmanager.service/enabled", "nvidia-fabricmanager/enabled"),
        ("dcgm/running", "nvidia-dcgm/running"),
        ("dcgm.service/running", "nvidia-dcgm/running"),
        ("fstrim.timer/running", "fstrim.timer/running"),
        ("getty@tty1/running", "getty@tty1/running"),
    ],
)
def test_other_names_of_a_unit(server: Machine, manager: Manager, typed: str, asked: str) -> None:
    assert list(call(server, "audit", {typed: WANTED.get(asked, "active")})) == [asked]


@pytest.mark.parametrize(("name", "value"), [("sshd/running", "inactive"), ("sshd/stopped", "active"), ("sshd", "enabled")])
def test_a_wish_that_is_none(server: Machine, manager: Manager, name: str, value: str) -> None:
    (result,) = call(server, "audit", {name: value}).values()
    assert (result["state"], result["detail"]) == (
        "unknown",
        "a unit can be wanted installed: installed, enabled: enabled, running: active",
    )


def function(ids: str, kind: str = "030200") -> pci.Device:
    vendor, device = ids.split(":")
    return pci.Device("0000:01:00.0", kind, vendor, device, False, "")


@pytest.mark.parametrize(
    ("unit", "devices", "file", "idle"),
    [
        ("nvidia-fabricmanager", [function("10de:20b0")], False, "there is no NVSwitch here"),
        ("nvidia-fabricmanager", [function("10de:20b0")], True, ""),
        ("nvidia-fabricmanager", [function("10de:20b0"), function("10de:1af1", "068000")], False, ""),
        ("nvidia-fabricmanager", [function("10de:2901")], False, ""),
        ("nvidia-fabricmanager", [], False, "there is no NVSwitch here"),
        ("nvidia-persistenced", [function("19e5:d801", "120000")], False, "there is no accelerator of NVIDIA here"),
        ("nvidia-persistenced", [function("10de:20b0")], False, ""),
        ("sshd", [], False, ""),
    ],
)
def test_what_has_nothing_to_do(unit: str, devices: List[pci.Device], file: bool, idle: str) -> None:
    assert units.idle_here(unit, devices, file) == idle
