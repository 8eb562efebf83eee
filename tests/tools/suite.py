# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `./run test` and `./run test-fast` run: first the places to run in, then all steps, two at a time.

suite.py [--fast] [--only WORD]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pythons
import sanity
import stage
import steps
import venvs
from steps import Counts, Result, Step

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
JUNIT = CACHE / "junit"
REQUIREMENTS = ROOT / "tests" / "requirements"

AT_ONCE = 2

# The tools run on the newest Python for which every one of them has a release; a Python of .cache is for unit tests only.
TOOLS_PYTHON = ("3.13", "3.12", "3.11", "3.10")
OLDEST_CORE_PYTHON = ("3.10", "3.11", "3.12")


@dataclass(frozen=True)
class Places:
    """Where the steps find what they need."""

    found: dict[str, Path]  # Python version and its interpreter
    units: dict[str, Path]  # Python version and the commands of its environment
    newest: Path  # commands of the environment with the tools and the newest ansible-core
    oldest: Path | None  # those of the environment with ansible-core 2.16
    copy: Path  # the checkout's copy at …/ansible_collections/gpufleet/node
    installed: Path  # the collection as a user would have it: built and installed
    scratch: Path  # what is gone after the run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="without the virtual machine")
    parser.add_argument("--only", default="", help="only steps whose name has this word")
    wanted = parser.parse_args()
    # Whoever ends the run gets the same as with Ctrl-C: the steps and what they started are put away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="gpufleet-tests-", dir=memory_folder()) as scratch:
        places = prepare(Path(scratch))
        chosen = [step for step in all_steps(places, wanted.fast) if wanted.only in step.name]
        results = [] if wanted.only else missing_pythons(places.found)
        for result in results:
            steps.say(result)
        runner = steps.Runner(CACHE / "logs", JUNIT)
        for result in runner.all(chosen, AT_ONCE):
            steps.say(result)
            results.append(result)
    return steps.finish(results)


# -- places -----------------------------------------------------------------------------------------------------------


def memory_folder() -> str | None:
    """Tests write thousands of small files, in memory in a third of the time; None is the usual place, where memory is short."""
    memory = Path("/dev/shm")
    return str(memory) if os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > 2**30 else None


def prepare(scratch: Path) -> Places:
    started = time.monotonic()
    found = pythons.find_all(CACHE / "pythons")
    tools = first(TOOLS_PYTHON, found)
    if tools is None:
        sys.exit(f"the tests need one of Python {', '.join(TOOLS_PYTHON)} with its venv module")
    oldest = first(OLDEST_CORE_PYTHON, found)
    newest = venvs.make(CACHE / "venvs" / "tools", tools, ROOT / "requirements-test.txt")
    places = Places(
        found=found,
        units={
            version: venvs.make(CACHE / "venvs" / f"unit-{version}", python, REQUIREMENTS / "unit.txt") for version, python in found.items()
        },
        newest=newest,
        oldest=oldest and venvs.make(CACHE / "venvs" / "oldest-core", oldest, REQUIREMENTS / "oldest-core.txt"),
        copy=stage.stage(ROOT, CACHE / "stage"),
        installed=CACHE / "installed",
        scratch=scratch,
    )
    install(places)
    sanity.prepare_home(CACHE / "sanity-home", newest)
    print(f"set-up took {time.monotonic() - started:.0f} s", flush=True)
    return places


def first(versions: tuple[str, ...], found: dict[str, Path]) -> Path | None:
    return next((found[version] for version in versions if version in found), None)


def install(places: Places) -> None:
    """Build the collection and install it, as a user would."""
    galaxy: venvs.Command = [places.newest / "ansible-galaxy", "collection"]
    built = CACHE / "built"
    shutil.rmtree(built, ignore_errors=True)
    venvs.do([*galaxy, "build", "--output-path", built, places.copy])
    venvs.do([*galaxy, "install", "--force", "--no-deps", "-p", places.installed, *built.iterdir()])


def missing_pythons(found: dict[str, Path]) -> list[Result]:
    """A Python of the set that is not there is a failure in CI, and said elsewhere."""
    strict = os.environ.get("CI") == "true" or os.environ.get("GPUFLEET_ALL_PYTHONS") == "1"
    counts = Counts(failed=1) if strict else Counts(skipped=1)
    return [
        Result(f"units {version}", counts, note=f"no working python{version} here") for version in pythons.REQUIRED if version not in found
    ]


# -- steps ------------------------------------------------------------------------------------------------------------


def all_steps(places: Places, fast: bool) -> list[Step]:
    """The longest first, so that the two lanes end together."""
    machine = [] if fast else [virtual_machine(places)]
    return [*machine, *sanity_steps(places), *ansible_steps(places), *unit_steps(places, fast), *lint_steps(places)]


