"""Turns on the loop: what is ready to leave overtakes the work that waits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.lm import pace
from seedbed.lm.pace import Pace
from seedbed.phases.run_all import run_all
from tests.support.lm import runtime, scope
from tests.support.loopback import Loopback


def test_a_request_that_becomes_ready_overtakes_a_crowd() -> None:
    async def work() -> None:
        turns, done, seen = Pace(), [], []

        async def one(number: int) -> None:
            await turns.turn()
            done.append(number)

        crowd = [asyncio.ensure_future(one(number)) for number in range(100)]
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(lambda: seen.append(len(done)))
        await asyncio.gather(*crowd)
        assert done == list(range(100)), "who came first has the first turn"
        assert seen[0] <= 3 * pace._A_PASS  # type: ignore[attr-defined]

    asyncio.run(asyncio.wait_for(work(), 20))


def test_a_turn_that_nobody_waits_for_any_more_is_not_lost() -> None:
    async def work() -> None:
        turns, done = Pace(), []

        async def one(number: int) -> None:
            await turns.turn()
            done.append(number)

        crowd = [asyncio.ensure_future(one(number)) for number in range(40)]
        await asyncio.sleep(0)
        for task in crowd[10:30]:
            task.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)
        assert done == [*range(10), *range(30, 40)]
        await asyncio.wait_for(turns.turn(), 1)

    asyncio.run(asyncio.wait_for(work(), 20))


def test_samples_are_made_ready_ahead_but_no_more_calls_are_in_flight_than_allowed(tmp_path: Path) -> None:
    started, most_waiting = 0, 0
    with Loopback(latency_s=0.05) as server, runtime(tmp_path, server, limits={"concurrency": 8}) as made:
        lm = made.lm(scope())

        async def one(number: int) -> None:
            nonlocal started, most_waiting
            started += 1
            most_waiting = max(most_waiting, started - server.books.answered)
            await lm.acall(f"question {number}")

        made.run(run_all(made, range(60), one, calls_at_once=8))
        assert server.books.answered == 60
        assert server.books.max_in_flight == 8
        assert most_waiting == 10


def test_a_pass_of_the_loop_has_so_many_turns_and_the_next_as_many_again() -> None:
    async def work() -> None:
        turns = Pace()

        def at_once() -> bool:
            asked = turns.turn()
            try:
                asked.send(None)
            except StopIteration:
                return True
            asked.close()
            return False

        most = pace._A_PASS  # type: ignore[attr-defined]
        assert [at_once() for _ in range(most + 2)] == [True] * most + [False] * 2
        await asyncio.sleep(0)
        # The two that waited have had theirs.
        assert [at_once() for _ in range(most)] == [True] * (most - 2) + [False] * 2
        for _ in range(3):
            await asyncio.sleep(0)
        assert turns._counting is False, "nobody came, so nothing is counted"  # type: ignore[attr-defined]
        assert [at_once() for _ in range(most + 1)] == [True] * most + [False]

    asyncio.run(asyncio.wait_for(work(), 20))


@pytest.mark.parametrize(("crowd", "left_alone"), [(8, []), (9, []), (16, []), (17, [0]), (25, [0, 0])])
def test_the_interpreter_is_left_for_a_moment_after_each_pass_that_somebody_still_waits_behind(
    monkeypatch: pytest.MonkeyPatch, crowd: int, left_alone: list[int]
) -> None:
    slept = list[int]()
    monkeypatch.setattr(pace, "time", SimpleNamespace(sleep=slept.append))

    async def work() -> None:
        turns = Pace()
        await asyncio.gather(*(turns.turn() for _ in range(crowd)))

    asyncio.run(asyncio.wait_for(work(), 20))
    assert slept == left_alone


def test_of_those_that_wait_so_many_go_in_a_pass() -> None:
    async def work() -> None:
        turns, done = Pace(), list[int]()

        async def one(number: int) -> None:
            await turns.turn()
            done.append(number)

        crowd = [asyncio.ensure_future(one(number)) for number in range(30)]
        seen = list[int]()
        while len(done) < 30:
            await asyncio.sleep(0)
            seen.append(len(done))
        await asyncio.gather(*crowd)
        assert {8, 16, 24, 30} == set(seen) - {0}

    asyncio.run(asyncio.wait_for(work(), 20))
