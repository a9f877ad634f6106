"""Processes that help a sweep with its samples: killed, orphaned, stopped. Real processes, a real ledger."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from seedbed.lm.ledger.hosts import process_exists
from tests.support import lm
from tests.support.loopback import Loopback
from tests.support.spreading import SPREAD, held_until_writers, helper_at_work, rows, spread_config, start_cells, until
from tests.support.sweeps import Sweep

SHARE = 2
"""Calls in flight that each of three processes may have, of 6."""


def _finished(process: subprocess.Popen[str]) -> str:
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return said


def _results(config: Path) -> dict[str, Any]:
    """Answers and scores of every cell to the byte, and what its phases used."""
    found: dict[str, Any] = {}
    for file in sorted((config.parent / "out").glob("experiment_runs/seed_*/*/metrics.json")):
        folder, usage = file.parent, orjson.loads(file.read_bytes())["usage"]
        used = {phase: [of[n] for n in ("calls", "tokens_in", "tokens_out", "list_usd")] for phase, of in usage.items()}
        found[folder.name] = [(folder / n).read_bytes() for n in ("predictions.jsonl", "scores.jsonl")], used
    return found


def _assert_paid_once(ledger: str, server: Loopback, calls: int) -> None:
    """Every request was paid once, and asked again only where a kill left it in flight."""
    attempts = rows(ledger, "SELECT key, outcome FROM attempts")
    bodies = {
        row.key: orjson.loads(zlib.decompress(row.body)) for row in rows(ledger, "SELECT key, body FROM requests")
    }
    names = {k: hashlib.sha256(orjson.dumps({**b, "model": "loop"})).hexdigest() for k, b in bodies.items()}
    paid = Counter(names[row.key] for row in attempts if row.outcome == "paid")
    lost = Counter(names[row.key] for row in attempts if row.outcome == "lost")
    assert None not in {row.outcome for row in attempts}
    assert paid.total() == len(paid) == calls
    assert lost.total() > 0
    for name, count in server.books.by_body.items():
        assert paid[name] <= count <= paid[name] + lost[name]


@pytest.mark.usefixtures("each_ledger")
def test_a_killed_helper_costs_what_it_had_in_flight_and_the_figures_are_those_of_one_process(tmp_path: Path) -> None:
    with Loopback() as server:
        calm = spread_config(tmp_path / "calm", server)
        _finished(start_cells(calm))
        calls = server.books.requests
    with Loopback(latency_s=0.3) as server:
        config = spread_config(tmp_path / "killed", server)
        ledger = lm.ledger_url(tmp_path)
        server.watch = held_until_writers(ledger, 3)
        process = start_cells(config, SPREAD, f"ledger={ledger}")
        os.kill(helper_at_work(ledger, process), signal.SIGKILL)
        said = _finished(process)
        _assert_paid_once(ledger, server, calls)
    assert "a helping process has ended (SIGKILL); its samples are asked again" in said
    assert _results(config) == _results(calm)
    assert len(rows(ledger, "SELECT key FROM attempts WHERE outcome = 'lost'")) <= SHARE


def test_helpers_end_with_a_killed_parent_and_the_next_run_pays_nothing_twice(tmp_path: Path) -> None:
    with Loopback(latency_s=0.3) as server:
        config = spread_config(tmp_path / "killed", server)
        ledger = lm.ledger_url(tmp_path)
        server.watch = held_until_writers(ledger, 3)
        process = start_cells(config, SPREAD, f"ledger={ledger}")
        helper = helper_at_work(ledger, process)
        process.kill()
        process.communicate()
        until(lambda: not process_exists(helper))
        server.latency_s = 0.0
        _finished(start_cells(config, f"ledger={ledger}"))
        calls = len(rows(ledger, "SELECT DISTINCT key FROM attempts"))
        _assert_paid_once(ledger, server, calls)


@pytest.mark.parametrize("scope", ["process", "sweep"])
def test_no_more_calls_are_in_flight_than_one_process_may_have(tmp_path: Path, scope: str) -> None:
    with Loopback(latency_s=0.3) as server:
        config = spread_config(tmp_path / "s", server)
        server.watch = held_until_writers(lm.ledger_url(config.parent / "out"), 3)
        process = start_cells(config, SPREAD, f"models.m.limits={{concurrency: 6, scope: {scope}}}")
        helper_at_work(lm.ledger_url(config.parent / "out"), process)
        _finished(process)
    assert server.books.max_in_flight == 6


@pytest.mark.usefixtures("seedbed_home")
def test_ctrl_c_reaches_helpers_by_their_parent_which_lets_their_calls_end(tmp_path: Path) -> None:
    with Loopback(latency_s=0.3) as server:
        sweep = Sweep(tmp_path, server)
        sweep.config = spread_config(tmp_path / "own", server)
        server.watch = held_until_writers(sweep.ledger, 3)
        process = sweep.start("--set", SPREAD)
        helper = helper_at_work(sweep.ledger, process)
        # A terminal tells all processes of the command.
        os.kill(helper, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert "Everything paid for is kept." in said
    assert "Traceback" not in said
    assert sweep.outcomes()["lost"] == 0
    assert not process_exists(helper)