def virtual_machine(places: Places) -> Step:
    return Step(
        "virtual machine",
        [ROOT / "tests" / "vm" / "run-all"],
        ROOT,
        environment={"PATH": path_with(places.newest), "GPUFLEET_COLLECTIONS": places.installed, "GPUFLEET_JUNIT": JUNIT},
        junit="vm*.xml",
        limit_s=70 * 60,
    )


def sanity_steps(places: Places) -> list[Step]:
    """Importing everything with every Python takes as long as all the rest together, so it is a step of its own."""
    every_python = [python.parent for python in places.found.values()]
    environment: dict[str, str | Path] = {"HOME": CACHE / "sanity-home", "PATH": path_with(places.newest, *every_python)}
    sanity_of: venvs.Command = [places.newest / "ansible-test", "sanity", "--color", "no", "--truncate", "0", "--requirements"]
    return [
        Step("ansible-test sanity, import", [*sanity_of, "--test", "import"], places.copy, environment),
        Step("ansible-test sanity, the rest", [*sanity_of, "--skip-test", "import"], places.copy, environment),
    ]


def ansible_steps(places: Places) -> list[Step]:
    """Tests that need ansible-core: units with the newest and the oldest, integration tests choose for themselves."""
    cores = {"newest core": places.newest, **({"core 2.16": places.oldest} if places.oldest else {})}
    units = [pytest_step(places, f"units control node, {name}", commands, "tests/unit/controller") for name, commands in cores.items()]
    environment: dict[str, str | Path] = {
        "GPUFLEET_COLLECTIONS": places.installed,
        "GPUFLEET_ANSIBLE_NEWEST": places.newest,
        **({"GPUFLEET_ANSIBLE_216": places.oldest} if places.oldest else {}),
        **({"GPUFLEET_PYTHON36": places.found["3.6"]} if "3.6" in places.found else {}),
    }
    return [
        pytest_step(places, "integration", places.newest, "tests/integration", environment),
        pytest_step(places, "repository", places.newest, "tests/repository"),
        pytest_step(places, "report in a browser", places.newest, "tests/report"),
        *units,
    ]


def unit_steps(places: Places, fast: bool) -> list[Step]:
    """The engine on every Python. Made-up input is for the oldest and the newest, by the thousand in CI; others get some, unless it has to be fast."""
    ends = {next(iter(places.units)), next(reversed(places.units))}
    folder = "tests/unit/engine"
    without = ["--ignore", f"{folder}/fuzz"] if fast else []
    return [
        pytest_step(places, f"units {version}", commands, folder)
        if version in ends
        else pytest_step(places, f"units {version}", commands, folder, {"CI": "false"}, without)
        for version, commands in places.units.items()
    ]


def pytest_step(
    places: Places, name: str, commands: Path, folder: str, environment: Mapping[str, str | Path] | None = None, words: Sequence[str] = ()
) -> Step:
    report = f"{name.replace(' ', '-').replace(',', '')}.xml"
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={places.scratch / report[:-4]}", f"--junitxml={JUNIT / report}"]
    return Step(
        name,
        [commands / "python", "-m", "pytest", *options, *words, folder],
        ROOT,
        environment={"PATH": path_with(commands), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        junit=report,
    )


def lint_steps(places: Places) -> list[Step]:
    def lint(name: str, *command: str | Path, folder: Path = ROOT, **environment: str | Path) -> Step:
        return Step(name, command, folder, {"PATH": path_with(places.newest), **environment})

    collection = "ansible_collections.gpufleet.node.plugins"
    mypy = ("mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", CACHE / "mypy")
    return [
        lint("ansible-lint", "ansible-lint", "--offline", "--nocolor", "-q", folder=places.copy, ANSIBLE_COLLECTIONS_PATH=CACHE / "stage"),
        lint("mypy engine", *mypy, "-p", f"{collection}.module_utils.engine", MYPYPATH=CACHE / "stage"),
        lint("mypy control node", *mypy, "-p", f"{collection}.plugin_utils", MYPYPATH=CACHE / "stage"),
        lint("mypy tools", *mypy, "tests/tools", "tests/repository", "tests/bench", MYPYPATH="tests/tools:tests/repository"),
        lint("ruff check", "ruff", "check", "--no-cache", "."),
        lint("ruff format", "ruff", "format", "--no-cache", "--diff", "."),
        lint("yamllint", "yamllint", "--strict", "."),
        lint("shellcheck", "shellcheck", *shell_scripts()),
        lint("changelog fragments", "antsibull-changelog", "lint"),
    ]


def shell_scripts() -> list[Path]:
    """Every file whose first line names a shell."""
    shells = (b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash")
    return [name for name in sorted(stage.sources(ROOT)) if (ROOT / name).read_bytes()[:40].startswith(shells)]


def path_with(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])


if __name__ == "__main__":
    sys.exit(main())
