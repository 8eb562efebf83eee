# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated fleets, written as the spool that a run would have left. No machine was asked; the same arguments give the same fleet."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ansible_collections.gpufleet.node.plugins.plugin_utils.report import document

STARTED = "2026-11-30T22:55:20Z"
RUN_ID = "20261130T225520Z-simulated"
# When earlier runs of the simulated fleets began, and the share of what is wrong now that was wrong then.
EARLIER = {"2026-11-29T03:00:04Z": 0.9, "2026-11-28T03:00:07Z": 0.6, "2026-11-26T03:00:02Z": 0.6, "2026-11-12T03:00:05Z": 0.0}

# name, impact, disturbs, rule, why
SETTINGS: list[tuple[str, str, str, dict[str, Any], str]] = [
    (
        "sysctl/vm.zone_reclaim_mode",
        "correctness",
        "nothing",
        {"exact": 0},
        "Reclaiming the near zone first stalls allocations of a job that fills its NUMA node.",
    ),
    (
        "sysctl/kernel.numa_balancing",
        "performance",
        "jitter",
        {"exact": 0},
        "The balancer moves pages under a job that has placed them itself.",
    ),
    (
        "sysctl/vm.swappiness",
        "performance",
        "nothing",
        {"between": [0, 10], "set": 1},
        "Anonymous memory of a training job must not wait for a disk.",
    ),
    (
        "sysctl/vm.max_map_count",
        "correctness",
        "nothing",
        {"at_least": 1048576},
        "Data loaders with many mapped files run into the default.",
    ),
    ("sysctl/net.core.rmem_max", "performance", "nothing", {"at_least": 67108864}, "Long fat links need a large window."),
    ("sysctl/net.core.wmem_max", "performance", "nothing", {"at_least": 67108864}, "Long fat links need a large window."),
    (
        "sysctl/net.ipv4.tcp_rmem",
        "performance",
        "nothing",
        {"exact": "4096 131072 268435456"},
        "The third field bounds what a connection may grow to.",
    ),
    ("sysctl/kernel.panic_on_oops", "hygiene", "nothing", {"exact": 1}, "A node that oopsed shall not go on computing."),
    ("sysctl/kernel.dmesg_restrict", "hygiene", "nothing", {"exact": 1}, "Kernel messages are for administrators."),
    (
        "transparent_hugepage/enabled",
        "performance",
        "nothing",
        {"one_of": ["madvise", "always"], "set": "madvise"},
        "Who wants huge pages asks for them.",
    ),
    ("transparent_hugepage/defrag", "performance", "jitter", {"exact": "madvise"}, "Only who asks for huge pages waits for compaction."),
    ("transparent_hugepage/khugepaged_defrag", "hygiene", "nothing", {"exact": 1}, "The daemon may compact in the background."),
]
FAMILIES = [
    "sysctl",
    "transparent_hugepage",
    "limits",
    "irq_affinity",
    "cpu_frequency",
    "hugepages",
    "cmdline",
    "nvidia_driver",
    "persistence",
    "mig",
    "network",
    "nvme",
]

Damage = Callable[[int, dict[str, Any], dict[str, Any]], None]


def compiled(wanted: list[tuple[str, str, str, dict[str, Any], str]], key: str = "5f0c1d", name: str = "training") -> dict[str, Any]:
    """A compiled profile."""
    subsystems: dict[str, Any] = {}
    about = {}
    for setting, impact, disturbs, rule, why in wanted:
        family, rest = setting.split("/", 1)
        subsystems.setdefault(family, {})[rest] = {
            "rule": rule,
            "impact": impact,
            "disturbs": disturbs,
            "owner": "gpufleet",
            "mend": "always",
        }
        about[setting] = {"why": why, "source": "simulated", "from": {"layer": "profile base", "file": "base.yml"}}
    return {"version": 1, "profile": name, "key": key, "files": ["base.yml", f"{name}.yml"], "subsystems": subsystems, "about": about}


