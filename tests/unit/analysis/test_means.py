"""Figures over seeds, with what they stand on."""

from __future__ import annotations

import pytest

from seedbed.analysis.means import mean, over_seeds, sample_std


def test_no_values_is_undefined_not_zero() -> None:
    assert mean([]) is None
    assert sample_std([]) is None
    assert over_seeds([None, None]).mean is None


def test_the_spread_of_one_value_is_zero_and_has_no_interval() -> None:
    figure = over_seeds([0.5])
    assert (figure.std, figure.ci_low, figure.n_seeds) == (0.0, None, 1)


def test_the_interval_is_students_t() -> None:
    figure = over_seeds([1.0, 2.0, 3.0])
    assert figure.mean == 2.0
    assert figure.std == pytest.approx(1.0)
    # t(0.975, 2) = 4.302653, divided by the root of 3
    assert figure.ci_high == pytest.approx(2.0 + 4.302652729696142 / 3**0.5)


def test_the_interval_over_seeds_stays_in_the_range() -> None:
    found = over_seeds([0.97, 1.0, 1.0], (0.0, 1.0))
    assert found.ci_high == 1.0
    assert found.ci_low is not None
    assert found.ci_low < 0.97


def test_a_seed_without_the_figure_is_left_out_and_not_counted() -> None:
    figure = over_seeds([1.0, None, 3.0])
    assert (figure.mean, figure.n_seeds) == (2.0, 2)


def test_two_values_have_a_spread_and_an_interval() -> None:
    """t(0.975, 1) = 12.7062, times the spread of root 2 over the root of 2."""
    assert sample_std([1.0, 3.0]) == pytest.approx(2**0.5)
    figure = over_seeds([1.0, 3.0])
    assert (figure.mean, figure.std, figure.n_seeds) == (2.0, pytest.approx(2**0.5), 2)
    assert (figure.ci_low, figure.ci_high) == pytest.approx((2.0 - 12.7062047, 2.0 + 12.7062047))


def test_the_interval_over_seeds_is_cut_at_both_ends_of_the_range() -> None:
    figure = over_seeds([1.0, 3.0], (0.5, 5.0))
    assert (figure.ci_low, figure.ci_high) == (0.5, 5.0)
