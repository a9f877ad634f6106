"""Whose sums are made, when, and that they are made once."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from seedbed.lm.ledger import schema, settled
from seedbed.lm.ledger.account import IDS, account, unsettle
from seedbed.lm.ledger.database import register_owner, sign_off
from seedbed.lm.ledger.reads import cost_rows, cost_sums
from seedbed.lm.ledger.settled import settle
from tests.unit.lm.ledger.conftest import NO_END, attempt, put

NOW = 1000.0


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled, "WORTH_IT", 1)
    monkeypatch.setattr(settled.time, "time", lambda: NOW)


def of(engine: Engine) -> list[int]:
    """The writers that are settled."""
    with engine.connect() as connection:
        return sorted(connection.scalars(select(schema.settled_owners.c.owner)))


def summed(engine: Engine) -> list[int]:
    """The writers whose sums there are."""
    with engine.connect() as connection:
        return sorted(connection.scalars(select(schema.settled_sums.c.owner).distinct()))


def test_each_writer_that_ended_or_died_is_settled(engine: Engine) -> None:
    put(engine, *(attempt(1, owner=owner) for owner in (1, 2, 3)))
    with engine.begin() as connection:
        # Silent for long, with nothing left open.
        connection.execute(update(schema.owners).where(schema.owners.c.id == 2).values(seen_at=5.0))
    settle(engine)
    assert of(engine) == summed(engine) == [1, 2, 3]
    assert cost_sums(engine, "s") == cost_rows(engine, "s")


def test_a_writer_without_attempts_has_nothing_to_settle(engine: Engine) -> None:
    sign_off(engine, register_owner(engine))
    put(engine, attempt(1, owner=2))
    settle(engine)
    assert of(engine) == [2]


def test_who_is_at_work_or_left_something_open_or_is_settled_is_left_out(engine: Engine) -> None:
    put(engine, attempt(1), attempt(1, owner=2), attempt(2, owner=2, **NO_END))
    settle(engine)
    assert of(engine) == [1]
    alive = register_owner(engine)
    put(engine, attempt(1, owner=alive))
    settle(engine)
    sign_off(engine, alive)
    assert of(engine) == [1]
    settle(engine)
    assert of(engine) == [1, alive]


@pytest.mark.parametrize(("last", "quiet"), [(NOW - 120.1, True), (NOW - 120.0, False), (NOW - 1.0, False)])
def test_a_writer_is_settled_once_its_last_call_is_two_minutes_ago(engine: Engine, last: float, quiet: bool) -> None:
    put(engine, attempt(1, started_at=1.0), attempt(2, started_at=last))
    settle(engine)
    assert of(engine) == ([1] if quiet else [])


@pytest.mark.parametrize(("worth_it", "done"), [(5, True), (6, False)])
def test_it_is_worth_it_from_so_many_attempts_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, worth_it: int, done: bool
) -> None:
    monkeypatch.setattr(settled, "WORTH_IT", worth_it)
    put(engine, attempt(2), attempt(3, owner=2))  # the second and the third that they began
    settle(engine)
    assert of(engine) == ([1, 2] if done else [])


def test_the_sums_of_a_writer_are_those_of_its_own_ids_from_the_first_to_the_last(engine: Engine) -> None:
    put(engine, attempt(IDS - 1), attempt(0, owner=2), attempt(IDS - 1, owner=2), attempt(0, owner=3))
    with engine.begin() as connection:
        connection.execute(update(schema.owners).where(schema.owners.c.id != 2).values(seen_at=NOW))
        connection.execute(update(schema.owners).where(schema.owners.c.id != 2).values(host="far/boot/processes"))
    settle(engine)
    assert of(engine) == [2]
    with engine.connect() as connection:
        assert list(connection.scalars(select(schema.settled_sums.c.calls))) == [2]
    assert cost_sums(engine, "s") == cost_rows(engine, "s")
    assert cost_sums(engine, "s")[0]["calls"] == 4


def test_sums_that_another_process_has_just_made_are_not_made_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, attempt(1))
    own = settled._write  # type: ignore[attr-defined]

    def after_another(*given: Any) -> None:
        own(*given)
        own(*given)

    monkeypatch.setattr(settled, "_write", after_another)
    settle(engine)
    assert cost_sums(engine, "s")[0]["calls"] == 1


def test_a_writer_that_shows_up_again_meanwhile_is_not_settled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, attempt(1))
    own = settled._sums_of  # type: ignore[attr-defined]

    def show_up(owner: int) -> Any:
        with engine.begin() as connection:
            connection.execute(update(schema.owners).values(seen_at=NOW))
        return own(owner)

    monkeypatch.setattr(settled, "_sums_of", show_up)
    settle(engine)
    assert of(engine) == summed(engine) == []


def test_sums_of_any_number_are_written(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled, "_ROWS", 2)
    put(engine, *(attempt(number, cell=f"c{number}") for number in range(1, 6)))
    settle(engine)
    assert cost_sums(engine, "s")[0]["calls"] == 5


def test_a_writer_that_changed_something_after_all_is_the_only_one_whose_sums_go(engine: Engine) -> None:
    put(engine, attempt(1), attempt(1, owner=2))
    settle(engine)
    with engine.begin() as connection:
        unsettle(connection, 1)
    assert of(engine) == summed(engine) == [2]


def test_the_account_has_a_row_an_attempt_of_what_is_not_settled(engine: Engine) -> None:
    put(
        engine,
        attempt(1, spent_usd=None),
        attempt(2, outcome="reused", spent_usd=None),
        attempt(3, usage_more='{"searches":1,"cut":true}'),
        attempt(4, **NO_END),
    )
    expected = [
        ("s", "paid", 1, 0, 1, 100.0),
        ("s", "paid", 1, 1, 0, 100.0),
        ("s", "reused", 1, 0, 0, 100.0),
    ]
    for way in (account(), account(settled=False)):
        rows = select(way.c.sweep, way.c.outcome, way.c.calls, way.c.cut, way.c.unpriced, way.c.started_at)
        with engine.connect() as connection:
            assert sorted(tuple(row) for row in connection.execute(rows)) == expected
