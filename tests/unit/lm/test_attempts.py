"""What a caller that gives up, or a stop, leaves behind: no attempt in flight, and no request sent."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.errors import Interrupted
from seedbed.lm.runtime import LMRuntime
from tests.support.lm import runtime, scope, sums
from tests.support.loopback import Loopback

PATIENCE_S = 60.0


def _until(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not state():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.005)


@contextmanager
def _begin_held_up(folder: Path, made: LMRuntime) -> Iterator[Callable[[], None]]:
    """Another process writes to the ledger, so that a begin waits until it is let go."""
    other = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield lambda: _until(lambda: made.ledger._with_thread > 0)  # type: ignore[attr-defined]
    finally:
        other.execute("COMMIT")
        other.close()


def test_a_cancelled_begin_is_given_back(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        with _begin_held_up(tmp_path, made) as until_it_waits:
            asked = asyncio.run_coroutine_threadsafe(made.lm(scope()).acall("hello"), made.loop)
            until_it_waits()
            asked.cancel()
            with pytest.raises(CancelledError):
                asked.result(PATIENCE_S)
        _until(lambda: sums(tmp_path).outcomes == {"failed": 1})
        assert sums(tmp_path).at_risk_usd == 0.0
        assert server.books.requests == 0


def test_a_stop_that_comes_while_a_call_is_put_on_record_keeps_it_from_being_sent(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        with _begin_held_up(tmp_path, made) as until_it_waits:
            asked = asyncio.run_coroutine_threadsafe(made.lm(scope()).acall("hello"), made.loop)
            until_it_waits()
            made.stop(Interrupted("enough"))
        with pytest.raises(Exception, match="enough"):
            asked.result(PATIENCE_S)
        assert server.books.requests == 0
        assert sums(tmp_path).outcomes == {"failed": 1}


def test_input_and_output_tokens_are_taken_from_the_tokens_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time stands still for the limiter: nothing is filled up meanwhile.
    monkeypatch.setattr("seedbed.lm.limits.time", SimpleNamespace(monotonic=lambda: 1000.0))
    limits = {"concurrency": 4, "tpm": 600_000}
    with Loopback() as server, runtime(tmp_path, server, limits=limits) as made:
        bucket = made._model_state("m").limiter._tokens  # type: ignore[attr-defined]
        assert bucket is not None
        before = bucket._level  # type: ignore[attr-defined]
        made.lm(scope())("hello")
        assert server.books.tokens_out > 0
        _until(lambda: before - bucket._level == server.books.tokens_in + server.books.tokens_out)  # type: ignore[attr-defined]
