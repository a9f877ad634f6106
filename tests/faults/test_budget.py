"""A dollar cap holds with many calls in flight, keeps what was paid, and a larger one goes on from there."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from seedbed.errors import BudgetReached, Unreachable
from seedbed.lm.ledger import Cap
from seedbed.lm.runtime import LMRuntime
from seedbed.phases.run_all import run_all
from tests.support.lm import assert_books_agree, budget_row, caps, runtime, scope, sums
from tests.support.loopback import Loopback


def _work(made: LMRuntime, n: int, limits: tuple[Cap, ...], cell: str = "c", at_once: int = 64) -> list[str]:
    """Ask n different questions, 64 at once; returns those that were answered."""
    lm, answered = made.lm(scope(cell=cell), limits), []

    async def one(number: int) -> None:
        try:
            await lm.acall(f"{cell} {number}")
            answered.append(f"{cell} {number}")
        except Exception:
            return

    with suppress(BudgetReached):
        made.run(run_all(made, range(n), one, calls_at_once=at_once, cell=cell))
    return answered


@pytest.mark.usefixtures("each_ledger")
@pytest.mark.parametrize("max_tokens", [20, 500])
def test_the_cap_is_never_passed_with_64_in_flight(tmp_path: Path, max_tokens: int) -> None:
    cap = 0.01
    with Loopback(latency_s=0.01) as server, runtime(tmp_path, server, max_tokens=max_tokens) as made:
        answered = _work(made, 2000, caps(cap))
        assert isinstance(made._stops.reason(), BudgetReached)  # type: ignore[attr-defined]
        found = assert_books_agree(tmp_path, server)
    assert 0 < len(answered) < 2000
    assert found.spent_usd <= cap
    used, reserved = budget_row(tmp_path, "sweep:s")
    assert abs(used - found.spent_usd) < 1e-9
    assert abs(reserved) < 1e-9
    # A reservation made for the worst case is no reason to stop while it may still be given back.
    assert found.spent_usd > cap - 1.5 * (max_tokens * 8e-6 + 50 * 2e-6)


@pytest.mark.usefixtures("each_ledger")
def test_a_larger_budget_goes_on_without_paying_twice(tmp_path: Path) -> None:
    with Loopback(latency_s=0.005) as server:
        with runtime(tmp_path, server, max_tokens=20) as made:
            first = _work(made, 300, caps(0.005))
        with runtime(tmp_path, server, max_tokens=20) as made:
            second = _work(made, 300, caps(1.0))
        found = assert_books_agree(tmp_path, server)
    assert 0 < len(first) < 300
    assert len(second) == 300
    assert found.outcomes["paid"] == server.books.requests == 300


@pytest.mark.usefixtures("each_ledger")
def test_a_cap_counts_what_was_spent_before_there_was_one(tmp_path: Path) -> None:
    with Loopback() as server:
        with runtime(tmp_path, server) as made:
            _work(made, 50, ())
        spent = sums(tmp_path).spent_usd
        with runtime(tmp_path, server) as made:
            assert _work(made, 60, caps(spent + 1e-6)) == [f"c {n}" for n in range(50)]


@pytest.mark.usefixtures("each_ledger")
def test_a_cells_cap_stops_that_cell_only(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server, max_tokens=20) as made:
        limited = _work(made, 100, caps(0.002, "cell:a"), cell="a")
        free = _work(made, 100, (), cell="b")
        assert not made.stopped.is_set()
        with pytest.raises(BudgetReached, match=r"the cell past its \$0.002"):
            made.check_stop("a")
        made.check_stop("b")
    assert 0 < len(limited) < 100
    assert len(free) == 100


def test_calls_in_flight_finish_when_the_budget_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are paid for; the seconds given after Ctrl-C do not apply. Under the cap itself nothing is in flight then;
    calls of another sweep in this process are."""
    monkeypatch.setattr("seedbed.lm.stop.GRACE_S", 0.2)
    arrived, answer = threading.Event(), threading.Event()

    def keep_waiting(_request: object, _body: bytes) -> None:
        arrived.set()
        answer.wait(600)

    with Loopback(watch=keep_waiting) as server, runtime(tmp_path, server, timeout_s=120) as made:
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(_work, made, 1, (), cell="other")
            assert arrived.wait(600)
            assert _work(made, 1, caps(1e-9, "sweep:this one")) == []
            assert isinstance(made.stop_reason, BudgetReached)
            # Much longer than the grace that a call would have after Ctrl-C.
            with pytest.raises(TimeoutError):
                other.result(timeout=1.5)
            answer.set()
            assert other.result(timeout=600) == ["other 0"]
        found = assert_books_agree(tmp_path, server)
    assert found.outcomes == {"paid": 1}


@pytest.mark.usefixtures("each_ledger")
def test_failed_attempts_give_their_reservation_back(tmp_path: Path) -> None:
    faults = {"server": 0.3, "rate_limit": 0.2}
    with Loopback(faults=faults) as server, runtime(tmp_path, server) as made:
        answered = _work(made, 100, caps(1.0))
        found = assert_books_agree(tmp_path, server)
    assert len(answered) == 100
    used, reserved = budget_row(tmp_path, "sweep:s")
    assert abs(used - found.spent_usd) < 1e-9
    assert abs(reserved) < 1e-9


def test_an_unreachable_server_costs_nothing(tmp_path: Path) -> None:
    with Loopback() as server:
        pass
    with runtime(tmp_path, server, retries=2) as made, pytest.raises(Unreachable, match="cannot reach"):
        _work(made, 5, caps(1.0))
    found = sums(tmp_path)
    assert set(found.outcomes) == {"failed"}
    assert found.at_risk_usd == 0.0


@pytest.mark.usefixtures("each_ledger")
def test_timeouts_count_against_the_cap_at_their_worst(tmp_path: Path) -> None:
    # None is ever answered: an answer that came too late on a busy machine would be on one side's books alone.
    silent = Loopback(faults={"timeout": 1.0}, max_faults=9)
    with silent as server, runtime(tmp_path, server, timeout_s=0.5, retries=1) as made:
        assert _work(made, 3, caps(1.0)) == []
        found = assert_books_agree(tmp_path, server)
    assert found.outcomes == {"failed": 6}
    assert found.at_risk_usd > 0
    assert abs(budget_row(tmp_path, "sweep:s")[0] - found.spent_usd - found.at_risk_usd) < 1e-9


@pytest.mark.usefixtures("each_ledger")
def test_two_processes_share_one_cap(tmp_path: Path) -> None:
    """Two runtimes have two ledgers' writers, as two processes have."""
    cap = 0.01
    with Loopback(latency_s=0.01) as server:
        with runtime(tmp_path, server, max_tokens=20) as one, runtime(tmp_path, server, max_tokens=20) as two:

            async def both() -> None:
                await asyncio.gather(
                    asyncio.to_thread(_work, one, 500, caps(cap), "a"),
                    asyncio.to_thread(_work, two, 500, caps(cap), "b"),
                )

            asyncio.run(both())
        found = assert_books_agree(tmp_path, server)
    assert 0.8 * cap < found.spent_usd <= cap
