"""Into how many parts limits are cut, what a stop of a runtime ends, and what is left when it closes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import BudgetReached, Interrupted, SeedbedError
from seedbed.lm import runtime as runtime_module
from seedbed.lm.attempts import Binding
from seedbed.lm.limits import Limiter
from seedbed.lm.runtime import LMRuntime, close_runtimes, shared_runtime, stop_asked, stop_runtimes
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import ledger_url, scope


@contextmanager
def _runtime(folder: Path, *scopes: str) -> Iterator[LMRuntime]:
    """With a model for each scope of its limits, named by its place."""
    models = {
        f"m{place}": ModelConfig.model_validate(
            {"model": "openai/x", "price": {"input": 1, "output": 1}, "limits": {"concurrency": 12, "scope": scope}}
        )
        for place, scope in enumerate(scopes)
    }
    made = LMRuntime(ledger_url(folder), models)
    try:
        yield made
    finally:
        made.close()


def _limiter(made: LMRuntime, name: str) -> Limiter:
    return made._model_state(name).limiter  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("peers", "processes", "members", "shared", "own"),
    [
        (1, 1, 1, 12, 12),
        (4, 1, 1, 3, 12),
        (4, 1, 2, 6, 12),
        (2, 1, 4, 12, 12),
        (1, 2, 2, 6, 6),
        (2, 3, 3, 4, 4),
        (6, 3, 3, 2, 4),
    ],
)
def test_limits_are_cut_by_the_peers_or_the_helpers_whichever_are_more(
    tmp_path: Path, peers: int, processes: int, members: int, shared: int, own: int
) -> None:
    with _runtime(tmp_path, "sweep", "process", "sweep") as made:
        before = [_limiter(made, name) for name in ("m0", "m1")]
        made.ledger.peers = peers
        made.run(made.divide(processes, members))
        assert [limiter.allowed for limiter in (*before, _limiter(made, "m2"))] == [shared, own, shared]


def test_who_comes_or_goes_is_told_to_the_limits(tmp_path: Path) -> None:
    with _runtime(tmp_path, "sweep") as made:
        limiter = _limiter(made, "m0")
        made.ledger.peers = 3
        made._on_peers(3)  # type: ignore[attr-defined]
        made.run(asyncio.sleep(0))
        assert limiter.allowed == 4


def test_a_share_is_made_only_when_the_calls_of_every_model_fit_into_it(tmp_path: Path) -> None:
    with _runtime(tmp_path, "process", "process") as made:
        limiter, other = _limiter(made, "m0"), _limiter(made, "m1")

        async def work() -> None:
            slots = [await limiter.slot() for _ in range(7)]
            dividing = asyncio.create_task(made.divide(2, 1))
            await asyncio.sleep(0)
            assert (limiter.over, other.over) == (True, False)
            assert not dividing.done()
            slots[0].release()
            await asyncio.wait_for(dividing, 10)

        made.run(work())


@pytest.mark.parametrize(("known", "from_"), [(True, 0.0), (False, 77.0)])
def test_a_helper_whose_share_is_known_may_send_at_once(tmp_path: Path, known: bool, from_: float) -> None:
    with _runtime(tmp_path, "sweep") as made:
        made.ledger.known_from = 77.0
        made.help(3, known=known)
        assert made.ledger.known_from == from_
        assert _limiter(made, "m0").allowed == 4


def test_a_stop_of_a_cell_is_not_one_of_the_others(tmp_path: Path) -> None:
    with _runtime(tmp_path) as made:
        made.check_stop()
        made.stop_cell("a", BudgetReached("its own"))
        assert [made.is_stopped(cell) for cell in ("a", "b", None)] == [True, False, False]
        assert not made.stopped.is_set()
        assert made.grace_s("a") is None
        with pytest.raises(BudgetReached):
            made.check_stop("a")
        made.stop(Interrupted("enough"))
        assert made.stopped.is_set()
        assert [made.is_stopped(cell) for cell in ("b", None)] == [True, True]
        with pytest.raises(Interrupted):
            made.check_stop()


def test_work_whose_cell_was_stopped_is_given_up_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.lm.stop.GRACE_S", 0.0)
    given_up = list[bool]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(True)

    with _runtime(tmp_path) as made:
        made.stop(Interrupted("enough"))
        with pytest.raises(Interrupted, match="enough"):
            made.run_until_stop(work, "a")
        assert given_up == [True]


def test_work_that_ends_within_the_grace_of_a_stop_has_its_result(tmp_path: Path) -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    with _runtime(tmp_path) as made:
        made.stop(Interrupted("enough"))
        assert made.run_until_stop(work, "a") == "done"


class _Provider:
    def __init__(self, fails: bool = False) -> None:
        self.closed, self._fails = 0, fails

    async def aclose(self) -> None:
        self.closed += 1
        if self._fails:
            raise OSError("no")


def test_a_provider_is_made_once_and_closed_with_the_runtime_whatever_the_others_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = _Provider(fails=True), _Provider()
    with _runtime(tmp_path) as made:
        assert not made.keeps("broken")
        assert made.keep("broken", lambda: broken) is broken
        assert made.keep("broken", lambda: sound) is broken
        assert made.keeps("broken")
        made.keep("sound", lambda: sound)
    made.close()
    assert (broken.closed, sound.closed) == (1, 1)
    assert "a provider could not be closed: no" in caplog.text


def test_a_runtime_that_closes_gives_up_what_still_runs_and_ends_its_thread(tmp_path: Path) -> None:
    ended = list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("given up")

    with _runtime(tmp_path) as made:
        asked = asyncio.run_coroutine_threadsafe(work(), made.loop)
        made.run(asyncio.sleep(0))
    assert ended == ["given up"]
    assert asked.done()
    assert not made._thread.is_alive()  # type: ignore[attr-defined]
    assert made.loop.is_closed()
    assert isinstance(made.stop_reason, Interrupted)
    made._on_peers(2)  # type: ignore[attr-defined]


def test_an_exit_in_somebodys_code_on_the_loop_does_not_end_the_loop(tmp_path: Path) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    async def answer() -> str:
        return "still here"

    with _runtime(tmp_path) as made:
        with pytest.raises(SystemExit):
            made.run(leave())
        assert made.run(answer()) == "still here"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No runtimes of other tests are shared."""
    monkeypatch.setattr(runtime_module, "_runtimes", {})
    monkeypatch.setattr(runtime_module, "_stop_asked", [])


