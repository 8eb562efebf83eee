# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document that may be shown to others: names of machines, serial numbers and addresses become pseudonyms, paths of the control node become short.

A pseudonym is the same wherever the same name stands in one document. The key that makes it is thrown away, so that nobody can try names afterwards;
two documents therefore have nothing in common that could be compared.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

# Where words of ours stand, or versions that look like addresses: never names of anything.
FIXED = frozenset(
    (
        *(
            "version",
            "schema",
            "verdict",
            "totals",
            "id",
            "action",
            "started",
            "finished",
            "controller",
            "profile_key",
            "rule",
            "until",
            "setting",
        ),
        *("outcome", "transport", "state", "needs", "cause", "since", "view", "subsystem", "impact", "disturbs", "mend"),
        *("kernel", "architecture", "distribution", "distribution_version", "python", "bios", "fingerprint"),
    )
)
EDGE = "A-Za-z0-9"
# What may be an address: IPv4; or IPv6, a MAC, an InfiniBand address.
ADDRESS = re.compile(
    r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?!\.?\w)|(?<![\w:.])(?=[0-9A-Fa-f]*:)[0-9A-Fa-f:]{2,}(?:[0-9]{0,3}(?:\.[0-9]{1,3}){3})?(?![\w:]|\.\w)"
)
HARDWARE = re.compile(r"(?:[0-9A-Fa-f]{2}:){5,19}[0-9A-Fa-f]{2}")
USER = re.compile(r"[\w.-]+@(?=(?:node|addr)-[0-9a-f]{10})")


def redact(document: dict[str, Any], aliases: Mapping[str, Iterable[str]] | None = None, home: Path | None = None) -> dict[str, Any]:
    """The document without names. `aliases` are further names of nodes, such as the addresses by which they are reached; `home` is that of the user."""
    pseudonym = _pseudonyms(secrets.token_bytes(32))
    names = _names(document, aliases or {}, pseudonym)
    paths = _paths(document, home or Path.home())
    text = _once(lambda value: USER.sub("user@", names(paths(value))))
    made: dict[str, Any] = _walk(document, text)
    exact = {node["name"]: pseudonym("node", node["name"]) for node in document["nodes"]}
    for node, shown in zip(document["nodes"], made["nodes"], strict=True):
        # Whatever a name looks like, in its own places it is replaced: "1" is a name there and a value everywhere else.
        shown["name"] = exact[node["name"]]
        for fact, kind in (("hostname", "node"), ("serial", "serial"), ("boot_id", "boot")):
            if fact in node["facts"]:
                shown["facts"][fact] = names(str(node["facts"][fact]))
                if shown["facts"][fact] == str(node["facts"][fact]):
                    shown["facts"][fact] = pseudonym(kind, str(node["facts"][fact]))
    for waiver, shown in zip(document.get("waivers", []), made.get("waivers", []), strict=True):
        shown["needed_by"] = [exact[name] for name in waiver["needed_by"]]
    made["run"]["redacted"] = True
    return made


Text = Callable[[str], str]
Pseudonym = Callable[[str, str], str]


def _pseudonyms(key: bytes) -> Pseudonym:
    """Kind and name -> `node-3f9a2b…`. Names of hosts and addresses are the same in capitals."""

    def pseudonym(kind: str, name: str) -> str:
        return f"{kind}-{hmac.new(key, name.lower().encode(), hashlib.sha256).hexdigest()[:10]}"

    return pseudonym


