"""Figures of a ledger and copies of it, from attempts that are known."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.database import open_database, register_owner, sign_off, sqlite_url
from seedbed.lm.ledger.extract import extract_ledger
from seedbed.lm.ledger.upkeep import export_ledger, export_rows, stats, stored
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, keep, put


def test_stats_tell_of_each_sweep_what_was_billed_and_what_is_in_flight(engine: Engine) -> None:
    put(
        engine,
        attempt(1, spent_usd=0.5),
        attempt(2, spent_usd=None),
        attempt(3, outcome="reused", tokens_in=70, spent_usd=0.0),
        attempt(4, **FAILED | {"tokens_in": 3, "tokens_out": 1, "at_risk_usd": 0.25}),
        attempt(5, **FAILED | {"outcome": "lost", "at_risk_usd": 2.0}),
        *(attempt(number, **NO_END) for number in (6, 7)),
        attempt(8, sweep="t", **FAILED),
        *(attempt(number, sweep="a", **NO_END) for number in (9, 10, 11)),
    )
    none = dict.fromkeys(("paid", "reused", "failed", "lost", "tokens_in", "tokens_out", "unpriced", "at_risk_usd"), 0)
    assert stats(engine) == [
        {"sweep": "a", **none, "spent_usd": None, "in_flight": 3},
        {"sweep": "s", "paid": 2, "reused": 1, "failed": 1, "lost": 1, "tokens_in": 23, "tokens_out": 5,
         "spent_usd": 0.5, "unpriced": 1, "at_risk_usd": 2.25, "in_flight": 2},
        {"sweep": "t", **none, "failed": 1, "spent_usd": 0.0, "in_flight": 0},
    ]  # fmt: skip


def test_what_is_stored_are_the_answers_and_the_bytes_of_all_bodies(engine: Engine) -> None:
    assert stored(engine) == (0, 0)
    keep(engine, "a", request="asked")
    asked = len(bodies(engine, schema.requests)[0])
    assert stored(engine) == (0, asked)
    keep(engine, "b", response="said")
    said = len(bodies(engine, schema.responses)[0])
    assert stored(engine) == (1, asked + said)


def test_answers_alone_are_counted_too(engine: Engine) -> None:
    keep(engine, "b", response="said")
    assert stored(engine) == (1, len(bodies(engine, schema.responses)[0]))


def bodies(engine: Engine, table: Any) -> list[bytes]:
    with engine.connect() as connection:
        return list(connection.scalars(select(table.c.body).order_by(table.c.key)))


def some_calls(engine: Engine) -> None:
    put(
        engine,
        attempt(1, key="a"),
        attempt(2, key="a", **FAILED),
        attempt(3, key="b", outcome="reused", sweep="t"),
        attempt(4, key="c"),
        attempt(5, key="d", **NO_END),
    )
    for key in "abd":
        keep(engine, key, request={"ask": key}, response={"say": key})


def test_rows_are_exported_in_order_with_their_own_bodies(engine: Engine) -> None:
    some_calls(engine)
    rows = list(export_rows(engine, None, bodies=True))
    assert [(row["id"] - IDS, row["request"], row["response"]) for row in rows] == [
        (1, {"ask": "a"}, {"say": "a"}),
        (2, {"ask": "a"}, None),
        (3, {"ask": "b"}, {"say": "b"}),
        (4, None, None),
    ]
    assert [row["id"] - IDS for row in export_rows(engine, "t", bodies=True)] == [3]


def test_rows_without_bodies_have_no_place_for_them(engine: Engine) -> None:
    some_calls(engine)
    (row,) = export_rows(engine, "t", bodies=False)
    assert (row["key"], "request" in row, "response" in row) == ("b", False, False)


def content(file: Path, columns: str, table: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()


def fresh_starts(engine: Engine) -> None:
    with engine.begin() as connection:
        for name in "st":
            connection.execute(insert(schema.sweeps).values(name=name, generation=3))


@pytest.mark.parametrize(
    ("sweep", "ids", "keys"), [(None, [1, 2, 3, 4], "abd"), ("s", [1, 2, 4], "ad"), ("t", [3], "b")]
)
def test_a_copy_has_the_ended_attempts_of_a_sweep_and_the_bodies_they_need(
    engine: Engine, tmp_path: Path, sweep: str | None, ids: list[int], keys: str
) -> None:
    some_calls(engine)
    fresh_starts(engine)
    target = tmp_path / "copy" / "ledger.sqlite"
    assert export_ledger(engine, sweep, target) == len(ids)
    assert content(target, "id, key", "attempts") == [(IDS + number, " aabc"[number]) for number in ids]
    assert [row[0] for row in content(target, "key, body", "requests")] == list(keys)
    assert [row[0] for row in content(target, "key, body", "responses")] == list(keys)
    assert content(target, "name, generation", "sweeps") == [("s", 3), ("t", 3)]
    assert content(target, "id, seen_at", "owners") == [(1, 0.0)]
    assert [path.name for path in target.parent.iterdir()] == ["ledger.sqlite"], "nothing is left open beside it"


def test_a_copy_takes_the_place_of_nothing(engine: Engine, tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    target.write_text("mine")
    with pytest.raises(UserError, match=r"copy\.sqlite exists already; choose another name or remove it\.$"):
        export_ledger(engine, None, target)
    assert target.read_text() == "mine"


def test_writers_of_a_copy_have_signed_off_and_no_new_one_gets_their_number(engine: Engine, tmp_path: Path) -> None:
    at_work = [register_owner(engine) for _ in range(3)]
    target = tmp_path / "copy.sqlite"
    export_ledger(engine, None, target)
    for owner in at_work:
        sign_off(engine, owner)
    assert content(target, "id, seen_at", "owners") == [(1, 0.0), (2, 0.0), (3, 0.0)]
    copy = open_database(sqlite_url(target))
    number = register_owner(copy)
    sign_off(copy, number)
    copy.dispose()
    assert number == 4


def two_sweeps(engine: Engine, *numbers: int) -> None:
    """The same attempts and bodies, put there in this order."""
    cells = {1: ("s", "kept"), 2: ("s", "gone"), 3: ("t", "kept"), 4: ("t", "foreign"), 5: ("s", "kept")}
    for number in numbers:
        sweep, cell = cells[number]
        end = NO_END if number == 5 else {}
        put(engine, attempt(number, owner=10 + number, sweep=sweep, cell=cell, key=f"k{number}", **end))
        keep(engine, f"k{number}", request={"ask": f"is zebra-crossing-77 {number}?"}, response="yes")
    fresh_starts(engine)


def test_an_archives_ledger_holds_what_the_cells_of_a_sweep_stand_on(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "zebra-crossing-77")
    two_sweeps(engine, 1, 2, 3, 4, 5)
    target = tmp_path / "archive" / "ledger.sqlite"
    assert extract_ledger(engine, "s", ["kept"], target) == 3
    assert content(target, "sweep, cell", "attempts") == [("s", "gone"), ("s", "kept"), ("t", "kept")]
    requests = content(target, "key, body", "requests")
    assert [key for key, _ in requests] == ["k1", "k3", "k5"]
    assert zlib.decompress(requests[0][1]).decode() == '{"ask":"is [redacted] 1?"}'
    responses = content(target, "key, body", "responses")
    assert [(key, zlib.decompress(body)) for key, body in responses] == [(f"k{n}", b'"yes"') for n in (1, 3, 5)]
    assert content(target, "name, generation", "sweeps") == [("s", 3)]
    assert content(target, "id, host, pid, seen_at", "owners") == [(11, "", 0, 0.0), (12, "", 0, 0.0), (13, "", 0, 0.0)]
    assert content(target, "name, value", "info") == [("schema_version", str(schema.SCHEMA_VERSION))]
    assert [path.name for path in target.parent.iterdir()] == ["ledger.sqlite"]


def test_an_archives_ledger_is_one_that_can_be_opened_and_written(engine: Engine, tmp_path: Path) -> None:
    two_sweeps(engine, 1, 2)
    target = tmp_path / "copy.sqlite"
    extract_ledger(engine, "s", ["kept"], target)
    names = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    copy = open_database(sqlite_url(target))
    with engine.connect() as own, copy.connect() as copied:
        assert list(own.exec_driver_sql(names)) == list(copied.exec_driver_sql(names))
    owner = register_owner(copy)
    sign_off(copy, owner)
    copy.dispose()
    assert owner == 13


def test_equal_rows_give_equal_bytes_whatever_order_they_came_in(engine: Engine, tmp_path: Path) -> None:
    other = open_database(sqlite_url(tmp_path / "other.sqlite"))
    two_sweeps(engine, 1, 2, 3)
    two_sweeps(other, 3, 1, 2)
    made = [tmp_path / "a" / "ledger.sqlite", tmp_path / "b" / "ledger.sqlite"]
    for one, target in zip((engine, other), made, strict=True):
        extract_ledger(one, "s", ["kept"], target)
    other.dispose()
    assert made[0].read_bytes() == made[1].read_bytes()


def test_cells_of_any_number_go_into_an_archive(engine: Engine, tmp_path: Path) -> None:
    chosen = [0, 1, 499, 500, 999, 1000]
    put(engine, *(attempt(number, cell=f"c{number}", sweep="another") for number in chosen))
    cells = [f"c{number}" for number in range(1001)]
    assert extract_ledger(engine, "s", cells, tmp_path / "copy.sqlite") == len(chosen)
