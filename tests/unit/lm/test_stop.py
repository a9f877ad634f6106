"""Whether calls may still start, for everybody and for one cell, and how long those in flight may take."""

from __future__ import annotations

import asyncio

import pytest

from seedbed.errors import BudgetReached, Interrupted, SeedbedError
from seedbed.lm.stop import GRACE_S, StopSignal


def test_the_first_reason_is_the_one_that_is_reported() -> None:
    stops = StopSignal()
    assert (stops.reason(), stops.event.is_set(), stops.any) == (None, False, False)
    stops.stop(Interrupted("first"))
    stops.stop(Interrupted("second"))
    assert str(stops.reason()) == "first"
    assert stops.event.is_set()
    assert stops.any
    with pytest.raises(Interrupted, match="first"):
        stops.check()


def test_a_cell_that_is_stopped_leaves_the_others_and_the_whole_alone() -> None:
    stops = StopSignal()
    stops.stop_cell("a", BudgetReached("its own"))
    stops.stop_cell("a", BudgetReached("too late"))
    assert str(stops.reason("a")) == "its own"
    assert stops.reason("b") is None
    assert stops.reason() is None
    assert not stops.event.is_set()
    assert stops.any
    stops.check("b")
    stops.check()
    with pytest.raises(BudgetReached, match="its own"):
        stops.check("a")


def test_a_stop_of_everything_counts_before_that_of_a_cell() -> None:
    stops = StopSignal()
    stops.stop_cell("a", BudgetReached("its own"))
    stops.stop(Interrupted("all"))
    assert {str(stops.reason(cell)) for cell in ("a", "b", None)} == {"all"}


@pytest.mark.parametrize(("reason", "grace_s"), [(BudgetReached("spent"), None), (Interrupted("enough"), GRACE_S)])
def test_calls_that_a_budget_ends_finish_and_others_have_a_grace(reason: SeedbedError, grace_s: float | None) -> None:
    everything, one = StopSignal(), StopSignal()
    everything.stop(reason)
    one.stop_cell("a", reason)
    assert everything.grace_s() == everything.grace_s("a") == one.grace_s("a") == grace_s


class _Loop:
    """A loop's clock that only sleeping moves on; `then` happens after the first sleep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, then: StopSignal | None = None) -> None:
        self.now, self.slept = 100.0, list[float]()
        self._then = then
        monkeypatch.setattr("seedbed.lm.stop.asyncio.get_running_loop", lambda: self)
        monkeypatch.setattr("seedbed.lm.stop.asyncio.sleep", self.sleep)

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        if self._then is not None:
            self._then.stop_cell("a", Interrupted("enough"))


def _slept(stops: StopSignal, seconds: float) -> None:
    with pytest.raises(StopIteration):
        stops.sleep(seconds, "a").send(None)


@pytest.mark.parametrize(
    ("seconds", "slices"), [(0.0, []), (0.125, [0.125]), (0.25, [0.25]), (0.625, [0.25, 0.25, 0.125])]
)
def test_a_sleep_is_as_long_as_asked_in_slices_that_a_stop_can_end(
    monkeypatch: pytest.MonkeyPatch, seconds: float, slices: list[float]
) -> None:
    loop = _Loop(monkeypatch)
    _slept(StopSignal(), seconds)
    assert loop.slept == slices


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_after_a_stop_nobody_sleeps(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    stops = StopSignal()
    stops.stop_cell("a", Interrupted("enough"))
    loop = _Loop(monkeypatch)
    with pytest.raises(Interrupted):
        stops.sleep(seconds, "a").send(None)
    assert loop.slept == []


@pytest.mark.parametrize("seconds", [0.25, 10.0])
def test_a_stop_ends_a_sleep_at_its_next_slice(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    stops = StopSignal()
    loop = _Loop(monkeypatch, then=stops)
    with pytest.raises(Interrupted):
        stops.sleep(seconds, "a").send(None)
    assert loop.slept == [0.25]


def test_a_sleep_leaves_the_loop_to_others() -> None:
    async def work() -> None:
        sleeping = asyncio.create_task(StopSignal().sleep(0.001, "a"))
        await asyncio.sleep(0)
        assert not sleeping.done()
        await sleeping

    asyncio.run(work())
