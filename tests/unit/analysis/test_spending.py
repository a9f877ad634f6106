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


def _spent(looks: int, limits: tuple[float, ...]) -> np.ndarray:
    """At each look, how probable it is that a difference of 0 is first beyond its limit there: by Gauss' quadrature
    over where the sum of increments may be among those still going."""
    places, mass, found = np.zeros(1), np.ones(1), list[float]()
    nodes, weights = np.polynomial.legendre.leggauss(100)
    scale = np.sqrt(1 / looks)
    for number, limit in enumerate(limits, start=1):
        edge = limit * np.sqrt(number / looks)
        found.append(
            float(mass @ (stats.norm.sf(edge - places, scale=scale) + stats.norm.sf(edge + places, scale=scale)))
        )
        after = edge * nodes
        mass = stats.norm.pdf(after[:, None] - places, scale=scale) @ mass * edge * weights
        places = after
    return np.array(found)


@pytest.mark.parametrize(
    ("looks", "alpha"), [(1, 0.05), (2, 0.05), (3, 0.05), (10, 0.05), (4, 0.5), (4, 0.95), (10, 0.001)]
)
def test_each_look_spends_what_has_come_due_since_the_one_before(looks: int, alpha: float) -> None:
    """At a share t of the samples, twice the normal tail beyond its quantile of alpha / 2 over the root of t."""
    shares = np.arange(1, looks + 1) / looks
    due = 2 * stats.norm.sf(stats.norm.isf(alpha / 2) / np.sqrt(shares))
    limits = boundaries(looks, alpha)
    assert len(limits) == looks
    assert _spent(looks, limits) == pytest.approx(np.diff(due, prepend=0.0), rel=5e-4)


def test_what_is_too_rare_to_compute_is_spent_as_if_nobody_had_looked_before() -> None:
    shares = np.array([0.1, 0.2])
    due = 2 * stats.norm.sf(stats.norm.isf(0.0005) / np.sqrt(shares))
    assert due[1] < 1e-9
    expected = [stats.norm.isf(due[0] / 2), stats.norm.isf((due[1] - due[0]) / 2)]
    assert boundaries(10, 0.001)[:2] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_the_levels_of_up_to_twenty_tests_are_reached_exactly(number: int) -> None:
    for tests in range(1, 21):
        limit = boundaries(4, 0.05 / tests)[number - 1]
        assert float(reached_level(4, number, limit)) == pytest.approx(0.05 / tests, rel=1e-12)


def test_between_the_known_levels_it_is_close_and_beyond_them_the_last_one() -> None:
    for level in (3e-8, 2.2e-5, 0.0071, 0.34, 0.93):
        assert float(reached_level(4, 2, boundaries(4, level)[1])) == pytest.approx(level, rel=0.005)
    assert float(reached_level(4, 2, 40.0)) == pytest.approx(1e-8)


@pytest.mark.parametrize(("looks", "level"), [(1, 0.999), (4, 0.95)])
def test_a_difference_within_the_least_limit_of_all_has_a_p_of_one(looks: int, level: float) -> None:
    least = boundaries(looks, level)[-1]
    assert reached_level(looks, looks, [least, -least, 0.0]).tolist() == [1.0, 1.0, 1.0]
    assert float(reached_level(looks, looks, least * 1.01)) < level


def test_an_interval_is_as_wide_as_the_limit_of_its_look() -> None:
    limits = boundaries(4, 0.05)
    for number in (1, 2, 4):
        assert look_level(4, number, 0.05) == pytest.approx(2 * stats.norm.sf(limits[number - 1]), rel=1e-12)
