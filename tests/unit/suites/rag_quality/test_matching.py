"""Which passages are the same, and the formulas."""

from __future__ import annotations

import pytest

from seedbed.suites.rag_quality.matching import relevant_places, same_passage, similarity
from seedbed.suites.rag_quality.metrics import average_precision, share, statement_f1, weighted

LONG = "The ferry crosses the strait in 42 minutes and leaves every hour in summer."


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.upper(),
        f"  {LONG}..",
        LONG[:40],
        f"Timetable. {LONG} Tickets on board.",
        LONG.replace("in 42", "within 42"),
    ],
    ids=["equal", "case", "marks", "part", "whole", "nearly"],
)
def test_the_same_passage(other: str) -> None:
    assert same_passage(LONG, other, 0.7)


@pytest.mark.parametrize("other", ["", "...", "Bread is baked daily at six in the morning."])
def test_another_passage(other: str) -> None:
    assert not same_passage(LONG, other, 0.7)


def test_spaces_and_widths_of_chinese_do_not_matter() -> None:
    assert same_passage("FHA 贷款允许最低 3.5% 的首付...", "FHA贷款允许最低３.５％的首付", 0.99)


def test_the_threshold_decides() -> None:
    other = LONG.replace("crosses the strait", "sails over the bay")
    assert 0.3 < similarity(LONG, other) < 0.9
    assert same_passage(LONG, other, 0.3)
    assert not same_passage(LONG, other, 0.95)


def test_each_retrieved_context_is_looked_up() -> None:
    assert relevant_places(["Bread.", LONG, ""], [LONG], 0.7) == [False, True, False]


@pytest.mark.parametrize(("verdicts", "expected"), [([0, 1], 0.5), ([1, 0, 1], 5 / 6), ([], 0.0), ([True], 1.0)])
def test_average_precision(verdicts: list[int], expected: float) -> None:
    assert average_precision(verdicts) == pytest.approx(expected)


def test_formulas_are_undefined_without_anything_to_judge() -> None:
    assert share([]) is None
    assert statement_f1(0, 0, 0) is None
    assert statement_f1(1, 1, 0) == pytest.approx(2 / 3)


def test_similarity_counts_by_its_weight_only() -> None:
    assert weighted(0.5, 1.0, (1.0, 0.0)) == 0.5
    assert weighted(0.5, 1.0, (0.75, 0.25)) == 0.625
    assert weighted(0.5, None, (1.0, 0.0)) == 0.5
