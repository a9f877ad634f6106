"""Whose a lock in the ledger is, between two writers of this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, event, insert, select, update
from sqlalchemy.exc import OperationalError

from seedbed.errors import Interrupted
from seedbed.lm.ledger import locks as module
from seedbed.lm.ledger.database import _own  # type: ignore[attr-defined]
from seedbed.lm.ledger.locks import LockLost, hold
from seedbed.lm.ledger.schema import locks
from seedbed.lm.ledger.writer import Ledger
from tests.support.lm import ledger_url


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    ledgers = [Ledger(ledger_url(tmp_path), list_price=lambda _model, _usage: None) for _ in range(2)]
    yield ledgers[0], ledgers[1]
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def one(two: tuple[Ledger, Ledger]) -> Ledger:
    return two[0]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made; none takes any time."""
    made: list[float] = []
    monkeypatch.setattr(module.time, "sleep", made.append)
    return made


def rows(ledger: Ledger) -> dict[str, tuple[int, str]]:
    with ledger.engine.connect() as connection:
        return {row.name: (row.owner, row.token) for row in connection.execute(select(locks))}


def plant(ledger: Ledger, name: str, owner: int, token: str = "another's") -> None:
    with ledger.engine.begin() as connection:
        connection.execute(insert(locks).values(name=name, owner=owner, token=token))


class Patience:
    """Gives up waiting after so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> None:
        self.looks -= 1
        if self.looks <= 0:
            raise Interrupted("waited long enough")


def never() -> None:
    raise AssertionError("there was nothing to wait for")


def test_a_lock_names_its_writer_and_goes_with_the_block(one: Ledger, pauses: list[float]) -> None:
    with hold(one, "cell", never) as check:
        assert [owner for owner, _ in rows(one).values()] == [one.owner]
        check()
    assert rows(one) == {}
    assert pauses == []


def test_it_goes_with_a_block_that_fails_too(one: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), hold(one, "cell", never):
        raise ZeroDivisionError
    assert rows(one) == {}


@pytest.mark.parametrize("whose", [0, 1], ids=["of the same writer", "of another"])
def test_a_lock_that_is_held_is_waited_for_twice_a_second(
    two: tuple[Ledger, Ledger], pauses: list[float], whose: int
) -> None:
    with hold(two[0], "cell", never) as check:
        with pytest.raises(Interrupted), hold(two[whose], "cell", Patience(3)):
            pass
        check()
    assert pauses == [0.5, 0.5]


def test_a_lock_whose_writer_died_is_taken_over_and_no_other(two: tuple[Ledger, Ledger], pauses: list[float]) -> None:
    dead, living = two
    for name in ("cell", "beside"):
        plant(living, name, dead.owner)
    _own.discard((str(dead.engine.url), dead.owner))
    with hold(living, "cell", never) as check:
        check()
        found = rows(living)
        assert (found["cell"][0], found["beside"]) == (living.owner, (dead.owner, "another's"))
    assert list(rows(living)) == ["beside"]
    assert pauses == []


def test_a_row_of_ones_own_that_nobody_holds_is_taken_over(one: Ledger) -> None:
    plant(one, "cell", one.owner, "of a block that ended")
    with hold(one, "cell", never) as check:
        check()


def test_of_two_that_see_a_dead_writer_at_once_the_quicker_has_its_lock(
    two: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(two[0], "cell", 99)

    def seen_by_both(connection: Any, _own: int, owner: int, _token: str) -> bool:
        connection.execute(update(locks).values(owner=two[1].owner, token="the quicker's"))
        return owner == 99

    monkeypatch.setattr(module, "_is_stale", seen_by_both)
    with pytest.raises(Interrupted), hold(two[0], "cell", Patience(1)):
        pass
    assert rows(two[0]) == {"cell": (two[1].owner, "the quicker's")}


@pytest.mark.parametrize("change", [delete(locks), update(locks).values(token="another's")], ids=["gone", "another's"])
def test_a_lock_that_was_lost_is_told_and_not_given_back_for_another(one: Ledger, change: Any) -> None:
    with hold(one, "cell", never) as check:
        with one.engine.begin() as connection:
            connection.execute(change)
        left = rows(one)
        with pytest.raises(LockLost, match=r"^cell: another worker took over while this one was silent$"):
            check()
    assert rows(one) == left


def test_what_could_not_be_given_back_is_stale_and_had_at_once(
    one: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_PAUSES_S", ())
    refusals = [OperationalError("a look", None, Exception("the server is gone"))]

    def refuse(_connection: Any, _cursor: Any, sql: str, *_: Any) -> None:
        if sql.startswith("DELETE") and refusals:
            raise refusals.pop()

    event.listen(one.engine, "before_cursor_execute", refuse)
    with hold(one, "cell", never):
        pass
    assert "the lock on cell could not be given back" in caplog.text
    assert list(rows(one)) == ["cell"]
    with hold(one, "cell", never):
        pass
    assert rows(one) == {}


def test_a_server_that_is_started_anew_is_waited_for_longer_and_longer(one: Ledger, pauses: list[float]) -> None:
    gone = OperationalError("a look", None, Exception("the server is starting up"))
    refusals = [gone] * 3

    def refuse(*_: Any) -> None:
        if refusals:
            raise refusals.pop()

    event.listen(one.engine, "before_cursor_execute", refuse)
    with hold(one, "cell", never):
        pass
    assert pauses == [0.1, 1.0, 3.0]
