"""A night whose worker is killed, a run cancelled through the API, and who is told of a bad night."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seedbed.local import server as prefect_server
from tests.support.lab import Lab, call
from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

CONCURRENCY = 6


def _lab(folder: Path, server: Loopback, pool: str, extra: str = "") -> tuple[Lab, Sweep]:
    sweep = Sweep(folder, server, f"out: out\ngate: {{min_effect: 0.5}}\n{extra}")
    return Lab(folder, "loop.yaml", pool), sweep


def _wait_for_requests(server: Loopback, count: int) -> None:
    deadline = time.monotonic() + 600
    while server.books.requests < count:
        assert time.monotonic() < deadline, f"only {server.books.requests} requests came"
        time.sleep(0.01)


def _in_prefect(code: str) -> None:
    """Run code that speaks to the server, in a process of its own: Prefect reads its settings once, when imported."""
    environment = {**os.environ, **prefect_server.client_environment()}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


WATCH_CLOSELY = """
import asyncio
from datetime import timedelta
from flows import deploy

# The shortest silence that a heartbeat of 30 s allows.
automation = deploy.dead_runs()
automation.trigger.within = timedelta(seconds=45)
asyncio.run(deploy._renew(automation))
"""


@pytest.mark.usefixtures("seedbed_home")
def test_a_killed_worker_leaves_a_run_that_is_marked_and_the_next_completes_it(tmp_path: Path) -> None:
    with Loopback(latency_s=0.25) as server:
        lab, sweep = _lab(tmp_path, server, "test-kill")
        lab.deploy()
        _in_prefect(WATCH_CLOSELY)
        lab.start_worker()
        dead = lab.trigger()
        _wait_for_requests(server, 30)
        lab.kill_worker()
        assert lab.state(dead)["type"] == "RUNNING"
        state = lab.wait(dead, "CRASHED", timeout=600)
        assert "Not heard of" in state["message"]

        server.latency_s = 0.0
        lab.start_worker()
        try:
            # Without a baseline the verdict is open; what counts here is that the sweep completed.
            assert lab.wait(lab.trigger())["name"] == "Inconclusive"
        finally:
            lab.kill_worker()
    folder = sorted((tmp_path / "out/sweeps/loop").glob("*/summary.json"))[-1]
    assert json.loads(folder.read_text(encoding="utf-8"))["status"] == "completed"
    names, attempts = sweep.sent_names(), sweep.attempts()
    paid = Counter(names[row.key] for row in attempts if row.outcome == "paid")
    lost = Counter(names[row.key] for row in attempts if row.outcome == "lost")
    assert 0 < sum(lost.values()) <= CONCURRENCY
    for name, count in server.books.by_body.items():
        assert count <= paid[name] + lost[name], "something paid for was paid for again"


@pytest.mark.usefixtures("seedbed_home")
def test_no_call_starts_later_than_five_seconds_after_a_run_is_cancelled(tmp_path: Path) -> None:
    with Loopback(latency_s=1.0) as server:
        lab, sweep = _lab(tmp_path, server, "test-cancel")
        lab.deploy()
        with lab:
            run = lab.trigger("launch-sweep/sweep", overrides=["models.m.limits.concurrency=2"])
            _wait_for_requests(server, 4)
            call("POST", f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
            cancelled_at = time.time()
            assert lab.wait(run)["type"] == "CANCELLED"
            # Whatever the server says, the process could go on paying.
            lab.wait_until_idle()
    started = [row.started_at for row in sweep.attempts()]
    assert max(started) <= cancelled_at + 5
    assert server.books.requests < 60, "of 120 calls too many were made for this to show anything"


@contextmanager
def _inbox() -> Iterator[tuple[str, list[Any]]]:
    """A webhook's address, and what came in there."""
    came: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}/hook", came
        serving.shutdown()


MAKE_BLOCKS = """
from prefect.blocks.notifications import CustomWebhookNotificationBlock

for name in ("from-flow", "from-automation"):
    said = {{"said": "{{{{subject}}}}", "more": "{{{{body}}}}"}}
    CustomWebhookNotificationBlock(name=name, url="{url}", json_data=said).save(name, overwrite=True)
"""


@pytest.mark.usefixtures("seedbed_home")
def test_a_bad_night_is_told_to_the_webhook_the_block_and_by_the_automation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "gate: {min_effect: 0.5, notify: {url_env: NIGHT_HOOK, block: custom-webhook/from-flow}}\n"
    with Loopback() as server, _inbox() as (url, came):
        monkeypatch.setenv("NIGHT_HOOK", url)
        _in_prefect(MAKE_BLOCKS.format(url=url))
        sweep = Sweep(tmp_path, server, f"out: out\n{told}")
        assert sweep.config.exists()
        lab = Lab(tmp_path, "loop.yaml", "test-notify")
        assert "is told to custom-webhook/from-automation" in lab.deploy("--notify", "custom-webhook/from-automation")
        with lab:
            assert lab.wait(lab.trigger())["name"] == "Inconclusive"
            deadline = time.monotonic() + 600
            while len(came) < 3:
                assert time.monotonic() < deadline, came
                time.sleep(0.2)
    hook = next(message for message in came if "verdict" in message)
    assert (hook["sweep"], hook["verdict"]) == ("loop", "inconclusive")
    assert "there is no accepted baseline" in hook["reasons"][0]
    said = {message["said"] for message in came if "said" in message}
    assert "Nightly loop: inconclusive" in said
    assert any(text.startswith("Nightly nightly") and "Inconclusive" in text for text in said)


@pytest.mark.usefixtures("seedbed_home")
def test_a_block_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Loopback() as server:
        lab, _ = _lab(tmp_path, server, "test-noblock")
        done = lab.seedbed("deploy", "loop.yaml", "--notify", "slack-webhook/nobody")
    assert done.returncode == 2
    assert "--notify slack-webhook/nobody: the server has no such block" in done.stderr
