"""Who waits for which attempt: what is told at a stop, given back by who goes away, and left to others at the end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from seedbed.errors import BudgetReached, Interrupted
from seedbed.lm.batches import service
from seedbed.lm.batches.protocol import Progress
from seedbed.lm.batches.service import Batches
from seedbed.lm.stop import StopSignal
from tests.unit.lm.batches.bench import Bench, Benches, reply

PATIENCE_S = 60.0
STOP, BUDGET = Interrupted("enough"), BudgetReached("no money left")
UNSENT, OPEN = ("failed", "NotSent", 0.0), (None, None, None)


class Desk:
    """The batches of a runtime, with a provider that is told what to say."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.stops = bench, StopSignal()
        self.batches = Batches(bench.ledger, self.stops, bench.stops.append)
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        self._open = True

    def wait_for(self, attempts: list[int], cell: str = "c", *, own: bool = True) -> None:
        async def begin() -> None:
            for attempt in attempts:
                work = self.batches.outcome(attempt, self.bench.lane, cell, own=own)
                self.tasks[attempt] = asyncio.create_task(work)

        self.bench.run(begin())

    def until(self, holds: Callable[[], Any]) -> None:
        async def held() -> None:
            end = time.monotonic() + PATIENCE_S
            while not holds():
                assert time.monotonic() < end, "it does not come to that"
                await asyncio.sleep(0.001)

        self.bench.run(held())

    def looks(self, count: int = 3) -> None:
        """So many of them at least, at stops and at who is gone."""
        self.bench.run(asyncio.sleep(0.002 * count + 0.01))

    def close(self) -> None:
        if self._open:
            self._open = False
            self.bench.run(self.batches.aclose())

    def told(self, attempt: int) -> Any:
        return self.tasks[attempt].result() if self.tasks[attempt].done() else None


@pytest.fixture
def desk(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(service, "_LOOK_S", 0.002)
    with benches(monkeypatch, poll_s=0.01) as bench:
        monkeypatch.setattr(service, "time", bench.clock)
        made = Desk(bench)
        yield made
        for task in made.tasks.values():
            task.cancel()
        made.close()


def test_one_lane_and_one_poller_serve_all_that_may_share_a_batch(desk: Desk) -> None:
    other = desk.bench.model.model_copy(update={"model": "openai/other"})
    lane = desk.batches.lane(desk.bench.model)
    assert desk.batches.lane(desk.bench.model) is lane
    assert desk.batches.lane(other) is not lane

    async def pollers() -> tuple[Any, ...]:
        return tuple(desk.batches.look_after(desk.batches.lane(m)) for m in (desk.bench.model, desk.bench.model, other))

    first, second, third = desk.bench.run(pollers())
    assert first is second
    assert first is not third


def test_who_waits_hears_how_the_attempt_ended_and_waits_no_more(desk: Desk) -> None:
    first, second = asked = desk.bench.ask(2)
    assert desk.batches.words("c") is None
    desk.wait_for(asked)
    desk.until(lambda: desk.bench.api.count("create"))
    bench = desk.bench
    bench.api.rows = [(bench.custom_id(1), reply("a")), (bench.custom_id(2), reply("b"))]
    bench.api.answers["progress"] = [Progress("completed", True, 2, complete=True)]
    bench.clock.now += 1.0
    desk.until(lambda: desk.told(first) and desk.told(second))
    assert b'"a"' in desk.told(first)
    assert b'"b"' in desk.told(second)
    assert desk.batches.words("c") is None


def test_what_a_cell_waits_for_is_told_in_a_line(desk: Desk) -> None:
    bench = desk.bench
    asked = bench.ask(1)
    desk.wait_for(asked)
    assert desk.batches.words("c") == "gathering requests for a batch"
    assert desk.batches.words("another") is None
    desk.wait_for(bench.ask(1))
    desk.until(lambda: [batch.state for batch in bench.open] == ["running"])
    desk.until(lambda: bench.batch().provider_status)
    bench.clock.wall = 10_000.0
    bench.api.answers["progress"] = [Progress("in_progress", False, done=4, failed=3)]
    bench.set(requests=1200, packed_at=10_000.0 - 150.0)
    bench.clock.now += 1.0
    desk.until(lambda: "7" in str(desk.batches.words("c")))
    assert desk.batches.words("c") == "waiting for batch, 7 of 1,200, 2 min"


def test_the_age_is_that_of_the_oldest_batch(desk: Desk) -> None:
    bench = desk.bench
    bench.api.answers["progress"] = [Progress("in_progress", False, done=100, failed=20)]
    desk.wait_for(bench.ask(2))
    desk.until(lambda: [batch.done for batch in bench.open] == [100])
    bench.set(packed_at=1000.0)
    desk.wait_for(bench.ask(2))
    desk.until(lambda: [batch.done for batch in bench.open] == [100, 100])
    bench.set(requests=500)
    bench.clock.wall = 1000.0 + 3600.0
    desk.until(lambda: "2 batches, 240 of 1,000" in str(desk.batches.words("c")))
    assert desk.batches.words("c") == "waiting for 2 batches, 240 of 1,000, 1 h 0 min"


@pytest.mark.parametrize("own", [True, False])
def test_who_goes_away_gives_back_what_is_in_no_batch_if_it_is_his(desk: Desk, own: bool) -> None:
    [asked] = desk.bench.ask(1)
    desk.wait_for([asked], own=own)
    desk.looks()
    desk.tasks[asked].cancel()
    desk.until(lambda: desk.tasks[asked].done())
    if own:
        desk.until(lambda: desk.bench.outcomes() == [UNSENT])
    else:
        desk.looks(5)
        assert desk.bench.outcomes() == [OPEN]


def test_what_is_in_a_batch_goes_on_without_who_waited_for_it(desk: Desk) -> None:
    asked = desk.bench.ask(2)
    desk.wait_for(asked)
    desk.until(lambda: desk.bench.api.count("create"))
    desk.tasks[asked[0]].cancel()
    desk.looks(5)
    assert desk.bench.outcomes() == [OPEN] * 2


def test_the_ledger_is_asked_once_for_what_is_given_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[int]] = []
    mark = service.mark_unsent

    def marked(connection: Any, ids: list[int]) -> list[int]:
        given.append(ids)
        return mark(connection, ids)

    monkeypatch.setattr(service, "mark_unsent", marked)
    [asked] = desk.bench.ask(1)
    desk.wait_for([asked])
    desk.batches.give_back(asked)
    desk.until(lambda: given)
    desk.looks(10)
    assert given == [[asked]]


