"""The limiter: slots, rates, and how a refusal slows everybody down and is got over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.lm.limits import Limiter
from seedbed.sweep.model_config import Limits


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
        # A quarter of a second is saved up at the start, the others come at 50 a second.
        assert time.monotonic() - began >= 1.2

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


def test_processes_that_help_each_other_share_the_limits_of_one() -> None:
    shared, own = Limiter(Limits(concurrency=12, scope="sweep")), Limiter(Limits(concurrency=12))
    for limiter in (shared, own):
        limiter.share(4, processes=3)
    assert (shared.allowed, own.allowed) == (3, 4)


def test_a_share_that_became_smaller_is_passed_until_calls_end() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=4))
        slots = [await limiter.slot() for _ in range(4)]
        limiter.share(1, processes=2)
        assert limiter.over
        slots[0].release()
        slots[1].release()
        assert not limiter.over

    _run(work)


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


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.at: dict[float, Callable[[], None]] = {}
        """What happens at a moment while somebody sleeps past it."""

    async def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        for moment in sorted(self.at):
            if moment <= end:
                self.now = max(self.now, moment)
                self.at.pop(moment)()
        self.now = end


@contextmanager
def clocked() -> Iterator[Clock]:
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seedbed.lm.limits.time", SimpleNamespace(monotonic=lambda: clock.now))
        yield clock


def test_a_process_that_joins_or_leaves_does_not_undo_a_back_off() -> None:
    with clocked() as clock:
        limiter = Limiter(Limits(concurrency=16, scope="sweep"), peers=1)
        limiter.rate_limited(0.0, clock.now)
        assert limiter.allowed == 8
        for peers, allowed in ((2, 8), (4, 4), (1, 4)):
            limiter.share(peers)
            assert limiter.allowed == allowed


@given(waits=st.lists(st.floats(0.0, 100.0), min_size=1, max_size=6))
def test_the_longest_retry_after_counts_in_whatever_order_they_come(waits: list[float]) -> None:
    async def work(clock: Clock) -> None:
        limiter = Limiter(Limits(concurrency=4))
        for wait in waits:
            limiter.rate_limited(wait, clock.now)
        await limiter.wait_to_send(1, clock.sleep)
        assert clock.now >= 1000.0 + max(waits)

    with clocked() as clock:
        asyncio.run(work(clock))


def test_a_refusal_during_the_wait_for_a_rate_is_waited_out_too() -> None:
    async def work(clock: Clock) -> None:
        limiter = Limiter(Limits(concurrency=4, rpm=60))
        await limiter.wait_to_send(1, clock.sleep)
        clock.at[clock.now + 0.5] = lambda: limiter.rate_limited(30.0, clock.now) and None
        await limiter.wait_to_send(1, clock.sleep)
        assert clock.now >= 1030.5

    with clocked() as clock:
        asyncio.run(work(clock))


@given(idle=st.floats(0.0, 1e5), sizes=st.lists(st.integers(1, 5000), min_size=2, max_size=12))
def test_neither_rest_nor_guesses_too_high_save_up_more_than_a_seconds_worth(idle: float, sizes: list[int]) -> None:
    """However long nothing was sent, and however much less it was than expected: the rate holds from then on."""

    async def work(clock: Clock) -> None:
        limiter = Limiter(Limits(concurrency=4, tpm=60_000))
        await clock.sleep(idle)
        limiter.settle(1_000_000, 0)
        began = clock.now
        for size in sizes:
            await limiter.wait_to_send(size, clock.sleep)
        assert clock.now - began >= sum(sizes) / 1000 - 1.0 - 1e-6

    with clocked() as clock:
        asyncio.run(work(clock))


def _sent(limits: Limits, sizes: list[int], **more: Any) -> list[float]:
    """When requests of these sizes leave, one after the other, in seconds from the start."""
    with clocked() as clock:
        began, left = clock.now, list[float]()

        async def work() -> None:
            limiter = Limiter(limits, **more)
            for size in sizes:
                await limiter.wait_to_send(size, clock.sleep)
                left.append(clock.now - began)

        asyncio.run(work())
    return left


@pytest.mark.parametrize(
    ("limits", "sizes", "at"),
    [
        ({"rpm": 120}, [1] * 5, [0, 0.5, 1.0, 1.5, 2.0]),
        ({"rpm": 6}, [1, 1, 1], [0, 10, 20]),
        ({"tpm": 600}, [10, 10, 5, 20], [7.5 / 9.975, 17.5 / 9.975, 22.5 / 9.975, 42.5 / 9.975]),
        ({"tpm": 6}, [1, 1], [0, 10]),
        ({"rpm": 60, "tpm": 600}, [30, 1, 1], [27.5 / 9.975, 28.5 / 9.975, 1 + 27.5 / 9.975]),
        ({"rpm": 60, "tpm": 6000}, [1, 1, 1], [0, 1, 2]),
        ({}, [1000, 1000], [0, 0]),
    ],
)
def test_requests_leave_at_the_moments_that_the_rates_give(
    limits: dict[str, float], sizes: list[int], at: list[float]
) -> None:
    assert _sent(Limits(concurrency=4, **limits), sizes) == pytest.approx(at)  # type: ignore[arg-type]


@pytest.mark.parametrize("rpm", [1, 20, 600])
def test_no_minute_has_more_than_it_may_and_the_first_second_is_no_burst(rpm: int) -> None:
    left = _sent(Limits(concurrency=4, rpm=rpm), [1] * (2 * rpm + 3))
    assert all(later - sent >= 60 - 1e-6 for sent, later in zip(left, left[rpm:], strict=False))
    assert sum(at < 1 for at in left) <= 1 + 1.3 * rpm / 60
    # Hardly anything is given away for it.
    assert left[-1] <= 1.01 * len(left) * 60 / rpm


def test_processes_share_the_rates_and_wait_until_the_others_know_of_them() -> None:
    shared, own = (Limits(concurrency=4, rpm=120, tpm=12_000, scope=scope) for scope in ("sweep", "process"))
    assert _sent(shared, [1] * 4, peers=2) == pytest.approx([0, 1, 2, 3])
    assert _sent(shared, [100, 100, 100], peers=2) == pytest.approx([75 / 99.6, 175 / 99.6, 275 / 99.6])
    assert _sent(own, [1] * 4, peers=2) == pytest.approx([0, 0.5, 1.0, 1.5])
    assert _sent(shared, [1], known_from=1006.0) == pytest.approx([6.0])
    assert _sent(own, [1], known_from=1006.0) == [0.0]


def test_a_refusal_without_a_time_pauses_for_a_second_and_tells_how_much_longer_it_got() -> None:
    with clocked() as clock:
        limiter = Limiter(Limits(concurrency=4))
        assert limiter.rate_limited(None, clock.now) == pytest.approx(1.0)
        assert limiter.rate_limited(0.5, clock.now) == 0.0
        assert limiter.rate_limited(3.0, clock.now) == pytest.approx(2.0)
        clock.now += 10.0
        assert limiter.rate_limited(2.0, clock.now) == pytest.approx(2.0)


def test_each_success_raises_the_number_in_flight_a_little_and_one_call_is_always_allowed() -> None:
    with clocked() as clock:
        limiter = Limiter(Limits(concurrency=4))
        limiter.timed_out(clock.now)
        seen = [limiter.allowed]
        for _ in range(6):
            limiter.succeeded()
            seen.append(limiter.allowed)
        assert seen == [2, 2, 2, 3, 3, 3, 4]
        one = Limiter(Limits(concurrency=1))
        one.timed_out(clock.now)
        assert one.allowed == 1


def test_a_refusal_lowers_the_number_that_is_being_found_out() -> None:
    async def work() -> None:
        limiter = Limiter(Limits(concurrency=64, start=16))
        limiter.rate_limited(0.0, time.monotonic())
        for _ in range(500):
            limiter.succeeded()
        assert limiter.allowed == 8, "nobody waits: there is nothing to find out, and 16 were too many"

    _run(work)
