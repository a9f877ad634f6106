"""Which bodies are dropped, who is let in meanwhile, and what is given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, select
from sqlalchemy.exc import OperationalError

from seedbed.errors import UserError
from seedbed.lm.ledger import prune as pruning
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import open_database, register_owner, sign_off
from seedbed.lm.ledger.prune import Pruned, prune
from tests.unit.lm.ledger.conftest import NO_END, attempt, keep, put


def kept(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        asked = set(connection.scalars(select(schema.requests.c.key)))
        assert asked == set(connection.scalars(select(schema.responses.c.key)))
    return sorted(asked)


def used(engine: Engine, *rows: dict[str, Any]) -> None:
    """Attempts with their bodies."""
    put(engine, *rows)
    for key in sorted({row["key"] for row in rows}):
        keep(engine, key, request="asked", response="said")


@pytest.mark.parametrize(
    ("before", "left"),
    [(100.0, ["a", "b"]), (100.1, ["b"]), (200.0, ["b"]), (200.1, [])],
    ids=["the moment itself", "after the first", "the moment of the last use", "after it"],
)
def test_what_was_last_used_before_a_moment_is_dropped(engine: Engine, before: float, left: list[str]) -> None:
    used(engine, attempt(1, key="a"), attempt(2, key="b"), attempt(3, key="b", started_at=200.0))
    done = prune(engine, before=before, sweep=None, apply=True)
    assert (kept(engine), done.answers) == (left, 2 - len(left))


def test_what_another_sweep_used_too_is_kept(engine: Engine) -> None:
    used(
        engine,
        attempt(1, key="own"),
        attempt(2, key="shared"), attempt(3, key="shared", sweep="another"),
        attempt(4, key="shared too"), attempt(5, key="shared too", sweep="t"),
        attempt(6, key="not ours", sweep="t"),
    )  # fmt: skip
    assert prune(engine, before=None, sweep="s", apply=True).answers == 1
    assert kept(engine) == ["not ours", "shared", "shared too"]


def test_a_moment_and_a_sweep_hold_both(engine: Engine) -> None:
    used(engine, attempt(1, key="old"), attempt(2, key="new", started_at=300.0), attempt(3, key="t", sweep="t"))
    assert prune(engine, before=200.0, sweep="s", apply=False).answers == 1


def test_answers_are_counted_and_the_bytes_of_all_bodies(engine: Engine) -> None:
    used(engine, attempt(1, key="a"))
    put(engine, attempt(2, key="nothing kept"), attempt(3, key="never answered"))
    keep(engine, "never answered", request="asked")
    bodies = [row.body for table in (schema.requests, schema.responses) for row in rows(engine, table)]
    done = prune(engine, before=200.0, sweep=None, apply=False)
    assert done == Pruned(answers=1, size=sum(map(len, bodies)), interrupted=None)
    assert len(bodies) == 3
    assert kept_requests(engine) == ["a", "never answered"]


def rows(engine: Engine, table: Any) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(select(table)))


def kept_requests(engine: Engine) -> list[str]:
    return sorted(row.key for row in rows(engine, schema.requests))


def test_where_nothing_is_kept_nothing_is_counted(engine: Engine) -> None:
    put(engine, attempt(1))
    assert prune(engine, before=200.0, sweep=None, apply=True) == Pruned(0, 0, None)


def test_keys_are_sorted_on_disk(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    own, sorted_in = pruning._pieces, list[Any]()  # type: ignore[attr-defined]

    def pieces(connection: Connection, query: Any) -> Any:
        sorted_in.append(connection.exec_driver_sql("PRAGMA temp_store").scalar())
        return own(connection, query)

    monkeypatch.setattr(pruning, "_pieces", pieces)
    prune(engine, before=1.0, sweep=None, apply=False)
    assert sorted_in == [1]  # SQLite's number for files


def test_what_a_dead_writer_left_in_flight_is_settled_first(engine: Engine) -> None:
    used(engine, attempt(1, key="a"), attempt(2, **NO_END))
    prune(engine, before=200.0, sweep=None, apply=False)
    assert [row.outcome for row in rows(engine, schema.attempts)] == ["paid", None]
    prune(engine, before=200.0, sweep=None, apply=True)
    assert [row.outcome for row in rows(engine, schema.attempts)] == ["paid", "lost"]


def test_writers_that_have_ended_are_in_nobodys_way(engine: Engine) -> None:
    sign_off(engine, register_owner(engine))
    used(engine, attempt(1, key="a"))
    done = prune(engine, before=200.0, sweep=None, apply=True)
    assert (kept(engine), done.answers, done.interrupted) == ([], 1, None)


def test_a_sweep_at_work_is_named_and_nothing_is_dropped(engine: Engine) -> None:
    owners = [register_owner(engine) for _ in range(2)]
    used(engine, attempt(1, key="a"))
    try:
        with pytest.raises(UserError, match=r"^a sweep is at work on this ledger \(process \d+ on [^ ,]+, process"):
            prune(engine, before=200.0, sweep=None, apply=True)
    finally:
        for owner in owners:
            sign_off(engine, owner)
    assert kept(engine) == ["a"]


def test_the_first_writer_of_a_ledger_that_begins_meanwhile_is_noticed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine.begin() as connection:
        connection.execute(delete(schema.owners))
    used(engine, attempt(1, key="a"), attempt(2, key="b"))
    with engine.begin() as connection:
        connection.execute(delete(schema.owners))
        connection.exec_driver_sql("DELETE FROM sqlite_sequence")
    monkeypatch.setattr(pruning, "PIECE", 1)
    began: list[int] = []

    def begin(_: float) -> None:
        if not began:
            began.append(register_owner(engine))

    monkeypatch.setattr(pruning.time, "sleep", begin)
    done = prune(engine, before=200.0, sweep=None, apply=True)
    sign_off(engine, began[0])
    assert began == [1]
    assert done.answers == 1
    assert done.interrupted is not None
    assert done.interrupted.startswith("process ")
    assert kept(engine) == ["b"]


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every look at the clock is three seconds later; the pauses that were made."""
    ticks, pauses = iter(range(100, 100_000, 3)), list[float]()
    monkeypatch.setattr(pruning.time, "monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(pruning.time, "sleep", pauses.append)
    return pauses


def free_pages(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.exec_driver_sql("PRAGMA freelist_count").scalar() or 0


def much_freed(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE much (body)")
        connection.exec_driver_sql("INSERT INTO much VALUES (zeroblob(200000))")
        connection.exec_driver_sql("DROP TABLE much")


def test_whoever_waited_for_a_piece_has_as_long_a_turn(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, slow_clock: list[float]
) -> None:
    monkeypatch.setattr(pruning, "PIECE", 1)
    monkeypatch.setattr(pruning, "_give_back", lambda *_: None)
    used(engine, attempt(1, key="a"), attempt(2, key="b"))
    prune(engine, before=200.0, sweep=None, apply=True)
    assert slow_clock == [3.0, 3.0]


def test_room_is_given_back_in_pieces_with_as_long_a_turn_for_others(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, slow_clock: list[float]
) -> None:
    monkeypatch.setattr(pruning, "_PAGES", 20)
    much_freed(engine)
    assert 40 < free_pages(engine) <= 60
    prune(engine, before=1.0, sweep=None, apply=True)
    assert free_pages(engine) == 0
    assert slow_clock == [3.0, 3.0, 3.0]


def test_counting_gives_no_room_back(engine: Engine) -> None:
    much_freed(engine)
    before = free_pages(engine)
    prune(engine, before=1.0, sweep=None, apply=False)
    assert free_pages(engine) == before > 0


def test_on_a_server_nobody_can_begin_while_it_is_looked_who_is_at_work(
    postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.database_of(tmp_path)
    engine, other = open_database(url), open_database(f"{url}?options=-c%20lock_timeout%3D100")
    used(engine, attempt(1, key="a"))
    kept_out: list[str] = []

    def tried(name: str) -> None:
        own = getattr(pruning, name)

        def try_to_begin(*given: Any) -> Any:
            with pytest.raises(OperationalError, match="lock timeout"):
                register_owner(other)
            kept_out.append(name)
            return own(*given)

        monkeypatch.setattr(pruning, name, try_to_begin)

    tried("split_owners")
    tried("_add")
    try:
        assert prune(engine, before=200.0, sweep=None, apply=True).answers == 1
    finally:
        engine.dispose()
        other.dispose()
    assert kept_out == ["split_owners", "_add"]
