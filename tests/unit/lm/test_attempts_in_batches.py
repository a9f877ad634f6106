"""Attempts whose answers come by batches: when they go into one, and what is made of what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from seedbed.errors import BudgetReached, Interrupted, ProviderError
from seedbed.lm.ledger import BeginResult, Busy, Cap, Granted, InBatch, OverBudget, Stored
from tests.support.attempt_lab import USAGE, Book, Lab, run, some_passes

LANE = SimpleNamespace(id="lane")
ANSWER = b'{"choices": [{"message": {"content": "by a batch"}}]}'
KNOWN = Stored(b'{"choices": [{"message": {"content": "known"}}]}', USAGE)
Outcome = bytes | Exception | None


class Batches:
    """Batches of which comes what is told."""

    def __init__(self, *outcomes: Outcome, lab: Lab | None = None, stops: bool = False) -> None:
        self.asked, self.given_back = list[tuple[int, Any, str, bool]](), list[int]()
        self._outcomes, self._lab, self._stops = list(outcomes), lab, stops

    @asynccontextmanager
    async def gate(self, _cell: str) -> AsyncIterator[None]:
        if self._stops and self._lab is not None:
            self._lab.stops.stop_cell("c", Interrupted("enough"))
        yield

    async def outcome(self, attempt_id: int, lane: Any, cell: str, *, own: bool) -> Outcome:
        self.asked.append((attempt_id, lane, cell, own))
        return self._outcomes.pop(0)

    def give_back(self, attempt_id: int) -> None:
        self.given_back.append(attempt_id)


def _lab(
    *words: BeginResult, outcomes: tuple[Outcome, ...] = (), batched: bool = True, **more: Any
) -> tuple[Lab, Batches]:
    lab = Lab(Book(*words), batched=batched, lane=LANE)
    batches = Batches(*outcomes, lab=lab, **more)
    lab.attempts.batches = cast(Any, batches)
    return lab, batches


@pytest.mark.parametrize(("batched", "lane"), [(False, LANE), (True, None), (False, None)])
def test_without_batches_or_a_lane_for_them_it_is_a_call(batched: bool, lane: Any) -> None:
    async def work() -> None:
        lab = Lab(batched=batched, lane=lane)
        assert await lab.ask() == "yes"
        assert lab.sent == ["k"]
        assert lab.book.begun[0].seat is None
        assert lab.kind.batches is False, "unless a kind of request says that it may"

    run(work)


@pytest.mark.parametrize(
    ("words", "outcomes", "said", "asked", "slept"),
    [
        ([KNOWN], [], "known", [], 0),
        ([Granted(1)], [ANSWER], "by a batch", [(1, True)], 0),
        ([InBatch(7), KNOWN], [ANSWER], "known", [(7, False)], 0),
        ([InBatch(7), Granted(1)], [None, ANSWER], "by a batch", [(7, False), (1, True)], 0),
        ([Granted(1), Granted(2)], [None, ANSWER], "by a batch", [(1, True), (2, True)], 0),
        ([Busy(), Busy(), Granted(1)], [ANSWER], "by a batch", [(1, True)], 2),
        ([OverBudget(Cap("sweep:s", 1.0), 0.5, 0.25), Granted(1)], [ANSWER], "by a batch", [(1, True)], 1),
    ],
)
def test_the_ledger_is_asked_until_an_answer_of_ones_own_or_one_on_record_is_there(
    words: list[BeginResult], outcomes: list[Outcome], said: str, asked: list[tuple[int, bool]], slept: int
) -> None:
    async def work() -> None:
        lab, batches = _lab(*words, outcomes=tuple(outcomes))
        assert await lab.ask() == said
        assert batches.asked == [(number, LANE, "c", own) for number, own in asked]
        assert lab.stops.slept == [0.0, *[1.0] * slept]
        assert lab.sent == []
        assert all(begin.seat is not None and begin.seat.lane == "lane" for begin in lab.book.begun)

    run(work)


@pytest.mark.parametrize("word", [Granted(1), InBatch(7)])
@pytest.mark.parametrize("error", [ProviderError("server", "it failed there"), Interrupted("enough")])
def test_what_went_wrong_in_a_batch_is_raised(word: BeginResult, error: Exception) -> None:
    async def work() -> None:
        lab, _ = _lab(word, outcomes=(error,))
        with pytest.raises(type(error)):
            await lab.ask()
        assert len(lab.book.begun) == 1

    run(work)


def test_an_answer_of_a_batch_lets_others_on_the_loop_have_their_turn() -> None:
    taken = list[bool]()

    async def turn() -> None:
        taken.append(True)

    async def work() -> None:
        lab, _ = _lab(Granted(1), outcomes=(ANSWER,))
        lab.attempts.pace = cast(Any, SimpleNamespace(turn=turn))
        await lab.ask()
        assert taken == [True]

    run(work)


def test_a_cap_that_is_used_up_ends_what_would_go_into_a_batch() -> None:
    async def work() -> None:
        lab, batches = _lab(OverBudget(Cap("sweep:s", 1.0), 0.5, 0.0))
        with pytest.raises(BudgetReached):
            await lab.ask()
        assert batches.asked == []

    run(work)


def test_after_a_stop_nothing_more_is_put_on_record_for_a_batch() -> None:
    async def work() -> None:
        lab, _ = _lab(Granted(1), stops=True)
        with pytest.raises(Interrupted):
            await lab.ask()
        assert lab.book.begun == []

    run(work)


def test_a_seat_whose_caller_is_gone_is_given_back_to_the_batches() -> None:
    async def work() -> None:
        lab, batches = _lab()
        lab.book.held = asyncio.get_running_loop().create_future()
        asked = asyncio.create_task(lab.ask())
        await some_passes()
        asked.cancel()
        await some_passes()
        lab.book.held.set_result(Granted(7))
        await some_passes()
        assert (batches.given_back, lab.book.ended) == ([7], [])

    run(work)


@pytest.mark.parametrize("outcome", [ANSWER, None, ProviderError("server", "it failed there")])
def test_a_call_waits_for_a_batch_of_before_and_then_asks_the_ledger_again(outcome: Outcome) -> None:
    async def work() -> None:
        lab, batches = _lab(InBatch(7), outcomes=(outcome,), batched=False)
        assert await lab.ask() == "yes"
        assert batches.asked == [(7, LANE, "c", False)]
        assert (len(lab.book.begun), lab.sent, lab.stops.slept) == (2, ["k"], [0.0])

    run(work)


def test_a_call_that_waits_for_a_batch_of_before_ends_with_a_stop() -> None:
    async def work() -> None:
        lab, _ = _lab(InBatch(7), outcomes=(Interrupted("enough"),), batched=False)
        with pytest.raises(Interrupted):
            await lab.ask()
        assert lab.sent == []

    run(work)


def test_a_batch_of_before_that_cannot_be_asked_is_looked_for_now_and_then() -> None:
    async def work() -> None:
        lab = Lab(Book(InBatch(7), InBatch(7), KNOWN))
        assert await lab.ask() == "known"
        assert lab.stops.slept == [0.0, 1.0, 1.0]

    run(work)
