"""Sums of writers that have ended say what their attempts say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select, update

from seedbed.lm.ledger import schema, settled
from seedbed.lm.ledger.account import IDS, account, unsettle
from seedbed.lm.ledger.caps import recount
from seedbed.lm.ledger.database import open_database, register_owner, sign_off, sqlite_url
from seedbed.lm.ledger.progress import call_progress
from seedbed.lm.ledger.reads import cost_rows, cost_sums
from seedbed.lm.ledger.settled import settle
from seedbed.lm.ledger.upkeep import stats

OUTCOMES = ("paid", "reused", "failed", "lost", "paid")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr(settled, "WORTH_IT", 1)
    made = open_database(sqlite_url(tmp_path / "ledger.sqlite"))
    yield made
    made.dispose()


def attempt(number: int, owner: int, **more: Any) -> dict[str, Any]:
    outcome = OUTCOMES[number % len(OUTCOMES)]
    priced = {"spent_usd": 0.5, "list_usd": 0.5} if number % 3 else {"spent_usd": None, "list_usd": None}
    return {
        "id": owner * IDS + number, "owner": owner, "sweep": "s" if number % 4 else "t", "cell": f"c{number % 2}",
        "phase": "generate", "role": "task", "execution": "e", "sample": f"x{number % 5}", "model": "m",
        "key": f"{owner}-{number}", "number": 1, "generation": number % 2, "outcome": outcome, "tokens_in": number,
        "tokens_out": 1, "tokens_cached": 0, "tokens_reasoning": 0, "estimated": False, "reserved_usd": 1.0,
        "at_risk_usd": 1.0 if outcome == "lost" else 0.0, "started_at": 1.0,
        "error_class": "RateLimit" if outcome == "failed" else None, **priced, **more,
    }  # fmt: skip


def written(engine: Engine, count: int = 40, **more: Any) -> int:
    """A writer with that many attempts, still signed on."""
    owner = register_owner(engine)
    with engine.begin() as connection:
        connection.execute(insert(schema.attempts), [attempt(number, owner, **more) for number in range(1, count + 1)])
    return owner


def figures(engine: Engine) -> list[Any]:
    with engine.begin() as connection:
        scopes = ("sweep:s", "sweep:t", "cell:c1")
        for scope in scopes:
            if connection.scalar(select(schema.budgets.c.scope).where(schema.budgets.c.scope == scope)) is None:
                row = {"scope": scope, "generation": 1, "used_usd": 0.0, "reserved_usd": 0.0}
                connection.execute(insert(schema.budgets).values(**row))
            recount(connection, scope)
        caps = [tuple(row) for row in connection.execute(select(schema.budgets).order_by(schema.budgets.c.scope))]
    return [stats(engine), cost_sums(engine, "s"), call_progress(engine, "s", 1, 0.5, ["c1"]), caps]


def n_settled(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(schema.settled_owners)) or 0


def test_settled_figures_are_those_of_the_attempts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, at_work = written(engine), written(engine, 7)
    sign_off(engine, ended)
    monkeypatch.setattr(settled, "WORTH_IT", 10**9)
    before = figures(engine)
    assert n_settled(engine) == 0
    monkeypatch.setattr(settled, "WORTH_IT", 1)
    after = figures(engine)
    assert n_settled(engine) == 1
    # Only calls of a writer that is not settled can be recent.
    assert (before[2].recent, after[2].recent) == (19, 3)
    names = [name for name in before[2].__slots__ if name != "recent"]
    assert [getattr(before[2], name) for name in names] == [getattr(after[2], name) for name in names]
    assert [before[0], before[1], before[3]] == [after[0], after[1], after[3]]
    assert cost_sums(engine, "s") == cost_rows(engine, "s")
    sign_off(engine, at_work)


def test_who_is_at_work_or_left_something_open_is_not_settled(engine: Engine) -> None:
    at_work, dead = written(engine), written(engine, outcome=None, reserved_usd=2.0)
    with engine.begin() as connection:
        connection.execute(update(schema.owners).where(schema.owners.c.id == dead).values(seen_at=0.0))
    settle(engine)
    assert n_settled(engine) == 0
    sign_off(engine, at_work)
    settle(engine)
    assert n_settled(engine) == 1
    settle(engine)
    assert n_settled(engine) == 1


def test_a_writer_that_comes_back_after_all_is_read_from_its_attempts_again(engine: Engine) -> None:
    owner = written(engine)
    sign_off(engine, owner)
    settle(engine)
    with engine.begin() as connection:
        connection.execute(update(schema.attempts).where(schema.attempts.c.outcome == "lost").values(outcome="paid"))
        unsettle(connection, owner)
    assert stats(engine)[0]["lost"] == 0


def test_the_sums_of_a_sweep_are_not_sought_through_all_of_its_attempts(engine: Engine) -> None:
    sign_off(engine, written(engine))
    settle(engine)
    of_sweep = account().c
    statement = select(func.sum(of_sweep.spent_usd)).where(of_sweep.sweep == "s")
    told = str(statement.compile(engine, compile_kwargs={"literal_binds": True}))
    with engine.connect() as connection:
        steps = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {told}")]
    read = [step for step in steps if "attempts" in step]
    assert read == ["SEARCH attempts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]


def test_little_is_not_worth_it(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled, "WORTH_IT", 41)
    sign_off(engine, written(engine))
    settle(engine)
    assert n_settled(engine) == 0


def test_a_ledger_of_before_is_looked_at_as_it_is(engine: Engine) -> None:
    """One that may not be changed has none of the tables."""
    sign_off(engine, written(engine))
    before = call_progress(engine, "s", 0, 0.5)
    for table in (schema.settled_sums, schema.settled_owners):
        table.drop(engine)
    assert call_progress(engine, "s", 0, 0.5) == before
