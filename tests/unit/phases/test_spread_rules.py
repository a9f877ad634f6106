"""How the samples of a cell are shared out between this process and its helpers, and what becomes of them where one
stops, fails or dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from seedbed.errors import BudgetReached, CellFailed, Interrupted
from seedbed.phases import spread as module
from seedbed.phases.helpers import HelperGone
from seedbed.phases.spread import answer_spread
from seedbed.suite import Answer, Case
from tests.support.spread_parts import Context, Helper, Helpers, model, rows


class Reports(list[tuple[int, int]]):
    def __call__(self, _cell: Any, phase: str, done: int, total: int) -> None:
        assert phase == "generate"
        self.append((done, total))


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> Reports:
    found = Reports()
    monkeypatch.setattr(module, "report", found)
    return found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, reports: Reports) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(module, "_PATIENCE_S", 0.01)

    @asynccontextmanager
    async def opened(_context: Any) -> AsyncIterator[str]:
        yield "system"

    async def alone(_context: Any, cases: Sequence[Case]) -> Any:
        return ["alone", len(cases)]

    monkeypatch.setattr(module, "opened_system", opened)
    monkeypatch.setattr(module, "answer_cases", alone)


class Spread:
    """Samples put to a cell with these helpers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.helpers = Helpers()

    def __call__(self, context: Context, samples: int, *helpers: Helper) -> list[Any]:
        self.helpers = Helpers(*helpers)
        self._monkeypatch.setattr(module, "helpers_of", self._helpers_of)
        cases = [Case(f"q{number}", {}) for number in range(samples)]

        async def patient() -> Any:
            async with asyncio.timeout(10):
                return await answer_spread(context, cases)  # type: ignore[arg-type]

        return asyncio.run(patient())

    def _helpers_of(self, _runtime: Any, processes: int) -> Helpers:
        assert processes == 3
        return self.helpers


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> Spread:
    return Spread(monkeypatch)


def by(answers: Sequence[Answer]) -> list[str]:
    return [answer.output["by"] for answer in answers]


# -- over how many processes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "concurrency", "processes"),
    [(0, 64, 1), (8, 64, 1), (9, 64, 2), (16, 64, 2), (17, 64, 3), (999, 64, 3), (999, 2, 2), (999, 1, 1)],
)
def test_a_process_is_worth_eight_samples_and_no_more_than_are_asked_for(
    samples: int, concurrency: int, processes: int
) -> None:
    context: Any = Context(model(concurrency), model(99))
    assert module._processes(context, samples) == processes  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("alone", [{"local": True}, {"serve": "vllm"}, {"start": 4}, {"batched": True}])
def test_one_model_of_a_role_that_wants_one_process_is_enough(alone: dict[str, Any]) -> None:
    for models in ([model(**alone)], [model(), model(**alone)], [model(), model(**alone), model()]):
        context: Any = Context(*models)
        assert module._processes(context, 99) == 1  # pyright: ignore[reportPrivateUsage]


def test_programs_are_started_by_one_process() -> None:
    context: Any = Context(model(), starts_programs=True)
    assert module._processes(context, 99) == 1  # pyright: ignore[reportPrivateUsage]


def test_few_samples_are_answered_by_this_process_as_ever(spread: Spread) -> None:
    assert spread(Context(model()), 8) == ["alone", 8]
    assert spread.helpers.wanted == []


# -- sharing out -------------------------------------------------------------------------------------------------------


def test_portions_are_an_eighth_of_what_a_process_has_in_flight(spread: Spread, reports: Reports) -> None:
    context = Context(model(64))
    answers = spread(context, 10)
    assert spread.helpers.wanted == [1]
    assert [answer.sample_id for answer in answers] == [f"q{number}" for number in range(10)]
    assert context.portions == [["q0", "q1", "q2", "q3"], ["q4", "q5", "q6", "q7"], ["q8", "q9"]]
    assert reports == [(done, 10) for done in range(1, 11)]
    few = Context(model(4))
    spread(few, 20)
    assert [len(portion) for portion in few.portions] == [1] * 20


def test_helpers_take_portions_and_tell_how_many_they_answered(spread: Spread, reports: Reports) -> None:
    context, helped = Context(model(64)), asyncio.Event()

    async def second(samples: list[str]) -> Any:
        await asyncio.sleep(0)
        if len(helper.asked) == 2:
            helped.set()
        return {"done": rows(samples)}

    context.gate = lambda: until(helped)
    helper = Helper(second)
    # Eleven portions are in the hands of this process, the rest are left to the helper.
    answers = spread(context, 26, helper)
    assert sum(word == "helper" for word in by(answers)) == 4
    assert [len(portion) for portion in helper.asked] == [2, 2]
    assert reports[:2] == [(2, 26), (4, 26)]
    assert reports[-1] == (26, 26)
    assert helper.opened == [{"job": 7, "asked": 12, "folder": "run", "cell": "cell", "execution": "e1"}]
    assert helper.on_ledger
    assert helper.sent == [("close", {"job": 7})]
    assert (spread.helpers.most_at_work, spread.helpers.at_work_now) == (1, 0)


async def until(event: asyncio.Event) -> None:
    await event.wait()


def test_a_helper_that_cannot_open_the_cell_leaves_it_to_this_process(
    spread: Spread, caplog: pytest.LogCaptureFixture
) -> None:
    helper = Helper(opening={"failed": "ImportError: no module"})
    assert set(by(spread(Context(model()), 10, helper))) == {"itself"}
    assert helper.asked == []
    assert not helper.on_ledger
    assert helper.sent == [("close", {"job": 7})]
    assert spread.helpers.most_at_work == 0
    assert "the cell: answered in one process, for another cannot: ImportError: no module" in caplog.messages


