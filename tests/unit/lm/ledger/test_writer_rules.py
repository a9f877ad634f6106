"""The writer by itself: what it does when it opens, with its heartbeat, in the way of others and when it closes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import OperationalError

from seedbed.lm.ledger import Begin, Cap, End, Granted, Ledger, OverBudget, schema, settled, writer
from seedbed.lm.ledger.database import _own, open_database  # type: ignore[attr-defined]
from seedbed.lm.types import Usage
from tests.support.lm import ledger_url, scope
from tests.unit.lm.ledger.conftest import NO_END, attempt, open_files, put


@contextmanager
def opened(folder: Path, **settings: Any) -> Iterator[Ledger]:
    ledger = Ledger(ledger_url(folder), list_price=lambda _model, _usage: 1.0, **settings)
    try:
        yield ledger
    finally:
        ledger.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as made:
        yield made


@pytest.fixture
def idle(ledger: Ledger) -> Ledger:
    """A ledger whose thread has ended: what it does is asked for by the test."""
    ledger.close()
    return ledger


def begin(key: str) -> Begin:
    return Begin(scope(), key, 1, "sample", b"{}", 0.001, ())


def ask(ledger: Ledger, *keys: str) -> list[Any]:
    """What each is told that asks in one pass of the loop."""

    async def work() -> list[Any]:
        return await asyncio.gather(*(ledger.begin(begin(key)) for key in keys), return_exceptions=True)

    return asyncio.run(asyncio.wait_for(work(), 30))


def outcomes(engine: Engine) -> list[str | None]:
    with engine.connect() as connection:
        return list(connection.scalars(select(schema.attempts.c.outcome).order_by(schema.attempts.c.id)))


def failure(code: int) -> OperationalError:
    """What SQLite says with this number."""
    said = sqlite3.OperationalError("no")
    said.sqlite_errorcode = code
    return OperationalError("a batch", None, said)


# -- opening and closing -----------------------------------------------------------------------------------------------


def test_it_opens_with_the_record_set_straight_and_what_ended_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settled, "WORTH_IT", 1)
    engine = open_database(ledger_url(tmp_path))
    put(engine, attempt(1), attempt(1, owner=2, key="open", **NO_END))
    with opened(tmp_path):
        assert outcomes(engine) == ["paid", "lost"]
        with engine.connect() as connection:
            assert list(connection.scalars(select(schema.settled_owners.c.owner))) == [1]
    engine.dispose()


@pytest.mark.parametrize("keeps", [True, False])
def test_bodies_are_kept_unless_they_are_not_wanted(tmp_path: Path, keeps: bool) -> None:
    with opened(tmp_path, **({} if keeps else {"store_bodies": False})) as ledger:
        ask(ledger, "a")
        with ledger.engine.connect() as connection:
            assert len(connection.execute(select(schema.requests)).all()) == int(keeps)


def test_a_closed_ledger_has_signed_off_and_has_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, alive = writer.sign_off, list[bool]()

    def sign_off(*given: Any) -> None:
        alive.append(ledger._thread.is_alive())  # type: ignore[attr-defined]
        own(*given)

    monkeypatch.setattr(writer, "sign_off", sign_off)
    with opened(tmp_path) as ledger:
        ask(ledger, "a")
    assert alive == [False], "it writes no more when it signs off"
    assert open_files(tmp_path) == []
    engine = open_database(ledger_url(tmp_path))
    with engine.connect() as connection:
        assert list(connection.scalars(select(schema.owners.c.seen_at))) == [0.0]
    engine.dispose()


def test_a_ledger_that_cannot_be_opened_for_another_reason_says_so_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise failure(sqlite3.SQLITE_BUSY)

    monkeypatch.setattr(writer, "register_owner", locked)
    with pytest.raises(OperationalError):
        Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: None)


def test_who_joins_others_is_known_after_a_heartbeat_and_a_bit_and_who_is_alone_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer.time, "monotonic", lambda: 1000.0)
    with opened(tmp_path) as first, opened(tmp_path) as second, opened(tmp_path) as third:
        assert [ledger.peers for ledger in (first, second, third)] == [1, 2, 3]
        assert [ledger.known_from for ledger in (first, second, third)] == [1000.0, 1006.0, 1006.0]


# -- others at work ----------------------------------------------------------------------------------------------------


def test_who_joins_and_leaves_is_told_once(tmp_path: Path) -> None:
    told: list[int] = []
    with opened(tmp_path, on_peers=told.append) as ledger:
        assert told == []
        with opened(tmp_path):
            assert ledger.look_around() == 2
            assert ledger.look_around() == 2
        assert ledger.look_around() == 1
        assert ledger.look_around() == ledger.peers == 1
    assert told == [2, 1]


def test_who_wants_not_to_be_told_can_look(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger, opened(tmp_path):
        assert (ledger.peers, ledger.look_around(), ledger.peers) == (1, 2, 2)


def test_a_process_that_is_taken_for_dead_counts_itself(ledger: Ledger) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(text("DELETE FROM owners"))
    assert ledger.look_around() == 1


def test_a_heartbeat_is_written_and_what_the_dead_left_is_lost(tmp_path: Path) -> None:
    told: list[int] = []
    with opened(tmp_path, on_peers=told.append) as ledger, opened(tmp_path) as dead:
        ask(dead, "a")
        _own.discard((str(dead.engine.url), dead.owner))
        with ledger.engine.begin() as connection:
            connection.execute(text("UPDATE owners SET seen_at = 1.0"))
        ledger._beat()  # type: ignore[attr-defined]
        with ledger.engine.connect() as connection:
            seen = {row.id: row.seen_at for row in connection.execute(select(schema.owners))}
        assert (seen[ledger.owner] > 1.0, seen[dead.owner]) == (True, 1.0)
        assert outcomes(ledger.engine) == ["lost"]
        assert told == []
        with opened(tmp_path):
            ledger._beat()  # type: ignore[attr-defined]
        assert told == [2]


def test_a_heart_beats_every_five_seconds_whatever_is_written_between(
    idle: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, waits, beats, written = [100.0], list[float](), list[float](), list[Any]()
    turns = iter([(5.0, [], False), (2.0, ["a"], False), (3.0, ["b"], False), (0.0, ["c"], True)])

    def next_batch(wait_s: float) -> tuple[Any, bool]:
        waits.append(wait_s)
        took, batch, stopping = next(turns)
        clock[0] += took
        return batch, stopping

    monkeypatch.setattr(writer.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(idle, "_next_batch", next_batch)
    monkeypatch.setattr(idle, "_beat", lambda: beats.append(clock[0]))
    monkeypatch.setattr(idle, "_write_batch", written.append)
    idle._run()  # type: ignore[attr-defined]
    assert waits == [5.0, 5.0, 3.0, 5.0]
    assert beats == [105.0, 110.0]
    assert written == [["a"], ["b"], ["c"]]


# -- batches -----------------------------------------------------------------------------------------------------------


def test_a_batch_is_what_has_come_up_to_a_number(idle: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MAX_BATCH", 2)
    next_batch: Callable[[float], Any] = idle._next_batch  # type: ignore[attr-defined]
    for entry in ("a", "b", "c", "d", "e", None, "never"):
        idle._queue.put(entry)  # type: ignore[attr-defined]
    assert [next_batch(0.0) for _ in range(3)] == [(["a", "b"], False), (["c", "d"], False), (["e"], True)]
    assert next_batch(0.0) == (["never"], False)


def test_a_heartbeat_that_is_overdue_is_not_waited_for(idle: Ledger) -> None:
    assert idle._next_batch(-3.0) == ([], False)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "by_the_loop"),
    [
        (sqlite3.SQLITE_BUSY, 6),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, 6),
        (sqlite3.SQLITE_ERROR, 1),
        (sqlite3.SQLITE_FULL, 1),
    ],
    ids=["another writes", "another has written", "an error", "a full disk"],
)
def test_the_loop_tries_five_times_more_where_another_writes_and_then_the_thread_does(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: int, by_the_loop: int
) -> None:
    tried: list[str] = []

    def refuse(_connection: Any, items: Sequence[Begin]) -> None:
        tried.append("loop")
        raise failure(code)

    def write(items: Sequence[Begin]) -> list[str]:
        tried.append("thread")
        return [f"told {item.key}" for item in items]

    monkeypatch.setattr(writer, "_LOOP_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(ledger, "_transaction", refuse)
    monkeypatch.setattr(ledger, "_by_thread", write)
    for _ in range(2):
        assert ask(ledger, "a", "b") == ["told a", "told b"]
        by_whom = tried[:by_the_loop], set(tried[by_the_loop:])
        assert by_whom == (["loop"] * by_the_loop, {"thread"})
        tried.clear()


def test_after_a_wait_that_went_well_the_next_may_wait_as_often(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, refusals = ledger._transaction, list[int]()  # type: ignore[attr-defined]

    def refuse_some(connection: Any, items: Sequence[Begin]) -> Any:
        if refusals:
            refusals.pop()
            raise failure(sqlite3.SQLITE_BUSY)
        return own(connection, items)

    monkeypatch.setattr(writer, "_LOOP_PAUSES_S", (0.0,) * 5)
    monkeypatch.setattr(ledger, "_transaction", refuse_some)
    monkeypatch.setattr(ledger, "_write_batch", lambda batch: pytest.fail(f"the thread was given {batch}"))
    for key in "abc":
        refusals[:] = [0] * 5
        assert isinstance(ask(ledger, key)[0], Granted)


def test_while_the_thread_has_something_it_gets_all_and_then_the_loop_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: Any = ledger._transaction  # type: ignore[attr-defined]
    nowait: Any = ledger._nowait  # type: ignore[attr-defined]
    wrote: list[tuple[str, list[str]]] = []
    all_handed_over = threading.Event()

    def write(connection: Any, items: Sequence[Begin]) -> Any:
        who = "loop" if connection is nowait else "thread"
        wrote.append((who, [item.key for item in items]))
        if who == "loop" and len(wrote) == 1:
            raise failure(sqlite3.SQLITE_ERROR)
        assert all_handed_over.wait(200)
        return own(connection, items)

    async def work() -> None:
        first = ledger.begin(begin("a"))
        await asyncio.sleep(0)
        second = ledger.begin(begin("b"))
        await asyncio.sleep(0)
        all_handed_over.set()
        await asyncio.gather(first, second)
        await ledger.begin(begin("c"))

    monkeypatch.setattr(ledger, "_transaction", write)
    asyncio.run(asyncio.wait_for(work(), 30))
    assert wrote[0] == ("loop", ["a"])
    assert [who for who, _ in wrote] == ["loop", *["thread"] * (len(wrote) - 2), "loop"]
    assert [key for _, keys in wrote[1:] for key in keys] == ["a", "b", "c"]


@pytest.mark.parametrize("broken", ["a body that is none", "a column that is empty"])
def test_what_was_counted_in_a_transaction_that_failed_is_counted_again(tmp_path: Path, broken: str) -> None:
    """Without that, what a run without a cap spent would not be seen."""
    caps = (Cap("sweep:s", 10.0),)
    with opened(tmp_path) as earlier:
        ask_with(earlier, caps, "first")
    engine = open_database(ledger_url(tmp_path))
    put(engine, attempt(7, owner=9, spent_usd=9.5))
    engine.dispose()
    bad = Begin(scope(), "bad", 1, None, "none", 0.1, caps)  # type: ignore[arg-type]
    if broken == "a column that is empty":
        bad = Begin(scope(role=None), "bad", 1, None, b"{}", 0.1, caps)
    with opened(tmp_path) as ledger:

        async def work() -> list[Any]:
            good = Begin(scope(), "good", 1, None, b"{}", 1.0, caps)
            small = Begin(scope(), "small", 1, None, b"{}", 0.1, caps)
            asked = [ledger.begin(item) for item in (small, bad, good)]
            return await asyncio.gather(*asked, return_exceptions=True)

        told = asyncio.run(asyncio.wait_for(work(), 30))
    assert isinstance(told[0], Granted)
    assert isinstance(told[1], Exception)
    assert told[2] == OverBudget(caps[0], 9.5, 0.1)


def ask_with(ledger: Ledger, caps: Any, key: str) -> None:
    """A call under caps that costs nothing."""

    async def work() -> None:
        item = Begin(scope(), key, 1, None, b"{}", 0.1, caps)
        granted = await ledger.begin(item)
        assert isinstance(granted, Granted)
        await ledger.end(End(granted.attempt_id, item, "paid", Usage(1, 1), 0.0, 0.0, 0.0, 0.1, response=None))

    asyncio.run(work())
