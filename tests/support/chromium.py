"""A real browser driven by a pipe through its own protocol: one process for many pages, with keys, sizes, colours."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_KEYS = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9), "ArrowDown": ("", 40), "ArrowUp": ("", 38)}
_KEYS |= {"ArrowLeft": ("", 37), "ArrowRight": ("", 39)}


def found() -> str | None:
    """The browser of this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab. Every call waits for its answer."""

    def __init__(self, program: str, profile: Path, flags: Sequence[str] = ()) -> None:
        read_ours, write_theirs = os.pipe()
        read_theirs, write_ours = os.pipe()
        # The browser reads from 3 and writes to 4; a shell puts the pipes there (not every sh knows numbers above 9).
        command = [program, *FLAGS, *flags, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{read_theirs} 4>&{write_theirs}', "bash", *command],
            pass_fds=(read_theirs, write_theirs),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_theirs)
        os.close(write_theirs)
        self._in, self._out = os.fdopen(read_ours, "rb", buffering=0), os.fdopen(write_ours, "wb", buffering=0)
        self._rest, self._number, self._session = b"", 0, ""
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Performance.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = self._in.read(1 << 16)
            assert data, "the browser has gone"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def look(self, width: int = 1400, height: int = 1000, scheme: str = "light") -> None:
        """A window of this size, for eyes that like it so."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page: Path | str, fragment: str = "") -> None:
        """Open a page of Seedbed's and wait until its script is done with it."""
        # From elsewhere, so that a page that differs in its fragment alone is read again too.
        self.call("Page.navigate", url="about:blank")
        address = page if isinstance(page, str) else page.as_uri()
        self.call("Page.navigate", url=f"{address}{fragment}")
        self.wait("document.body && document.body.dataset.ready === 'yes'")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Until an expression is true, looked at whenever the page has drawn; its value."""
        for _ in range(3000):
            try:
                if value := self.run(f"(() => {{ try {{ return {expression}; }} catch {{ return false; }} }})()"):
                    return value
                self.run("new Promise((done) => setTimeout(done, 20))")
            except AssertionError as error:
                # The page leads to another.
                if "navigated" not in str(error):
                    raise
        raise AssertionError(f"never came true: {expression}")

    def key(self, name: str) -> None:
        text, code = _KEYS.get(name, (name, ord(name.upper()[0])))
        given = {"key": name, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pixels(self, clip: dict[str, float]) -> bytes:
        """A part of the page as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def cpu_seconds(self) -> float:
        """What the page's own process has used."""
        metrics = {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}
        return metrics["ProcessTime"] if "ProcessTime" in metrics else metrics["TaskDuration"]

    def close(self) -> None:
        self._out.close()
        self._process.wait(60)
        self._in.close()


@contextmanager
def browser(program: str, profile: Path, flags: Sequence[str] = ()) -> Iterator[Browser]:
    made = Browser(program, profile, flags)
    try:
        yield made
    finally:
        made.close()
