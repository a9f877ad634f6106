"""Agents and sweeps killed at random: what the ledger says is what the endpoint billed, and nothing is paid twice but
what was in flight. `SEEDBED_AGENT_KILLS=50 SEEDBED_AGENT_SAMPLES=30` is the long form."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from seedbed.lm.ledger.database import sqlite_url
from seedbed.lm.runtime import close_runtimes
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan
from tests.support import plain_agent
from tests.support.loopback import Loopback
from tests.support.processes import working_in
from tests.support.sweeps import Sweep

KILLS = int(os.environ.get("SEEDBED_AGENT_KILLS", "3"))
SAMPLES = int(os.environ.get("SEEDBED_AGENT_SAMPLES", "5"))
CAP = 1.0
AT_ONCE = 4
CONFIG = """\
name: agents
seeds: [0, 1]
models:
  m:
    model: openai/loop
    api_base: {url}
    temperature: 0.7
    max_tokens: 50
    price: {{input: 2.0, output: 8.0}}
    limits: {{concurrency: 4}}
budget: {{max_usd: 1.0}}
experiments:
  - suite: custom
    models: [m]
    benchmarks: [{{name: cases, path: cases.csv, inputs: [question]}}]
    systems: [{{name: agent, command: ["{{python}}", agent.py], processes: 4}}]
    scorers: [contains]
"""


def test_kills_of_sweep_and_agents_leave_ledger_and_bill_equal(tmp_path: Path) -> None:
    chance = random.Random(20)
    with Loopback(latency_s=0.1) as server:
        sweep = Sweep(tmp_path, server, template=CONFIG)
        shutil.copy(plain_agent.__file__, tmp_path / "agent.py")
        rows = "\n".join(f"q{number},what about {number}" for number in range(SAMPLES))
        (tmp_path / "cases.csv").write_text(f"id,question\n{rows}\n", encoding="utf-8")
        killed = Counter[str]()
        while True:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.cells", str(sweep.config), str(sweep.out)], env=dict(os.environ)
            )
            while process.poll() is None and killed.total() < KILLS:
                _progress(server, process, chance.randint(1, 6))
                agents = working_in(tmp_path)
                if process.poll() is None and agents and chance.random() < 0.5:
                    with suppress(ProcessLookupError):  # it has just ended
                        os.kill(chance.choice(agents), signal.SIGKILL)
                        killed["agent"] += 1
                elif process.poll() is None:
                    process.kill()
                    killed["sweep"] += 1
                    break
            if process.wait() == 0:
                break
            assert process.returncode == -signal.SIGKILL
        print(dict(killed), server.books.to_json())
        _books_agree(sweep, server, killed["sweep"])
        asked = server.books.requests
        _replayed(sweep, tmp_path / "again")
        assert server.books.requests == asked, "a replay asks nobody"


def _progress(server: Loopback, process: subprocess.Popen[bytes], requests: int) -> None:
    goal = server.books.requests + requests
    end = time.monotonic() + 60
    while server.books.requests < goal and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def _books_agree(sweep: Sweep, server: Loopback, kills: int) -> None:
    """Each answer that was billed is paid in the ledger, or lost there with a kill of the sweep."""
    names, books = sweep.sent_names(), server.books
    paid = Counter(row.key for row in sweep.attempts() if row.outcome == "paid")
    lost = Counter(row.key for row in sweep.attempts() if row.outcome == "lost")
    assert all(row.outcome in ("paid", "reused", "lost") for row in sweep.attempts())
    assert {names[key] for key in paid} == set(books.answered_by_body)
    for key, name in names.items():
        assert paid[key] <= books.answered_by_body[name] <= paid[key] + lost[key]
        assert paid[key] == 1, "no answer is paid for twice"
    unseen = sum(books.answered_by_body.values()) - paid.total()
    assert unseen <= lost.total() <= kills * AT_ONCE
    spent = sum(row.spent_usd or 0.0 for row in sweep.attempts())
    told = sum((sent * 2.0 + got * 8.0) / 1e6 for name in books.told for sent, got in books.told[name][:1])
    assert abs(spent - told) < 1e-9
    assert sum((sent * 2.0 + got * 8.0) / 1e6 for each in books.told.values() for sent, got in each) <= CAP


def _replayed(sweep: Sweep, root: Path) -> None:
    """Every answer again from a copy of the ledger, to the byte."""
    root.mkdir()
    shutil.copy(sweep.out / "ledger.sqlite", root)
    config, source = load_config(sweep.config, [f"ledger={sqlite_url(root / 'ledger.sqlite')}"])
    plan = make_plan(config, source)
    run = str(prepare(plan, root, replay=True))
    try:
        for cell in plan.cells:
            run_phase(run, cell.id, "generate")
            again = (root / cell.folder / "predictions.jsonl").read_bytes()
            assert again == (sweep.out / cell.folder / "predictions.jsonl").read_bytes()
            assert b'"error"' not in again
    finally:
        close_runtimes()
