"""pass@k and pass^k of cases that were asked several times, in the rows of their samples."""

from __future__ import annotations

import pytest

from seedbed.phases.passes import with_passes
from seedbed.suite import Case, Metric, ScoreRow
from seedbed.sweep.repeats import PassFigure

AT = PassFigure("right", 2, all=False, metric=Metric("pass_at_2", "pass@2"))
ALL = PassFigure("right", 2, all=True, metric=Metric("pass_all_2", "pass^2"))


def asked(case: str, *marks: float | str | None) -> tuple[list[Case], list[ScoreRow]]:
    """A case asked again and again: what each answer scored, or how it ended."""
    cases = [Case(f"{case}#{number}" if number else case, {}, repeat=number) for number in range(len(marks))]
    rows = [
        ScoreRow(own.sample_id, "error") if mark == "error" else ScoreRow(own.sample_id, "ok", {"right": mark})  # type: ignore[dict-item]
        for own, mark in zip(cases, marks, strict=True)
    ]
    return cases, rows


@pytest.mark.parametrize(
    ("marks", "at", "every"),
    [
        ((1.0, 0.0, 0.0), 2 / 3, 0.0),
        ((1.0, 1.0, 0.0), 1.0, 1 / 3),
        ((1.0, 1.0), 1.0, 1.0),
        ((0.0, 0.5), 0.0, 0.0),
        ((1.0, None, 0.0), 1.0, 0.0),
        ((1.0, None), None, None),
    ],
)
def test_the_first_row_of_a_case_has_its_figures(
    marks: tuple[float | None, ...], at: float | None, every: float | None
) -> None:
    cases, rows = asked("a", *marks)
    first, *others = with_passes([AT, ALL], cases, rows)
    assert first.scores["right"] == marks[0]
    assert (first.scores["pass_at_2"], first.scores["pass_all_2"]) == (pytest.approx(at), pytest.approx(every))
    assert others == rows[1:]


def test_a_case_is_told_by_the_first_answer_that_was_scored() -> None:
    cases, rows = asked("a", "error", 1.0, 0.0)
    found = with_passes([AT], cases, rows)
    assert ["pass_at_2" in row.scores for row in found] == [False, True, False]
    assert found[1].scores["pass_at_2"] == 1.0, "an answer that is missing is no wrong one"
    cases, rows = asked("a", "error", "error")
    assert with_passes([AT], cases, rows) == rows


def test_cases_are_told_apart_and_nothing_is_added_where_nothing_is_asked_for() -> None:
    (first, ones), (second, twos) = asked("a", 1.0, 1.0), asked("b", 0.0, 0.0)
    cases, rows = [first[0], second[0], first[1], second[1]], [ones[0], twos[0], ones[1], twos[1]]
    assert [row.scores.get("pass_at_2") for row in with_passes([AT], cases, rows)] == [1.0, 0.0, None, None]
    assert with_passes([], cases, rows) == rows