def many_settings(count: int) -> list[tuple[str, str, str, dict[str, Any], str]]:
    """The real names, then made-up ones over many subsystems."""
    wanted = list(SETTINGS)
    for at in range(count - len(wanted)):
        family = FAMILIES[at % len(FAMILIES)]
        impact = ("performance", "hygiene", "performance", "correctness")[at % 4]
        wanted.append((f"{family}/simulated.{at:03d}", impact, "nothing", {"exact": at % 7}, "Made up to fill a fleet."))
    return wanted[:count]


def target(rule: dict[str, Any]) -> str:
    """What the rule would write."""
    return str(rule.get("set", rule.get("exact", rule.get("at_least"))))


def right(setting: str, rule: dict[str, Any]) -> dict[str, Any]:
    """The result of a setting that is as it should be."""
    value = target(rule)
    family, rest = setting.split("/", 1)
    place = "/etc/tmpfiles.d/00-gpufleet.conf:3" if family == "transparent_hugepage" else "/etc/sysctl.d/zz-gpufleet.conf:4"
    live = f"/sys/kernel/mm/transparent_hugepage/{rest}" if family == "transparent_hugepage" else f"/proc/sys/{rest.replace('.', '/')}"
    return {
        "state": "ok",
        "desired": value,
        "needs": "nothing",
        "views": {"persisted": {"value": value, "from": place}, "live": {"value": value, "from": live}},
        "winner": {"from": place, "owner": "gpufleet"},
    }


def wrong(
    result: dict[str, Any], state: str, live: str, winner: tuple[str, str] | None = None, cause: str = "wandered", **more: Any
) -> None:
    """Damage a result in place."""
    result.update(state=state, cause=cause, **more)
    result["views"]["live"]["value"] = live
    if winner:
        result["winner"] = {"from": winner[0], "owner": winner[1]}
        result["views"]["persisted"] = {"value": live, "from": winner[0]}


def facts(index: int, name: str, kind: str) -> dict[str, Any]:
    """Facts of a simulated node."""
    return {
        "hostname": name, "kernel": "6.8.0-60-generic", "architecture": "x86_64", "distribution": "ubuntu", "distribution_version": "22.04",
        "python": "3.10.12", "vendor": "Simulated", "product": f"{kind} node", "serial": f"SIM{index:06d}", "virtualised": False, "container": "none",
        "numa_nodes": 2, "cpus": 192, "memory_bytes": 2163812610048 + 4096 * (index % 11), "page_size": 4096, "boot_id": f"sim-{index:05d}", "uid": 0,
        "fingerprint": f"sim-{kind}",
    }  # fmt: skip


def node_file(index: int, name: str, groups: list[str], profile: dict[str, Any], kind: str) -> dict[str, Any]:
    """The spool entry of a node on which everything is right."""
    results = {
        f"{family}/{rest}": right(f"{family}/{rest}", entry["rule"])
        for family, entries in profile["subsystems"].items()
        for rest, entry in entries.items()
    }
    response = {
        "version": 1, "engine": "0.1.0", "action": "audit", "run_id": RUN_ID, "outcome": "ok", "changed": False, "started": STARTED, "duration_s": 0.04,
        "node": facts(index, name, kind), "results": results, "notes": [], "faults": [],
    }  # fmt: skip
    return {
        "version": 1, "node": name, "groups": groups, "profile_key": profile["key"], "transport": "stdin", "started": STARTED,
        "duration_s": round(0.9 + 0.01 * (index % 40), 3), "outcome": "ok", "response": response,
    }  # fmt: skip


def silence(entry: dict[str, Any], outcome: str, error: str) -> None:
    """A node that gave no answer."""
    entry.pop("response")
    entry.update(outcome=outcome, error=error, transport="none")


