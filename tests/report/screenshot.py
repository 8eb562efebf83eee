# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the picture of the documentation from a simulated fleet.

    python tests/report/screenshot.py --height 1080 docs/images/drift-report.png

The collection must be importable (its parent of `ansible_collections` on PYTHONPATH) and Chromium installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from ansible_collections.gpufleet.node.plugins.plugin_utils.report import html

import fleets
from browser import Browser

FLEETS: dict[str, Callable[[Path], object]] = {"picture": fleets.picture_fleet, "big": fleets.big_fleet, "one": fleets.one_node}


def main() -> None:
    parser = argparse.ArgumentParser(description="Takes a picture of the report of a simulated fleet.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--fleet", choices=FLEETS, default="picture")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=1000)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--print", action="store_true", help="a PDF in the place of a picture")
    parser.add_argument("--at", default="", help="what stands after # in the address")
    parser.add_argument("--keys", default="", help="keys to press first")
    parser.add_argument("--scroll", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder) / "spool"
        FLEETS[options.fleet](spool)
        report = Path(folder) / "drift.html"
        report.write_text(html.render(fleets.report(spool)))
        with Browser(options.width, options.height, dark=options.dark) as browser:
            browser.open(f"{report.as_uri()}#{options.at}")
            for key in options.keys:
                browser.key(key)
            browser.evaluate(f"window.scrollTo(0, {options.scroll})")
            options.picture.write_bytes(browser.pdf() if options.print else browser.screenshot())


if __name__ == "__main__":
    main()
