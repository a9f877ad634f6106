"""What is used and reserved under a cap, and who may still go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, select

from seedbed.lm.ledger import Cap, Granted, Ledger, OverBudget, caps, schema
from seedbed.lm.ledger.database import open_database, register_owner, sign_off
from seedbed.lm.ledger.repair import mark_lost
from tests.support.lm import budget_row, ledger_url, scope
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, put
from tests.unit.lm.ledger.test_begin_rules import asked, begin, ended, opened, tell


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = opened(tmp_path)
    yield made
    made.close()


EACH = pytest.mark.parametrize("name", ["sweep:s", "cell:c"])


@EACH
@pytest.mark.parametrize(("dollars", "goes"), [(0.5, True), (1.0, True), (1.0001, False)])
def test_a_call_may_reach_a_cap_and_not_pass_it(ledger: Ledger, name: str, dollars: float, goes: bool) -> None:
    cap = (Cap(name, 3.0),)
    item = asked("a", 2.0, cap)
    tell(ledger, ended(begin(ledger, item), item, dollars=0.75, at_risk_usd=0.25))
    begin(ledger, asked("b", 1.0, cap))
    told = begin(ledger, asked("c", dollars, cap))
    assert isinstance(told, Granted) if goes else told == OverBudget(cap[0], 1.0, 1.0)


def test_a_call_goes_under_all_of_its_caps_or_reserves_under_none(ledger: Ledger, tmp_path: Path) -> None:
    wide, narrow = Cap("sweep:s", 9.0), Cap("cell:c", 1.0)
    assert begin(ledger, asked("a", 2.0, (wide, narrow))) == OverBudget(narrow, 0.0, 0.0)
    assert budget_row(tmp_path, "sweep:s") == budget_row(tmp_path, "cell:c") == (0.0, 0.0)
    assert isinstance(begin(ledger, asked("a", 1.0, (wide, narrow))), Granted)
    assert budget_row(tmp_path, "sweep:s") == budget_row(tmp_path, "cell:c") == (0.0, 1.0)


def test_a_call_whose_price_is_unknown_reserves_and_costs_nothing(ledger: Ledger, tmp_path: Path) -> None:
    item = asked("a", None, (Cap("sweep:s", 0.0),))
    granted = begin(ledger, item)
    assert budget_row(tmp_path, "sweep:s") == (0.0, 0.0)
    tell(ledger, ended(granted, item, dollars=None))
    assert budget_row(tmp_path, "sweep:s") == (0.0, 0.0)


@pytest.mark.parametrize(("outcome", "spent", "at_risk", "used"), [
    ("paid", 0.5, 0.0, 0.5), ("paid", None, 0.0, 0.0), ("failed", 0.0, 0.25, 0.25), ("failed", 0.125, 0.25, 0.375),
])  # fmt: skip
def test_with_the_end_its_reservation_goes_and_what_was_or_may_have_been_spent_stays(
    ledger: Ledger, tmp_path: Path, outcome: str, spent: float | None, at_risk: float, used: float
) -> None:
    item = asked("a", 1.0, (Cap("sweep:s", 9.0),))
    granted = begin(ledger, item)
    begin(ledger, asked("b", 2.0, item.caps))
    tell(ledger, ended(granted, item, outcome, spent, at_risk_usd=at_risk, response=None))
    assert budget_row(tmp_path, "sweep:s") == (used, 2.0)


def test_what_rounding_leaves_of_reservations_is_nothing(ledger: Ledger) -> None:
    cap = (Cap("sweep:s", 1.0),)
    items = [asked("a", 0.1, cap), asked("b", 0.2, cap)]
    for item, granted in zip(items, tell(ledger, *items), strict=True):
        tell(ledger, ended(granted, item, dollars=0.0, response=None))
    assert begin(ledger, asked("c", 2.0, cap)) == OverBudget(cap[0], 0.0, 0.0)


@EACH
def test_a_process_counts_what_was_called_before_it_asked(tmp_path: Path, name: str) -> None:
    engine = open_database(ledger_url(tmp_path))
    alive = register_owner(engine)
    put(
        engine,
        attempt(1, spent_usd=0.5),
        attempt(2, **FAILED | {"at_risk_usd": 0.25}),
        attempt(3, spent_usd=4.0, cell="another", sweep="another"),
        attempt(4, key="in flight", owner=alive, **NO_END | {"reserved_usd": 1.0}),
        attempt(5, key="too", owner=alive, **NO_END | {"reserved_usd": 8.0, "cell": "another", "sweep": "another"}),
    )
    ledger = opened(tmp_path)
    cap = Cap(name, 3.0)
    assert begin(ledger, asked("a", 1.5, (cap,))) == OverBudget(cap, 0.75, 1.0)
    assert isinstance(begin(ledger, asked("a", 1.25, (cap,))), Granted)
    ledger.close()
    sign_off(engine, alive)
    engine.dispose()


@EACH
@pytest.mark.parametrize(("since", "used"), [(0, 7.0), (1, 6.0), (2, 4.0), (3, 0.0)])
def test_a_cap_counts_from_a_fresh_start_on(tmp_path: Path, name: str, since: int, used: float) -> None:
    engine = open_database(ledger_url(tmp_path))
    put(engine, *(attempt(number, generation=number, spent_usd=2.0**number) for number in range(3)))
    engine.dispose()
    ledger = opened(tmp_path)
    cap = Cap(name, used)
    try:
        told = begin(ledger, asked("a", 1.0, (cap,), scope=scope(generation=since)))
        assert told == OverBudget(cap, used, 0.0)
        assert budget_row(tmp_path, name) == (used, 0.0)
    finally:
        ledger.close()


@EACH
def test_a_run_of_before_a_fresh_start_counts_its_own_and_the_new_one_does_not_count_it(
    ledger: Ledger, tmp_path: Path, name: str
) -> None:
    cap = (Cap(name, 9.0),)
    old, new = scope(generation=1), scope(generation=2)
    before = asked("a", 1.0, cap, scope=old)
    granted = begin(ledger, before)
    assert budget_row(tmp_path, name) == (0.0, 1.0)
    begin(ledger, asked("b", 2.0, cap, scope=new))
    assert budget_row(tmp_path, name) == (0.0, 2.0)
    tell(ledger, ended(granted, before, dollars=0.5, response=None))
    assert budget_row(tmp_path, name) == (0.0, 2.0)
    over = [begin(ledger, asked("c", 9.0, cap, scope=one)) for one in (old, new)]
    assert over == [OverBudget(cap[0], 0.5, 2.0), OverBudget(cap[0], 0.0, 2.0)]
    assert budget_row(tmp_path, name) == (0.0, 2.0)
    with ledger.engine.connect() as connection:
        assert list(connection.scalars(select(schema.budgets.c.generation))) == [2]


def test_runs_of_before_and_after_a_fresh_start_in_one_batch_each_count_their_own(
    ledger: Ledger, tmp_path: Path
) -> None:
    cap = (Cap("sweep:s", 3.0),)
    items = [asked(f"{number}", 1.0, cap, scope=scope(generation=number)) for number in (1, 2)]
    assert [type(told) for told in tell(ledger, *items)] == [Granted, Granted]
    over = tell(ledger, *(asked("c", 9.0, cap, scope=scope(generation=number)) for number in (1, 2)))
    assert [told.reserved_usd for told in over] == [2.0, 1.0]
    assert budget_row(tmp_path, "sweep:s") == (0.0, 1.0)


def test_attempts_are_added_up_once_and_not_with_each_call(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep may have millions."""
    cap = (Cap("sweep:s", 99.0),)
    own, counted = caps._count, list[str]()  # type: ignore[attr-defined]
    monkeypatch.setattr(caps, "_count", lambda *given: counted.append(given[1]) or own(*given))
    items = [asked(f"{number}", 1.0, cap) for number in range(4)]
    for item in items:
        tell(ledger, ended(begin(ledger, item), item, response=None))
    assert counted == ["sweep:s"]