class _Shared(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(reasons=list[SeedbedError](), closed=0)

    def stop(self, reason: SeedbedError) -> None:
        self.reasons.append(reason)

    def close(self) -> None:
        self.closed += 1


@pytest.mark.usefixtures("alone")
def test_a_process_has_one_runtime_a_key_until_it_closes_them() -> None:
    made: Any = [_Shared(), _Shared(), _Shared()]
    rest = list(made)
    assert shared_runtime("a", lambda: rest.pop(0)) is made[0]
    assert shared_runtime("a", lambda: rest.pop(0)) is made[0]
    assert shared_runtime("b", lambda: rest.pop(0)) is made[1]
    close_runtimes()
    assert [one.closed for one in made] == [1, 1, 0]
    assert shared_runtime("a", lambda: rest.pop(0)) is made[2]


@pytest.mark.usefixtures("alone")
def test_a_stop_of_the_process_reaches_its_runtimes_and_those_still_to_come() -> None:
    assert stop_asked() is None
    first, second, third = (Interrupted(word) for word in ("first", "second", "third"))
    early: Any = _Shared()
    late: Any = _Shared()
    fresh: Any = _Shared()
    shared_runtime("early", lambda: early)
    stop_runtimes(first)
    stop_runtimes(second)
    assert early.reasons == [first, second]
    assert stop_asked() is first
    shared_runtime("late", lambda: late)
    assert late.reasons == [first, second]
    close_runtimes()
    assert stop_asked() is None
    shared_runtime("late", lambda: fresh)
    assert fresh.reasons == []
    stop_runtimes(third)
    assert fresh.reasons == [third]


@pytest.mark.parametrize(
    ("settings", "batches", "number", "batched", "listed"),
    [
        ({}, True, 1, False, False),
        ({"service": "batch"}, True, 1, True, True),
        ({"service": "batch"}, False, 1, False, False),
        ({"service": "batch", "batch": {"fallback": "online"}}, True, 1, True, True),
        ({"service": "batch", "batch": {"fallback": "online"}}, True, 2, False, True),
        ({"service": "batch", "batch": {"fallback": "online"}}, True, 3, False, True),
        ({"service": "batch", "batch": {"fallback": "batch"}}, True, 2, True, True),
        ({"batch": {"fallback": "online"}}, True, 2, False, False),
    ],
)
def test_a_batch_answers_what_may_go_into_one_and_after_a_failure_where_the_config_says_so(
    tmp_path: Path, settings: dict[str, Any], batches: bool, number: int, batched: bool, listed: bool
) -> None:
    price = {"input": 1, "output": 1}
    model = ModelConfig.model_validate({"model": "openai/x", "price": price, "api_key_env": "MINE", **settings})
    made = LMRuntime(ledger_url(tmp_path), {"m": model})
    try:
        query: Any = SimpleNamespace(
            binding=Binding(scope(), model),
            kind=SimpleNamespace(batches=batches),
            attempt=SimpleNamespace(number=number),
        )
        state = made._state_for(query)  # type: ignore[attr-defined]
        assert (state.batched, state.listed_as_batch) == (batched, listed)
        assert made._state_for(query) is state  # type: ignore[attr-defined]
        plain = made._model_state("m")  # type: ignore[attr-defined]
        assert (plain.batched, plain.listed_as_batch) == (False, False)
        assert plain.limiter is state.limiter
    finally:
        made.close()


def test_work_that_nobody_stops_has_its_result(tmp_path: Path) -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    with _runtime(tmp_path) as made:
        assert made.run_until_stop(work, "a") == "done"


@pytest.mark.parametrize(("price", "warned"), [(None, True), ({"input": 1, "output": 1}, False)])
def test_a_price_that_nobody_knows_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, price: Any, warned: bool
) -> None:
    model = ModelConfig.model_validate({"model": "openai/own", "api_base": "http://127.0.0.1:9/v1", "price": price})
    LMRuntime(ledger_url(tmp_path), {"m": model}).close()
    assert ("the price of model 'm' is unknown" in caplog.text) is warned


