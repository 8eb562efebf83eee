# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares nodes of the same hardware with one another: the odd one out is shown even where the profile is silent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

SMALLEST_CLASS = 5
MOST_ODD_SHARE = 0.2  # more than this is no odd one out but two camps
# What may differ between two machines of the same kind without a meaning (names, serials, boot ids) is not here.
COMPARED_FACTS = ("kernel", "distribution", "distribution_version", "page_size", "container")
# What a fault takes away changes the fingerprint too, so a node that lost something has no peers by fingerprint. These are compared among
# machines of one make.
HARDWARE_FACTS = ("accelerators", "nics", "nvme", "link_widths", "bios", "cpus", "numa_nodes", "memory_gib")
MAKE = ("vendor", "product", "architecture")


class Odd(NamedTuple):
    """A value in which some nodes differ from their peers."""

    what: str  # "kernel" or a setting's id
    kind: str  # "fact" or "setting"
    usual: str
    usual_nodes: int
    odd: dict[str, list[str]]  # value -> nodes that have it


def odd_ones(document: dict[str, Any]) -> list[Odd]:
    """All odd values of all classes of at least five nodes, fewest nodes first."""
    nodes = document["nodes"]
    found = [
        *(odd for peers in _classes(nodes, _fingerprint) for odd in _in_class(peers, COMPARED_FACTS, settings=True)),
        *(odd for peers in _classes(nodes, _make) for odd in _in_class(peers, HARDWARE_FACTS, settings=False)),
    ]
    return sorted(found, key=lambda odd: (sum(map(len, odd.odd.values())), odd.what, odd.usual))


def _classes(nodes: list[dict[str, Any]], kind: Callable[[dict[str, Any]], Any]) -> list[list[dict[str, Any]]]:
    classes: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for node in nodes:
        classes[kind(node["facts"])].append(node)
    return [peers for name, peers in classes.items() if name is not None and len(peers) >= SMALLEST_CLASS]


def _fingerprint(facts: dict[str, Any]) -> str | None:
    return facts.get("fingerprint")


def _make(facts: dict[str, Any]) -> tuple[str, ...] | None:
    """None for what has no make: virtual machines of one host are cut to any size."""
    whole = not facts.get("virtualised") and all(fact in facts for fact in MAKE)
    return tuple(str(facts[fact]) for fact in MAKE) if whole else None


def _in_class(nodes: list[dict[str, Any]], facts: tuple[str, ...], settings: bool) -> Iterable[Odd]:
    values: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for node in nodes:
        for fact, value in _facts(node["facts"], facts):
            values["fact", fact][value].append(node["name"])
        for setting, result in node["results"].items() if settings else ():
            live = result["views"].get("live", {})
            if "value" in live:
                values["setting", setting][live["value"]].append(node["name"])
    for (kind, what), nodes_of in values.items():
        odd = _odd(kind, what, nodes_of)
        if odd:
            yield odd


def _odd(kind: str, what: str, nodes_of: dict[str, list[str]]) -> Odd | None:
    counts = Counter({value: len(names) for value, names in nodes_of.items()})
    everyone = sum(counts.values())
    usual, usual_nodes = counts.most_common(1)[0]
    odd_nodes = everyone - usual_nodes
    if everyone < SMALLEST_CLASS or not 0 < odd_nodes <= everyone * MOST_ODD_SHARE:
        return None
    return Odd(what, kind, usual, usual_nodes, {value: nodes_of[value] for value in sorted(nodes_of) if value != usual})


def _facts(facts: dict[str, Any], names: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    known = dict(facts)
    if isinstance(facts.get("memory_bytes"), int):
        # The kernel's own share of memory differs by some pages from boot to boot.
        known["memory_gib"] = round(facts["memory_bytes"] / 2**30)
    for fact in names:
        if fact in known:
            yield fact, str(known[fact])