def test_what_is_lost_counts_under_its_caps_which_are_taken_before_it(tmp_path: Path) -> None:
    """In the writer's order: two that repair and write at once then never wait for each other."""
    ledger, other = opened(tmp_path), opened(tmp_path)
    both = (Cap("sweep:s", 9.0), Cap("cell:c", 9.0))
    tell(ledger, asked("a", 1.0, both), asked("b", 2.0, both))
    said: list[str] = []
    event.listen(other.engine, "before_cursor_execute", lambda _c, _cursor, sql, *_: said.append(" ".join(sql.split())))
    with other.engine.begin() as connection:
        assert mark_lost(connection, [ledger.owner], keys=["a"])
        assert not mark_lost(connection, [ledger.owner], keys=["a"])
        assert not mark_lost(connection, [])
    assert budget_row(tmp_path, "sweep:s") == budget_row(tmp_path, "cell:c") == (1.0, 2.0)
    steps = [sql.partition(" WHERE")[0] for sql in said if "budgets" in sql or sql.startswith("UPDATE attempts")]
    assert steps[:2] == ["SELECT budgets.scope FROM budgets", steps[1]]
    assert steps[1].startswith("UPDATE attempts")
    ledger.close()
    other.close()


def test_attempts_of_any_number_are_lost_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.lm.ledger.repair._AT_ONCE", 2)
    engine = open_database(ledger_url(tmp_path))
    put(engine, *(attempt(number, **NO_END) for number in range(1, 6)))
    with engine.begin() as connection:
        assert mark_lost(connection, [1], but=[(1 << 40) + 5])
    with engine.connect() as connection:
        found = list(connection.scalars(select(schema.attempts.c.outcome).order_by(schema.attempts.c.id)))
    engine.dispose()
    assert found == ["lost"] * 4 + [None]
