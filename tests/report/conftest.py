# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of simulated fleets, and a browser to look at them with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ansible_collections.gpufleet.node.plugins.plugin_utils.report import html

import browser
import fleets


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def page(downloads: Path) -> Iterator[browser.Browser]:
    """One browser for all tests. In CI a missing browser is a failure, elsewhere the tests are skipped."""
    if browser.find() is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium is not installed")
        pytest.skip("Chromium is not installed")
    with browser.Browser(downloads=downloads) as made:
        yield made


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Addresses of the reports, and the names of the bad nodes of the big one."""
    folder = tmp_path_factory.mktemp("reports")
    fleets.one_node(folder / "one")
    bad = fleets.big_fleet(folder / "big")
    fleets.picture_fleet(folder / "picture")
    made: dict[str, Any] = {"bad": bad}
    for name in ("one", "big", "picture"):
        path = folder / f"{name}.html"
        path.write_text(html.render(fleets.report(folder / name)))
        made[name] = path
    return made
