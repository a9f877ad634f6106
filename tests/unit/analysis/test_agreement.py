"""Agreement of two raters, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis.agreement import kappa


def test_kappa_is_one_less_the_squared_disagreement_over_that_by_chance() -> None:
    """Marks 1 3 against 2 3: .5 apart; by chance 5 + 6.5 - 2 * 2 * 2.5 = 1.5."""
    assert kappa(np.array([1.0, 3.0]), np.array([2.0, 3.0])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_only_the_relation_of_weights_counts(scale: float) -> None:
    """Three quarters on the first: .75 apart; by chance 3 + 5.25 - 2 * 1.5 * 2.25 = 1.5."""
    weights = scale * np.array([3.0, 1.0])
    assert kappa(np.array([1.0, 3.0]), np.array([2.0, 3.0]), weights) == pytest.approx(0.5)


def test_raters_that_turn_each_others_marks_round_disagree_wholly() -> None:
    assert kappa(np.array([1.0, 5.0]), np.array([5.0, 1.0])) == pytest.approx(-1.0)


def test_one_sample_says_nothing_and_neither_does_one_mark_alone() -> None:
    assert kappa(np.array([1.0]), np.array([3.0])) is None
    assert kappa(np.array([0.1] * 7), np.array([0.1] * 7)) is None
