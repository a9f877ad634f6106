"""The page of `seedbed ui` in Chromium, while a sweep runs, is killed and goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from flows.local_server import PagesServer
from seedbed.local.roots import remember_root
from tests.support.chromium import Tab

pytestmark = pytest.mark.slow

CONFIG = """\
name: alive
seeds: [0, 1]
models:
  reader:
    model: offline/reader
    temperature: 0.7
    retries: 8
    backoff_s: 0.0
    limits: {concurrency: 2}
    options: {latency_ms: 60, errors: {server: 0.2}}
budget: {max_usd: 3.0}
experiments:
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 40}], systems: [direct, multi]}
"""


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    (tmp_path / "alive.yaml").write_text(CONFIG, encoding="utf-8")
    out = tmp_path / "out"
    (out / "sweeps").mkdir(parents=True)
    remember_root(out, ran=True)
    return out


@pytest.fixture
def link(out: Path) -> str:
    """Where a browser is let in."""
    pages = PagesServer(0)
    threading.Thread(target=pages.serve, daemon=True).start()
    return pages.login_link()


@pytest.fixture
def tab(link: str) -> Iterator[Tab]:
    opened = Tab(link, "--window-size=1400,1200")
    yield opened
    opened.close()


def start(out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.support.cells", str(out.parent / "alive.yaml"), str(out)])


def test_a_sweep_is_seen_at_work_killed_and_going_on(out: Path, tab: Tab) -> None:
    tab.wait_for("document.body.dataset.ready === 'yes'")
    assert "No sweep yet" in tab.text()
    first = start(out)
    try:
        # The list finds it by itself; a click leads to it.
        tab.wait_for("!!document.querySelector('tbody tr.link')")
        tab.evaluate("document.querySelector('tbody tr.link').click()")
        tab.wait_for("document.body.dataset.status === 'running'")
        tab.wait_for("[...document.querySelectorAll('#two td.bad')].some(cell => cell.textContent === 'server')")
        tab.wait_for("document.querySelectorAll('#samples tbody tr').length > 5")
        assert tab.evaluate("document.title").endswith("· alive")
    finally:
        first.kill()
        first.wait()
    tab.wait_for("document.body.dataset.status === 'stopped'")
    assert "No process is at work on this run" in tab.evaluate("document.getElementById('banner').textContent")
    paid = "Number(document.querySelectorAll('.tile b')[4].textContent.replace(',', ''))"
    before = tab.evaluate(paid)
    assert before > 5

    resumed = start(out)
    tab.wait_for("document.body.dataset.status === 'running'")
    assert tab.evaluate("document.getElementById('banner').hidden")
    tab.wait_for("document.querySelector('.tile span').textContent === '4 of 4 cells'")
    assert resumed.wait(240) == 0
    assert tab.evaluate(paid) == 160, "each sample was paid for once"
    # What the finished cells say, made while nobody asked for a report.
    address = tab.wait_for("document.querySelector('#report') && document.querySelector('#report').href")
    assert "/seedbed/files/" in address
    tab.wait_for("[...document.querySelectorAll('.verdicts li')].some(line => line.textContent.includes('multi'))")
    assert not list(out.glob("sweeps/*/*/summary.json")), "the sweep's own folder is not written to"

    tab.evaluate("document.querySelector('#samples tbody tr').click()")
    tab.wait_for("!!document.querySelector('dialog pre')")
    tab.evaluate(f"location.href = {address!r}")
    tab.wait_for("document.title.includes('alive')")
    assert tab.evaluate("window.origin") == "null", "a report cannot act as the user of this address"


def test_nothing_is_told_to_a_browser_that_was_not_let_in(out: Path, link: str) -> None:
    stranger = Tab(f"{link.partition('/seedbed/')[0]}/seedbed/#{quote('x')}/alive")
    try:
        stranger.wait_for("!document.getElementById('banner').hidden")
        assert "this browser was not let in" in stranger.text()
    finally:
        stranger.close()
