"""The limiter: slots, rates, and how a refusal slows everybody down and is got over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from seedbed.lm.limits import Limiter
from seedbed.sweep.config import Limits


def _run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 20))  # type: ignore[arg-type]


def test_no_more_than_the_allowed_number_is_in_flight() -> None:
    async def work() -> None:
        limiter, most, now = Limiter(Limits(concurrency=5)), 0, 0

        async def one() -> None:
            nonlocal most, now
            with await limiter.slot():
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.001)
                now -= 1

        await asyncio.gather(*(one() for _ in range(100)))
        assert most == 5

    _run(work)


def test_a_slot_released_twice_is_one_slot() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=1))
        with await limiter.slot() as first:
            first.release()
            second = await asyncio.wait_for(limiter.slot(), 1)
        third = asyncio.ensure_future(limiter.slot())
        await asyncio.sleep(0.01)
        assert not third.done(), "the end of the block gave a slot back that was released before"
        second.release()
        await asyncio.wait_for(third, 1)

    _run(work)


def test_cancelled_waiters_give_their_slot_on() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=2))
        taken = [await limiter.slot() for _ in range(2)]
        waiting = [asyncio.ensure_future(limiter.slot()) for _ in range(10)]
        await asyncio.sleep(0)
        for task in waiting[:9]:
            task.cancel()
        # A slot comes free in the same moment as the cancellations.
        for slot in taken:
            slot.release()
        await asyncio.gather(*waiting, return_exceptions=True)
        waiting[9].result().release()
        for _ in range(2):
            await asyncio.wait_for(limiter.slot(), 1)

    _run(work)


def test_one_burst_of_refusals_halves_once_and_successes_recover() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64))
        sent_at = time.monotonic()
        for _ in range(20):
            limiter.rate_limited(0.0, sent_at)
        assert limiter.allowed == 32
        limiter.rate_limited(0.0, time.monotonic())
        assert limiter.allowed == 16
        for _ in range(5000):
            limiter.succeeded()
        assert limiter.allowed == 64

    _run(work)


def test_retry_after_holds_every_caller_back() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64))
        limiter.rate_limited(0.3, time.monotonic())
        began = time.monotonic()
        await asyncio.gather(*(limiter.wait_to_send(1) for _ in range(10)))
        assert time.monotonic() - began >= 0.29

    _run(work)


def test_requests_a_minute_are_kept() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64, rpm=60 * 50))
        began = time.monotonic()
        for _ in range(75):
            await limiter.wait_to_send(1)
        # 50 are saved up at the start, the other 25 come at 50 a second.
        assert time.monotonic() - began >= 0.45

    _run(work)


def test_tokens_a_minute_are_kept_and_corrected() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64, tpm=60 * 1000))
        began = time.monotonic()
        await limiter.wait_to_send(1000)
        # Its real size was four times what was expected.
        limiter.settle(1000, 1300)
        await limiter.wait_to_send(100)
        assert time.monotonic() - began >= 0.35

    _run(work)


def test_processes_of_a_sweep_share_the_limits_where_the_config_says_so() -> None:
    shared, own = Limits(concurrency=10, rpm=600, scope="sweep"), Limits(concurrency=10)
    assert [Limiter(shared, peers).allowed for peers in (1, 2, 3, 40)] == [10, 5, 3, 1]
    assert Limiter(own, 3).allowed == 10
    limiter = Limiter(shared, 2)
    limiter.share(1)
    assert limiter.allowed == 10


def test_a_timeout_halves_the_number_in_flight_once_for_those_sent_together() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=16))
        sent_at = time.monotonic()
        for _ in range(16):
            limiter.timed_out(sent_at)
        assert limiter.allowed == 8
        limiter.timed_out(time.monotonic())
        assert limiter.allowed == 4
        await asyncio.wait_for(limiter.wait_to_send(1), 5)

    _run(work)
