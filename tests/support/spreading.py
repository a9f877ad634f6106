"""Sweeps whose samples are spread over processes: who wrote to their ledger, and waiting until all are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading
from tests.support.loopback import Loopback
from tests.support.sweeps import SWEEP

SPREAD = "runner={kind: threads, processes: 3}"
_SUITE = Path(__file__).with_name("loop_suite.py")
_WRITERS = "SELECT DISTINCT owner FROM attempts"
_AT_WORK = "SELECT DISTINCT o.pid FROM attempts a JOIN owners o ON a.owner = o.id WHERE a.outcome IS NULL"


def spread_config(folder: Path, server: Loopback) -> Path:
    """A sweep of two cells with 40 samples each, in a folder of its own."""
    folder.mkdir(parents=True)
    shutil.copy(_SUITE, folder)
    config = folder / "loop.yaml"
    text_of = SWEEP.format(url=server.url).replace("limit: 12", "limit: 40").replace("seeds: [0, 1]", "seeds: [0]")
    config.write_text(text_of, encoding="utf-8")
    return config


def start_cells(config: Path, *overrides: str) -> subprocess.Popen[str]:
    """All cells of a config in a process that can be killed, the results beside it."""
    command = [sys.executable, "-m", "tests.support.cells", str(config), str(config.parent / "out"), *overrides]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )


def rows(ledger: str, query: str) -> list[Any]:
    engine = open_database(ledger)
    try:
        with reading(engine) as connection:
            return list(connection.execute(text(query)))
    finally:
        engine.dispose()


def writers(ledger: str) -> int:
    """How many processes made attempts on a ledger."""
    return len(rows(ledger, _WRITERS))


def held_until_writers(ledger: str, count: int) -> Callable[[Any, bytes], None]:
    """For `Loopback.watch`: nothing is answered before so many processes have come to the ledger."""

    def wait(_request: Any, _body: bytes) -> None:
        until(lambda: len(rows(ledger, "SELECT id FROM owners")) >= count, 100)

    return wait


def helper_at_work(ledger: str, process: subprocess.Popen[str]) -> int:
    """The number of a process that has calls in flight for another; waits until there is one."""
    found: list[int] = []

    def look() -> bool:
        assert process.poll() is None, process.communicate()
        found[:] = [row.pid for row in rows(ledger, _AT_WORK) if row.pid not in (process.pid, os.getpid())]
        return bool(found)

    until(look)
    return found[0]


def until(happened: Callable[[], bool], patience_s: float = 300) -> None:
    deadline = time.monotonic() + patience_s
    while not happened():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)
