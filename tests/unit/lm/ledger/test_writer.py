"""The writer: on the loop while nobody is in its way, by the thread while somebody is, and always in order."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from seedbed.errors import SeedbedError, UserError
from seedbed.lm.ledger import Begin, End, Granted, Ledger, Stored, writer
from seedbed.lm.types import Usage
from tests.support.lm import ledger_url, scope, sums


@contextmanager
def _ledger(folder: Path) -> Iterator[Ledger]:
    ledger = Ledger(ledger_url(folder), list_price=lambda _model, _usage: 1.0)
    try:
        yield ledger
    finally:
        ledger.close()


@contextmanager
def _other_writer(folder: Path) -> Iterator[Callable[[], None]]:
    """Somebody else who holds the database's write lock until told to let go."""
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield lambda: connection.execute("COMMIT") and None
    finally:
        connection.close()


def _begin(key: str) -> Begin:
    return Begin(scope(), key, 1, "sample", b"{}", 0.001, ())


def _paid(granted: Any, begin: Begin) -> End:
    assert isinstance(granted, Granted)
    return End(granted.attempt_id, begin, "paid", Usage(1, 1), 1.0, 1.0, 0.0, 0.1, response=b'{"said": "yes"}')


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


def test_alone_it_writes_without_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(ledger: Ledger) -> None:
        begin = _begin("a")
        await ledger.end(_paid(await ledger.begin(begin), begin))
        assert isinstance(await ledger.begin(_begin("a")), Stored)

    with _ledger(tmp_path) as ledger:
        monkeypatch.setattr(ledger, "_write_batch", lambda batch: pytest.fail(f"the thread was given {batch}"))
        _run(work(ledger))
    assert sums(tmp_path).outcomes == {"paid": 1, "reused": 1}


