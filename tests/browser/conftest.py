"""A real browser, asked for the page it made of a file."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=20000",
)

Dom = Callable[..., str]


@pytest.fixture(scope="session")
def dom() -> Dom:
    """`dom(path_or_url, "#hash")`: the document after its scripts have run, as HTML. A `profile` remembers what a
    browser remembers."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here")

    def dump(page: Path | str, fragment: str = "", *flags: str, profile: Path | None = None) -> str:
        address = page if isinstance(page, str) else page.as_uri()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as fresh:
            done = subprocess.run(
                [found, *_FLAGS, *flags, f"--user-data-dir={profile or fresh}", "--dump-dom", f"{address}{fragment}"],
                capture_output=True,
                text=True,
                timeout=240,
            )
        assert done.stdout, done.stderr[-500:]
        return done.stdout

    return dump
