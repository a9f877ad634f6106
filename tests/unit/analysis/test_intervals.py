"""Intervals of means: Wilson's, as it is and with as many samples as would be as uncertain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import mean_interval
from seedbed.analysis.columns import Columns, estimate
from seedbed.analysis.intervals import mean_ends, wilson

NONE = np.array([-math.inf]), np.array([math.inf])


def test_wilson_of_no_cases_is_undefined() -> None:
    assert wilson(0, 0) is None


def test_wilson_refuses_more_hits_than_cases() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_wilson_is_symmetric() -> None:
    few, many = wilson(2, 9), wilson(7, 9)
    assert few is not None
    assert many is not None
    assert few.low == pytest.approx(1 - many.high)


def test_a_rate_of_single_samples_under_one_seed_has_wilsons_interval() -> None:
    values = [1.0] * 20 + [0.0] * 20
    assert mean_interval(values, kind="rate")[1:] == pytest.approx(
        stats.binomtest(20, 40).proportion_ci(method="wilson")
    )
    assert mean_interval(values)[1] < 0.3519


@pytest.mark.parametrize("n", [5, 6, 8, 10, 15, 20, 25, 27, 29])
def test_no_rate_of_few_samples_is_covered_less_often_than_in_93_of_100(n: int) -> None:
    """Every number of hits with its chance, so exactly. Wilson's interval covers 83-90% at the worst of these rates."""
    rates = np.concatenate([np.arange(0.01, 0.1, 0.005), np.arange(0.1, 0.51, 0.02)])
    ends = np.array([mean_interval([1.0] * k + [0.0] * (n - k), kind="rate")[1:] for k in range(n + 1)])
    inside = (ends[:, :1] <= rates) & (rates <= ends[:, 1:])
    chance = stats.binom.pmf(np.arange(n + 1)[:, None], n, rates)
    assert (chance * inside).sum(axis=0).min() >= 0.93


def test_below_thirty_samples_it_is_at_least_students_with_one_pseudo_sample_at_each_end() -> None:
    values = np.array([0.2, 0.4, 0.9, 0.7])
    all_in = np.concatenate([values, [0.0, 1.0]])
    mean = all_in.mean()
    half = stats.t.ppf(0.975, 3) * math.sqrt(4 / 3 * ((all_in - mean) ** 2).sum() / 36)
    found = mean_interval(values)
    assert found[1] <= max(0, mean - half)
    assert found[2] == pytest.approx(min(1, mean + half))


def test_other_means_have_wilsons_interval_of_as_many_rates_as_would_be_as_uncertain() -> None:
    values = np.random.default_rng(4).beta(0.5, 4, 40)
    all_in = np.concatenate([values, [0.0, 1.0]])
    weights = np.concatenate([np.ones(40), [0.5, 0.5]])
    mean = np.average(all_in, weights=weights)
    variance = 40 / 39 * (weights * (all_in - mean) ** 2).sum() / 41**2
    k = stats.t.ppf(0.975, 39) ** 2 * variance / (mean * (1 - mean))
    rate = values.mean()
    half = math.sqrt(rate * (1 - rate) * k + k * k / 4)
    expected = ((rate + k / 2 - half) / (1 + k), (rate + k / 2 + half) / (1 + k))
    assert mean_interval(values)[1:] == pytest.approx(expected, rel=1e-3)


def test_near_an_end_it_reaches_further_towards_the_middle() -> None:
    mean, low, high = mean_interval([0.0] * 57 + [0.9, 1.0, 0.6])
    assert low > 0
    assert high - mean > 1.5 * (mean - low)


@pytest.mark.parametrize(("rate", "clusters"), [(0.1, 5), (0.5, 10), (0.1, 30)])
def test_clusters_that_are_alike_are_covered(rate: float, clusters: int) -> None:
    """Answers of a cluster of six agree with each other (a correlation of 1/3)."""
    rng = np.random.default_rng(20240917)
    of_cluster = rng.beta(rate * 2, (1 - rate) * 2, (clusters, 1000))
    sums = rng.binomial(6, of_cluster).astype(float)
    low, high = mean_ends(sums, np.full(sums.shape, 6.0), np.zeros(1000), np.ones(1000))
    assert ((low <= rate) & (rate <= high)).mean() >= 0.93


