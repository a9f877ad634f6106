"""`kill -9` at every step of a batch's life: before and after its upload, before and after its creation, in mid-poll,
in mid-download, between two rows of its results. In the end each request was answered once, nothing is paid twice, the
ledger says what the server billed, and results are byte for byte those of normal calls.

    python -m tests.faults.batch_kills --kills 50 --seed 1 --protocol anthropic --postgres
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from tests.support import forked
from tests.support.batch_loopback import STEPS, BatchLoopback
from tests.support.postgres import Postgres

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 600
_NAMES = {"openai": "openai/loop", "anthropic": "anthropic/claude-loop"}
_STEPS = {"openai": STEPS, "anthropic": tuple(step for step in STEPS if not step.startswith("upload"))}
_CONFIG = """\
name: loop
seeds: {seeds}
models:
  m:
    model: {model}
    api_base: {url}
    api_key_env: LOOP_KEY
    temperature: 0.7
    max_tokens: 100
    price: {{input: 2.0, output: 8.0}}
    backoff_s: 0.02
    retries: 8
    service: {service}
    batch: {{size: {size}, age_s: 0.1, poll_s: 0.05, settle_s: 0.5}}
roles: {{judge: m}}
budget: {{max_usd: 50}}
experiments:
  - suite: loop
    models: [m]
    benchmarks: [{{name: numbers, limit: {limit}}}]
    systems: {systems}
plugins: [loop_suite]
"""


@dataclass
class Killer:
    """Kills the process it is given when a step of a batch is reached for a number of times."""

    step: str = ""
    after: int = 0
    process: subprocess.Popen[bytes] | None = None
    done: Counter[str] = field(default_factory=Counter)

    def at(self, step: str) -> None:
        if self.process is None or step != self.step:
            return
        self.after -= 1
        if self.after <= 0:
            self.process.kill()
            self.done[step] += 1
            self.process = None


@dataclass
class Found:
    """What a campaign ended in."""

    kills: Counter[str]
    paid: int
    answered: int
    paid_twice: int
    lost: int
    in_flight: int
    billed_usd: float
    spent_usd: float
    files_differ: list[str]

    @property
    def holds(self) -> bool:
        same_money = abs(self.billed_usd - self.spent_usd) < 1e-9
        counts = self.paid == self.answered and not (self.paid_twice or self.lost or self.in_flight)
        return same_money and counts and not self.files_differ


def campaign(
    folder: Path, *, kills: int, seed: int, protocol: str = "openai", ledger: str | None = None,
    seeds: str = "[0, 1, 2]", limit: int = 12, systems: str = "[once, twice]", fail: dict[str, float] | None = None,
) -> Found:  # fmt: skip
    """Run a sweep by normal calls, then by batches under so many kills, and compare."""
    os.environ["LOOP_KEY"] = "a-key-of-nobody"
    chosen = random.Random(seed)
    settings = {"seeds": seeds, "limit": limit, "systems": systems, "model": _NAMES[protocol], "size": 8}
    with BatchLoopback() as server:
        # The address is part of a request's key, and so of nothing that a model says.
        calm = _write(folder / "calm", server, service="online", **settings)
        assert _start(calm, folder / "calm" / "out").wait(_PATIENCE_S) == 0
    killer = Killer()
    with BatchLoopback(at=killer.at, looks=3, fail=fail or {"server": 0.05, "expired": 0.05}) as server:
        extra = f"ledger: {ledger}\n" if ledger else ""
        config = _write(folder / "killed", server, service="batch", extra=extra, **settings)
        out = folder / "killed" / "out"
        for number in range(kills):
            killer.step = _STEPS[protocol][number % len(_STEPS[protocol])]
            killer.after = chosen.randint(1, 4) if killer.step == "row" else chosen.randint(1, 2)
            process = killer.process = _start(config, out)
            code = process.wait(_PATIENCE_S)
            killer.process = None
            print(f"{number + 1}: {killer.step} -> {code}", flush=True)
            assert code in (0, -9), code
            if code == 0:
                break
        assert _start(config, out).wait(_PATIENCE_S) == 0
    url = ledger or sqlite_url(out / "ledger.sqlite")
    return _compare(url, server, killer.done, folder / "calm" / "out", out)


def _write(folder: Path, server: BatchLoopback, *, extra: str = "", **settings: Any) -> Path:
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "support" / "loop_suite.py", folder)
    config = folder / "loop.yaml"
    config.write_text(_CONFIG.format(url=server.url, **settings) + extra, encoding="utf-8")
    return config


def _start(config: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.cells", str(config), str(out)]
    path = os.pathsep.join([str(ROOT), str(config.parent)])
    return forked.Popen(command, cwd=config.parent, env={**os.environ, "PYTHONPATH": path})


def _compare(url: str, server: BatchLoopback, done: Counter[str], calm: Path, killed: Path) -> Found:
    engine = open_database(url)
    with reading(engine) as connection:
        rows = list(connection.execute(text("SELECT key, outcome, spent_usd FROM attempts")))
    engine.dispose()
    paid = Counter(row.key for row in rows if row.outcome == "paid")
    outcomes = Counter(row.outcome for row in rows)
    books = server.books
    return Found(
        kills=done,
        paid=paid.total(),
        answered=books.answered,
        paid_twice=sum(count - 1 for count in paid.values()),
        lost=outcomes["lost"],
        in_flight=outcomes[None],
        billed_usd=(2.0 * books.tokens_in + 8.0 * books.tokens_out) / 2e6,
        spent_usd=sum(row.spent_usd or 0.0 for row in rows),
        files_differ=_different(calm, killed),
    )


def _different(calm: Path, killed: Path) -> list[str]:
    files = sorted(path.relative_to(calm) for path in calm.glob("experiment_runs/seed_*/*/*.jsonl"))
    names = [file for file in files if file.name in ("predictions.jsonl", "scores.jsonl")]
    assert names, "the calm run left no results"
    return [str(name) for name in names if (calm / name).read_bytes() != (killed / name).read_bytes()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--protocol", choices=list(_NAMES), default="openai")
    parser.add_argument("--seeds", type=int, default=9, help="of the sweep; too few, and it is done before all kills")
    parser.add_argument("--postgres", action="store_true", help="the ledger is in a PostgreSQL of its own")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ledger = stack.enter_context(Postgres()).database("kills") if asked.postgres else None
        found = campaign(
            Path(folder), kills=asked.kills, seed=asked.seed, protocol=asked.protocol, ledger=ledger,
            seeds=str(list(range(asked.seeds))),
        )  # fmt: skip
    print(found)
    missed = asked.kills - found.kills.total()
    if missed:
        print(f"{missed} kills were not reached: the sweep was done; give it more --seeds")
    sys.exit(0 if found.holds and not missed else 1)


if __name__ == "__main__":
    main()
