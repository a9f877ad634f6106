"""What a ledger's tables hold at most once, and what is taken for granted of a call."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, create_engine, insert, inspect
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from seedbed.lm.ledger import records, schema
from tests.unit.lm.ledger.conftest import NO_END, attempt


@pytest.fixture
def metadata() -> MetaData:
    """Of the tables, read as a process that starts reads them."""
    return runpy.run_path(schema.__file__)["metadata"]


@pytest.fixture
def engine(metadata: MetaData) -> Iterator[Engine]:
    """The tables in memory."""
    made = create_engine("sqlite://")
    metadata.create_all(made)
    yield made
    made.dispose()


def put(engine: Engine, *rows: dict[str, Any]) -> None:
    with engine.begin() as connection:
        connection.execute(insert(schema.attempts), list(rows))


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("info", "name"), ("owners", "id"), ("locks", "name"), ("sweeps", "name"), ("attempts", "id"),
        ("requests", "key"), ("responses", "key"), ("batches", "id"), ("batch_rows", "attempt"), ("budgets", "scope"),
        ("settled_owners", "owner"),
    ],
)  # fmt: skip
def test_a_row_is_known_by_its_key(engine: Engine, table: str, key: str) -> None:
    assert inspect(engine).get_pk_constraint(table)["constrained_columns"] == [key]


@pytest.mark.parametrize(("table", "key", "given"), [
    ("owners", "id", "SERIAL"), ("attempts", "id", "BIGINT"), ("batch_rows", "attempt", "BIGINT"),
    ("settled_owners", "owner", "INTEGER"),
])  # fmt: skip
def test_a_server_numbers_writers_and_nothing_else(metadata: MetaData, table: str, key: str, given: str) -> None:
    from sqlalchemy.dialects import postgresql

    made = str(CreateTable(metadata.tables[table]).compile(dialect=postgresql.dialect()))
    assert f"\t{key} {given} NOT NULL" in made


def test_one_call_of_a_key_is_in_flight_and_any_number_has_ended(engine: Engine) -> None:
    put(engine, attempt(1, key="a"), attempt(2, key="a"), attempt(3, key="a", **NO_END), attempt(4, key="b", **NO_END))
    with pytest.raises(IntegrityError, match=r"attempts\.key"):
        put(engine, attempt(5, key="a", **NO_END))


def test_a_writer_gets_a_number_that_none_had_before(engine: Engine) -> None:
    row: dict[str, Any] = {"host": "here", "pid": 1, "seen_at": 0.0}
    with engine.begin() as connection:
        for number in (1, 2):
            key = connection.execute(insert(schema.owners).values(row)).inserted_primary_key
            assert key is not None
            assert key[0] == number
            connection.execute(schema.owners.delete())


def test_unless_it_is_said_a_call_may_be_made_and_no_fresh_start_was_before_it() -> None:
    read = runpy.run_path(records.__file__)
    scope = read["CallScope"]("s", "c", "generate", "task", "e", "m", 0)
    begin = read["Begin"](scope, "key", 1, None, b"{}", None, ())
    assert (scope.generation, begin.may_call, begin.known, begin.seat) == (0, True, None, None)
