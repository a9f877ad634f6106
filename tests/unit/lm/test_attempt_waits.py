"""What an attempt waits for before it is sent: the ledger's word, the same request, the first one, its own pause."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import BudgetReached, Interrupted, ProviderError, ReplayMiss
from seedbed.lm.ledger import BeginResult, Busy, Cap, Granted, OverBudget, Stored, Unknown
from seedbed.sweep.model_config import Limits
from tests.support.attempt_lab import DISK_FULL, USAGE, Book, Lab, run, some_passes

KNOWN = Stored(b'{"choices": [{"message": {"content": "known"}}]}', USAGE)


@pytest.mark.parametrize("word", [Busy(), OverBudget(Cap("sweep:s", 1.0), 0.5, 0.25)])
def test_who_has_to_wait_for_another_asks_again_a_little_later(word: BeginResult) -> None:
    async def work() -> None:
        lab = Lab(Book(word, word))
        assert await lab.ask() == "yes"
        assert lab.stops.slept == [0.0, 0.1, 0.1]
        assert (len(lab.book.begun), lab.reasons) == (3, [])

    run(work)


@pytest.mark.parametrize(
    ("cap", "told", "everything"),
    [
        ("sweep:s", "the next call could take the sweep past $1 ($0.5000 used)", True),
        ("cell:c", "the next call could take the cell past its $1 ($0.5000 used)", False),
    ],
)
def test_a_cap_that_nobody_else_holds_money_of_is_the_end(cap: str, told: str, everything: bool) -> None:
    async def work() -> None:
        lab = Lab(Book(OverBudget(Cap(cap, 1.0), 0.5, 0.0)))
        with pytest.raises(BudgetReached) as caught:
            await lab.ask()
        assert str(caught.value) == told
        assert bool(lab.reasons) is everything
        assert (lab.stops.reason("another") is not None) is everything

    run(work)


def test_a_replay_stops_at_what_is_not_on_record() -> None:
    async def work() -> None:
        lab = Lab(Book(Unknown()), replay=True)
        with pytest.raises(ReplayMiss, match="not in the ledger"):
            await lab.ask()
        assert lab.book.begun[0].may_call is False
        assert lab.sent == []

    run(work)


def test_an_attempt_waits_out_the_pause_of_the_failure_before_it() -> None:
    async def work() -> None:
        lab = Lab()
        await lab.ask(pause_s=3.5)
        assert lab.stops.slept == [3.5]
        assert lab.book.begun[0].may_call is True

    run(work)


def test_the_answer_of_the_same_request_in_flight_is_shared_and_not_given_after_a_stop() -> None:
    async def work() -> None:
        lab, gate = Lab(), asyncio.Event()

        async def later() -> None:
            await gate.wait()

        first, second = (asyncio.create_task(lab.ask(does=later)) for _ in range(2))
        await some_passes()
        assert lab.sent == ["k"]
        gate.set()
        assert [await first, await second] == ["yes", "yes"]
        assert lab.book.begun[1].known is not None
        gate.clear()
        third, fourth = (asyncio.create_task(lab.ask(key="other", does=later)) for _ in range(2))
        await some_passes()
        lab.stops.stop(Interrupted("enough"))
        gate.set()
        assert await third == "yes"
        with pytest.raises(Interrupted):
            await fourth

    run(work)


@pytest.mark.parametrize("fails", [False, True])
def test_the_first_request_to_a_model_goes_alone(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    monkeypatch.setattr("seedbed.lm.attempts._ALONE_S", 60.0)

    async def work() -> None:
        lab, gate = Lab(), asyncio.Event()

        async def later() -> Any:
            await gate.wait()
            return ProviderError("server", "down", status=500) if fails and len(lab.sent) == 1 else None

        asked = [asyncio.create_task(lab.ask(key=str(n), does=later)) for n in range(4)]
        await some_passes()
        assert len(lab.sent) == 1
        gate.set()
        done = await asyncio.gather(*asked, return_exceptions=True)
        assert len(lab.sent) == 4
        assert done.count("yes") == (3 if fails else 4)
        await lab.ask(key="later")

    run(work)


def test_the_first_request_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.lm.attempts._ALONE_S", 0.001)

    async def work() -> None:
        lab, gate = Lab(), asyncio.Event()

        async def later() -> None:
            if len(lab.sent) == 1:
                await gate.wait()

        first = asyncio.create_task(lab.ask(key="first", does=later))
        await some_passes()
        assert await lab.ask(key="second", does=later) == "yes"
        gate.set()
        assert await first == "yes"

    run(work)


@pytest.mark.parametrize(
    ("start", "tells", "allowed", "asked"), [(2, 3, 3, 1), (2, None, 2, 1), (None, 3, 16, 0), (2, "nobody", 2, 0)]
)
def test_a_server_is_asked_once_how_many_it_works_on(start: int | None, tells: Any, allowed: int, asked: int) -> None:
    times = 0

    async def slots() -> int | None:
        nonlocal times
        times += 1
        return tells

    async def work() -> None:
        lab = Lab(limits=Limits(concurrency=16, start=start), slots=None if tells == "nobody" else slots)
        for number in range(3):
            await lab.ask(key=str(number))
        assert (lab.limiter.allowed, times) == (allowed, asked)

    run(work)


@pytest.mark.parametrize(
    ("comes", "given_back"), [(Granted(7), [7]), (KNOWN, []), (Busy(), []), (DISK_FULL, []), ("nothing", [])]
)
def test_only_a_granted_begin_is_given_back_by_a_caller_that_is_gone(comes: Any, given_back: list[int]) -> None:
    async def work() -> None:
        lab, loop, wrong = Lab(), asyncio.get_running_loop(), list[Any]()
        loop.set_exception_handler(lambda _, told: wrong.append(told))
        lab.book.held = loop.create_future()
        asked = asyncio.create_task(lab.ask())
        await some_passes()
        asked.cancel()
        await some_passes()
        assert asked.cancelled()
        if comes == "nothing":
            lab.book.held.cancel()
        elif isinstance(comes, Exception):
            lab.book.held.set_exception(comes)
        else:
            lab.book.held.set_result(comes)
        await some_passes()
        assert [end.attempt_id for end in lab.book.ended] == given_back
        assert [told for told in wrong if "callback" in told["message"]] == []
        assert lab.sent == []

    run(work)


def test_after_a_stop_who_gets_a_slot_puts_nothing_on_record() -> None:
    async def work() -> None:
        lab, gate = Lab(limits=Limits(concurrency=1)), asyncio.Event()

        async def later() -> None:
            await gate.wait()

        first = asyncio.create_task(lab.ask(key="a", does=later))
        second = asyncio.create_task(lab.ask(key="b"))
        await some_passes()
        lab.stops.stop_cell("c", Interrupted("enough"))
        gate.set()
        assert await first == "yes"
        with pytest.raises(Interrupted):
            await second
        assert [begin.key for begin in lab.book.begun] == ["a"]

    run(work)


def test_after_a_stop_what_is_on_record_ends_unsent() -> None:
    async def work() -> None:
        lab = Lab()
        lab.book.held = asyncio.get_running_loop().create_future()
        asked = asyncio.create_task(lab.ask())
        await some_passes()
        lab.stops.stop_cell("c", Interrupted("enough"))
        lab.book.held.set_result(Granted(1))
        with pytest.raises(Interrupted):
            await asked
        assert lab.sent == []
        assert [(end.outcome, end.error_class) for end in lab.book.ended] == [("failed", "NotSent")]

    run(work)


def test_a_pause_of_the_model_is_waited_out_before_a_call_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        lab = Lab()
        clock = SimpleNamespace(now=1000.0)
        monkeypatch.setattr("seedbed.lm.limits.time", SimpleNamespace(monotonic=lambda: clock.now))
        lab.limiter.rate_limited(5.0, clock.now)
        sleep = lab.stops.sleep

        async def passing(seconds: float, cell: str) -> None:
            clock.now += seconds
            await sleep(seconds, cell)

        monkeypatch.setattr(lab.stops, "sleep", passing)
        assert await lab.ask() == "yes"
        assert lab.stops.slept == [0.0, 5.0]

    run(work)
