"""`kill -9` of a running sweep, and the same command again; Ctrl-C; replay. Real processes, a real Prefect server."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.loopback import Loopback
from tests.support.sweeps import Sweep

KILL_AFTER = (2, 31, 74)
"""Requests the server has seen when the process is killed: at the start, in the middle, near the end."""
CONCURRENCY = 6


def _wait_for_requests(server: Loopback, count: int, timeout: float = 600.0) -> None:
    deadline = time.monotonic() + timeout
    while server.books.requests < count:
        assert time.monotonic() < deadline, f"only {server.books.requests} requests came"
        time.sleep(0.005)


@pytest.mark.usefixtures("seedbed_home")
def test_kill_9_at_several_moments_then_the_same_command_completes(tmp_path: Path, calm: Sweep) -> None:
    with Loopback(latency_s=0.06) as server:
        sweep = Sweep(tmp_path, server)
        for moment in KILL_AFTER:
            process = sweep.start()
            _wait_for_requests(server, moment)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        code, _, err = sweep.run()
        assert code == 0, err
        books, attempts, names = server.books, sweep.attempts(), sweep.sent_names()

    assert sweep.usage() == calm.usage()
    outcomes = sweep.outcomes()
    assert outcomes["paid"] == calm.server.books.requests
    assert None not in outcomes
    assert 0 < outcomes["lost"] <= CONCURRENCY * len(KILL_AFTER)
    # Body by body: asked once for each time it was paid, and again only where a kill left it in flight.
    paid = Counter(names[row.key] for row in attempts if row.outcome == "paid")
    lost = Counter(names[row.key] for row in attempts if row.outcome == "lost")
    for name, count in books.by_body.items():
        assert paid[name] <= count <= paid[name] + lost[name]


@pytest.mark.usefixtures("seedbed_home")
def test_ctrl_c_stops_within_seconds_keeps_what_was_paid_and_says_how_to_go_on(tmp_path: Path) -> None:
    with Loopback(latency_s=0.1) as server:
        sweep = Sweep(tmp_path, server)
        process = sweep.start()
        _wait_for_requests(server, 10)
        process.send_signal(signal.SIGINT)
        pressed = time.monotonic()
        _, err = process.communicate(timeout=600)
        took = time.monotonic() - pressed
        assert process.returncode == 130, err
        assert "Everything paid for is kept." in err
        assert f"To go on: seedbed run {sweep.config}" in err
        assert took < 20
        requests = server.books.requests
        code, _, err = sweep.run()
        assert code == 0, err
    outcomes = sweep.outcomes()
    assert outcomes["paid"] + outcomes["lost"] == server.books.requests
    assert requests < server.books.requests
    assert "Traceback" not in err


@pytest.mark.usefixtures("seedbed_home")
def test_a_replay_makes_no_call_and_fails_on_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_KEY", "a-key-that-is-set-for-the-first-run")
    with Loopback() as server:
        first = Sweep(tmp_path / "first", server)
        first.config.write_text(
            first.config.read_text().replace("    api_base", "    api_key_env: LOOP_KEY\n    api_base")
        )
        code, _, err = first.run()
        assert code == 0, err
        requests = server.books.requests
    monkeypatch.delenv("LOOP_KEY")

    # The server is gone, the key is gone; only the ledger is carried over.
    again = Sweep(tmp_path / "again", server)
    again.config.write_text(first.config.read_text())
    again.out.mkdir()
    (again.out / "ledger.sqlite").write_bytes((first.out / "ledger.sqlite").read_bytes())
    code, _, err = again.run("--replay")
    assert code == 0, err
    assert again.usage() == first.usage()
    assert again.outcomes()["paid"] == requests

    code, out, err = again.run("--replay", "--set", "seeds=[0, 1, 2]")
    assert code == 1
    assert "a replay met a request that is not in the ledger" in out + err
