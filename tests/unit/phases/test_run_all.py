"""Samples at work: how many at once, and what becomes of them when a sweep is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from seedbed.errors import Interrupted
from seedbed.phases import run_all as module


class Runtime:
    def __init__(self, grace_s: float | None = 0.0) -> None:
        self.stopped, self.turns, self._grace_s = False, 0, grace_s

    def is_stopped(self, cell: str | None) -> bool:
        assert cell == "cell"
        return self.stopped

    def grace_s(self, cell: str | None) -> float | None:
        assert self.stopped, "asked after a stop only"
        return self._grace_s

    def check_stop(self, cell: str | None) -> None:
        if self.stopped:
            raise Interrupted("Ctrl-C")

    async def turn(self) -> None:
        self.turns += 1


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.005)


def run_all(runtime: Runtime, items: int, work: Callable[[int], Awaitable[None]], calls_at_once: int = 8) -> None:
    async def patient() -> None:
        async with asyncio.timeout(5):
            every: Any = runtime
            await module.run_all(every, range(items), work, calls_at_once=calls_at_once, cell="cell")

    asyncio.run(patient())


@pytest.mark.parametrize(
    ("items", "calls_at_once", "most"), [(30, 8, 10), (30, 3, 3), (30, 4, 5), (6, 8, 6), (0, 8, 0)]
)
def test_a_quarter_more_are_at_work_than_the_model_takes_calls(items: int, calls_at_once: int, most: int) -> None:
    now, seen, done = [0], [0], list[int]()

    async def work(item: int) -> None:
        now[0] += 1
        seen[0] = max(seen[0], now[0])
        await asyncio.sleep(0)
        now[0] -= 1
        done.append(item)

    runtime = Runtime()
    run_all(runtime, items, work, calls_at_once)
    assert (seen[0], sorted(done), runtime.turns) == (most, list(range(items)), items)


def test_what_fails_ends_all_and_is_raised() -> None:
    ended: list[int] = []

    async def work(item: int) -> None:
        try:
            await asyncio.sleep(0 if item == 1 else 60)
            raise ValueError("no idea")
        finally:
            await asyncio.sleep(0)
            ended.append(item)

    with pytest.raises(ValueError, match="no idea"):
        run_all(Runtime(), 3, work)
    assert sorted(ended) == [0, 1, 2], "nothing is left at work"


@pytest.mark.parametrize(("grace_s", "finished"), [(None, True), (0.5, True), (0.0, False)])
def test_after_a_stop_what_is_at_work_has_its_moment(grace_s: float | None, finished: bool) -> None:
    runtime, done = Runtime(grace_s), list[int]()

    async def work(item: int) -> None:
        runtime.stopped = True
        await asyncio.sleep(0.1)
        done.append(item)

    with pytest.raises(Interrupted):
        run_all(runtime, 20, work, 4)
    assert done == ([0] if finished else []), "the first stopped the sweep, and no other was begun"


def test_what_a_stop_breaks_off_is_no_failure_of_its_own() -> None:
    runtime, done = Runtime(None), list[int]()

    async def work(item: int) -> None:
        await asyncio.sleep(0)
        runtime.stopped = True
        if item == 0:
            raise ValueError("its call was refused")
        await asyncio.sleep(0.02)
        done.append(item)

    with pytest.raises(Interrupted):
        run_all(runtime, 20, work, 4)
    assert done == [1, 2, 3, 4], "those at work came to their end"
