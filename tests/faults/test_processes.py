"""Several processes on one ledger, on SQLite and on PostgreSQL: what they share, and what a killed one leaves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from seedbed.lm.ledger.database import open_database, reading
from tests.support import lm
from tests.support.lm import assert_books_agree, budget_row, runtime, scope, sums
from tests.support.loopback import Loopback
from tests.support.worker import Worker, run_together

pytestmark = pytest.mark.usefixtures("each_ledger")


def _wait_for_requests(server: Loopback, count: int) -> None:
    deadline = time.monotonic() + 600
    while server.books.requests < count:
        assert time.monotonic() < deadline, f"only {server.books.requests} requests came"
        time.sleep(0.005)


def _rows(folder: Path, query: str) -> list[Any]:
    engine = open_database(lm.ledger_url(folder))
    with reading(engine) as connection:
        rows = list(connection.execute(text(query)))
    engine.dispose()
    return rows


def test_a_request_met_by_two_processes_is_paid_once(tmp_path: Path) -> None:
    url = lm.ledger_url(tmp_path)
    with Loopback(latency_s=0.05) as server:
        workers = [Worker(url, server, questions=range(120), cell=cell, at_once=32) for cell in ("a", "b")]
        results = run_together(workers)
        found = assert_books_agree(tmp_path, server)
    assert [result["answered"] for result in results] == [120, 120]
    assert set(server.books.by_body.values()) == {1}
    assert found.outcomes == {"paid": 120, "reused": 120}


def test_two_processes_account_for_a_fifth_of_faults(tmp_path: Path) -> None:
    faults = {"rate_limit": 0.05, "server": 0.05, "reset": 0.04, "malformed": 0.04, "gateway": 0.02}
    url = lm.ledger_url(tmp_path)
    with Loopback(faults=faults, seed=3, cached_share=0.25) as server:
        # Half of the questions are asked by both.
        spans = (range(150), range(75, 225))
        workers = [Worker(url, server, questions=span, cell=str(span.start), timeout_s=600.0) for span in spans]
        results = run_together(workers)
        found = assert_books_agree(tmp_path, server)
    assert [result["answered"] for result in results] == [150, 150]
    assert found.outcomes == {"paid": 225, "reused": 75, "failed": sum(server.books.faults.values())}
    assert server.books.faults.total() > 20


def test_two_processes_with_64_calls_in_flight_each_keep_one_cap(tmp_path: Path) -> None:
    cap, url = 0.05, lm.ledger_url(tmp_path)
    with Loopback(latency_s=0.3) as server:
        workers = [
            Worker(url, server, questions=span, cell=f"c{span.start}", max_usd=cap, max_tokens=20)
            for span in (range(1000), range(1000, 2000))
        ]
        results = run_together(workers)
        found = assert_books_agree(tmp_path, server)
    assert [result["stopped"] for result in results] == ["BudgetReached", "BudgetReached"]
    assert sum(result["answered"] for result in results) == found.outcomes["paid"] > 128
    assert all(result["answered"] for result in results), "both were at it"
    # Reservations hold it below the cap, and what is left could not have paid for one more call.
    assert 0.9 * cap < found.spent_usd <= cap
    used, reserved = budget_row(tmp_path, "sweep:s")
    assert abs(used - found.spent_usd) < 1e-9
    assert abs(reserved) < 1e-9


def test_what_a_killed_process_had_in_flight_is_lost_and_the_rest_is_not_paid_again(tmp_path: Path) -> None:
    url, at_once = lm.ledger_url(tmp_path), 16
    with Loopback(latency_s=0.1) as server:
        first = Worker(url, server, questions=range(100), max_usd=1.0, limits={"concurrency": at_once})
        first.wait_until_ready()
        first.go()
        _wait_for_requests(server, 40)
        first.kill()
        before = server.books.requests
        second = Worker(url, server, questions=range(100), execution="e2", max_usd=1.0)
        second.wait_until_ready()
        second.go()
        assert second.result()["answered"] == 100
        found = sums(tmp_path)
    paid = {row.key for row in _rows(tmp_path, "SELECT key FROM attempts WHERE outcome = 'paid'")}
    lost = _rows(tmp_path, "SELECT key, at_risk_usd, reserved_usd FROM attempts WHERE outcome = 'lost'")
    assert len(paid) == found.outcomes["paid"] == 100
    assert 0 < len(lost) <= at_once
    assert all(row.at_risk_usd == row.reserved_usd > 0 for row in lost)
    assert found.in_flight == 0
    # Only what was lost was asked twice.
    assert before < server.books.requests <= 100 + len(lost)
    assert sum(count > 1 for count in server.books.by_body.values()) <= len(lost)
    used, reserved = budget_row(tmp_path, "sweep:s")
    assert abs(used - found.spent_usd - found.at_risk_usd) < 1e-9
    assert abs(reserved) < 1e-9


def test_a_living_process_takes_over_what_a_killed_one_had_in_flight(tmp_path: Path) -> None:
    url = lm.ledger_url(tmp_path)
    with Loopback(latency_s=0.4) as server, runtime(tmp_path, server) as living:
        killed = Worker(url, server, questions=range(1, 2))
        killed.wait_until_ready()
        killed.go()
        _wait_for_requests(server, 1)
        killed.kill()
        assert living.lm(scope())("Is 1 even?")[0]
    assert sums(tmp_path).outcomes == {"lost": 1, "paid": 1}
    assert server.books.requests == 2


def test_shared_limits_hold_over_processes_that_know_of_each_other(tmp_path: Path) -> None:
    limits, url = {"concurrency": 8, "scope": "sweep"}, lm.ledger_url(tmp_path)
    with Loopback(latency_s=0.5) as server:
        workers = [
            Worker(url, server, questions=range(n, n + 40), peers=2, limits=limits, cell=f"c{n}") for n in (0, 100)
        ]
        results = run_together(workers)
    assert [result["answered"] for result in results] == [40, 40]
    assert 4 < server.books.max_in_flight <= 8


def test_a_newcomer_takes_its_share_when_the_others_have_made_room(tmp_path: Path) -> None:
    limits, url = {"concurrency": 8, "scope": "sweep"}, lm.ledger_url(tmp_path)
    with Loopback(latency_s=0.05) as server:
        old = Worker(url, server, questions=range(3000), limits=limits, cell="old")
        old.wait_until_ready()
        old.go()
        _wait_for_requests(server, 50)
        assert server.books.max_in_flight == 8, "alone it has all places"
        young = Worker(url, server, questions=range(5000, 5040), limits=limits, cell="young")
        young.wait_until_ready()
        young.go()
        assert young.result()["answered"] == 40
        assert old.process.poll() is None, "both were at work"
        old.kill()
    assert server.books.max_in_flight == 8


def test_a_shared_rate_is_not_passed_by_two_processes(tmp_path: Path) -> None:
    # 20 a second for both: each may send a second's worth of its half at once, and then 10 a second.
    limits, url = {"concurrency": 64, "rpm": 60 * 20, "scope": "sweep"}, lm.ledger_url(tmp_path)
    with Loopback() as server:
        workers = [
            Worker(url, server, questions=range(n, n + 30), peers=2, limits=limits, cell=f"c{n}") for n in (0, 100)
        ]
        for worker in workers:
            worker.wait_until_ready()
        began = time.monotonic()
        for worker in workers:
            worker.go()
        assert [worker.result()["answered"] for worker in workers] == [30, 30]
        took = time.monotonic() - began
    # With a whole rate each they would need half a second.
    assert took >= 1.9
