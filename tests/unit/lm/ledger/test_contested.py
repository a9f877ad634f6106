"""A request that another process has in flight is asked for several times a second: what that reads does not grow with
the ledger, nor with what else is in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from bench.ledger_growth import SWEEP, grow
from seedbed.lm.ledger import Begin, Busy, Cap, Granted, Ledger
from seedbed.lm.ledger.database import open_database
from tests.support.lm import ledger_url, scope

ROWS = 20_000
BESIDE = 50
CAPS = (Cap(f"sweep:{SWEEP}", 1e9), Cap("cell:new", 1e9))
Seen = list[tuple[str, Any]]
"""Statements with their parameters."""


@pytest.fixture
def two(each_ledger: str, tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """Two writers on a ledger with many attempts, its statistics up to date."""
    engine = open_database(ledger_url(tmp_path))
    grow(engine, ROWS)
    with engine.begin() as connection:
        connection.execute(text("ANALYZE"))
    engine.dispose()
    ledgers = [Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: None) for _ in range(2)]
    yield ledgers[0], ledgers[1]
    for ledger in ledgers:
        ledger.close()


def ask(ledger: Ledger, key: str) -> Any:
    return ledger.begin(Begin(scope(sweep=SWEEP, cell="new"), key, 1, None, b"{}", 0.1, CAPS))


async def contest(first: Ledger, second: Ledger) -> tuple[Seen, Seen]:
    """What the second runs for a free key, and for one that the first has in flight. Others are in flight too."""
    for number in range(BESIDE):
        assert isinstance(await ask(first, f"beside {number}"), Granted)
    assert isinstance(await ask(first, "contested"), Granted)
    assert isinstance(await ask(second, "warm"), Granted)
    assert isinstance(await ask(second, "contested"), Busy)
    seen: Seen = []
    _record(second, seen)
    assert isinstance(await ask(second, "free"), Granted)
    free, seen[:] = list(seen), []
    assert isinstance(await ask(second, "contested"), Busy)
    return free, seen


def _record(ledger: Ledger, seen: Seen) -> None:
    if ledger.engine.dialect.name == "sqlite":
        assert ledger._nowait is not None  # type: ignore[attr-defined]
        driver: Any = ledger._nowait.connection.dbapi_connection  # type: ignore[attr-defined]
        # As they are run, with the values in place of the parameters.
        driver.set_trace_callback(lambda sql: seen.append((sql, None)))
    else:
        event.listen(
            ledger.engine,
            "before_cursor_execute",
            lambda _connection, _cursor, sql, parameters, _context, _many: seen.append((sql, parameters)),
        )


def plan(connection: Connection, sql: str, parameters: Any) -> str:
    if connection.dialect.name == "sqlite":
        return "\n".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}"))
    if isinstance(parameters, list):
        parameters = parameters[0]
    return "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {sql}", parameters))


def whole_tables(steps: str) -> list[str]:
    """Steps that read a table of attempts, requests or answers from end to end, also by an index."""
    tables = ("attempts", "requests", "responses", "batch_rows", "settled_sums")
    reads = [step.strip() for step in steps.splitlines() if step.startswith("SCAN ") or "Seq Scan on " in step]
    return [step for step in reads if any(f" {table}" in step for table in tables)]


def test_a_request_in_flight_elsewhere_is_looked_up_by_its_key_alone(two: tuple[Ledger, Ledger]) -> None:
    _, seen = asyncio.run(contest(*two))
    with two[0].engine.connect() as connection:
        plans = {
            sql: whole_tables(plan(connection, sql, given)) for sql, given in seen if "attempts" in sql.split("(")[0]
            or sql.startswith(("SELECT", "UPDATE"))
        }  # fmt: skip
    assert any("attempts" in sql for sql in plans)
    assert {sql: steps for sql, steps in plans.items() if steps} == {}


def test_it_takes_no_more_statements_than_one_that_is_free(two: tuple[Ledger, Ledger]) -> None:
    """Who holds the key is one question more, and the request's body is not kept."""
    free, seen = asyncio.run(contest(*two))
    assert len(free) > 3
    assert len(seen) <= len(free), "\n\n".join(sql for sql, _ in seen)