def test_what_a_helper_fails_at_is_asked_again_here(spread: Spread, caplog: pytest.LogCaptureFixture) -> None:
    context, failed = Context(model(64)), asyncio.Event()

    def fail(_samples: list[str]) -> Any:
        failed.set()
        return {"failed": "KeyError: 'q1'"}

    context.gate = lambda: until(failed)
    helper = Helper(fail)
    answers = spread(context, 52, helper)
    assert by(answers) == ["itself"] * 52
    assert 1 <= len(helper.asked) <= 18, "each of its lanes has one try"
    assert "the cell: asked again in this process: KeyError: 'q1'" in caplog.messages


def test_a_helper_that_dies_is_started_again_as_long_as_it_may(spread: Spread) -> None:
    context, gone = Context(model(64)), asyncio.Event()

    async def die(_samples: list[str]) -> Any:
        helper.alive = False
        if not helper.starts:
            gone.set()
        await asyncio.sleep(0)
        raise HelperGone("a helping process has ended (SIGKILL)")

    context.gate = lambda: until(gone)
    helper = Helper(die)
    answers = spread(context, 52, helper)
    assert by(answers) == ["itself"] * 52, "nothing that it had in hand is lost"
    assert spread.helpers.losses == ["a helping process has ended (SIGKILL)"] * 4
    assert len(helper.opened) == 4
    assert helper.sent == [], "nobody is there to be told"
    assert spread.helpers.at_work_now == 0


# -- failures and stops ------------------------------------------------------------------------------------------------


def test_what_fails_here_ends_the_phase(spread: Spread) -> None:
    context = Context(model(64))

    async def fail() -> None:
        raise ValueError("no idea")

    async def for_ever(_samples: list[str]) -> Any:
        await asyncio.sleep(3600)

    context.gate = fail
    helper = Helper(for_ever)
    with pytest.raises(ValueError, match="no idea"):
        spread(context, 60, helper)
    assert helper.sent == [("close", {"job": 7})]
    assert spread.helpers.at_work_now == 0


@pytest.mark.parametrize("everything", [True, False])
def test_a_stop_that_a_helper_tells_of_is_one_of_all(spread: Spread, everything: bool) -> None:
    context, told = Context(model(64)), asyncio.Event()

    def stop(_samples: list[str]) -> Any:
        told.set()
        return {"stopped": {"kind": "BudgetReached", "message": "past $1", "everything": everything}}

    context.gate = lambda: until(told)
    with pytest.raises(BudgetReached, match=r"^past \$1$"):
        spread(context, 60, Helper(stop))
    assert isinstance(context.runtime.stop_reason, BudgetReached) is everything
    assert ("cell" in context.runtime.cells) is not everything


@pytest.mark.parametrize(("everything", "cell"), [(True, None), (False, "cell")])
def test_a_stop_here_is_told_to_helpers_once_and_its_reason_raised(
    spread: Spread, everything: bool, cell: str | None
) -> None:
    context, at_work = Context(model(64)), asyncio.Event()
    reason = CellFailed("too many errors") if not everything else Interrupted("Ctrl-C")

    async def stop() -> None:
        await at_work.wait()
        if everything:
            context.runtime.stop(reason)
        else:
            context.runtime.stop_cell("cell", reason)
        await asyncio.sleep(0.05)
        raise reason

    async def for_ever(_samples: list[str]) -> Any:
        at_work.set()
        await asyncio.sleep(3600)

    context.gate = stop
    helper, dead = Helper(for_ever), Helper(for_ever)
    dead.alive, dead.starts = False, 0
    with pytest.raises(type(reason), match=str(reason)):
        spread(context, 60, helper, dead)
    told = ("stop", {"cell": cell, "kind": type(reason).__name__, "message": str(reason)})
    assert helper.sent == [told, ("close", {"job": 7})]
    assert dead.sent == []


def test_after_a_stop_calls_of_this_process_may_end_and_none_is_begun(spread: Spread) -> None:
    context = Context(model(64))
    begun: list[int] = []

    async def stop() -> None:
        begun.append(1)
        context.runtime.stop(BudgetReached("past $1"))
        await asyncio.sleep(0.03)
        if len(begun) == 2:
            raise ValueError("broken off by the stop")

    context.gate = stop
    with pytest.raises(BudgetReached):
        spread(context, 600, Helper())
    assert len(begun) <= 11
    assert len(context.portions) in (len(begun), len(begun) - 1), "what was begun had its moment"


@pytest.mark.parametrize(("grace", "finished"), [(None, True), (0.12, True), (0.0, False)])
def test_helpers_have_the_grace_of_a_stop_and_all_their_time_where_calls_are_paid_for(
    spread: Spread, monkeypatch: pytest.MonkeyPatch, grace: float | None, finished: bool
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.1)
    context, ended, at_work = Context(model(64)), list[int](), asyncio.Event()
    context.runtime.grace = grace

    async def slow(samples: list[str]) -> Any:
        at_work.set()
        await asyncio.sleep(0.15)
        ended.append(1)
        return {"done": rows(samples)}

    async def stop() -> None:
        await at_work.wait()
        context.runtime.stop(BudgetReached("past $1"))

    context.gate = stop
    with pytest.raises(BudgetReached):
        spread(context, 48, Helper(slow))
    assert bool(ended) is finished


def test_helpers_are_not_begun_with_after_a_stop(spread: Spread) -> None:
    context, helper = Context(model(64)), Helper()
    context.runtime.stop(Interrupted("Ctrl-C"))
    with pytest.raises(Interrupted):
        spread(context, 60, helper)
    assert helper.opened == []
    assert context.portions == []
