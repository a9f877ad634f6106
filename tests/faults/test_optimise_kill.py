"""`kill -9` in the middle of an optimisation, and the same command again: the same path, nothing paid twice but what
was in flight. Real processes against an endpoint that keeps its own books."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, sqlite_url
from tests.support import forked
from tests.support.offline_server import OfflineServer

CONFIG = """\
name: search
seeds: [0]
models:
  m: {{model: openai/served, api_base: '{url}', temperature: 0.7, price: {{input: 0.4, output: 1.6}}}}
experiments:
  - suite: prompt_optimization
    models: [m]
    benchmarks: [{{name: {benchmark}, max_val: 12, max_train: 8, limit: 8}}]
    systems: [{system}]
    optimizers: [{optimizer}]
"""
THREADS = 8
KILL_AFTER = (15, 60)
"""Requests the endpoint has seen: in the first evaluation, and among the candidates."""


def _start(config: Path, out: Path) -> subprocess.Popen[bytes]:
    return forked.Popen(
        [sys.executable, "-m", "tests.support.cells", str(config), str(out)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _finish(config: Path, out: Path) -> None:
    process = _start(config, out)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()[-2000:]


def _wait_for(server: OfflineServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 600
    while server.bill.requests < requests:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _found(out: Path) -> dict[str, Any]:
    """All that a search leaves behind, but for the seconds it took and what was really paid."""
    (folder,) = out.glob("experiment_runs/seed_0/*_*_*_m")
    candidates = [json.loads(line) for line in (folder / "candidates.jsonl").read_text().splitlines()]
    return {
        "candidates": [{name: value for name, value in row.items() if name != "seconds"} for row in candidates],
        "program": json.loads((folder / "program.json").read_text()),
        "result": (folder / "evaluation_results/evaluation_result.txt").read_text(),
        "metric_log": (folder / "metric_logs/val.jsonl").read_text(),
    }


def _compare(tmp_path: Path, **names: str) -> None:
    with OfflineServer() as server:
        config = tmp_path / "calm.yaml"
        config.write_text(CONFIG.format(url=server.url, **names))
        _finish(config, tmp_path / "calm")
        calm = server.bill
    with OfflineServer(latency_s=0.05) as server:
        # The address is part of a request's key, not of what is asked: the books compare by body.
        config = tmp_path / "killed.yaml"
        config.write_text(CONFIG.format(url=server.url, **names))
        for moment in KILL_AFTER:
            process = _start(config, tmp_path / "killed")
            _wait_for(server, moment, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        _finish(config, tmp_path / "killed")
        killed = server.bill
    assert _found(tmp_path / "killed") == _found(tmp_path / "calm")
    assert set(killed.by_body) == set(calm.by_body)
    twice = Counter(killed.by_body) - Counter(calm.by_body)
    assert sum(twice.values()) <= THREADS * len(KILL_AFTER)
    engine = open_database(sqlite_url(tmp_path / "killed" / "ledger.sqlite"))
    with engine.connect() as connection:
        counted = dict(
            connection.execute(text("SELECT outcome, count(*) FROM attempts GROUP BY outcome")).tuples().all()
        )
        paid = connection.execute(
            text("SELECT sum(tokens_in), sum(tokens_out) FROM attempts WHERE outcome = 'paid'")
        ).one()
    engine.dispose()
    assert counted["paid"] == calm.requests
    assert 0 < counted["lost"] <= THREADS * len(KILL_AFTER)
    assert tuple(paid) == (calm.tokens_in, calm.tokens_out)


def test_a_killed_gepa_run_takes_the_same_path_when_it_is_started_again(tmp_path: Path) -> None:
    _compare(tmp_path, benchmark="IFBench", system="IFBenchCoT2StageProgram", optimizer="GEPA-5")


def test_a_killed_mipro_run_takes_the_same_path_when_it_is_started_again(tmp_path: Path) -> None:
    _compare(tmp_path, benchmark="LiveBenchMathBench", system="CoT", optimizer="MIPROv2-Light")


def test_a_killed_search_that_ends_at_a_plateau_ends_at_the_same_one_when_it_is_started_again(tmp_path: Path) -> None:
    stops = "{name: MIPROv2-Light, stop: {patience: 2}}"
    _compare(tmp_path, benchmark="LiveBenchMathBench", system="CoT", optimizer=stops)
