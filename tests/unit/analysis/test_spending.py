"""Limits of tests that are looked at several times, and the p that accounts for it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.spending import boundaries, look_level, reached_level


def test_the_limits_are_those_of_the_tables() -> None:
    known = [5.96, 4.39, 3.59, 3.12, 2.82, 2.60, 2.44, 2.31, 2.21, 2.13]
    # The first is at a probability of 2.5e-9, where a hundredth is rounding.
    assert boundaries(10, 0.05)[1:] == pytest.approx(known[1:], abs=0.012)
    assert boundaries(10, 0.05)[0] == pytest.approx(stats.norm.isf(0.025) * np.sqrt(10)), "what the first look spends"
    assert boundaries(1, 0.05) == pytest.approx([1.96], abs=0.005)


@pytest.mark.parametrize(("looks", "alpha"), [(4, 0.05), (10, 0.01)])
def test_all_looks_together_spend_the_level(looks: int, alpha: float) -> None:
    steps = np.random.default_rng(7).normal(0, 1, (100_000, looks))
    walk = steps.cumsum(axis=1) / np.sqrt(np.arange(1, looks + 1))
    crossed = (np.abs(walk) >= boundaries(looks, alpha)).any(axis=1)
    assert crossed.mean() == pytest.approx(alpha, rel=0.06)


def test_the_level_reached_is_the_one_whose_limit_was_met() -> None:
    for alpha in (0.05, 0.01, 0.2, 0.003):
        limits = boundaries(10, alpha)
        for number in (1, 4, 10):
            assert float(reached_level(10, number, limits[number - 1])) == pytest.approx(alpha, rel=0.01)
    assert float(reached_level(10, 5, 0.0)) == 1.0
    assert float(reached_level(10, 5, -3.0)) == float(reached_level(10, 5, 3.0))
    falling = reached_level(10, 3, np.linspace(0, 12, 200))
    assert (np.diff(falling) <= 0).all()


def test_the_least_level_over_the_looks_is_a_p() -> None:
    """Under no difference it is below x in no more than x of all cases."""
    steps = np.random.default_rng(3).normal(0, 1, (40_000, 5))
    walk = steps.cumsum(axis=1) / np.sqrt(np.arange(1, 6))
    p = np.min([reached_level(5, k + 1, walk[:, k]) for k in range(5)], axis=0)
    for x in (0.01, 0.05, 0.2):
        assert (p <= x).mean() == pytest.approx(x, rel=0.12)


def test_an_interval_at_an_early_look_is_wider() -> None:
    assert look_level(10, 10, 0.05) < 0.05
    assert look_level(10, 4, 0.05) == pytest.approx(2 * stats.norm.sf(3.12), rel=0.02)
    assert look_level(1, 1, 0.05) == pytest.approx(0.05)
