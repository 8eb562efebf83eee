# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML text to plain values, stricter than PyYAML: a key given twice, a number with a leading zero and a second document are faults, not surprises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from .plain import Plain
from .problems import InputError

# The C parser where PyYAML was built with it: the same results, several times faster.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Anchors can make a small file unfold without end.
MOST_VALUES = 50_000

Path = tuple[str, ...]


@dataclass
class Document:
    """What the text says, and on which line each key stands."""

    content: Plain
    lines: dict[Path, int] = field(default_factory=dict)
    wrongs: list[tuple[int, InputError]] = field(default_factory=list)


def parse(text: str) -> Document:
    """The one document of the text; InputError where it is no YAML at all."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML{_where(error)}") from None
    document = Document(content=None)
    if root is not None:
        document.content = _Builder(document).build(root, (), ())
    return document


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    line = f" in line {mark.line + 1}" if mark is not None else ""
    return f"{line}: {problem}" if problem else line


class _Builder:
    """Walks the node tree; keeps the lines, refuses what PyYAML would swallow."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._constructor = yaml.constructor.SafeConstructor()
        self._seen = 0

    def build(self, node: yaml.Node, path: Path, parents: tuple[yaml.Node, ...]) -> Plain:
        self._seen += 1
        if self._seen > MOST_VALUES:
            raise InputError(f"unfolds to more than {MOST_VALUES} values")
        if any(node is parent for parent in parents):
            raise InputError(f"line {_line(node)}: an anchor that contains itself")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, (*parents, node))
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, path, (*parents, node)) for item in node.value]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path, parents: tuple[yaml.Node, ...]) -> dict[str, Plain]:
        merged: dict[str, Plain] = {}
        own: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                for inner in _merge_sources(value_node):
                    built = self.build(inner, path, parents)
                    merged = {**merged, **built} if isinstance(built, dict) else merged
                continue
            key = self._key(key_node, path)
            if key is None:
                continue
            here = (*path, key)
            if key in own:
                self._fault(key_node, f"is given a second time, first in line {self._document.lines[here]}", here)
                continue
            self._document.lines[here] = _line(key_node)
            own[key] = self.build(value_node, here, parents)
        return {**merged, **own}

    def _key(self, node: yaml.Node, path: Path) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self._fault(node, "a list or mapping cannot be a key", path)
        elif node.tag != "tag:yaml.org,2002:str":
            self._fault(node, f"the key {node.value} is not text for YAML; put it in quotes", path)
        else:
            return str(node.value)
        return None

    def _scalar(self, node: yaml.Node, path: Path) -> Plain:
        if node.tag == "tag:yaml.org,2002:int" and re.match(r"[-+]?0[0-9_]|.*:", node.value):
            self._fault(
                node,
                f"YAML 1.1 does not read {node.value} as the number that it looks like; write it without leading zero or colon",
                path,
            )
            return 0
        try:
            value: Plain = self._constructor.construct_object(node)
        except (yaml.YAMLError, ValueError):
            if node.tag == "tag:yaml.org,2002:timestamp":
                # The 30th of February: whoever wanted a day says what is wrong with it.
                return str(node.value)
            self._fault(node, f"cannot be read as {node.tag.rsplit(':', 1)[-1]}: {node.value}", path)
            return None
        return value

    def _fault(self, node: yaml.Node, message: str, path: Path) -> None:
        self._document.wrongs.append((_line(node), InputError(message, at="/".join(path))))


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _merge_sources(node: yaml.Node) -> Iterator[yaml.Node]:
    # Of several merged mappings the first one wins, so the last is taken first.
    yield from reversed(node.value) if isinstance(node, yaml.SequenceNode) else (node,)
