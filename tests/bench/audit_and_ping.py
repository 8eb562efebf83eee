# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an audit of a node costs beside a ping of it: the same hosts, one run, one task each, turn and turn about.

Without an inventory the hosts are this machine many times over (connection local): simulated nodes, real work on each.
What ansible-playbook costs without any host is measured too and taken off both.

    ./run bench [--hosts 40] [--rounds 3] [--forks 2] [--inventory I]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PLAYS = {
    "start": """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.meta: noop
""",
    "ping": """
- hosts: "{{ bench_hosts }}"
  gather_facts: false
  tasks:
    - ansible.builtin.ping:
""",
    "audit": """
- hosts: "{{ bench_hosts }}"
  gather_facts: false
  tasks:
    - gpufleet.node.node_audit:
        spool: "{{ bench_folder }}/spool"
        run_id: bench
""",
    "audit as module": """
- hosts: "{{ bench_hosts }}"
  gather_facts: false
  vars:
    ansible_connection: no_pipelining
  tasks:
    - gpufleet.node.node_audit:
        spool: "{{ bench_folder }}/packed"
        run_id: bench
""",
    "fact gathering": """
- hosts: "{{ bench_hosts }}"
  gather_facts: false
  tasks:
    - ansible.builtin.setup:
        gather_subset: [min]
""",
}


class Cost(NamedTuple):
    """Seconds of one playbook run; CPU is that of the control node and, with connection local, of the nodes as well."""

    wall: float
    cpu: float


# Its nodes cannot be fed through standard input, so the audit goes as a packed module. Only for simulated nodes.
PACKED = "audit as module"
CONNECTIONS = Path(__file__).resolve().parents[1] / "integration" / "connection_plugins"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forks", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--inventory", default="")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpufleet-bench-") as name:
        folder = Path(name)
        inventory = wanted.inventory or str(made_inventory(folder, wanted.hosts))
        costs: dict[str, list[Cost]] = {play: [] for play in PLAYS}
        for play in [*PLAYS] * wanted.rounds:
            costs[play].append(measured(play, inventory, folder, wanted))
        answered = len(transports(folder / "spool"))
        packed = transports(folder / "packed")
    hosts = answered if wanted.inventory else wanted.hosts
    if not answered or answered < hosts:
        sys.exit(f"only {answered} of {hosts} nodes were audited, so there is nothing to compare")
    if PACKED in costs and packed != ["module"] * hosts:
        sys.exit("the audits that were to go as a packed module did not")
    show(costs, hosts, wanted)
    return 0


def transports(spool: Path) -> list[str]:
    """How each node of the spool was reached."""
    return [json.loads(path.read_text(encoding="utf-8"))["transport"] for path in spool.glob("nodes/*.json")]


def made_inventory(folder: Path, hosts: int) -> Path:
    lines = [f"simulated-{number:04} ansible_connection=local ansible_python_interpreter={sys.executable}" for number in range(hosts)]
    path = folder / "inventory.ini"
    path.write_text("\n".join(["[nodes]", *lines, ""]), encoding="utf-8")
    return path


def measured(play: str, inventory: str, folder: Path, wanted: argparse.Namespace) -> Cost:
    book = folder / f"{play.replace(' ', '-')}.yml"
    book.write_text(f"---\n{PLAYS[play].strip()}\n", encoding="utf-8")
    command: list[str | Path] = [Path(sys.executable).parent / "ansible-playbook", "--inventory", inventory, "--forks", str(wanted.forks)]
    command += ["-e", f"bench_folder={folder}", "-e", "bench_hosts=all", "-e", "gpufleet_profile=training", book]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": wanted.collections, "ANSIBLE_PIPELINING": "1"}
    environment["ANSIBLE_CONNECTION_PLUGINS"] = str(CONNECTIONS)
    before, started = cpu_of_children(), time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    cost = Cost(time.monotonic() - started, cpu_of_children() - before)
    if done.returncode != 0:
        sys.exit(f"the play '{play}' failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return cost


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(costs: dict[str, list[Cost]], hosts: int, wanted: argparse.Namespace) -> None:
    kind = "nodes of the inventory" if wanted.inventory else "simulated nodes (this machine, connection local)"
    print(f"{hosts} {kind}, {wanted.forks} forks, pipelining on; medians of {wanted.rounds} rounds")
    print(f"{'':<16}{'wall s':>9}{'CPU s':>9}{'wall ms a node':>17}{'CPU ms a node':>16}")
    start = median(costs["start"])
    net = {}
    for play, rounds in costs.items():
        whole = median(rounds)
        net[play] = Cost(*(1000 * (mine - base) / hosts for mine, base in zip(whole, start, strict=True)))
        per_node = "" if play == "start" else f"{net[play].wall:17.1f}{net[play].cpu:16.1f}"
        print(f"{play:<16}{whole.wall:9.2f}{whole.cpu:9.2f}{per_node}")
    for play in ("audit", PACKED):
        if play in net:
            wall, cpu = net[play].wall / net["ping"].wall, net[play].cpu / net["ping"].cpu
            print(f"{play} / ping: wall {wall:.2f}, CPU {cpu:.2f}{' (the aim is below 1.0)' if play == 'audit' else ''}")


def median(rounds: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in rounds), statistics.median(cost.cpu for cost in rounds))


if __name__ == "__main__":
    sys.exit(main())
