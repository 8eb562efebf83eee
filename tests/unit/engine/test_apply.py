# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply and revert on made machines: the order of writes, what is never written, what a failure leaves behind, the way back."""

import errno
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest
from ansible_collections.gpufleet.node.plugins.module_utils.engine import host as host_module
from ansible_collections.gpufleet.node.plugins.module_utils.engine import journal, memory, ownfile
from ansible_collections.gpufleet.node.plugins.module_utils.engine.host import Host, HostError, Reader
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import FILE, LOCK, SYSCTL, THP, THP_FILE, ask, ask_child, ask_well, changes, entry, states
from machines import Machine, build
from machines.kernel import Kernel

SWAPPINESS = "/proc/sys/vm/swappiness"
MAPS = "/proc/sys/vm/max_map_count"
ENABLED = "/sys/kernel/mm/transparent_hugepage/enabled"
TWO = {"vm.swappiness": 1, "vm.max_map_count": {"at_least": 262144}}


def own(machine: Machine, file: str = FILE) -> List[str]:
    """The lines of our file that say something."""
    return [line for line in machine.read(file).split("\n") if line and not line.startswith("#")]


def live(machine: Machine, key: str) -> str:
    return machine.read("/proc/sys/" + (key if "/" in key else key.replace(".", "/"))).strip()


# -- the order of things ------------------------------------------------------------------------------------------


