"""Who answered, how long it took and what single samples took, of attempts that are known."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.answerers import answerers, first_answers
from seedbed.lm.ledger.latencies import latencies
from seedbed.lm.ledger.sample_usage import sample_usage
from seedbed.suite import SampleUsage
from tests.unit.lm.ledger.conftest import FAILED, attempt, put


def told(model: str, answers: int, **changes: Any) -> dict[str, Any]:
    who = {"answered_by": "m-1", "fingerprint": "fp", "provider": "lab", "service_tier": None}
    return {"model": model, **who, **changes, "answers": answers}


def by(number: int, **changes: Any) -> dict[str, Any]:
    """An answer of a provider that said who it was."""
    return attempt(number, **{"answered_by": "m-1", "fingerprint": "fp", "provider": "lab"} | changes)


def test_who_answered_is_told_by_model_in_the_order_of_the_first_answers(engine: Engine) -> None:
    put(
        engine,
        by(1, answered_by="m-2"),
        by(2),
        by(3, outcome="reused"),
        by(4, model="j", service_tier="flex"),
        by(5, **FAILED),
        by(6, sweep="another"),
        attempt(7),
    )
    assert answerers(engine, "s") == [
        told("j", 1, service_tier="flex"),
        told("m", 1, answered_by="m-2"),
        told("m", 2),
    ]


def test_who_answered_can_be_narrowed_to_a_cell_and_to_what_came_since_a_fresh_start(engine: Engine) -> None:
    put(engine, by(1), by(2, cell="d", generation=1), by(3, cell="d", generation=2))
    assert answerers(engine, "s", cell="d") == [told("m", 2)]
    assert [[row["answers"] for row in answerers(engine, "s", since)] for since in range(4)] == [[3], [2], [1], []]


def test_a_models_first_answer_is_told_by_its_name_and_by_its_fingerprint(engine: Engine) -> None:
    put(
        engine,
        by(1, started_at=30.0),
        by(2, started_at=20.0, fingerprint="fp2"),
        by(3, started_at=10.0, answered_by="m-2", fingerprint="fp2"),
        by(4, started_at=15.0, answered_by=None, fingerprint=None),
        by(5, started_at=1.0, outcome="reused"),
        by(6, started_at=1.0, sweep="another"),
        by(7, started_at=5.0, model="j", fingerprint=None),
    )
    assert first_answers(engine, "s") == {
        ("m", "m-1"): 20.0,
        ("m", "fp"): 30.0,
        ("m", "m-2"): 10.0,
        ("m", "fp2"): 10.0,
        ("j", "m-1"): 5.0,
    }


def test_first_answers_are_those_since_a_fresh_start(engine: Engine) -> None:
    put(engine, *(by(number, generation=number, started_at=float(number)) for number in range(3)))
    first = [first_answers(engine, "s", since).get(("m", "fp")) for since in range(4)]
    assert first == [0.0, 1.0, 2.0, None]
    assert first_answers(engine, "s")["m", "fp"] == 0.0


def test_latencies_are_those_of_the_paid_calls_of_a_model_the_newest_first(engine: Engine) -> None:
    put(
        engine,
        attempt(1, latency_s=1.0, provider="lab"),
        attempt(2, latency_s=2.0, provider="other"),
        attempt(3, latency_s=3.0, outcome="reused"),
        attempt(4, latency_s=None, provider="lab"),
        attempt(5, latency_s=5.0, model="j"),
        attempt(6, latency_s=6.0, sweep="another"),
    )
    assert latencies(engine, "s", "m") == [2.0, 1.0]
    assert latencies(engine, "s", "m", "lab") == [1.0]


def test_of_many_latencies_the_newest_200_are_told(engine: Engine) -> None:
    put(engine, *(attempt(number, latency_s=float(number)) for number in range(1, 203)))
    assert latencies(engine, "s", "m") == [float(number) for number in range(202, 2, -1)]


def usage(engine: Engine) -> dict[str, SampleUsage]:
    return sample_usage(engine, "c", "generate", "last")


def test_a_sample_took_each_of_its_requests_once(engine: Engine) -> None:
    last = {"sample": "x", "execution": "last"}
    put(
        engine,
        attempt(1, **last, key="a", latency_s=1.0, usage_more='{"cut":true}'),
        attempt(2, **last, key="a", outcome="reused", latency_s=None, usage_more='{"cut":true}'),
        attempt(3, **last, key="b", tokens_in=20, tokens_out=3, list_usd=1.5, latency_s=2.0),
        attempt(4, **last, key="c", **FAILED),
        attempt(5, **last | {"cell": "another"}, key="d"),
        attempt(6, **last | {"phase": "scores"}, key="e"),
        attempt(7, **last | {"sample": None}, key="f"),
        attempt(8, **last | {"sample": "y"}, key="a"),
    )
    assert usage(engine) == {
        "x": SampleUsage(calls=2, tokens_in=30, tokens_out=5, list_usd=2.0, latency_s=3.0, cut=1),
        "y": SampleUsage(calls=1, tokens_in=10, tokens_out=2, list_usd=0.5, latency_s=1.0, cut=0),
    }


def test_what_an_execution_before_paid_for_counts_and_what_it_reused_does_not(engine: Engine) -> None:
    put(
        engine,
        attempt(1, sample="x", execution="first", key="a", latency_s=4.0),
        attempt(2, sample="x", execution="first", key="b", outcome="reused"),
        attempt(3, sample="x", execution="last", key="a", outcome="reused", latency_s=9.0),
    )
    assert usage(engine) == {"x": SampleUsage(1, 10, 2, 0.5, latency_s=4.0)}


@pytest.mark.parametrize(
    ("second", "list_usd", "latency_s"),
    [
        ({}, 1.0, 2.0),
        ({"list_usd": None}, None, 2.0),
        ({"outcome": "reused"}, 1.0, None),
        ({"latency_s": None}, 1.0, None),
    ],
    ids=["both known", "a price unknown", "an answer from elsewhere", "an answer of a batch"],
)
def test_of_a_sample_is_told_what_is_known_of_all_its_calls(
    engine: Engine, second: dict[str, Any], list_usd: float | None, latency_s: float | None
) -> None:
    put(engine, attempt(1, sample="x", execution="last"), attempt(2, sample="x", execution="last", **second))
    assert usage(engine) == {"x": SampleUsage(2, 20, 4, list_usd, latency_s)}
