"""Batches to look at, from rows that are known."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger import batch_views, schema
from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.batch_views import BatchView, Gathering, view_batches, view_gathering
from seedbed.lm.ledger.database import register_owner, sign_off
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, batch, put, seat

NOW = 1000.0


@pytest.fixture(autouse=True)
def _at_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_views.time, "time", lambda: NOW)


def filled(engine: Engine, name: str, *rows: dict[str, Any], **changes: Any) -> str:
    """A batch of these attempts."""
    put(engine, *rows)
    batch(engine, name, **changes)
    for row in rows:
        seat(engine, row["id"], batch=name)
    return name


def test_a_batch_shows_whose_requests_it_holds_and_how_far_it_has_come(engine: Engine) -> None:
    filled(
        engine, "b1",
        attempt(1, sweep="t"), attempt(2, **FAILED), attempt(3, **NO_END), attempt(4),
        requests=4, provider_id="batch_7", provider_status="in_progress", done=5, failed=2, packed_at=900.0,
        error="slow",
    )  # fmt: skip
    filled(engine, "b2", attempt(5), packed_at=950.0)
    assert view_batches(engine)[0] == BatchView(
        id="b1",
        provider_id="batch_7",
        model="m",
        state="in_progress",
        requests=4,
        taken=3,
        done=7,
        age_s=100.0,
        ended=False,
        at_work=False,
        sweeps=("s", "t"),
        error="slow",
    )


@pytest.mark.parametrize(
    ("state", "said", "shown"),
    [
        ("packed", None, "packed"),
        ("creating", "validating", "creating"),
        ("running", None, "running"),
        ("running", "in_progress", "in_progress"),
        ("ended", "completed", "ended"),
    ],
)
def test_what_the_provider_said_of_a_batch_is_shown_while_it_runs(
    engine: Engine, state: str, said: str | None, shown: str
) -> None:
    filled(engine, "b", attempt(1), state=state, provider_status=said)
    assert [view.state for view in view_batches(engine)] == [shown]


@pytest.mark.parametrize(
    ("times", "age_s"),
    [
        ({"packed_at": 900.0}, 100.0),
        ({"packed_at": 900.0, "ended_at": 930.0}, 30.0),
        ({"packed_at": 1010.0}, 0.0),
    ],
    ids=["open", "ended", "packed by a clock that is ahead"],
)
def test_a_batch_is_as_old_as_it_was_when_it_ended(engine: Engine, times: dict[str, float], age_s: float) -> None:
    filled(engine, "b", attempt(1), **times)
    assert [view.age_s for view in view_batches(engine, ended=True)] == [age_s]


def test_those_that_have_ended_are_shown_only_if_asked_for_and_the_oldest_first(engine: Engine) -> None:
    filled(engine, "new", attempt(1), packed_at=300.0)
    filled(engine, "old", attempt(2), packed_at=100.0)
    filled(engine, "gone", attempt(3), packed_at=200.0, ended_at=250.0)
    assert [(view.id, view.ended) for view in view_batches(engine)] == [("old", False), ("new", False)]
    assert [(view.id, view.ended) for view in view_batches(engine, ended=True)] == [
        ("old", False), ("gone", True), ("new", False)
    ]  # fmt: skip


def test_batches_of_a_sweep_are_those_that_hold_a_request_of_it(engine: Engine) -> None:
    filled(engine, "both", attempt(1), attempt(2, sweep="t"))
    filled(engine, "other", attempt(3, sweep="t"))
    assert [view.id for view in view_batches(engine, "s")] == ["both"]
    assert [view.id for view in view_batches(engine, "t")] == ["both", "other"]
    assert view_batches(engine, "u") == []


def test_a_batch_is_at_work_while_its_process_is_and_it_has_not_ended(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, attempt(1, **NO_END))  # of a writer that has died
    alive = register_owner(engine)
    for name, changes in (("alive", {"owner": alive}), ("ended", {"owner": alive, "ended_at": 1.0})):
        batch(engine, name, **changes)
    batch(engine, "dead", owner=1)
    batch(engine, "nobody's")
    shown = {view.id: view.at_work for view in view_batches(engine, ended=True)}
    sign_off(engine, alive)
    assert shown == {"alive": True, "ended": False, "dead": False, "nobody's": False}


def test_what_waits_for_a_batch_is_counted_from_the_first_on(engine: Engine) -> None:
    put(
        engine,
        *(attempt(number, started_at=900.0 + number, **NO_END) for number in (1, 2, 3)),
        attempt(4, sweep="t", **NO_END | {"started_at": 1.0}),
        attempt(5, started_at=2.0),
        attempt(6, started_at=3.0, **NO_END),
    )
    for number, name in ((1, "b"), (2, None), (3, None), (4, None), (5, None)):
        seat(engine, IDS + number, batch=name)
    assert view_gathering(engine, "s") == Gathering(2, 98.0)
    assert view_gathering(engine, "u") is None


def test_what_waits_since_a_later_moment_by_another_clock_waits_since_now(engine: Engine) -> None:
    put(engine, attempt(1, started_at=NOW + 5, **NO_END))
    seat(engine, IDS + 1)
    assert view_gathering(engine, "s") == Gathering(1, 0.0)


def test_a_ledger_of_before_has_no_batches(engine: Engine) -> None:
    for table in (schema.batch_rows, schema.batches):
        table.drop(engine)
    assert view_batches(engine) == []
    assert view_gathering(engine, "s") is None