def test_each_change_is_in_the_journal_before_it_is_made_and_live_comes_before_the_file(
    machine: Machine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: List[Tuple[str, str]] = []

    def spy(name: str, told: Callable[..., str]) -> None:
        real = getattr(Host, name)

        def method(self: Host, path: str, *arguments: Any) -> Any:
            happened.append((name, told(path, *arguments)))
            return real(self, path, *arguments)

        monkeypatch.setattr(Host, name, method)

    spy("append", lambda _path, text: "{view} {target}".format(**json.loads(text)))
    spy("write_live", lambda path, _value: path)
    spy("write", lambda path, *_rest: path)
    ask_well(machine, "apply", TWO, {"enabled": "madvise"})
    assert happened == [
        ("append", f"live {SWAPPINESS}"),
        ("write_live", SWAPPINESS),
        ("append", f"live {MAPS}"),
        ("write_live", MAPS),
        ("append", f"persisted {FILE}"),
        ("append", f"persisted {FILE}"),
        ("write", FILE),
        ("write", memory.PATH),
        ("append", f"live {ENABLED}"),
        ("write_live", ENABLED),
        ("append", f"persisted {THP_FILE}"),
        ("write", THP_FILE),
        ("write", memory.PATH),
    ]


def test_what_is_told_and_what_is_there_afterwards(machine: Machine, kernel: Kernel) -> None:
    response = ask_well(machine, "apply", TWO, {"enabled": "madvise"}, run_id="r1")
    assert response["changed"]
    assert set(states(response).values()) == {"ok"}
    assert changes(response)["sysctl/vm.swappiness"] == [("live", SWAPPINESS, "60", "1"), ("persisted", FILE, None, "1")]
    assert all(change["done"] for result in response["results"].values() for change in result["changes"])
    assert own(machine) == ["vm.max_map_count = 262144", "vm.swappiness = 1"]
    assert own(machine, THP_FILE) == [f"w {ENABLED} - - - - madvise"]
    assert (live(machine, "vm.swappiness"), machine.thp_word("enabled")) == ("1", "madvise")
    records = journal.read(Reader(machine.root))
    assert {record["run"] for record in records} == {"r1"}
    assert {key: records[0][key] for key in ("setting", "view", "target", "before", "after", "time")} == {
        "setting": "sysctl/vm.swappiness",
        "view": "live",
        "target": SWAPPINESS,
        "before": "60",
        "after": "1",
        "time": "2026-11-30T15:00:00Z",
    }
    assert memory.read(Reader(machine.root))["sysctl/vm.swappiness"] == {"rule": {"exact": 1}, "right": True}


def test_a_second_apply_writes_nothing(converged: Machine) -> None:
    before = converged.snapshot(but=[LOCK])
    response = ask_well(converged, "apply", SYSCTL, THP)
    assert not response["changed"]
    assert changes(response) == {}
    assert converged.snapshot(but=[LOCK]) == before


@pytest.mark.parametrize("action", ["audit", "check"])
def test_looking_writes_nothing(machine: Machine, action: str) -> None:
    before = machine.snapshot()
    response = ask_well(machine, action, SYSCTL, THP)
    assert machine.snapshot() == before
    assert response["changed"] is (action == "check")
    assert "vm.swappiness" in str(changes(response))


def test_a_file_that_is_equal_is_not_touched(converged: Machine) -> None:
    before = os.stat(converged.at(FILE))
    converged.sysctl("vm.swappiness", 60)
    response = ask_well(converged, "apply", SYSCTL, THP)
    assert changes(response) == {"sysctl/vm.swappiness": [("live", SWAPPINESS, "60", "1")]}
    after = os.stat(converged.at(FILE))
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_our_file_is_replaced_only_when_it_differs_and_removed_when_nothing_is_left(machine: Machine) -> None:
    host = Host(machine.root)
    ownfile.write(host, FILE, ["a = 1"])
    before = os.stat(machine.at(FILE))
    ownfile.write(host, FILE, ["a = 1"])
    after = os.stat(machine.at(FILE))
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    ownfile.write(host, FILE, ["a = 2"])
    assert own(machine) == ["a = 2"]
    ownfile.write(host, FILE, [])
    ownfile.write(host, FILE, [])
    assert not machine.exists(FILE)


def test_only_the_settings_of_the_request_are_written(converged: Machine) -> None:
    converged.sysctl("vm.swappiness", 60)
    converged.sysctl("vm.max_map_count", 65530)
    response = ask_well(converged, "apply", {"vm.max_map_count": SYSCTL["vm.max_map_count"]})
    assert list(response["results"]) == ["sysctl/vm.max_map_count"]
    assert live(converged, "vm.swappiness") == "60"
    assert "vm.swappiness = 1" in own(converged)


@pytest.mark.parametrize(
    "beside",
    [
        {"mend": "never"},
        {"owner": "leave"},
        {"when": {"numa_nodes": 99}},
        {"waive": {"reason": "r", "until": "2026-12-31"}},
    ],
    ids="-".join,
)
def test_what_is_not_ours_to_mend_is_not_written(machine: Machine, kernel: Kernel, beside: Dict[str, Any]) -> None:
    before = machine.snapshot(but=[LOCK, "/run", "/var/lib"])
    wanted = {"vm.swappiness": entry(1, **beside)}
    assert not ask_well(machine, "check", wanted)["changed"]
    assert not ask_well(machine, "apply", wanted)["changed"]
    assert machine.snapshot(but=[LOCK, "/run", "/var/lib"]) == before
    assert not machine.exists(journal.PATH)


def test_a_waiver_is_told(machine: Machine) -> None:
    wanted = {"vm.swappiness": entry(1, waive={"reason": "waits", "ticket": "OPS-1", "until": "2026-12-31"})}
    result = ask_well(machine, "audit", wanted)["results"]["sysctl/vm.swappiness"]
    assert (result["state"], result["waived"]) == ("live_wrong", {"reason": "waits", "ticket": "OPS-1", "until": "2026-12-31"})


# -- jobs ---------------------------------------------------------------------------------------------------------


def test_with_a_job_the_live_value_waits_and_the_file_does_not(machine: Machine, kernel: Kernel) -> None:
    machine.process(4711, "python3", ["/dev/nvidia0"])
    wanted = {"vm.swappiness": entry(1, disturbs="jitter")}
    result = ask_well(machine, "apply", wanted)["results"]["sysctl/vm.swappiness"]
    assert result["state"] == "blocked"
    assert result["blocked_by"] == ["pid 4711 (python3) holds /dev/nvidia0"]
    assert (live(machine, "vm.swappiness"), own(machine)) == ("60", ["vm.swappiness = 1"])
    assert not ask_well(machine, "check", wanted)["changed"]


@pytest.mark.parametrize(("disturbs", "consent", "state"), [("jitter", "jitter", "ok"), ("job", "jitter", "blocked"), ("job", "job", "ok")])
def test_consent(machine: Machine, kernel: Kernel, disturbs: str, consent: str, state: str) -> None:
    machine.process(4711, "python3", ["/dev/nvidia0"])
    response = ask_well(machine, "apply", {"vm.swappiness": entry(1, disturbs=disturbs)}, disturb=consent)
    assert states(response) == {"sysctl/vm.swappiness": state}


# -- refusals -----------------------------------------------------------------------------------------------------


def test_a_value_that_the_kernel_refuses_is_never_persisted(machine: Machine, kernel: Kernel) -> None:
    kernel.refuses["vm/swappiness"] = errno.EINVAL
    response = ask_well(machine, "apply", TWO)
    assert states(response) == {"sysctl/vm.swappiness": "refused", "sysctl/vm.max_map_count": "ok"}
    assert "Invalid argument" in response["results"]["sysctl/vm.swappiness"]["detail"]
    assert "changes" not in response["results"]["sysctl/vm.swappiness"]
    assert own(machine) == ["vm.max_map_count = 262144"]


def test_a_kernel_that_takes_less_is_told_and_nothing_is_persisted(machine: Machine, kernel: Kernel) -> None:
    kernel.at_most["vm/max_map_count"] = 100000
    response = ask_well(machine, "apply", TWO)
    result = response["results"]["sysctl/vm.max_map_count"]
    assert result["state"] == "refused"
    assert "the kernel took 100000" in result["detail"]
    assert changes(response)["sysctl/vm.max_map_count"] == [("live", MAPS, "65530", "100000")]
    assert own(machine) == ["vm.swappiness = 1"]


def test_a_refusal_holds_until_the_next_boot_and_is_not_tried_again(machine: Machine, kernel: Kernel) -> None:
    kernel.refuses["vm/swappiness"] = errno.EINVAL
    ask_well(machine, "apply", TWO)
    del kernel.refuses["vm/swappiness"]
    before = machine.snapshot(but=[LOCK])
    assert not ask_well(machine, "check", TWO)["changed"]
    for _again in range(2):
        assert states(ask_well(machine, "apply", TWO))["sysctl/vm.swappiness"] == "refused"
    assert machine.snapshot(but=[LOCK]) == before
    machine.write("/proc/sys/kernel/random/boot_id", "another\n")
    assert states(ask_well(machine, "apply", TWO))["sysctl/vm.swappiness"] == "ok"
    assert "vm.swappiness = 1" in own(machine)


def test_another_value_is_tried_after_a_refusal(machine: Machine, kernel: Kernel) -> None:
    kernel.refuses["vm/swappiness"] = errno.EINVAL
    ask_well(machine, "apply", TWO)
    del kernel.refuses["vm/swappiness"]
    assert states(ask_well(machine, "apply", dict(TWO, **{"vm.swappiness": 2})))["sysctl/vm.swappiness"] == "ok"


# -- what left the profile ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vm.swappiness", "net.ipv4.conf.bond0.101.rp_filter"])
def test_what_left_the_profile_leaves_our_file_and_stays_live(converged: Machine, name: str) -> None:
    less = {key: value for key, value in SYSCTL.items() if key != name}
    value = live(converged, "net/ipv4/conf/bond0.101/rp_filter" if "bond0" in name else name)
    assert not ask_well(converged, "apply", less, THP)["changed"], "without `exclusive` it is kept"
    lines = own(converged)
    told = changes(ask_well(converged, "check", less, THP, exclusive=True))
    response = ask_well(converged, "apply", less, THP, exclusive=True)
    assert changes(response) == told
    assert list(told) == [f"sysctl/{name}"]
    assert response["notes"] == [f"sysctl/{name} left the profile: it is no longer kept, the live value stays"]
    gone = set(lines) - set(own(converged))
    assert [line.replace("/", ".").split(" = ") for line in gone] == [[name, value]]
    assert not ask_well(converged, "apply", less, THP, exclusive=True)["changed"]


def test_the_last_setting_takes_our_file_with_it(machine: Machine, kernel: Kernel) -> None:
    ask_well(machine, "apply", {"vm.swappiness": 1})
    ask_well(machine, "apply", {"vm.unheard_of": 1}, exclusive=True)
    assert not machine.exists(FILE)


# -- lines and links of others ------------------------------------------------------------------------------------

RIVAL = "/etc/sysctl.d/zzz-old.conf"
RIVAL_TEXT = b"# by hand\n\tvm.swappiness=60  \r\nvm.x = \xff\nvm.swappiness = 70"


def test_a_line_of_others_is_put_aside_only_with_the_users_word_and_comes_back_byte_for_byte(converged: Machine) -> None:
    converged.write(RIVAL, RIVAL_TEXT, mode=0o640)
    assert not ask_well(converged, "apply", SYSCTL, THP)["changed"]
    told = changes(ask_well(converged, "check", SYSCTL, THP, take_over=True))
    response = ask_well(converged, "apply", SYSCTL, THP, take_over=True, run_id="take")
    assert changes(response) == told
    assert set(states(response).values()) == {"ok"}
    aside = ownfile.MARK.encode()
    written = Path(converged.at(RIVAL)).read_bytes()
    assert written == b"# by hand\n" + aside + b"\tvm.swappiness=60  \r\nvm.x = \xff\n" + aside + b"vm.swappiness = 70"
    reverted = ask_well(converged, "revert", to="take")
    assert reverted["changed"]
    assert Path(converged.at(RIVAL)).read_bytes() == RIVAL_TEXT
    assert os.stat(converged.at(RIVAL)).st_mode & 0o777 == 0o640
    assert not ask_well(converged, "revert", to="take")["changed"]


@pytest.mark.parametrize("path", ["/usr/lib/sysctl.d/zzz.conf", "/run/sysctl.d/zzz.conf", "/etc/sysctl.conf"])
def test_what_belongs_to_packages_or_is_sysctl_conf_is_never_touched(converged: Machine, path: str) -> None:
    converged.write(path, "vm.swappiness = 60\n")
    if path == "/etc/sysctl.conf":
        converged.link("/etc/sysctl.d/zzz-sysctl.conf", "../sysctl.conf")
    before = converged.snapshot(but=[LOCK, "/var/lib/gpufleet"])
    response = ask_well(converged, "apply", SYSCTL, THP, take_over=True)
    assert states(response)["sysctl/vm.swappiness"] == "overridden"
    assert converged.snapshot(but=[LOCK, "/var/lib/gpufleet"]) == before


def test_a_line_that_changed_meanwhile_is_left_alone(converged: Machine) -> None:
    converged.write(RIVAL, "vm.swappiness = 60\n")
    for number, line in ((1, "vm.swappiness = 61"), (9, "vm.swappiness = 60")):
        with pytest.raises(HostError, match="is no longer what was read"):
            ownfile.put_aside(Host(converged.root), RIVAL, number, line)
    assert converged.read(RIVAL) == "vm.swappiness = 60\n"


def test_a_line_of_others_for_huge_pages(converged: Machine) -> None:
    rival = "/etc/tmpfiles.d/00-a.conf"
    text = f"d /x - - - -\nw {ENABLED} - - - - always\n"
    converged.write(rival, text)
    response = ask_well(converged, "apply", SYSCTL, THP, take_over=True, run_id="take")
    assert set(states(response).values()) == {"ok"}
    assert converged.read(rival) == f"d /x - - - -\n{ownfile.MARK}w {ENABLED} - - - - always\n"
    ask_well(converged, "revert", to="take")
    assert converged.read(rival) == text


@pytest.mark.parametrize(("file", "wanted"), [(FILE, (TWO, {})), (THP_FILE, ({}, {"enabled": "madvise", "defrag": "always"}))])
def test_a_link_in_the_place_of_our_file_comes_back(machine: Machine, kernel: Kernel, file: str, wanted: Any) -> None:
    machine.link(file, "/dev/null")
    assert set(states(ask_well(machine, "apply", *wanted)).values()) == {"overridden"}
    assert os.readlink(machine.at(file)) == "/dev/null"
    response = ask_well(machine, "apply", *wanted, take_over=True)
    assert set(states(response).values()) == {"ok"}
    assert not os.path.islink(machine.at(file))
    one = next(iter(response["results"]))
    ask_well(machine, "revert", to="first", only=[one])
    assert not os.path.islink(machine.at(file)), "the other setting still needs our file"
    ask_well(machine, "revert", to="first")
    assert os.readlink(machine.at(file)) == "/dev/null"


# -- the way back -------------------------------------------------------------------------------------------------

#: What engines leave on a machine for good: their own memory.
MEMORY = [LOCK, "/var/lib/gpufleet"]


def contents(machine: Machine) -> Dict[str, Any]:
    """Everything but times."""
    return {
        path: (about[0], about[1], about[4]) for path, about in machine.snapshot(but=MEMORY).items() if path not in ("/run", "/var/lib")
    }


def test_revert_gives_the_first_values_back(machine: Machine, kernel: Kernel) -> None:
    machine.write("/etc/sysctl.d/10-theirs.conf", "vm.swappiness = 30\n")
    before = contents(machine)
    for run, swappiness in (("r1", 1), ("r2", 2), ("r3", 3)):
        ask_well(machine, "apply", dict(SYSCTL, **{"vm.swappiness": swappiness}), THP, run_id=run)
    response = ask_well(machine, "revert", to="first")
    assert response["changed"]
    assert set(states(response).values()) == {"ok"}
    assert contents(machine) == before
    assert memory.read(Reader(machine.root)) == {}
    assert not ask_well(machine, "revert", to="first")["changed"]


def test_revert_to_a_run(machine: Machine, kernel: Kernel) -> None:
    for run, swappiness in (("r1", 1), ("r2", 2), ("r3", 3)):
        ask_well(machine, "apply", {"vm.swappiness": swappiness}, run_id=run)
    ask_well(machine, "revert", to="r2", run_id="r4")
    assert (live(machine, "vm.swappiness"), own(machine)) == ("1", ["vm.swappiness = 1"])
    ask_well(machine, "revert", to="r4", run_id="r5")
    assert (live(machine, "vm.swappiness"), own(machine)) == ("3", ["vm.swappiness = 3"])


def test_revert_of_one_setting_leaves_the_others(converged: Machine) -> None:
    ask_well(converged, "revert", to="first", only=["sysctl/vm.swappiness"])
    assert live(converged, "vm.swappiness") == "60"
    response = ask_well(converged, "audit", SYSCTL, THP)
    assert [identity for identity, state in states(response).items() if state != "ok"] == ["sysctl/vm.swappiness"]
    assert response["results"]["sysctl/vm.swappiness"]["cause"] == "never_applied"


def test_a_run_that_never_was_is_a_failure(converged: Machine) -> None:
    before = converged.snapshot(but=[LOCK])
    response = ask(converged, "revert", to="r9")
    assert response["outcome"] == "failed"
    assert "holds no run r9" in response["error"]
    assert converged.snapshot(but=[LOCK]) == before


def test_a_twin_is_reverted_by_setting_the_twin(machine: Machine, kernel: Kernel) -> None:
    """Since the kernel zeroes one of the two when the other is set, and zero cannot be written back."""
    machine.sysctl("vm.dirty_ratio", 0)
    machine.sysctl("vm.dirty_bytes", 1073741824)
    ask_well(machine, "apply", {"vm.dirty_ratio": 10})
    assert (live(machine, "vm.dirty_ratio"), live(machine, "vm.dirty_bytes")) == ("10", "0")
    ask_well(machine, "revert", to="first")
    assert (live(machine, "vm.dirty_ratio"), live(machine, "vm.dirty_bytes")) == ("0", "1073741824")
    assert not machine.exists(FILE)


def test_revert_does_not_disturb_a_job(machine: Machine, kernel: Kernel) -> None:
    wanted = {"vm.swappiness": entry(1, disturbs="jitter"), "vm.max_map_count": entry(262144)}
    ask_well(machine, "apply", wanted)
    machine.process(4711, "python3", ["/dev/nvidia0"])
    response = ask_well(machine, "revert", to="first")
    assert states(response) == {"sysctl/vm.swappiness": "blocked", "sysctl/vm.max_map_count": "ok"}
    assert response["results"]["sysctl/vm.swappiness"]["blocked_by"] == ["pid 4711 (python3) holds /dev/nvidia0"]
    assert (live(machine, "vm.swappiness"), live(machine, "vm.max_map_count")) == ("1", "65530")
    assert states(ask_well(machine, "revert", to="first", disturb="jitter"))["sysctl/vm.swappiness"] == "ok"
    assert live(machine, "vm.swappiness") == "60"


def test_a_kernel_that_refuses_the_way_back_is_told(machine: Machine, kernel: Kernel) -> None:
    ask_well(machine, "apply", TWO)
    kernel.refuses["vm/swappiness"] = errno.EINVAL
    response = ask(machine, "revert", to="first")
    assert response["outcome"] == "failed"
    assert states(response) == {"sysctl/vm.swappiness": "refused", "sysctl/vm.max_map_count": "ok"}
    assert list(memory.read(Reader(machine.root))) == ["sysctl/vm.swappiness"]


# -- what a failure leaves behind ---------------------------------------------------------------------------------


def no_room_at(monkeypatch: pytest.MonkeyPatch, machine: Machine, path: str) -> None:
    """No more room for what is written to this path."""
    real = host_module._write_all

    def write_all(handle: int, data: bytes) -> None:
        name = os.readlink(f"/proc/self/fd/{handle}")
        if os.path.dirname(name) == os.path.dirname(machine.at(path)) and os.path.basename(path) in os.path.basename(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle, data)

    monkeypatch.setattr(host_module, "_write_all", write_all)


def test_without_room_for_the_journal_nothing_is_changed(machine: Machine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    no_room_at(monkeypatch, machine, journal.PATH)
    response = ask(machine, "apply", TWO, {"enabled": "madvise"})
    assert response["outcome"] == "failed"
    assert f"{journal.PATH}: No space left on device" in response["error"]
    assert not response["changed"]
    assert kernel.writes == []
    assert not machine.exists(FILE)
    assert not machine.exists(THP_FILE)
    assert set(states(response).values()) == {"live_wrong"}


def test_without_room_for_our_file_the_old_one_is_whole(converged: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    before = own(converged)
    no_room_at(monkeypatch, converged, FILE)
    converged.sysctl("vm.max_map_count", 65530)
    wanted = dict(SYSCTL, **{"vm.swappiness": entry(3)})
    response = ask(converged, "apply", wanted, THP)
    assert response["outcome"] == "failed"
    assert f"not persisted: {FILE}: No space left on device" in response["error"]
    assert own(converged) == before
    assert os.listdir(converged.at("/etc/sysctl.d")) == [os.path.basename(FILE)]
    assert states(response)["sysctl/vm.swappiness"] == "unpersisted"
    assert states(response)["sysctl/vm.max_map_count"] == "ok", "what was done is told"
    assert changes(response)["sysctl/vm.max_map_count"] == [("live", MAPS, "65530", "262144")]


def test_without_room_for_the_memory_the_results_are_told(machine: Machine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    no_room_at(monkeypatch, machine, memory.PATH)
    response = ask(machine, "apply", TWO)
    assert response["outcome"] == "failed"
    assert response["error"] == f"{memory.PATH}: No space left on device"
    assert set(states(response).values()) == {"ok"}
    assert changes(response)["sysctl/vm.swappiness"] == [("live", SWAPPINESS, "60", "1"), ("persisted", FILE, None, "1")]
    assert response["changed"]


def test_without_room_a_revert_claims_nothing(converged: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_well(converged, "apply", dict(SYSCTL, **{"vm.swappiness": entry(3)}), THP, run_id="r2")
    before = own(converged)
    no_room_at(monkeypatch, converged, FILE)
    response = ask(converged, "revert", to="r2")
    assert response["outcome"] == "failed"
    assert f"{FILE}: No space left on device" in response["error"]
    assert own(converged) == before
    assert states(response) == {"sysctl/vm.swappiness": "refused"}
    assert changes(response) == {"sysctl/vm.swappiness": [("live", SWAPPINESS, "3", "1")]}
    assert "sysctl/vm.swappiness" in memory.read(Reader(converged.root))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount read-only")
def test_a_read_only_etc_is_named_and_whole(converged: Machine) -> None:
    etc = converged.at("/etc")
    before = converged.snapshot()
    subprocess.check_call(["mount", "--bind", etc, etc])
    try:
        subprocess.check_call(["mount", "-o", "remount,ro,bind", etc])
        response = ask(converged, "apply", dict(SYSCTL, **{"vm.swappiness": entry(3)}), THP)
    finally:
        subprocess.check_call(["umount", etc])
    assert response["outcome"] == "failed"
    assert f"{FILE}: Read-only file system" in response["error"]
    assert live(converged, "vm.swappiness") == "3"
    after = converged.snapshot()
    assert {path: after[path] for path in after if path.startswith("/etc")} == {
        path: before[path] for path in before if path.startswith("/etc")
    }


@pytest.mark.parametrize("action", ["apply", "revert"])
def test_two_at_once(converged: Machine, action: str) -> None:
    converged.sysctl("vm.swappiness", 60)
    with Host(converged.root).locked("/run/gpufleet/lock", 0):
        before = converged.snapshot()
        response = ask(converged, action, SYSCTL, THP, lock_s=0.2)
        assert response["outcome"] == "failed"
        assert f"another run holds the lock: pid {os.getpid()}" in response["error"]
        assert converged.snapshot() == before
        assert ask_well(converged, "audit", SYSCTL, THP)["results"], "an audit takes no lock"
    assert ask_well(converged, action, SYSCTL, THP)["changed"]


def test_an_apply_that_was_killed_between_live_and_file_is_finished_by_the_next(
    machine: Machine, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ownfile, "write", lambda *_arguments: os._exit(9))
        response = ask_child(machine, "apply", TWO, run_id="r1")
    assert (response["outcome"], response["error"]) == ("failed", "the work ended without a word")
    assert (live(machine, "vm.swappiness"), machine.exists(FILE)) == ("1", False)
    assert set(states(ask_well(machine, "audit", TWO)).values()) == {"unpersisted"}
    second = ask_well(machine, "apply", TWO, run_id="r2")
    assert set(states(second).values()) == {"ok"}
    ask_well(machine, "revert", to="first")
    assert (live(machine, "vm.swappiness"), machine.exists(FILE)) == ("60", False)


@pytest.mark.parametrize("uid", [1000])
@pytest.mark.parametrize("action", ["apply", "revert"])
def test_without_root_nothing_is_changed_and_the_reason_is_told(converged: Machine, uid: int, action: str) -> None:
    converged.is_(uid=uid)
    before = converged.snapshot()
    response = ask(converged, action, SYSCTL, THP)
    assert (response["outcome"], response["error"]) == ("failed", "changes need root")
    assert converged.snapshot() == before


# -- check says what apply does -----------------------------------------------------------------------------------

KEYS = ("vm.swappiness", "vm.max_map_count", "vm.dirty_ratio", "vm.dirty_bytes", "net.ipv4.tcp_rmem", "net.ipv4.conf.bond0.101.rp_filter")
PATHS = ("/etc/sysctl.d/10.conf", "/etc/sysctl.d/zzz.conf", "/run/sysctl.d/50.conf", "/usr/lib/sysctl.d/zzzz.conf", FILE)
WORDS = ("always", "madvise", "never")
VALUES = st.integers(1, 70)
ASSIGNMENT = st.builds("{} = {}\n".format, st.sampled_from((*KEYS, "vm.*", "-vm.swappiness", "net/ipv4/conf/*/rp_filter")), VALUES)
RULE = st.one_of(
    VALUES.map(lambda value: {"exact": value}),
    VALUES.map(lambda value: {"at_least": value}),
    VALUES.map(lambda value: {"between": [value, value + 9], "set": value + 4}),
)
ENTRY = st.builds(
    entry,
    RULE,
    disturbs=st.sampled_from(["nothing", "jitter"]),
    mend=st.sampled_from(["always", "always", "never"]),
    owner=st.sampled_from(["gpufleet", "gpufleet", "leave"]),
)


@st.composite
def states_of_machines(draw: Any) -> Dict[str, Any]:
    return {
        "files": draw(st.dictionaries(st.sampled_from(PATHS), st.lists(ASSIGNMENT, max_size=4).map("".join), max_size=3)),
        "masked": draw(st.sampled_from([(), (), (FILE,), ("/run/sysctl.d/zzzz.conf",), (THP_FILE,)])),
        "live": draw(st.dictionaries(st.sampled_from(["vm.swappiness", "vm.max_map_count"]), VALUES)),
        "thp": draw(st.sampled_from(WORDS)),
        "tmpfiles": draw(st.dictionaries(st.sampled_from(["00-a.conf", "50.conf"]), st.sampled_from(WORDS), max_size=2)),
        "job": draw(st.booleans()),
        "refuses": draw(st.sampled_from([None, None, "vm/swappiness"])),
        "sysctl": draw(st.dictionaries(st.sampled_from([key for key in KEYS if key != "vm.dirty_bytes"]), ENTRY, min_size=1)),
        "wanted": draw(st.sampled_from(WORDS)),
        "take_over": draw(st.booleans()),
    }


def made(folder: str, state: Dict[str, Any]) -> Machine:
    machine = build(folder)
    for path, text in state["files"].items():
        machine.write(path, text)
    for path in state["masked"]:
        machine.link(path, "/dev/null")
    for key, value in state["live"].items():
        machine.sysctl(key, value)
    machine.thp("enabled", state["thp"])
    for name, word in state["tmpfiles"].items():
        machine.write("/etc/tmpfiles.d/" + name, f"w {ENABLED} - - - - {word}\n")
    if state["job"]:
        machine.process(4711, "python3", ["/dev/nvidia0"])
    return machine


@settings(max_examples=max(12, settings().max_examples // 100))
@given(states_of_machines())
def test_check_says_what_apply_does_and_afterwards_says_nothing(state: Dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        machine = made(folder, state)
        kernel = Kernel(machine)
        if state["refuses"]:
            kernel.refuses[state["refuses"]] = errno.EINVAL
        patch.setattr(Host, "write_live", kernel.write_live)
        asked = (state["sysctl"], {"enabled": state["wanted"]})
        before = machine.snapshot()
        ask_well(machine, "audit", *asked)
        check = ask_well(machine, "check", *asked, take_over=state["take_over"])
        assert machine.snapshot() == before
        applied = ask_well(machine, "apply", *asked, take_over=state["take_over"])
        expected = {
            identity: told
            for identity, told in changes(check).items()
            # what only the kernel could know beforehand
            if not (state["refuses"] and identity == "sysctl/vm.swappiness" and ("live" in [change[0] for change in told]))
        }
        assert {identity: told for identity, told in changes(applied).items() if identity in expected} == expected
        assert set(changes(applied)) - set(expected) <= {"sysctl/vm.swappiness"}
        settled = machine.snapshot(but=[LOCK])
        assert changes(ask_well(machine, "check", *asked, take_over=state["take_over"])) == {}
        assert not ask_well(machine, "apply", *asked, take_over=state["take_over"])["changed"]
        assert differences(settled, machine.snapshot(but=[LOCK])) == {}


@settings(max_examples=max(8, settings().max_examples // 200))
@given(states_of_machines())
def test_revert_leads_back_to_where_it_began(state: Dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # a file in the place of ours comes back with its values, not with its bytes: `test_a_link…` and others have the rest
        machine = made(folder, dict(state, job=False, files={path: text for path, text in state["files"].items() if path != FILE}))
        patch.setattr(Host, "write_live", Kernel(machine).write_live)
        before = contents(machine)
        ask_well(machine, "apply", state["sysctl"], {"enabled": state["wanted"]}, take_over=state["take_over"], run_id="r1")
        ask_well(machine, "apply", state["sysctl"], {"enabled": state["thp"]}, take_over=state["take_over"], run_id="r2")
        ask_well(machine, "revert", to="first")
        assert differences(before, contents(machine)) == {}


def differences(before: Dict[str, Any], after: Dict[str, Any]) -> Dict[str, Any]:
    return {path: (before.get(path), after.get(path)) for path in set(before) | set(after) if before.get(path) != after.get(path)}
