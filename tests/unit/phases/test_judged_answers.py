"""What a rater sees of an output: what the judge was about, and nothing that tells the system."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.phases.judged_answers import JudgedAnswer, _doubt, mean_doubts, shown_output  # pyright: ignore
from seedbed.suite import NO_OR_YES, Judged, Metric

OUTPUT = {"answer": "yes", "evidence": ["a"], "turns": [{"said": "hi", "heard": "ho", "memory": 1}, {"said": "bye"}]}


def test_only_the_fields_named_are_shown() -> None:
    assert shown_output(OUTPUT, Judged("?", NO_OR_YES, ("answer",))) == {"answer": "yes"}


def test_a_dot_leads_into_the_members_of_a_list() -> None:
    shown = shown_output(OUTPUT, Judged("?", NO_OR_YES, ("turns.heard", "turns.said")))
    assert shown == {"turns": [{"heard": "ho", "said": "hi"}, {"heard": None, "said": "bye"}]}


def test_all_is_shown_where_no_field_is_there_and_nothing_of_no_output() -> None:
    assert shown_output(OUTPUT, Judged("?", NO_OR_YES, ("reply",))) == OUTPUT
    assert shown_output(None, Judged("?", NO_OR_YES)) == {}


def _answer(doubt: float | None) -> JudgedAnswer:
    return JudgedAnswer(seed=0, score=1.0, answer="", certain=False, doubt=doubt, shown={})


def test_the_doubt_of_a_sample_is_the_mean_over_those_that_voted_more_than_once() -> None:
    answers = {"a": {"q1": [_answer(0.1), _answer(None)], "q2": [_answer(None)]}, "b": {"q1": [_answer(0.4)]}}
    found = mean_doubts(answers, ["q1", "q2"])
    assert found[0] == pytest.approx(0.25)
    assert np.isnan(found[1])


@pytest.mark.parametrize(("ends", "expected"), [((0.0, 4.0), 0.25), (None, None)])
def test_votes_are_in_doubt_by_how_far_they_lie_apart_on_the_range(
    ends: tuple[float, float] | None, expected: float | None
) -> None:
    metric = Metric("tone", "Tone", range=ends, judged=Judged("?", NO_OR_YES, votes="votes"))
    assert _doubt({"votes": [[1, "cold"], [3, "warm"]]}, metric) == expected