def test_a_runtime_that_closes_waits_for_no_thread_and_begins_no_more_work_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_module, "_THREADS", 1)
    running, let_go, begun = threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        running.set()
        assert let_go.wait(200)

    with _runtime(tmp_path) as made:
        for work in (first, lambda: begun.append("second")):
            made.loop.call_soon_threadsafe(made.loop.run_in_executor, None, work)
        assert running.wait(200)
    (thread,) = made._threads._threads  # type: ignore[attr-defined]
    assert thread.is_alive()
    let_go.set()
    thread.join(200)
    assert not thread.is_alive()
    assert begun == []


def test_a_runtime_that_closes_has_its_ledger_write_what_is_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = list[bool]()
    with _runtime(tmp_path) as made:
        close = made.ledger.close

        def noted() -> None:
            closed.append(made._closed)  # type: ignore[attr-defined]
            close()

        monkeypatch.setattr(made.ledger, "close", noted)
    assert closed == [True]


@pytest.mark.parametrize(("peers", "shared"), [(1, 12), (4, 3)])
def test_a_runtime_that_nobody_helps_has_one_part_of_the_ledgers_and_all_of_its_own(
    tmp_path: Path, peers: int, shared: int
) -> None:
    with _runtime(tmp_path, "sweep", "process") as made:
        made.ledger.peers = peers
        assert [_limiter(made, name).allowed for name in ("m0", "m1")] == [shared, 12]
