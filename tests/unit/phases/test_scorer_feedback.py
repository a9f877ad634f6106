"""What an optimizer hears of an answer where the config's scorers are its teachers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.phases.scorer_feedback import scorer_feedback
from seedbed.suite import Case, Metric, Options, Scored, ScorerSpec
from seedbed.sweep.resolved import AddedScorer

CASE = Case("q1", {"question": "?"}, "gold")


def _scorer(said: Scored | float | None, *metrics: Metric, **spec: Any) -> AddedScorer:
    return AddedScorer("s", ScorerSpec(lambda *_: said, metrics, **spec), Options())


def _feedback(*scorers: AddedScorer) -> Any:
    runtime = SimpleNamespace(run_until_stop=lambda work, _: asyncio.run(work()))
    cell = SimpleNamespace(title="the cell", id="c")
    context: Any = SimpleNamespace(resolved=SimpleNamespace(scorers=scorers), cell=cell, runtime=runtime)
    return scorer_feedback(context, CASE, {"answer": "a"})


def test_the_first_value_there_is_is_the_score_and_all_words_are_told() -> None:
    undefined = _scorer(Scored({"seen": None}, feedback="Nothing to see."), Metric("seen", "Seen"))
    wrong = _scorer(1.5, Metric("errors", "Errors", higher_is_better=False, digits=1, range=(0.0, 2.0)))
    right = _scorer(1.0, Metric("hit", "Hit", digits=0))
    told = _feedback(undefined, wrong, right)
    assert told.score == 0.25
    assert told.text == (
        "Nothing to see. Errors: 1.5 (from 0 to 2, lower is better). Hit: 1 (from 0 to 1, higher is better)."
    )


def test_a_figure_without_a_range_or_a_direction_is_told_but_is_no_score() -> None:
    length = _scorer(7.0, Metric("words", "Words", digits=0, range=None))
    neutral = _scorer(0.9, Metric("share", "Share", digits=1, higher_is_better=None))
    told = _feedback(length, neutral, _scorer(0.5, Metric("hit", "Hit", digits=1)))
    assert told.score == 0.5
    assert told.text.startswith("Words: 7. Share: 0.9")


def test_a_value_beyond_its_range_is_a_score_within_it() -> None:
    assert _feedback(_scorer(3.0, Metric("hit", "Hit"))).score == 1.0
    assert _feedback(_scorer(-3.0, Metric("hit", "Hit"))).score == 0.0


def test_a_case_without_any_value_is_refused_by_its_name() -> None:
    compared = _scorer(1.0, Metric("better", "Better"), pairs=True)
    with pytest.raises(UserError, match="the cell: no scorer gives case 'q1' a value"):
        _feedback(compared, _scorer(None, Metric("hit", "Hit")))
