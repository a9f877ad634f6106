"""A real browser, asked for the page it made of a file."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.chromium import Browser, browser
from tests.support.chromium import found as installed

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
def dom(program: str) -> Dom:
    """`dom(path_or_url, "#hash")`: the document after its scripts have run, as HTML. A `profile` remembers what a
    browser remembers."""

    def dump(page: Path | str, fragment: str = "", *flags: str, profile: Path | None = None) -> str:
        address = page if isinstance(page, str) else page.as_uri()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as fresh:
            done = subprocess.run(
                [program, *_FLAGS, *flags, f"--user-data-dir={profile or fresh}", "--dump-dom", f"{address}{fragment}"],
                capture_output=True,
                text=True,
                timeout=600,
            )
        assert done.stdout, done.stderr[-500:]
        return done.stdout

    return dump


@pytest.fixture(scope="session")
def tab(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all pages: it opens them, presses keys, changes its size and its colours."""
    with browser(program, tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture(scope="session")
def program() -> str:
    """The browser of this machine."""
    path = installed()
    if path is None:
        pytest.skip("no Chromium here")
    return path
