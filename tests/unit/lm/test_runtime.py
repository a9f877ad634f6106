"""What is handed to a runtime that cannot run it is ended, and the caller told why."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from seedbed.errors import Interrupted, SeedbedError
from tests.support.lm import runtime
from tests.support.loopback import Loopback


async def _nothing() -> None:
    return


def test_a_closed_runtime_runs_nothing(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        made.run(_nothing())
    late = _nothing()
    with pytest.raises(Interrupted, match="the LM runtime is closed"):
        made.run(late)
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED


def test_a_call_that_would_wait_for_itself_is_refused(tmp_path: Path) -> None:
    inner = _nothing()
    with Loopback() as server, runtime(tmp_path, server) as made:

        async def blocking() -> None:
            made.run(inner)

        with pytest.raises(SeedbedError, match="inside an async system"):
            made.run(blocking())
    assert inspect.getcoroutinestate(inner) == inspect.CORO_CLOSED
