"""What added scorers say of answers, in the rows of the suite: of good answers, of none, and where a scorer fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import Interrupted
from seedbed.phases.scorers import ERRORS, add_scores, cell_metrics
from seedbed.suite import Answer, Case, Failure, Metric, Options, Prediction, Scored, ScoreRow, ScorerSpec
from seedbed.sweep.resolved import AddedScorer

LENGTH = Metric("length", "Length", range=(1.0, 9.0))
GOOD, CUT = Answer("a", {"answer": "yes"}), Failure("a", {"kind": "AdapterParseError", "message": "m"})
GONE = Failure("a", {"kind": "timeout", "message": "slow"})


def scorer(value: Any, *metrics: Metric, label: str | None = None) -> AddedScorer:
    def score(context: Any, case: Any, output: Any, options: Any) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value(output) if callable(value) else value

    return AddedScorer("counts", ScorerSpec(score, metrics or (LENGTH,)), Options(), label)


def scored(*scorers: AddedScorer, given: Prediction = GOOD, row: ScoreRow | None = None) -> ScoreRow:
    async def each(cases: Sequence[Case], work: Callable[[Case], Awaitable[ScoreRow]]) -> list[ScoreRow]:
        return [await work(case) for case in cases]

    context: Any = SimpleNamespace(resolved=SimpleNamespace(scorers=scorers, passes=()), each=each)
    own = row or ScoreRow("a", "ok", {"right": 1.0}, {"told": "well"})
    (found,) = asyncio.run(add_scores(context, [Case("a", {})], {"a": given}, [own]))
    return found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda output: len(output["answer"]), 3.0),
        (True, 1.0),
        ({"length": 2.5}, 2.5),
        ({}, None),
        (None, None),
        (Scored({"length": 4.0}), 4.0),
    ],
)
def test_a_scorer_may_return_a_number_a_mapping_or_nothing(value: Any, expected: float | None) -> None:
    found = scored(scorer(value))
    assert found.scores == {"right": 1.0, "length": expected}
    assert (found.status, found.details) == ("ok", {"told": "well"})


def test_a_scorer_may_be_asynchronous() -> None:
    async def score(context: Any, case: Any, output: Any, options: Any) -> float:
        await asyncio.sleep(0)
        return 5.0

    assert scored(AddedScorer("s", ScorerSpec(score, (LENGTH,)), Options())).scores["length"] == 5.0


def test_two_variants_of_a_scorer_take_neither_names_nor_reasons_from_each_other() -> None:
    told = Scored({"length": 4.0}, {"why": "counted"})
    found = scored(scorer(told, label="short"), scorer(told, label="long"), scorer(told))
    assert found.scores == {"right": 1.0, "short": 4.0, "long": 4.0, "length": 4.0}
    why = {"why": "counted"}
    assert found.details == {"told": "well", "short": why, "long": why, **why}
    silent = scored(scorer(4.0, label="short"))
    assert silent.details == {"told": "well"}


def test_without_scorers_rows_are_as_they_were() -> None:
    row = ScoreRow("a", "ok")
    assert scored(row=row) == row


@pytest.mark.parametrize(
    ("given", "status", "scores"),
    [
        (CUT, "ok", {"right": 1.0, "length": 1.0}),
        (CUT, "error", {"right": 1.0}),
        (GONE, "ok", {"right": 1.0}),
        (GOOD, "skipped", {"right": 1.0}),
    ],
)
def test_an_answer_that_cannot_be_read_is_the_worst_and_one_that_is_missing_is_none(
    given: Prediction, status: Any, scores: dict[str, float]
) -> None:
    assert scored(scorer(4.0), given=given, row=ScoreRow("a", status, {"right": 1.0})).scores == scores


def test_a_scorer_that_fails_leaves_a_gap_and_its_reason() -> None:
    found = scored(scorer(ValueError("no idea")), scorer(KeyError("x"), label="long"), scorer(4.0, label="short"))
    assert found.scores == {"right": 1.0, "length": None, "long": None, "short": 4.0}
    assert found.status == "ok"
    assert found.details["told"] == "well"
    assert {name: error["kind"] for name, error in found.details[ERRORS].items()} == {
        "counts": "ValueError",
        "long": "KeyError",
    }


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"size": 1.0, "length": 2.0, "age": 3.0}, "did not declare age, size; its metrics are length"),
        ("many", "could not convert"),
    ],
)
def test_what_a_scorer_did_not_declare_is_its_failure(value: Any, told: str) -> None:
    assert told in scored(scorer(value)).details[ERRORS]["counts"]["message"]


def test_a_scorer_of_several_metrics_returns_them_by_name() -> None:
    two = (LENGTH, Metric("words", "Words"))
    assert scored(scorer({"words": 2.0}, *two)).scores == {"right": 1.0, "length": None, "words": 2.0}
    failed = scored(scorer(2.0, *two))
    assert "a scorer of 2 metrics must return a mapping" in failed.details[ERRORS]["counts"]["message"]


def test_a_stop_is_no_failure_of_a_scorer() -> None:
    with pytest.raises(Interrupted):
        scored(scorer(Interrupted("Ctrl-C")))


def test_figures_of_a_cell_are_over_answers_that_were_scored() -> None:
    suite = SimpleNamespace(aggregate=lambda rows: {"n": len(rows)})
    resolved: Any = SimpleNamespace(suite=suite, scorers=(scorer(1.0),), passes=())
    rows = [
        ScoreRow("a", "ok", {"length": 1.0}),
        ScoreRow("b", "ok", {"length": None}),
        ScoreRow("c", "skipped", {"length": 9.0}),
        ScoreRow("d", "ok", {"length": 2.0}),
    ]
    found = cell_metrics(resolved, rows)
    assert (found["n"], found["length"], found["n_length"]) == (4, 1.5, 2)
    assert found["length_std"] == pytest.approx(0.5**0.5)
