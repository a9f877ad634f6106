"""The limiter's slots: who gets one at once, who waits, and what a caller that gives up leaves behind."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

import pytest

from seedbed.lm.limits import Limiter, Slot
from seedbed.sweep.model_config import Limits
from tests.unit.lm.test_limits import clocked

FEWEST = 12
"""Answers that a number of calls in flight is judged by, at least."""


def _run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 20))  # type: ignore[arg-type]


async def _asked(limiter: Limiter) -> asyncio.Task[Slot]:
    """A caller that has asked for a slot, and has it or waits."""
    task = asyncio.create_task(limiter.slot())
    await _some_passes()
    return task


async def _some_passes() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_limiter_that_nobody_shares_has_all_of_its_limits() -> None:
    assert Limiter(Limits(concurrency=10, scope="sweep")).allowed == 10
    own = Limiter(Limits(concurrency=10))
    own.share(5)
    assert own.allowed == 10


def test_a_slot_that_comes_in_the_moment_its_caller_gives_up_goes_to_the_next() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=1))
        held = await limiter.slot()
        gives_up, patient = await _asked(limiter), await _asked(limiter)
        held.release()
        gives_up.cancel()
        await _some_passes()
        assert gives_up.cancelled()
        assert patient.done()

    _run(work)


def test_a_caller_that_gives_up_without_a_slot_gives_none_back() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=1))
        held = await limiter.slot()
        gives_up = await _asked(limiter)
        gives_up.cancel()
        await _some_passes()
        other = await _asked(limiter)
        assert not other.done()
        held.release()
        await _some_passes()
        assert other.done()

    _run(work)


def test_who_waits_goes_as_soon_as_a_share_grows() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=2, scope="sweep"), peers=2)
        await limiter.slot()
        waits = await _asked(limiter)
        assert not waits.done()
        limiter.share(1)
        await _some_passes()
        assert waits.done()

    _run(work)


def test_who_waits_goes_as_soon_as_a_success_allows_one_more() -> None:
    async def work() -> None:
        with clocked() as clock:
            limiter = Limiter(Limits(concurrency=2))
            limiter.timed_out(clock.now)
        await limiter.slot()
        waits = await _asked(limiter)
        assert not waits.done()
        limiter.succeeded()
        await _some_passes()
        assert waits.done()

    _run(work)


def test_who_waits_goes_as_soon_as_the_server_tells_of_more_slots() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=8, start=1))
        await limiter.slot()
        waits = await _asked(limiter)
        assert not waits.done()
        limiter.told_slots(2)
        await _some_passes()
        assert waits.done()

    _run(work)


def test_the_server_is_asked_for_its_slots_only_where_their_number_is_found_out() -> None:
    fixed, found_out = Limiter(Limits(concurrency=8)), Limiter(Limits(concurrency=8, start=2))
    assert (fixed.asks_for_slots, found_out.asks_for_slots) == (False, True)
    for limiter in (fixed, found_out):
        limiter.told_slots(3)
    assert (fixed.allowed, found_out.allowed) == (8, 3)
    found_out.told_slots(100)
    assert found_out.allowed == 8, "the configured number is the most"


def test_the_number_in_flight_grows_only_while_callers_wait() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64, start=1))
        held = await limiter.slot()

        def answered(times: int) -> int:
            for _ in range(times):
                limiter.succeeded(1.0, math.inf)
            return limiter.allowed

        assert answered(FEWEST) == 1, "nobody waits"
        gives_up = await _asked(limiter)
        gives_up.cancel()
        await _some_passes()
        assert answered(FEWEST) == 1, "who waited has given up"
        waits = await _asked(limiter)
        assert answered(FEWEST - 1) == 1
        assert answered(1) == 2
        await _some_passes()
        assert waits.done()
        held.release()

    _run(work)


def test_the_number_that_is_found_out_does_not_pass_the_share_of_the_process() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=6, start=2, scope="sweep"), peers=2)
        for _ in range(2):
            await limiter.slot()
        for _ in range(2):
            await _asked(limiter)
        for _ in range(20 * FEWEST):
            limiter.succeeded(1.0, math.inf)
            await asyncio.sleep(0)
        assert limiter.allowed == 3

    _run(work)


def test_a_fixed_number_in_flight_stays_while_callers_wait() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=1))
        await limiter.slot()
        waits = await _asked(limiter)
        for _ in range(2 * FEWEST):
            limiter.succeeded(1.0, math.inf)
        await _some_passes()
        assert limiter.allowed == 1
        assert not waits.done()

    _run(work)


def test_those_sent_in_the_very_moment_of_a_back_off_are_part_of_it() -> None:
    with clocked() as clock:
        limiter = Limiter(Limits(concurrency=16))
        for _ in range(3):
            limiter.timed_out(clock.now)
        assert limiter.allowed == 8


def test_a_back_off_soon_after_the_machine_started_is_one_too() -> None:
    with clocked() as clock:
        clock.now = 0.5
        limiter = Limiter(Limits(concurrency=16))
        limiter.timed_out(clock.now)
        limiter.share(1)
        assert limiter.allowed == 8


def test_a_request_that_may_go_at_once_does_not_sleep() -> None:
    async def sleep(seconds: float) -> None:
        raise AssertionError(seconds)

    async def work() -> None:
        for limits in ({}, {"rpm": 60}, {"tpm": 600}, {"rpm": 60, "tpm": 600}):
            await Limiter(Limits(concurrency=1, **limits)).wait_to_send(1, sleep)  # type: ignore[arg-type]

    _run(work)


@pytest.mark.parametrize("scope", ["sweep", "process"])
def test_what_a_rate_has_given_until_its_share_changes_is_kept(scope: str) -> None:
    """6,000 tokens a minute: 25 can be saved up, and 99.6 come in a second; of half of them 12.5 and 49.808."""

    async def work() -> None:
        with clocked() as clock:
            limiter = Limiter(Limits(concurrency=4, tpm=6000, scope=scope))  # type: ignore[arg-type]
            await limiter.wait_to_send(125, clock.sleep)
            assert clock.now == pytest.approx(1000 + 100 / 99.6)
            # The debt is paid by now, at the whole rate.
            limiter.share(2, processes=2)
            began = clock.now
            await limiter.wait_to_send(50, clock.sleep)
            assert clock.now - began == pytest.approx(50 / (2988.5 / 60))

    _run(work)


@pytest.mark.parametrize(
    ("expected", "actual", "next_after"), [(25, 125, 200 / 99.6), (25, 0, 75 / 99.6), (25, 15, 90 / 99.6)]
)
def test_a_guess_is_made_good_once_the_size_is_known(expected: int, actual: int, next_after: float) -> None:
    """6,000 tokens a minute: 25 are there at once, and 99.6 come in a second."""

    async def work() -> None:
        with clocked() as clock:
            limiter = Limiter(Limits(concurrency=4, tpm=6000))
            await limiter.wait_to_send(expected, clock.sleep)
            assert clock.now == 1000.0
            limiter.settle(expected, actual)
            await limiter.wait_to_send(100, clock.sleep)
            assert clock.now - 1000.0 == pytest.approx(next_after)

    _run(work)


def test_a_limiter_with_one_rate_shares_that_one() -> None:
    async def work() -> None:
        with clocked() as clock:
            limiter = Limiter(Limits(concurrency=4, rpm=60))
            limiter.share(1, processes=2)
            for _ in range(2):
                await limiter.wait_to_send(1_000_000, clock.sleep)
            assert clock.now == pytest.approx(1002)

    _run(work)
