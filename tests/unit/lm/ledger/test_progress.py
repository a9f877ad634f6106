"""How far a sweep has come, by attempts whose sums are known."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.database import register_owner, sign_off
from seedbed.lm.ledger.progress import CallProgress, call_progress
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, put

LOST = FAILED | {"outcome": "lost", "error_class": "Lost"}


def test_samples_answered_calls_tokens_and_dollars_of_a_sweep(engine: Engine) -> None:
    put(
        engine,
        attempt(1, sample="x1", spent_usd=0.5, started_at=100.0),
        attempt(2, sample="x1", tokens_in=1, tokens_out=1, spent_usd=0.25, started_at=99.9),
        attempt(3, sample="x2", started_at=200.0, **FAILED | {"error_class": "RateLimit", "at_risk_usd": 0.125}),
        attempt(4, sample="x2", outcome="reused", tokens_in=70, tokens_out=7, spent_usd=0.0, started_at=200.0),
        attempt(5, sample="x3", started_at=99.0, **FAILED),
        attempt(6, sample="x3", started_at=100.0, **LOST | {"at_risk_usd": 1.0}),
        attempt(7, sample="x1", phase="scores", outcome="reused", spent_usd=0.0),
        attempt(8, sample="x4", cell="d", **NO_END),
        attempt(9, sample="x5", sweep="another"),
    )
    assert call_progress(engine, "s", 0, 100.0) == CallProgress(
        answered={("c", "generate"): 2, ("c", "scores"): 1, ("d", "generate"): 0},
        paid=2,
        reused=2,
        tokens=14,
        spent_usd=0.75,
        at_risk_usd=1.125,
        failed=Counter({"RateLimit": 1, "failed": 1, "lost": 1}),
        recent=3,
        at_work=False,
    )


def test_a_sweep_without_calls_has_come_nowhere(engine: Engine) -> None:
    put(engine, attempt(1, sweep="another"))
    assert call_progress(engine, "s", 0, 0.0) == CallProgress({}, 0, 0, 0, 0.0, 0.0, Counter(), 0, False)


def test_calls_without_tokens_on_record_add_none(engine: Engine) -> None:
    put(engine, attempt(1, **FAILED))
    assert call_progress(engine, "s", 0, 0.0).tokens == 0


def test_what_was_called_before_a_fresh_start_does_not_count_after_it(engine: Engine) -> None:
    put(engine, *(attempt(number, generation=number, sample=f"x{number}") for number in range(3)))
    found = [call_progress(engine, "s", since, 0.0) for since in range(4)]
    assert [progress.paid for progress in found] == [3, 2, 1, 0]
    assert [sum(progress.answered.values()) for progress in found] == [3, 2, 1, 0]


def test_samples_are_those_of_the_cells_that_were_named(engine: Engine) -> None:
    put(engine, *(attempt(number, cell=f"c{number}", sample="x") for number in range(1, 4)))
    put(engine, attempt(5, cell="c1", sample="y", sweep="another"))
    found = call_progress(engine, "s", 0, 0.0, ["c1", "c3", "none"])
    assert found.answered == {("c1", "generate"): 1, ("c3", "generate"): 1}
    assert found.paid == 3


def test_cells_of_any_number_can_be_named(engine: Engine) -> None:
    chosen = [0, 1, 499, 500, 999, 1000]
    put(engine, *(attempt(number, cell=f"c{number}", sample="x") for number in chosen))
    found = call_progress(engine, "s", 0, 0.0, [f"c{number}" for number in range(1001)])
    assert found.answered == {(f"c{number}", "generate"): 1 for number in chosen}


@pytest.mark.parametrize(
    ("calls", "at_work"),
    [
        ({"id": 2 * IDS}, True),
        ({"id": 3 * IDS - 1}, True),
        ({"generation": 0}, False),
        ({"sweep": "another"}, False),
        ({"id": 2 * IDS - 1, "owner": 1}, False),
        ({"id": 3 * IDS, "owner": 3}, False),
    ],
    ids=["its first id", "its last", "before the fresh start", "another sweep's", "the one before", "the one after"],
)
def test_a_sweep_is_at_work_while_a_writer_that_called_for_it_is_alive(
    engine: Engine, calls: dict[str, object], at_work: bool
) -> None:
    writers = [register_owner(engine) for _ in range(3)]
    assert writers == [1, 2, 3]
    for ended in (1, 3):
        sign_off(engine, ended)
    put(engine, attempt(1, **{"owner": 2, "generation": 1} | calls))
    try:
        assert call_progress(engine, "s", 1, 0.0).at_work is at_work
    finally:
        sign_off(engine, 2)