def test_seeds_of_a_sample_are_averaged_first() -> None:
    seeds = np.array([[0.0, 1.0], [1.0, np.nan], [0.4, 0.6]])
    assert mean_interval(seeds) == mean_interval([0.5, 1.0, 0.5])


@pytest.mark.parametrize("values", [[1.0] * 60, [0.0] * 60, [0.5] * 60, [1.0] * 59 + [0.0], [1.0], [0.3, 0.3]])
@pytest.mark.parametrize("per_cluster", [1, 6])
def test_no_interval_leaves_the_range_or_has_no_width(values: list[float], per_cluster: int) -> None:
    clusters = [i // per_cluster for i in range(len(values))]
    mean, low, high = mean_interval(values, clusters=clusters)
    assert 0 <= low < high <= 1
    assert low <= mean <= high


def test_an_interval_scales_with_the_range() -> None:
    values = np.random.default_rng(1).random(40)
    low, high = mean_interval(values)[1:]
    assert mean_interval(1 + 4 * values, value_range=(1, 5))[1:] == pytest.approx((1 + 4 * low, 1 + 4 * high))


def test_clusters_make_it_wider_as_their_number_asks() -> None:
    values = np.repeat([0.0, 1.0] * 5, 6)
    _, low, high = mean_interval(values, clusters=np.repeat(np.arange(10), 6).tolist())
    assert high - low > 2 * (mean_interval(values)[2] - mean_interval(values)[1])


def test_without_a_range_it_is_students_interval_and_nothing_where_nothing_varies() -> None:
    values = [120.0, 150.0, 90.0, 200.0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values, value_range=None)[1:] == pytest.approx((low, high))
    assert mean_interval([7.0, 7.0, 7.0], value_range=None) == (7.0, -math.inf, math.inf)


def test_no_value_is_no_mean() -> None:
    assert all(math.isnan(figure) for figure in mean_interval([math.nan, math.nan]))


def test_the_error_of_clusters_of_one_size_is_the_linearised_one() -> None:
    values = np.random.default_rng(2).random((12, 1))
    columns = Columns.of(values, np.arange(12) // 3)
    found = estimate(columns.sums, columns.counts, *NONE, 0.0)
    residuals = (values - values.mean()).reshape(4, 3).sum(axis=1)
    assert found.error[0] == pytest.approx(math.sqrt(4 / 3 * (residuals**2).sum()) / 12)
    assert found.degrees[0] == 3


def test_unequal_clusters_widen_it_as_leaving_one_out_does() -> None:
    values = np.random.default_rng(3).random(12)
    clusters = np.array([0] * 7 + [1] * 3 + [2] * 2)
    columns = Columns.of(values[:, None], clusters)
    without = [values[clusters != c].mean() - values.mean() for c in range(3)]
    found = estimate(columns.sums, columns.counts, *NONE, 0.0)
    assert found.error[0] == pytest.approx(math.sqrt(2 / 3 * sum(d * d for d in without)))
    assert found.degrees[0] == pytest.approx(144 / (49 + 9 + 4) - 1)


def test_a_cluster_a_sample_is_asked_for() -> None:
    with pytest.raises(ValueError, match="2 for 3 samples"):
        mean_interval([1.0, 0.0, 1.0], clusters=["a", "b"])


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (0, 40), (1, 40), (39, 40), (40, 40)])
def test_wilsons_interval_is_scipys_and_ends_at_the_ends(k: int, n: int, confidence: float) -> None:
    found = wilson(k, n, confidence)
    assert found is not None
    expected = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.low == 0, found.high == 1) == (k == 0, k == n)


def test_wilson_refuses_hits_below_nothing() -> None:
    with pytest.raises(ValueError, match="-1 of 2"):
        wilson(-1, 2)


@pytest.mark.parametrize("kind", ["mean", "rate"])
@pytest.mark.parametrize(("n", "widened"), [(29, True), (30, False), (31, False)])
def test_from_thirty_samples_on_wilsons_shape_stands_alone(n: int, widened: bool, kind: Any) -> None:
    """Student's with a pseudo-sample at each end reaches down to 0 where one of so few is a hit; Wilson's does not."""
    _, low, high = mean_interval([1.0] + [0.0] * (n - 1), kind=kind)
    assert (low == 0) is widened
    alone = stats.binomtest(1, n).proportion_ci(method="wilson")
    assert ((low, high) == pytest.approx((alone.low, alone.high))) is (kind == "rate" and not widened)