def test_at_a_stop_what_is_not_sent_ends_and_who_waits_for_the_rest_is_told(desk: Desk) -> None:
    sent = desk.bench.ask(2)
    desk.wait_for(sent)
    desk.until(lambda: [batch.state for batch in desk.bench.open] == ["running"])
    [gathered] = desk.bench.ask(1)
    desk.wait_for([gathered])
    desk.looks()
    assert not any(task.done() for task in desk.tasks.values())
    desk.stops.stop(STOP)
    desk.until(lambda: all(task.done() for task in desk.tasks.values()))
    assert [desk.told(attempt) for attempt in (*sent, gathered)] == [STOP] * 3
    assert desk.bench.outcomes() == [OPEN, OPEN, UNSENT]
    # Nothing more is sent, however many wait.
    desk.bench.ask(2)
    desk.looks(10)
    assert desk.bench.api.count("upload") == 1


def test_at_the_end_of_a_budget_what_is_in_a_batch_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_of: list[list[int]] = []
    mark = service.mark_unsent

    def marked(connection: Any, ids: list[int]) -> list[int]:
        asked_of.append(ids)
        return mark(connection, ids)

    monkeypatch.setattr(service, "mark_unsent", marked)
    bench = desk.bench
    sent = bench.ask(2)
    desk.wait_for(sent)
    desk.until(lambda: [batch.state for batch in bench.open] == ["running"])
    [gathered] = bench.ask(1)
    desk.wait_for([gathered])
    desk.stops.stop(BUDGET)
    desk.until(lambda: desk.told(gathered))
    assert desk.told(gathered) is BUDGET
    desk.looks(10)
    assert [desk.told(attempt) for attempt in sent] == [None, None]
    assert asked_of == [[*sent, gathered]], "the ledger is asked once"
    bench.api.rows = [(bench.custom_id(1), reply("a")), (bench.custom_id(2), reply("b"))]
    bench.api.answers["progress"] = [Progress("completed", True, 2, complete=True)]
    bench.clock.now += 1.0
    desk.until(lambda: all(desk.told(attempt) for attempt in sent))
    assert all(isinstance(desk.told(attempt), bytes) for attempt in sent)


def test_what_is_anothers_is_no_longer_waited_for_and_not_ended(desk: Desk) -> None:
    [asked] = desk.bench.ask(1)
    desk.wait_for([asked], own=False)
    desk.stops.stop(STOP)
    desk.until(lambda: desk.told(asked))
    desk.looks()
    assert (desk.told(asked), desk.bench.outcomes()) == (STOP, [OPEN])


def test_a_cell_that_stops_leaves_the_others_waiting(desk: Desk) -> None:
    [stopped] = desk.bench.ask(1)
    desk.wait_for([stopped], "stopped")
    desk.wait_for([7], "other")
    desk.stops.stop_cell("stopped", BUDGET)
    desk.until(lambda: desk.told(stopped))
    desk.looks()
    assert (desk.told(stopped), desk.told(7)) == (BUDGET, None)
    assert desk.bench.outcomes() == [UNSENT]


def test_who_leaves_gives_its_batches_back_and_ends_all_that_it_began(desk: Desk) -> None:
    asked = desk.bench.ask(2)
    desk.wait_for(asked)
    desk.until(lambda: [batch.state for batch in desk.bench.open] == ["running"])
    lane = desk.batches.lane(desk.bench.model)
    lane.__dict__["api"] = desk.bench.api
    assert any(thread.name.startswith("seedbed-batches") for thread in threading.enumerate())
    desk.close()
    assert desk.bench.batch().owner is None
    assert desk.bench.api.closed == 1
    polled = desk.bench.api.count("progress")
    desk.bench.clock.now += 100.0
    desk.looks(10)
    assert desk.bench.api.count("progress") == polled
    desk.until(lambda: not any(thread.name.startswith("seedbed-batches") for thread in threading.enumerate()))


def test_calls_of_a_cell_go_through_one_gate(desk: Desk) -> None:
    gate = desk.batches.gate("c")
    assert desk.batches.gate("c") is gate
    assert desk.batches.gate("d") is not gate
    assert gate._value == 64  # type: ignore[attr-defined]
