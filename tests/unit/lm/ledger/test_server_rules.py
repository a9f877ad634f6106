"""What differs on a server: several write at once, and what one holds another waits for and tries again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, insert, text

from seedbed.lm.ledger import Cap, Granted, Ledger, schema, writer
from tests.unit.lm.ledger.conftest import NO_END, attempt
from tests.unit.lm.ledger.test_begin_rules import asked, begin, ended, rows, tell

CAP = (Cap("sweep:s", 9.0),)


@pytest.fixture
def ledger(postgres: Any, tmp_path: Path) -> Iterator[Ledger]:
    url = f"{postgres.database_of(tmp_path)}?options=-c%20lock_timeout%3D100"
    made = Ledger(url, list_price=lambda _scope, _usage: None)
    yield made
    made.close()


def test_a_batch_of_any_size_is_on_record(ledger: Ledger) -> None:
    for size in (1, 2, 3):
        items = [asked(f"{number} of {size}") for number in range(size)]
        told = tell(ledger, *items)
        assert [type(one) for one in told] == [Granted] * size
        tell(ledger, *(ended(one, item) for one, item in zip(told, items, strict=True)))
    assert [row["outcome"] for row in rows(ledger)] == ["paid"] * 6


def hold_the_cap(connection: Connection) -> None:
    connection.execute(text("SELECT 1 FROM budgets FOR UPDATE"))


def ask_the_same(connection: Connection) -> None:
    connection.execute(insert(schema.attempts).values(attempt(1, owner=99, key="a", **NO_END)))


@pytest.mark.parametrize("hold", [hold_the_cap, ask_the_same])
def test_what_another_holds_too_long_is_tried_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, hold: Any) -> None:
    begin(ledger, asked("before", 1.0, CAP))
    other = create_engine(ledger.engine.url)
    pauses: list[float] = []
    with other.connect() as connection:

        def let_go(pause: float) -> None:
            pauses.append(pause)
            connection.rollback()

        monkeypatch.setattr(writer.time, "sleep", let_go)
        hold(connection)
        assert isinstance(begin(ledger, asked("a", 1.0, CAP)), Granted)
    other.dispose()
    assert pauses == [0.05]
