"""Sweeps whose samples are spread over processes: who wrote to their ledger, and waiting until all are there."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any


def writers(ledger: Path) -> int:
    """How many processes made attempts on a ledger."""
    return _count(ledger, "SELECT COUNT(DISTINCT owner) FROM attempts")


def held_until_writers(ledger: Path, count: int) -> Callable[[Any, bytes], None]:
    """For `Loopback.watch`: nothing is answered before so many processes have come to the ledger."""

    def wait(_request: Any, _body: bytes) -> None:
        deadline = time.monotonic() + 100
        while _count(ledger, "SELECT COUNT(*) FROM owners") < count:
            assert time.monotonic() < deadline, "the processes do not come"
            time.sleep(0.02)

    return wait


def _count(ledger: Path, query: str) -> int:
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchone()[0]
