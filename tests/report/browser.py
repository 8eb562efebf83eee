# Copyright (c) gpufleet.node contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless Chromium through its DevTools protocol: open a page, press keys, ask the page, see what it asked the network for."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import websocket

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip
PATIENCE_S = 60.0


def find() -> str | None:
    """The Chromium of this machine."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page in one fresh browser."""

    def __init__(self, width: int = 1440, height: int = 900, dark: bool = False, downloads: Path | None = None):
        self.requests: list[str] = []
        self.problems: list[str] = []
        self._size = (width, height)
        self._dark = dark
        self._downloads = downloads
        self._last = 0

    def __enter__(self) -> Browser:
        program = find()
        if program is None:
            raise RuntimeError("Chromium is not installed")
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        profile = Path(self._folder.name)
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._connect(profile)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def open(self, address: str) -> None:
        """Load a page and wait until it has drawn itself."""
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("document.documentElement.dataset.ready === 'yes'")

    def reload(self) -> None:
        self.evaluate("delete document.documentElement.dataset.ready")
        self.call("Page.reload")
        self.wait_for("document.documentElement.dataset.ready === 'yes'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Ask until it is so."""
        end = time.monotonic() + PATIENCE_S
        while not self.evaluate(f"Boolean(document.documentElement && ({expression}))"):
            if self.problems or time.monotonic() > end:
                raise AssertionError(f"not so within {PATIENCE_S:.0f} s: {expression}; {self.problems}")

    def key(self, key: str) -> None:
        """Press one key, as a person does."""
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}.get(key, ord(key[0]))
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        for letter in text:
            self.key(letter)

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", landscape=True, printBackground=False)["data"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol; what happens meanwhile is noted."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._last:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, about = message.get("method", ""), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(about["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.problems.append(json.dumps(about["entry"]))

    def _connect(self, profile: Path) -> None:
        port_file = profile / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE_S
        while not port_file.exists() or len(port_file.read_text().split("\n")) < 2:
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("Chromium did not start")
            time.sleep(0.02)
        port, path = port_file.read_text().split("\n")[:2]
        self._socket = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=PATIENCE_S)
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._socket.close()
        self._socket = websocket.create_connection(f"ws://127.0.0.1:{port}/devtools/page/{target}", timeout=PATIENCE_S)
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        width, height = self._size
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if self._dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        if self._downloads is not None:
            self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self._downloads))
