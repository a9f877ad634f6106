"""A ledger that has grown: what its figures, the resume of a cell, and pruning cost at a million rows and more.

    python -m bench ledger_growth                               # a million rows, SQLite; part of `make bench`
    python -m bench.ledger_growth --rows 10000000
    python -m bench.ledger_growth --ledger postgresql+psycopg://USER@HOST/DATABASE     # an empty database

The rows are made by the database itself: cells of 100 samples, nine of ten attempts paid, the others reused, each with
a request and an answer of 300 bytes. Beside the dry `prune` a call after the other is recorded as a sweep does, and the
slowest is told; then the call's record is timed alone, and with its key in flight elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Engine, text

from seedbed.lm.ledger import Begin, Busy, CallScope, Cap, End, Granted, Ledger
from seedbed.lm.ledger.database import open_database, sqlite_url
from seedbed.lm.ledger.progress import call_progress
from seedbed.lm.ledger.prune import prune
from seedbed.lm.ledger.reads import cost_sums, phase_usage
from seedbed.lm.ledger.settled import settle
from seedbed.lm.ledger.upkeep import stats
from seedbed.lm.types import Usage

SAMPLES = 100
SWEEP = "grown"
_STEP = 500_000

_NUMBERS = {
    "sqlite": "(WITH RECURSIVE k(i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM k WHERE i + 1 < {1}) SELECT i FROM k)",
    "postgresql": "generate_series({0}, {1} - 1)",
}
_HEX = {"sqlite": "printf('%064x', {0})", "postgresql": "lpad(to_hex({0}), 64, '0')"}
_BODY = {"sqlite": "randomblob(300)", "postgresql": "decode(repeat(md5(i::text), 19), 'hex')"}
_FALSE = {"sqlite": "0", "postgresql": "false"}


def grow(engine: Engine, rows: int) -> None:
    """Attempts of a writer that has ended, with their bodies."""
    kind = engine.dialect.name
    cell, key = _HEX[kind].format(f"i / {SAMPLES}"), _HEX[kind].format("i::bigint" if kind == "postgresql" else "i")
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO owners (id, host, pid, seen_at) VALUES (1, 'elsewhere', 1, 0)"))
        if kind == "postgresql":
            connection.execute(text("SELECT setval(pg_get_serial_sequence('owners', 'id'), 1)"))
    for start in range(0, rows, _STEP):
        series = _NUMBERS[kind].format(start, min(rows, start + _STEP))
        numbers = f"FROM {series} AS k(i)" if kind == "postgresql" else f"FROM {series}"
        with engine.begin() as connection:
            connection.execute(
                text(
                    "INSERT INTO attempts (id, owner, sweep, cell, phase, role, execution, sample, model, key, number,"
                    " generation, outcome, tokens_in, tokens_out, tokens_cached, tokens_reasoning, estimated,"
                    " reserved_usd, spent_usd, list_usd, started_at, latency_s)"
                    f" SELECT {1 << 40} + i, 1, '{SWEEP}', {cell}, 'generate', 'task', 'e', 's' || (i % {SAMPLES}),"
                    f" 'm', {key}, 1, 0, CASE WHEN i % 10 = 0 THEN 'reused' ELSE 'paid' END,"
                    f" 400, 40, 0, 0, {_FALSE[kind]},"
                    f" 0.001, 0.0003, 0.0003, 1700000000 + i / 1000.0, 0.5 {numbers}"
                )
            )
            connection.execute(text(f"INSERT INTO requests (key, body) SELECT {key}, {_BODY[kind]} {numbers}"))
            connection.execute(
                text(
                    "INSERT INTO responses (key, body, tokens_in, tokens_out, tokens_cached, tokens_reasoning,"
                    f" estimated, generation) SELECT {key}, {_BODY[kind]}, 400, 40, 0, 0, {_FALSE[kind]}, 0 {numbers}"
                )
            )


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds, and those of CPU in this process."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


class Caller:
    """Records calls one after the other, each under a cap of the sweep and one of its cell."""

    def __init__(self, url: str) -> None:
        self._ledger = Ledger(url, list_price=lambda _name, _usage: 0.0)
        self._caps = (Cap(f"sweep:{SWEEP}", 1e9), Cap("cell:new", 1e9))
        self._number = 0

    def call(self) -> float:
        """Seconds that `begin` of an ordinary call took."""
        return asyncio.run(self._call())

    def contest(self, other: Caller) -> float:
        """Seconds that `begin` took where the other has the same request in flight."""
        return asyncio.run(self._contest(other))

    async def _call(self) -> float:
        begin = self._next()
        start = time.perf_counter()
        granted: Any = await self._ledger.begin(begin)
        took = time.perf_counter() - start
        assert isinstance(granted, Granted)
        await self._end(granted, begin)
        return took

    async def _contest(self, other: Caller) -> float:
        begin = self._next()
        granted: Any = await other._ledger.begin(begin)
        start = time.perf_counter()
        assert isinstance(await self._ledger.begin(begin), Busy)
        took = time.perf_counter() - start
        await other._end(granted, begin)
        return took

    def _next(self) -> Begin:
        self._number += 1
        scope = CallScope(SWEEP, "new", "generate", "task", "e", "m", 0)
        key = f"{self._ledger.owner:04d}{self._number:060d}"
        return Begin(scope, key, 1, f"q{self._number}", b"{}", 0.001, self._caps)

    async def _end(self, granted: Granted, begin: Begin) -> None:
        reply = orjson.dumps({"choices": []})
        await self._ledger.end(End(granted.attempt_id, begin, "paid", Usage(1, 1), 0.0, 0.0, 0.0, 0.1, response=reply))

    def close(self) -> None:
        self._ledger.close()


def slowest_beside(url: str, work: Callable[[], Any]) -> tuple[float, int]:
    """The slowest call, and how many there were, while the work goes on in a thread."""
    caller, over = Caller(url), threading.Event()
    caller.call()
    worker = threading.Thread(target=lambda: (work(), over.set()))
    worker.start()
    times: list[float] = []
    while not over.is_set():
        times.append(caller.call())
    worker.join()
    caller.close()
    return max(times), len(times)


def measure(url: str, rows: int) -> None:
    engine = open_database(url)
    took, _ = timed(lambda: grow(engine, rows))
    print(f"{rows:,} attempts in {engine.dialect.name}, made in {took:.0f} s\n\n| | seconds | of CPU |\n|---|---|---|")
    cell = f"{77:064x}"
    looks: dict[str, Callable[[], Any]] = {
        "settle, once after a sweep": lambda: settle(engine),
        "costs": lambda: cost_sums(engine, SWEEP),
        "status": lambda: call_progress(engine, SWEEP, 0, time.time() - 60, [cell]),
        "stats": lambda: stats(engine),
        "account of one cell, as a resume asks": lambda: phase_usage(engine, cell, "generate", "e"),
    }
    for name, look in looks.items():
        took, busy = timed(look)
        print(f"| {name} | {took:.2f} | {busy:.2f} |", flush=True)
    took, _ = timed(lambda: (caller := Caller(url)).call() and caller.close())
    print(f"| a new writer and its first call | {took:.2f} | |", flush=True)
    alone, other = Caller(url), Caller(url)
    calls = [alone.call() for _ in range(200)]
    contested = [alone.contest(other) for _ in range(200)]
    alone.close()
    other.close()
    for name, times in (("alone", calls), ("with its key in flight elsewhere", contested)):
        middle, most = 1e3 * statistics.median(times), 1e3 * max(times)
        print(f"\nbegin {name}: median {middle:.2f} ms, slowest {most:.1f} ms", flush=True)
    print(f"the second is {statistics.median(contested) / statistics.median(calls):.2f} times the first", flush=True)
    slowest, count = slowest_beside(url, lambda: prune(engine, before=1.0, sweep=None, apply=False))
    print(f"{count} calls beside a counting `prune`: slowest {1e3 * slowest:.0f} ms", flush=True)
    took, _ = timed(lambda: prune(engine, before=1700000000 + rows / 10_000, sweep=None, apply=True))
    print(f"`prune --yes` of a tenth: {took:.0f} s", flush=True)
    engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--ledger", help="an empty database; a file in a temporary folder without it")
    arguments, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(arguments.ledger or sqlite_url(Path(folder) / "ledger.sqlite"), arguments.rows)


if __name__ == "__main__":
    main()
