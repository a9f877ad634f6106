"""Sums of clusters, and the one estimate of a mean, by the formulas written out for a column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.columns import (
    Columns,
    Estimate,
    by_seed,
    ends_of,
    estimate,
    numbered,
    over_columns,
    plain_means,
)

NAN = math.nan
VALUES = np.array([0.1, 0.9, 0.4, 0.7, 0.2, 0.8])


def of(values: Any, clusters: Any = None) -> Columns:
    column = np.asarray(values, dtype=float)
    column = column[:, None] if column.ndim == 1 else column
    return Columns.of(column, np.arange(len(column)) if clusters is None else np.asarray(clusters))


def ends(low: float, high: float) -> tuple[Any, Any]:
    return np.array([low]), np.array([high])


def test_clusters_are_added_up_and_what_is_missing_counts_nowhere() -> None:
    made = of([[1, NAN], [2, 5], [4, 7]], [1, 0, 1])
    np.testing.assert_array_equal(made.sums, [[2, 5], [5, 7]])
    np.testing.assert_array_equal(made.counts, [[1, 1], [2, 1]])
    assert not made.singletons
    assert made.n_clusters.tolist() == [2, 2]
    assert made.defined(1) == [5, 7]
    assert made.column(1).sums.tolist() == [[5], [7]]
    assert made.column(0).counts.tolist() == [[1], [2]]


def test_samples_of_their_own_stand_in_the_order_of_their_clusters() -> None:
    made = of([1, NAN, 3], [2, 0, 1])
    assert made.singletons
    assert (made.sums[:, 0].tolist(), made.counts[:, 0].tolist()) == ([0, 3, 1], [0, 1, 1])
    assert made.n_clusters.tolist() == [2]
    assert of(np.zeros((0, 1))).sums.shape == (0, 1)


def test_without_ends_and_clusters_it_is_the_mean_and_its_standard_error() -> None:
    made = of(VALUES)
    found = estimate(made.sums, made.counts, *ends(-math.inf, math.inf), 2.0)
    assert found.mean[0] == pytest.approx(VALUES.mean())
    assert found.error[0] == pytest.approx(VALUES.std(ddof=1) / math.sqrt(6))
    assert found.degrees[0] == 5


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_pseudo_samples_stand_at_both_ends(weight: float) -> None:
    made, n, w = of(VALUES), 6, weight
    mean = (VALUES.sum() + w * (-1 + 3)) / (n + 2 * w)
    apart = np.square((VALUES - mean) / (1 - 1 / n)).sum()
    at_ends = w * ((-1 - mean) ** 2 + (3 - mean) ** 2)
    many = n / (n - 1)
    found = estimate(made.sums, made.counts, *ends(-1.0, 3.0), w)
    assert found.mean[0] == pytest.approx(mean)
    assert found.error[0] == pytest.approx(math.sqrt(apart / many + at_ends * many) / (n + 2 * w))


def test_one_open_end_is_no_range() -> None:
    made = of(VALUES)
    for low, high in ((0.0, math.inf), (-math.inf, 1.0)):
        assert estimate(made.sums, made.counts, *ends(low, high), 2.0).mean[0] == pytest.approx(VALUES.mean())


def test_unequal_clusters_have_fewer_degrees_of_freedom() -> None:
    made = of(VALUES, [0, 0, 0, 1, 1, 2])
    found = estimate(made.sums, made.counts, *ends(-math.inf, math.inf), 0.0)
    assert found.degrees[0] == pytest.approx(36 / (9 + 4 + 1) - 1)
    mean = VALUES.mean()
    apart = [(VALUES[a:b].sum() - mean * (b - a)) / (1 - (b - a) / 6) for a, b in ((0, 3), (3, 5), (5, 6))]
    assert found.error[0] == pytest.approx(math.sqrt(np.square(apart).sum() / 1.5) / 6)


def test_one_cluster_shows_no_spread() -> None:
    made = of(VALUES, [0] * 6)
    found = estimate(made.sums, made.counts, *ends(0.0, 1.0), 1.0)
    assert (found.error[0], found.degrees[0]) == (math.inf, 0.0)
    low, high = found.interval(*ends(0.0, 1.0))
    assert (low[0], high[0]) == (0.0, 1.0)
    two = of(VALUES, [0, 0, 0, 1, 1, 1])
    assert math.isfinite(estimate(two.sums, two.counts, *ends(0.0, 1.0), 1.0).error[0])


@pytest.mark.parametrize("value", [0.5, 0.0])
def test_values_that_are_all_alike_say_nothing_of_their_spread_unless_there_are_ends(value: float) -> None:
    made = of([value] * 6)
    assert estimate(made.sums, made.counts, *ends(-math.inf, math.inf), 1.0).error[0] == math.inf
    assert 0 < estimate(made.sums, made.counts, *ends(0.0, 1.0), 1.0).error[0] < 1


@pytest.mark.parametrize("high", [1.0, math.inf])
def test_two_clusters_leave_one_degree_of_freedom_and_one_without_a_value_is_none(high: float) -> None:
    made = of([0.4, 0.5, NAN, 0.6, 0.7], [0, 0, 1, 2, 2])
    without = of([0.4, 0.5, 0.6, 0.7], [0, 0, 1, 1])
    found, expected = (estimate(own.sums, own.counts, *ends(0.0, high)) for own in (made, without))
    assert found.degrees[0] == 1.0
    assert found.error[0] == expected.error[0]
    low, top = found.interval(*ends(-math.inf, math.inf))
    half = stats.t.ppf(0.975, 1) * found.error[0]
    assert (low[0], top[0]) == pytest.approx((found.mean[0] - half, found.mean[0] + half))


@pytest.mark.parametrize("scale", [1e6, 1.0, 1e-6])
def test_what_rounding_leaves_is_no_spread_and_a_small_one_is(scale: float) -> None:
    rounded, apart = of([scale * (0.1 + 0.2), scale * 0.3] * 3), of([scale * 0.3, scale * 0.31] * 3)
    none, some = (estimate(own.sums, own.counts, *ends(0.0, math.inf)).error[0] for own in (rounded, apart))
    assert none == math.inf
    assert some == pytest.approx(scale * 0.005 / math.sqrt(5))


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_an_interval_is_students_and_is_cut_to_the_range(level: float) -> None:
    made = Estimate(np.array([0.5]), np.array([0.1]), np.array([5.0]))
    half = stats.t.ppf(0.5 + level / 2, 5) * 0.1
    low, high = made.interval(*ends(-9.0, 9.0), level)
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half))
    low, high = made.interval(*ends(0.45, 0.55), level)
    assert (low[0], high[0]) == (0.45, 0.55)


def test_plain_means_are_undefined_without_a_value() -> None:
    np.testing.assert_array_equal(plain_means(of([[1, NAN, 4], [3, NAN, NAN]])), [2, NAN, 4])


def test_a_sample_is_the_mean_of_the_seeds_it_has() -> None:
    np.testing.assert_array_equal(over_columns(np.array([[1.0, 3.0], [NAN, 5.0], [NAN, NAN]])), [2, 5, NAN])
    assert by_seed([1.0, 2.0]).shape == (2, 1)
    assert by_seed([[1.0, 2.0]]).shape == (1, 2)


def test_clusters_are_numbered_as_they_come() -> None:
    assert numbered(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert numbered(None, 3).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="clusters: 2 for 3 samples"):
        numbered(["a", "b"], 3)


def test_a_range_without_ends_is_infinite() -> None:
    assert ends_of(None) == (-math.inf, math.inf)
    assert ends_of((1.0, 5.0)) == (1.0, 5.0)
