"""Servers that never answer, drip or break off; callers that are cancelled; runtimes that are closed."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import dspy
import pytest
from sqlalchemy import text

from seedbed.errors import Interrupted, ProviderError, SeedbedError
from seedbed.phases.predict import describe
from seedbed.phases.run_all import run_all
from tests.support.lm import assert_books_agree, runtime, scope, sums
from tests.support.loopback import Loopback


@pytest.mark.parametrize(
    ("fault", "kind"), [("timeout", "timeout"), ("drip", "timeout"), ("mid_body", "transport"), ("reset", "transport")]
)
def test_a_broken_server_is_a_typed_failure_within_the_timeout(tmp_path: Path, fault: str, kind: str) -> None:
    endless = Loopback(faults={fault: 1.0}, max_faults=9)
    with endless as server, runtime(tmp_path, server, timeout_s=0.5, retries=1) as made:
        started = time.monotonic()
        with pytest.raises(Exception) as caught:
            made.run(made.lm(scope()).acall("hello"))
        took = time.monotonic() - started
    assert describe(caught.value)["kind"] == kind
    assert took < 10
    found = sums(tmp_path)
    assert found.outcomes == {"failed": 2}
    assert found.at_risk_usd > 0


@pytest.mark.parametrize("sync", [True, False])
def test_a_stop_ends_calls_that_hang(tmp_path: Path, sync: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.lm.stop.GRACE_S", 0.3)
    with Loopback(faults={"timeout": 1.0}) as server, runtime(tmp_path, server, timeout_s=60) as made:
        lm, failed = made.lm(scope()), []

        def ask() -> None:
            try:
                if sync:
                    lm("hello")
                else:
                    made.run(run_all(made, ["hello"], lambda q: lm.acall(q), calls_at_once=4))  # type: ignore[arg-type]
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.books.requests:
            time.sleep(0.01)
        made.stop(Interrupted("stopped by the user"))
        thread.join(45)
        assert not thread.is_alive()
        assert "stopped by the user" in str(failed[0])
    assert sums(tmp_path).outcomes == {"lost": 1}
    assert sums(tmp_path).at_risk_usd > 0


def test_a_stop_ends_pauses_between_retries(tmp_path: Path) -> None:
    with Loopback(faults={"server": 1.0}, max_faults=99) as server, runtime(tmp_path, server, backoff_s=60) as made:
        lm, failed = made.lm(scope()), []

        def ask() -> None:
            try:
                lm("hello")
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.books.requests:
            time.sleep(0.01)
        made.stop(Interrupted("stopped by the user"))
        thread.join(45)
        assert not thread.is_alive()
    assert failed


def test_closing_releases_threads_that_wait(tmp_path: Path) -> None:
    ended = threading.Event()
    with Loopback(faults={"timeout": 1.0}) as server:
        with runtime(tmp_path, server, timeout_s=60) as made:
            lm = made.lm(scope())

            def ask() -> None:
                try:
                    lm("hello")
                except Exception:
                    ended.set()

            threading.Thread(target=ask, daemon=True).start()
            while not server.books.requests:
                time.sleep(0.01)
        assert ended.wait(45)
    assert sums(tmp_path).in_flight == 0


def test_a_sync_call_inside_an_async_system_is_an_error_not_a_deadlock(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        lm = made.lm(scope())

        async def wrong() -> None:
            lm("hello")

        with pytest.raises(Exception, match="acall"):
            made.run(wrong())


def test_cancelled_callers_leave_nothing_in_flight_and_the_key_free(tmp_path: Path) -> None:
    with Loopback(latency_s=0.02) as server, runtime(tmp_path, server, limits={"concurrency": 3}) as made:
        lm = made.lm(scope())

        async def cancel_many() -> None:
            for round_ in range(30):
                tasks = [asyncio.ensure_future(lm.acall(f"{n}")) for n in range(8)]
                # At every moment of a call: before its claim, before it is sent, in flight, while it is recorded.
                await asyncio.sleep(0.001 * round_)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        made.run(cancel_many())
        answers = [made.run(asyncio.wait_for(lm.acall(f"{n}"), 200)) for n in range(8)]
        assert all(answer[0] for answer in answers)
        time.sleep(0.2)
    found = sums(tmp_path)
    assert found.in_flight == 0
    assert found.outcomes.get("lost", 0) > 0


def test_a_key_left_open_by_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    with Loopback() as server:
        with runtime(tmp_path, server) as made:
            made.run(made.lm(scope()).acall("hello"))
            with made.ledger.engine.begin() as connection:
                # As if this process had died before the end was written.
                connection.execute(text("DELETE FROM responses"))
                connection.execute(text("UPDATE attempts SET outcome = NULL, tokens_in = NULL, owner = 77"))
                connection.execute(
                    text("INSERT INTO owners (id, host, pid, seen_at) SELECT 77, host, 999999, seen_at FROM owners")
                )
        with runtime(tmp_path, server) as made:
            assert made.run(asyncio.wait_for(made.lm(scope()).acall("hello"), 200))[0]
    found = sums(tmp_path)
    assert found.outcomes == {"lost": 1, "paid": 1}
    assert found.at_risk_usd > 0


def test_two_ledgers_of_one_process_do_not_take_each_other_for_dead(tmp_path: Path) -> None:
    with Loopback(latency_s=0.5) as server:
        with runtime(tmp_path, server) as one:
            lm, answers = one.lm(scope()), []
            thread = threading.Thread(target=lambda: answers.append(lm("hello")))
            thread.start()
            while not server.books.requests:
                time.sleep(0.01)
            with runtime(tmp_path, server) as two:
                assert sums(tmp_path).in_flight == 1
                second = two.lm(scope(cell="d"))("hello")
            thread.join(200)
        assert answers == [second]
        found = assert_books_agree(tmp_path, server)
    # The second waited for the first's answer instead of paying again.
    assert found.outcomes == {"paid": 1, "reused": 1}


def test_a_ledger_that_cannot_be_written_stops_everything(tmp_path: Path) -> None:
    with Loopback() as server, runtime(tmp_path, server) as made:
        made.run(made.lm(scope()).acall("first"))
        with made.ledger.engine.begin() as connection:
            connection.execute(text("ALTER TABLE attempts RENAME TO hidden"))
        with pytest.raises(Exception, match="ledger cannot be written"):
            made.run(made.lm(scope()).acall("second"))
        with pytest.raises(SeedbedError, match="ledger cannot be written"):
            made.check_stop()
        assert server.books.requests == 1
        with made.ledger.engine.begin() as connection:
            connection.execute(text("ALTER TABLE hidden RENAME TO attempts"))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("auth", r"refused the key.*Name the variable that holds its key as `api_key_env`"),
        ("billing", r"wants payment.*Top up the account"),
    ],
)
def test_fatal_errors_stop_at_once_with_what_to_do(tmp_path: Path, fault: str, sentence: str) -> None:
    with Loopback(faults={fault: 1.0}, max_faults=99) as server, runtime(tmp_path, server) as made:
        with pytest.raises(Exception, match="refused"):
            made.run(made.lm(scope()).acall("hello"))
        with pytest.raises(SeedbedError, match=sentence):
            made.check_stop()
        assert server.books.requests == 1


def test_a_request_that_is_too_long_fails_alone_and_says_what_to_do(tmp_path: Path) -> None:
    with Loopback(faults={"context_length": 1.0}, max_faults=99) as server, runtime(tmp_path, server) as made:
        with pytest.raises(dspy.ContextWindowExceededError) as caught:
            made.run(made.lm(scope()).acall("hello"))
        made.check_stop()
        assert server.books.requests == 1
    error = describe(caught.value)
    assert error["kind"] == "context_length"
    assert "shorten the context" in error["message"]
    assert isinstance(caught.value.__cause__.__cause__, ProviderError)  # type: ignore[union-attr]