class SpoolWriter:
    """Writes the files of a spool."""

    def __init__(self, directory: Path, asked: list[str], profiles: list[dict[str, Any]]):
        self.directory = directory
        (directory / "nodes").mkdir(parents=True)
        (directory / "profiles").mkdir()
        run = {
            "run_id": RUN_ID,
            "started": STARTED,
            "action": "audit",
            "asked": asked,
            "controller": {"ansible": "2.21.5", "python": "3.13.1", "collection": "0.1.0"},
        }
        (directory / "run.json").write_text(json.dumps(run))
        for profile in profiles:
            (directory / "profiles" / f"{profile['key']}.json").write_text(json.dumps(profile))

    def node(self, entry: dict[str, Any]) -> None:
        (self.directory / "nodes" / f"{quote(entry['node'], safe='')}.json").write_text(json.dumps(entry))


def big_fleet(directory: Path, nodes: int = 1250, settings: int = 150) -> list[str]:
    """Five bad nodes and one setting that matters, among the small things that any fleet of this size has. Returns the five names."""
    rng = random.Random(1250)
    profile = compiled(many_settings(settings))
    kinds = ["h100", "h100", "h100", "a100", "b200"]
    names = [f"gpu-{index:04d}" for index in range(1, nodes + 1)]
    bad = sorted(rng.sample(names[: nodes // 2], 5))
    quiet = [name for name in names if name not in bad]
    hygiene = set(rng.sample(quiet, nodes // 4))
    swappy = set(rng.sample(quiet, nodes // 60))
    busy = set(rng.sample(quiet, nodes // 100))
    deaf = dict(zip(rng.sample(quiet, 4), ["unreachable", "unreachable", "unreachable", "timed_out"], strict=True))
    unread = set(rng.sample(quiet, 2))
    old_kernel = set(rng.sample(quiet, 2))
    writer = SpoolWriter(directory, names, [profile])
    for index, name in enumerate(names):
        kind = kinds[index * len(kinds) // nodes]
        entry = node_file(index, name, [kind, f"rack{index // 40 + 1:02d}"], profile, kind)
        results = entry["response"]["results"]
        if name in bad:
            wrong(
                results["sysctl/vm.zone_reclaim_mode"],
                "overridden",
                "1",
                ("/etc/sysctl.d/zzz-vendor-tune.conf:2", "vendor-tune"),
                detail="/etc/sysctl.d/zz-gpufleet.conf:4 gives 0, but /etc/sysctl.d/zzz-vendor-tune.conf:2 wins",
            )
        if name in hygiene:
            result = results["sysctl/kernel.panic_on_oops"]
            wrong(result, "unpersisted", "1", cause="never_applied")
            result["views"]["persisted"] = {"unset": "no file sets it"}
            del result["winner"]
        if name in swappy:
            wrong(results["sysctl/vm.swappiness"], "live_wrong", rng.choice(["60", "60", "60", "30"]))
        if name in busy:
            wrong(
                results["sysctl/kernel.numa_balancing"],
                "blocked",
                "1",
                blocked_by=["pid 4711 (python3) holds /dev/nvidia0"],
                detail="a live change can disturb a running job (jitter)",
            )
        if name in unread:
            result = results["transparent_hugepage/enabled"]
            result.update(state="unknown", detail="the live value could not be read")
            result["views"]["live"] = {"error": "Input/output error", "from": "/sys/kernel/mm/transparent_hugepage/enabled"}
        if name in old_kernel:
            entry["response"]["node"]["kernel"] = "6.5.0-44-generic"
        if index % 300 == 7:
            wrong(
                results["transparent_hugepage/defrag"],
                "live_wrong",
                "always",
                cause="intent",
                waived={"reason": "benchmark of the storage team", "ticket": "OPS-1", "until": "2026-12-04"},
            )
        if deaf.get(name) == "unreachable":
            silence(entry, "unreachable", "Failed to connect to the host via ssh: No route to host")
        if deaf.get(name) == "timed_out":
            silence(entry, "timed_out", "not finished after 60 s")
        writer.node(entry)
    return bad


def report(directory: Path) -> dict[str, Any]:
    """The document of a fleet, which has earlier runs where its spool lies in a folder with theirs."""
    with_history = (directory / RUN_ID).is_dir()
    spool = directory / RUN_ID if with_history else directory
    return document.assemble(spool, finished="2026-11-30T22:57:02Z", history=directory if with_history else None)


def one_node(directory: Path) -> None:
    """One machine on which no profile was ever applied."""
    profile = compiled(SETTINGS)
    entry = node_file(0, "localhost", [], profile, "workstation")
    results = entry["response"]["results"]
    for setting, live in {
        "sysctl/vm.swappiness": "60",
        "sysctl/kernel.numa_balancing": "1",
        "sysctl/net.core.rmem_max": "212992",
        "sysctl/vm.max_map_count": "65530",
    }.items():
        wrong(results[setting], "live_wrong", live, cause="never_applied")
        results[setting]["views"]["persisted"] = {"unset": "no file sets it"}
        del results[setting]["winner"]
    wrong(
        results["transparent_hugepage/enabled"],
        "pending",
        "never",
        ("/etc/default/grub:10", "grub-common"),
        cause="never_applied",
        needs="reboot",
    )
    results["transparent_hugepage/enabled"]["views"]["boot"] = {"value": "never", "from": "/proc/cmdline"}
    results["sysctl/net.ipv4.tcp_rmem"].update(state="unknown", detail="the live value could not be read: permission denied")
    results["sysctl/net.ipv4.tcp_rmem"]["views"]["live"] = {"error": "permission denied", "from": "/proc/sys/net/ipv4/tcp_rmem"}
    results["sysctl/vm.zone_reclaim_mode"].update(state="not_applicable", detail="the kernel has no such key", views={})
    entry["response"]["notes"] = ["/etc/sysctl.d/10-old.conf:7 is no assignment and is ignored"]
    SpoolWriter(directory, ["localhost"], [profile]).node(entry)


def picture_fleet(directory: Path) -> None:
    """The fleet of the picture in the documentation: 1,250 nodes with the settings that exist, with earlier runs and waivers that end."""
    spool = directory / RUN_ID
    big_fleet(spool, nodes=1250, settings=len(SETTINGS))
    waive(spool)
    earlier_runs(spool)


def waive(spool: Path) -> None:
    """A waiver that ends soon, one that has ended, one that nothing needs."""
    (path,) = (spool / "profiles").iterdir()
    profile = json.loads(path.read_text())
    for setting, reason, until in (
        ("transparent_hugepage/defrag", "benchmark of the storage team", "2026-12-04"),
        ("sysctl/vm.swappiness", "swap test of the scheduler team", "2026-11-27"),
        ("sysctl/kernel.dmesg_restrict", "kernel bug hunt", "2026-12-11"),
    ):
        family, rest = setting.split("/", 1)
        profile["subsystems"][family][rest]["waive"] = {"reason": reason, "ticket": "OPS-1", "until": until}
    path.write_text(json.dumps(profile))


def earlier_runs(spool: Path) -> None:
    """Spools of earlier runs beside this one, of the nodes with something wrong: part of it was already so, at a share that differs from run to run."""
    rng = random.Random(7)
    wrong_now = {}
    for path in sorted((spool / "nodes").iterdir()):
        results = json.loads(path.read_text()).get("response", {}).get("results", {})
        states = {setting: result["state"] for setting, result in results.items() if result["state"] != "ok"}
        if states:
            wrong_now[path.name] = {setting: (state, rng.random()) for setting, state in states.items()}
    for started, share in EARLIER.items():
        folder = spool.parent / f"{started.replace('-', '').replace(':', '')}-simulated"
        (folder / "nodes").mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"run_id": folder.name, "started": started}))
        for name, states in wrong_now.items():
            results = {setting: {"state": state if chance < share else "ok"} for setting, (state, chance) in states.items()}
            (folder / "nodes" / name).write_text(json.dumps({"response": {"results": results}}))