def _walk(value: Any, text: Text, key: str = "") -> Any:
    """The same with every text but our own words passed through `text`."""
    if key in FIXED:
        return value
    if isinstance(value, dict):
        return {name: _walk(part, text, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_walk(part, text) for part in value]
    return text(value) if isinstance(value, str) else value


def _once(text: Text) -> Text:
    """A fleet says the same few things very often."""
    known: dict[str, str] = {}

    def remembered(value: str) -> str:
        if value not in known:
            known[value] = text(value)
        return known[value]

    return remembered


def _names(document: dict[str, Any], aliases: Mapping[str, Iterable[str]], pseudonym: Pseudonym) -> Text:
    """Replaces every name of a node and every serial number, also where it is part of a longer word such as `ib0-gpu-017` or `gpu-017.example.org`."""
    new = {**_serials(document, pseudonym), **_hosts(document, aliases, pseudonym)}
    domains = {domain for name in new if not _address(name) for domain in [name.partition(".")[2]] if "." in domain}
    pattern = re.compile(
        rf"(?<![{EDGE}])(?:{_any_of(filter(_tellable, new))})(?![{EDGE}])|[\w-]+(?:\.[\w-]+)*?\.(?:{_any_of(domains)})(?![\w-])",
        re.IGNORECASE,
    )

    def named(value: str) -> str:
        return pattern.sub(lambda found: new.get(found.group().lower()) or pseudonym("node", found.group()), value)

    def replaced(value: str) -> str:
        parts, at = [], 0
        for found in ADDRESS.finditer(value):
            shown = new.get(found.group().lower()) or _of_address(found.group(), pseudonym)
            if shown:
                parts += [named(value[at : found.start()]), shown]
                at = found.end()
        return "".join([*parts, named(value[at:])])

    return replaced


def _hosts(document: dict[str, Any], aliases: Mapping[str, Iterable[str]], pseudonym: Pseudonym) -> dict[str, str]:
    """All names of nodes in small letters, each with its node's pseudonym; one that several nodes have, as after a copied image, gets its own."""
    new: dict[str, str] = {}
    for node in document["nodes"]:
        own = pseudonym("node", node["name"])
        for name in (*_spellings(node["name"]), *aliases.get(node["name"], ()), *_spellings(str(node["facts"].get("hostname", "")))):
            new[name.lower()] = own if new.get(name.lower(), own) == own else pseudonym("node", name)
    return new


def _serials(document: dict[str, Any], pseudonym: Pseudonym) -> dict[str, str]:
    found = [str(node["facts"]["serial"]) for node in document["nodes"] if "serial" in node["facts"]]
    found += [waiver["serial"] for waiver in document.get("waivers", []) if "serial" in waiver]
    return {serial.lower(): pseudonym("serial", serial) for serial in found}


def _tellable(name: str) -> bool:
    """Whether a name can be told from a value: `1` and `none` cannot."""
    return bool(re.search(r"[^\W\d_]", name) and len(name) > 1 and name != "none") or len(name) >= 6


def _spellings(name: str) -> Iterator[str]:
    """A name and, of one with a domain, its first label."""
    if name:
        yield name
        if "." in name and not _address(name):
            yield name.partition(".")[0]


def _any_of(names: Iterable[str]) -> str:
    """A pattern for the longest of these names, as a tree, since one after the other would take minutes for a thousand of them."""
    tree: dict[str, Any] = {}
    for name in names:
        branch = tree
        for char in name:
            branch = branch.setdefault(char, {})
        branch[""] = {}

    def text(branch: dict[str, Any]) -> str:
        longer = [re.escape(char) + text(rest) for char, rest in sorted(branch.items()) if char]
        if not longer:
            return ""
        whole = longer[0] if len(longer) == 1 and "" not in branch else f"(?:{'|'.join(longer)})"
        return whole + ("?" if "" in branch else "")

    return text(tree) or r"(?!)"


def _paths(document: dict[str, Any], home: Path) -> Text:
    """Where the user keeps the profiles is nobody's business; what the file is called stays."""
    files = {name for profile in document["run"]["profiles"].values() for name in (*profile["files"], profile["profile"]) if "/" in name}
    longest_first = sorted(files, key=len, reverse=True)
    at_home = re.compile(rf"{re.escape(str(home))}(?=/|$)") if len(home.parts) > 1 else None

    def short(value: str) -> str:
        for name in longest_first:
            value = value.replace(name, PurePosixPath(name).name)
        return at_home.sub("~", value) if at_home else value

    return short


def _of_address(text: str, pseudonym: Pseudonym) -> str:
    """Nothing for what only looks like an address, and for one that says nothing of a machine."""
    if HARDWARE.fullmatch(text):
        return pseudonym("mac", text)
    address = _address(text)
    return "" if address is None or address.is_loopback or address.is_unspecified else pseudonym("addr", text)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
