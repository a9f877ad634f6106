"""The page of `seedbed ui` in Chromium, while a sweep runs, is killed and goes on."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from flows.local_server import PagesServer
from seedbed.local.roots import remember_root
from tests.support import forked
from tests.support.batch_loopback import BatchLoopback
from tests.support.chromium import Browser

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


def until(tab: Browser, expression: str) -> Any:
    """Wait until an expression is true in the page; longer than the busiest machine needs, and through a change of
    page."""
    deadline = time.monotonic() + 1200
    while time.monotonic() < deadline:
        try:
            return tab.wait(expression)
        except AssertionError:
            continue
    raise AssertionError(f"never came true: {expression}; the page says {tab.run('document.body.innerText')[-1500:]}")


def start(out: Path) -> subprocess.Popen[bytes]:
    return forked.Popen([sys.executable, "-m", "tests.support.cells", str(out.parent / "alive.yaml"), str(out)])


def test_a_sweep_is_seen_at_work_killed_and_going_on(out: Path, tab: Browser, link: str) -> None:
    tab.look()
    tab.open(link)
    until(tab, "document.body.innerText.includes('No sweep yet')")
    first = start(out)
    try:
        # The list finds it by itself; a click leads to it.
        until(tab, "!!document.querySelector('tbody tr.link')")
        tab.run("document.querySelector('tbody tr.link').click()")
        until(tab, "document.body.dataset.status === 'running'")
        until(tab, "[...document.querySelectorAll('#two td.bad')].some(cell => cell.textContent === 'server')")
        until(tab, "document.querySelectorAll('#samples tbody tr').length > 5")
        assert tab.run("document.title").endswith("· alive")
    finally:
        first.kill()
        first.wait()
    until(tab, "document.body.dataset.status === 'stopped'")
    assert "No process is at work on this run" in tab.run("document.getElementById('banner').textContent")
    told = tab.run("document.getElementById('main').innerText")
    assert "At work" not in told
    assert " running" not in told
    paid = "Number(document.querySelectorAll('.tile b')[4].textContent.replace(',', ''))"
    before = tab.run(paid)
    assert before > 5

    resumed = start(out)
    until(tab, "document.body.dataset.status === 'running'")
    assert tab.run("document.getElementById('banner').hidden")
    until(tab, "document.querySelector('.tile span').textContent === '4 of 4 cells'")
    assert resumed.wait(1200) == 0
    assert tab.run(paid) == 160, "each sample was paid for once"
    # What the finished cells say, made while nobody asked for a report.
    address = until(tab, "document.querySelector('#report') && document.querySelector('#report').href")
    assert "/seedbed/files/" in address
    until(tab, "[...document.querySelectorAll('.verdicts li')].some(line => line.textContent.includes('multi'))")
    assert not list(out.glob("sweeps/*/*/summary.json")), "the sweep's own folder is not written to"

    tab.run("document.querySelector('#samples tbody tr').click()")
    until(tab, "!!document.querySelector('dialog pre')")
    tab.run(f"location.href = {address!r}")
    until(tab, "document.title.includes('alive')")
    assert tab.run("window.origin") == "null", "a report cannot act as the user of this address"


def test_batches_are_seen_with_age_and_counts(
    out: Path, tab: Browser, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-nobody")
    with BatchLoopback() as server:
        assert isinstance(server, BatchLoopback)
        server.hold = True
        batched = f"service: batch\n    batch: {{size: 40, age_s: 600, poll_s: 0.1}}\n    api_base: {server.url}"
        config = CONFIG.replace("offline/reader", "openai/loop").replace("limits: {concurrency: 2}", batched)
        config = re.sub("    options: .*\n", "    price: {input: 1, output: 1}\n", config)
        (out.parent / "alive.yaml").write_text(config, encoding="utf-8")
        process = start(out)
        try:
            tab.open(link)
            until(tab, "!!document.querySelector('tbody tr.link')")
            tab.run("document.querySelector('tbody tr.link').click()")
            until(tab, "document.querySelectorAll('.waits li').length")
            until(tab, "document.querySelector('.waits').textContent.includes('in_progress, 0 of 40, ')")
            assert (
                tab.run("[...document.querySelectorAll('#two tbody td')].map(cell => cell.textContent)")[3] == "0 of 40"
            )
        finally:
            process.kill()
            process.wait()


def test_nothing_is_told_to_a_browser_that_was_not_let_in(tab: Browser, link: str) -> None:
    tab.open(f"{link.partition('/seedbed/')[0]}/seedbed/")
    assert "this browser was not let in" in tab.run("document.getElementById('banner').textContent")
    assert "Reading" in tab.run("document.getElementById('main').textContent")
