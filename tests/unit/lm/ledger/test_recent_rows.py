"""The latest calls, what they cost by and by and what failed, of attempts that are known."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.recent import failures_by_kind, latest_calls, one_call, spent_over_time
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, keep, put


def ids(engine: Engine, generation: int = 0, limit: int = 10) -> list[int]:
    return [row["id"] for row in latest_calls(engine, "s", generation, limit)]


def test_the_latest_calls_are_in_the_order_in_which_they_ended(engine: Engine) -> None:
    put(
        engine,
        attempt(1, started_at=100.0, latency_s=20.0),
        attempt(2, started_at=110.0, latency_s=5.0),
        attempt(3, started_at=117.0, latency_s=None),
        attempt(1, owner=2, started_at=113.0, latency_s=3.0),
        attempt(2, owner=2, started_at=400.0, **NO_END),
        attempt(3, owner=2, started_at=500.0, sweep="another"),
    )
    in_order = [IDS + 1, IDS + 3, 2 * IDS + 1, IDS + 2]
    assert ids(engine) == in_order


def test_no_more_of_the_latest_calls_are_shown_than_were_asked_for(engine: Engine) -> None:
    put(engine, *(attempt(number, owner=owner, started_at=100.0 * owner + number, latency_s=0.0)
                  for owner in (1, 2) for number in range(1, 5)))  # fmt: skip
    assert ids(engine, limit=3) == [2 * IDS + 4, 2 * IDS + 3, 2 * IDS + 2]


def test_the_latest_calls_are_those_since_a_fresh_start(engine: Engine) -> None:
    put(engine, *(attempt(number, generation=number, started_at=float(number)) for number in range(1, 4)))
    assert [len(ids(engine, since)) for since in (0, 1, 2, 3, 4)] == [3, 3, 2, 1, 0]


def test_a_writers_calls_are_shown_once_up_to_the_ends_of_its_ids(engine: Engine) -> None:
    put(engine, attempt(0, started_at=1.0), attempt(IDS - 1, started_at=2.0), attempt(0, owner=2, started_at=3.0))
    assert ids(engine) == [2 * IDS, 2 * IDS - 1, IDS]


def test_the_calls_of_the_latest_eight_writers_are_shown(engine: Engine) -> None:
    put(engine, *(attempt(1, owner=owner, started_at=float(owner)) for owner in range(1, 11)))
    assert ids(engine, limit=20) == [owner * IDS + 1 for owner in range(10, 2, -1)]


def test_a_call_is_shown_with_its_own_bodies_and_no_answer_that_another_was_given(engine: Engine) -> None:
    put(engine, attempt(1, key="a"), attempt(2, key="a", **FAILED), attempt(3, key="b", outcome="reused"))
    put(engine, attempt(4, key="c"), attempt(5, key="a", sweep="another"))
    for key in ("a", "b"):
        keep(engine, key, request={"ask": key}, response={"say": key})

    def bodies(number: int) -> Any:
        found = one_call(engine, "s", IDS + number)
        return found and (found["id"] - IDS, found["outcome"], found["request"], found["response"])

    assert [bodies(number) for number in range(1, 7)] == [
        (1, "paid", {"ask": "a"}, {"say": "a"}),
        (2, "failed", {"ask": "a"}, None),
        (3, "reused", {"ask": "b"}, {"say": "b"}),
        (4, "paid", None, None),
        None,
        None,
    ]


def test_dollars_calls_and_failures_are_told_by_slice_of_time(engine: Engine) -> None:
    put(
        engine,
        attempt(1, started_at=100.0, spent_usd=1.0),
        attempt(2, started_at=109.9, spent_usd=2.0),
        attempt(3, started_at=110.0, **FAILED),
        attempt(4, started_at=135.0, **FAILED | {"outcome": "lost", "spent_usd": None}),
        attempt(5, started_at=136.0, spent_usd=4.0),
        attempt(6, started_at=99.9),
        attempt(7, started_at=120.0, outcome="reused"),
        attempt(8, started_at=120.0, **NO_END),
        attempt(9, started_at=120.0, sweep="another"),
    )
    assert spent_over_time(engine, "s", 0, 100.0, 10.0) == [
        {"slot": 0, "calls": 2, "failed": 0, "usd": 3.0},
        {"slot": 1, "calls": 1, "failed": 1, "usd": 0.0},
        {"slot": 3, "calls": 2, "failed": 1, "usd": 4.0},
    ]


def test_dollars_over_time_are_those_since_a_fresh_start(engine: Engine) -> None:
    put(engine, *(attempt(number, generation=number) for number in range(3)))
    calls = [[row["calls"] for row in spent_over_time(engine, "s", since, 0.0, 1000.0)] for since in range(4)]
    assert calls == [[3], [2], [1], []]


def test_failures_are_counted_by_kind_and_model_the_most_frequent_first(engine: Engine) -> None:
    limited = FAILED | {"error_class": "RateLimit", "error": "slow down"}
    put(
        engine,
        attempt(1, started_at=5.0, **FAILED),
        attempt(2, started_at=7.0, **limited),
        attempt(3, started_at=9.0, **limited),
        attempt(4, started_at=8.0, **limited),
        *(attempt(number, model="j", **FAILED | {"outcome": "lost", "error_class": "Lost"}) for number in (5, 6)),
        attempt(7),
        attempt(8, sweep="another", **limited),
    )
    told = [(row["kind"], row["model"], row["count"], row["last"], row["said"])
            for row in failures_by_kind(engine, "s", 0)]  # fmt: skip
    assert told == [
        ("RateLimit", "m", 3, 9.0, "slow down"),
        ("lost", "j", 2, 100.0, None),
        ("failed", "m", 1, 5.0, None),
    ]


@pytest.mark.parametrize(("since", "count"), [(0, 1), (1, 1), (2, 0)])
def test_failures_of_before_a_fresh_start_are_left_out(engine: Engine, since: int, count: int) -> None:
    put(engine, attempt(1, generation=1, **FAILED))
    assert sum(row["count"] for row in failures_by_kind(engine, "s", since)) == count
