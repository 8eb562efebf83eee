# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profile files: found, read and followed along `extends`. The only part of the loader that opens profile files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .layers import Layer
from .problems import InputError, Problems, ProfileError, nearest, show
from .yaml_text import parse

COLLECTION = Path(__file__).resolve().parents[3]
SHIPPED = COLLECTION / "roles" / "profile" / "files"

_MOST_BYTES = 1_000_000


def load_chain(
    profile: str,
    basedirs: Sequence[str | Path],
    problems: Problems,
    asked_by: str = "gpufleet_profile",
    shipped: Path = SHIPPED,
) -> list[Layer]:
    """The layers of a profile, base first.

    A key given twice is added to `problems`. Where a link of the chain is missing, nothing above it can be judged: that raises ProfileError at once.
    """
    chain: list[Layer] = []
    seen: list[Path] = []
    dirs, place, key = [Path(basedir) for basedir in basedirs], asked_by, ""
    reference: str | None = profile
    while reference is not None:
        try:
            path = _find(reference, dirs, shipped)
            if path in seen:
                circle = [_shown(one, basedirs, shipped) for one in [*seen[seen.index(path) :], path]]
                raise InputError(f"goes in a circle: {' extends '.join(circle)}")
            place, key = _shown(path, basedirs, shipped), ""
            layer = _read(path, reference, place, problems)
        except InputError as wrong:
            problems.add(place, key, wrong)
            raise ProfileError(problems) from None
        seen.append(path)
        chain.insert(0, layer)
        reference, dirs, place, key = _extends(layer), [path.parent], layer.place("extends"), "extends"
    return chain


def _extends(layer: Layer) -> str | None:
    # What is no text here is told where the layer is laid.
    extends = layer.content.get("extends") if isinstance(layer.content, dict) else None
    return extends if isinstance(extends, str) else None


def shipped_names(shipped: Path = SHIPPED) -> list[str]:
    """The profiles that come with the collection."""
    return sorted(path.stem for path in shipped.glob("*.yml"))


def _is_path(reference: str) -> bool:
    return "/" in reference or reference.endswith((".yml", ".yaml"))


def _find(reference: str, dirs: Sequence[Path], shipped: Path) -> Path:
    if not reference.strip():
        raise InputError("is empty; it names a profile", "training")
    if not _is_path(reference):
        if reference in shipped_names(shipped):
            return (shipped / f"{reference}.yml").resolve()
        raise InputError(
            f"there is no profile {show(reference)}; a file of your own is given as a path, like ./{reference}.yml",
            nearest(reference, shipped_names(shipped)),
        )
    try:
        return _find_file(Path(reference).expanduser(), dirs)
    # A loop of links, a name that is too long, a home that nobody has: what they raise differs between Pythons.
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{show(reference)} leads nowhere: {error}") from None


def _find_file(given: Path, dirs: Sequence[Path]) -> Path:
    for directory in [given.parent] if given.is_absolute() else dirs:
        path = (directory / given).resolve()
        if path.exists():
            return path
    looked = ", ".join(dict.fromkeys(str(directory) for directory in dirs)) or "no directory"
    siblings = [path.name for directory in dirs for path in (directory / given).parent.glob("*.y*ml")]
    raise InputError(f"there is no file {given} (looked from {looked})", nearest(given.name, siblings))


def _read(path: Path, reference: str, shown: str, problems: Problems) -> Layer:
    document = parse(_text(path))
    for line, wrong in document.wrongs:
        problems.add(f"{shown}:{line}", "", wrong)
    name = f"profile {shown if _is_path(reference) else reference}"
    return Layer(name=name, content=document.content, file=shown, lines=document.lines)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"is larger than {_MOST_BYTES} bytes, that is no profile")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text") from None
    if "\0" in text:
        raise InputError("holds binary data")
    return text


def _shown(path: Path, basedirs: Sequence[str | Path], shipped: Path) -> str:
    """The path as a person knows it: ours from the collection's root, theirs from where they stand."""
    if path.parent == shipped.resolve():
        return f"roles/profile/files/{path.name}"
    for basedir in [*basedirs, os.getcwd()]:
        root = Path(basedir).resolve()
        if root in path.parents:
            return str(path.relative_to(root))
    return str(path)