def test_the_loop_goes_on_while_another_process_writes_and_the_order_stays(tmp_path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        begin = _begin("a")
        granted = await ledger.begin(begin)
        with _other_writer(tmp_path) as let_go:
            ended = ledger.end(_paid(granted, begin))
            ticks = 0
            while ticks < 20:
                await asyncio.sleep(0.005)
                ticks += 1
            assert not ended.done(), "the loop ran, the record waits"
            again = ledger.begin(_begin("a"))
            let_go()
            await ended
            assert isinstance(await again, Stored), "the begin overtook the end whose answer it was to find"
        assert isinstance(await ledger.begin(_begin("b")), Granted)

    with _ledger(tmp_path) as ledger:
        _run(work(ledger))
    assert sums(tmp_path).outcomes["reused"] == 1


def test_after_a_wait_it_is_the_loop_that_writes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(ledger: Ledger) -> None:
        with _other_writer(tmp_path) as let_go:
            waiting = ledger.begin(_begin("a"))
            await asyncio.sleep(0.05)
            let_go()
            await waiting
        monkeypatch.setattr(ledger, "_write_batch", lambda batch: pytest.fail(f"the thread was given {batch}"))
        assert isinstance(await ledger.begin(_begin("b")), Granted)

    with _ledger(tmp_path) as ledger:
        _run(work(ledger))


def test_a_bad_row_does_not_take_the_others_of_its_batch_with_it(tmp_path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        bad = Begin(scope(), "bad", 1, "sample", "not bytes", 0.001, ())  # type: ignore[arg-type]
        ends = await asyncio.gather(
            ledger.begin(_begin("a")), ledger.begin(bad), ledger.begin(_begin("b")), return_exceptions=True
        )
        assert [type(end).__name__ for end in (ends[0], ends[2])] == ["Granted", "Granted"]
        assert isinstance(ends[1], Exception)

    with _ledger(tmp_path) as ledger:
        _run(work(ledger))


def test_what_came_before_the_close_is_written_and_what_comes_after_is_refused(tmp_path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        begin = _begin("a")
        granted = await ledger.begin(begin)
        ended = ledger.end(_paid(granted, begin))
        ledger.close()
        await ended
        with pytest.raises(SeedbedError, match="closed"):
            await ledger.begin(_begin("b"))

    with _ledger(tmp_path) as ledger:
        _run(work(ledger))
    assert sums(tmp_path).outcomes == {"paid": 1}


def _fill_disk(ledger: Ledger) -> None:
    """The database cannot grow any more: what needs another page fails with SQLITE_FULL, what needs none is written."""
    event.listen(ledger.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=1"))


def _long(granted: Any, begin: Begin) -> End:
    """An end for which a full disk has no room."""
    assert isinstance(granted, Granted)
    said = os.urandom(100_000)
    return End(granted.attempt_id, begin, "paid", Usage(1, 1), 1.0, 1.0, 0.0, 0.1, response=said)


def test_a_call_whose_end_found_no_room_keeps_nobody_waiting_later(tmp_path: Path) -> None:
    async def until_full(ledger: Ledger) -> None:
        begin = _begin("a")
        granted = await ledger.begin(begin)
        _fill_disk(ledger)
        with pytest.raises(OperationalError, match="full"):
            await ledger.end(_long(granted, begin))

    async def go_on(ledger: Ledger) -> None:
        assert isinstance(await ledger.begin(_begin("a")), Granted)

    with _ledger(tmp_path) as ledger:
        _run(until_full(ledger))
    # It may have been billed.
    found = sums(tmp_path)
    assert (found.outcomes, found.at_risk_usd) == ({"lost": 1}, 0.001)
    with _ledger(tmp_path) as ledger:
        _run(go_on(ledger))


def test_what_a_writer_left_open_when_it_signed_off_is_taken_over(tmp_path: Path) -> None:
    async def begin(ledger: Ledger) -> None:
        assert isinstance(await ledger.begin(_begin("a")), Granted)

    with _ledger(tmp_path) as ledger:
        _run(begin(ledger))
    with _ledger(tmp_path) as ledger, ledger.engine.begin() as connection:
        # As older ledgers may have it.
        connection.execute(text("UPDATE attempts SET outcome = NULL, at_risk_usd = NULL, error_class = NULL"))
    with _ledger(tmp_path) as ledger:
        _run(begin(ledger))


def test_on_a_full_disk_all_are_told_at_once_and_what_still_fits_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(ledger: Ledger) -> None:
        begins = [_begin(f"{number}") for number in range(20)]
        granted = await asyncio.gather(*map(ledger.begin, begins))
        _fill_disk(ledger)
        monkeypatch.setattr(writer.time, "sleep", waited.append)
        ends = [_long(*pair) for pair in zip(granted[1:], begins[1:], strict=True)]
        short = End(granted[0].attempt_id, begins[0], "failed", None, 0.0, 0.0, 0.0, 0.1, response=None)
        told = await asyncio.gather(*map(ledger.end, [*ends, short]), return_exceptions=True)
        assert all(isinstance(reply, OperationalError) for reply in told[:-1])
        assert told[-1] is None
        monkeypatch.undo()

    waited: list[float] = []
    with _ledger(tmp_path) as ledger:
        _run(work(ledger))
    assert waited == []
    assert sums(tmp_path).outcomes == {"failed": 1, "lost": 19}


def test_a_ledger_that_cannot_take_one_more_writer_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OperationalError("an owner", None, reason) from reason

    reason = sqlite3.OperationalError("database or disk is full")
    reason.sqlite_errorcode = sqlite3.SQLITE_FULL
    for step in ("register_owner", "split_owners"):
        monkeypatch.setattr(writer, step, full)
        with pytest.raises(UserError, match=r"ledger\.sqlite: cannot be opened .*full.*make room"):
            Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: 1.0)
        monkeypatch.undo()


def test_a_database_that_is_gone_is_waited_for_once_and_not_by_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise OperationalError("a batch", None, Exception("the server is gone"))

    async def work(ledger: Ledger) -> None:
        monkeypatch.setattr(ledger, "_transaction", gone)
        monkeypatch.setattr(writer.time, "sleep", waited.append)
        told = await asyncio.gather(*(ledger.begin(_begin(f"{n}")) for n in range(20)), return_exceptions=True)
        assert all(isinstance(reply, OperationalError) for reply in told)
        monkeypatch.undo()

    waited: list[float] = []
    with _ledger(tmp_path) as ledger:
        _run(work(ledger))
    assert waited == list(writer._PAUSES_S)


def test_it_looks_around_with_its_heartbeat_and_not_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beats: list[int] = []
    monkeypatch.setattr("seedbed.lm.ledger.writer.HEARTBEAT_S", 3600.0)
    monkeypatch.setattr(Ledger, "_beat", lambda ledger: beats.append(ledger.owner))
    with _ledger(tmp_path) as ledger:
        ledger._queue.put(None)  # type: ignore[attr-defined]
        ledger._thread.join(200)  # type: ignore[attr-defined]
        assert not ledger._thread.is_alive()  # type: ignore[attr-defined]
    assert beats == []


def test_a_closed_ledger_takes_nothing_and_closes_once(tmp_path: Path) -> None:
    async def work(ledger: Ledger) -> None:
        with pytest.raises(SeedbedError, match="closed"):
            ledger.begin(_begin("a"))

    with _ledger(tmp_path) as ledger:
        ledger.close()
        _run(work(ledger))


def test_who_asks_in_the_moment_of_the_closing_is_told(tmp_path: Path) -> None:
    """Between the look at the door and the entry it was shut, by another thread."""

    async def work(ledger: Ledger) -> None:
        waiting = ledger.begin(_begin("a"))
        ledger._closed = True  # type: ignore[attr-defined]
        try:
            with pytest.raises(SeedbedError, match="closed"):
                await asyncio.wait_for(waiting, 20)
        finally:
            ledger._closed = False  # type: ignore[attr-defined]

    with _ledger(tmp_path) as ledger:
        _run(work(ledger))
