"""Comparisons of two systems on the same samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import compare_paired
from seedbed.analysis.columns import Columns
from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.paired import difference_ends, effect_size, paired_columns
from seedbed.analysis.seeds import seed_spread

RNG = np.random.default_rng


def test_the_difference_is_of_means_over_seeds_on_samples_that_both_have() -> None:
    own = [[1.0, 0.0], [0.8, np.nan], [np.nan, np.nan], [0.5, 0.5]]
    base = [[0.0], [0.4], [0.9], [0.6]]
    found = compare_paired(own, base)
    assert found.difference == pytest.approx((0.5 + 0.4 - 0.1) / 3)
    assert (found.n, found.n_clusters, found.n_seeds) == (3, 3, 2)


def test_the_interval_has_half_a_pseudo_sample_on_each_side_as_far_out_as_differences_are() -> None:
    own, base = RNG(0).random(20), RNG(1).random(20)
    differences = own - base
    mean = differences.sum() / 21
    far = math.sqrt(((differences**4).sum() + 0.5) / ((differences**2).sum() + 0.5))
    spread = ((differences - mean) ** 2).sum() + 0.5 * ((far - mean) ** 2 + (far + mean) ** 2)
    half = stats.t.ppf(0.975, 19) * math.sqrt(20 / 19 * spread) / 21
    found = compare_paired(own, base)
    assert (found.ci_low, found.ci_high) == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize("value_range", [(0.0, 1.0), (1.0, 5.0), None])
def test_pseudo_samples_lie_at_the_end_where_single_answers_do(value_range: tuple[float, float] | None) -> None:
    most = 1.0 if value_range == (0.0, 1.0) else 4.0 if value_range else math.inf
    differences = np.array([[1.0], [-1.0], [0.0]] * 10) * (most if value_range else 1.0)
    weight, n = (0.5 if value_range else 0.0), 30
    spread = np.square(differences).sum() + (2 * weight * most**2 if weight else 0.0)
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1) * spread) / (n + 2 * weight)
    low, high = difference_ends(Columns.of(differences, np.arange(n)), np.array([most]))
    assert (low[0], high[0]) == pytest.approx((-half, half))


@pytest.mark.parametrize(("wins", "covered"), [(0, 0.03), (1, 0.05), (3, 0.08)])
def test_differences_that_go_one_way_reach_as_far_as_a_rate_of_them(wins: int, covered: float) -> None:
    """A system that is right in 2% more of 100 samples shows none in every seventh sweep; equal arms end at 0.0198."""
    own, base = np.zeros(100), np.zeros(100)
    own[:wins] = 1.0
    found, turned = compare_paired(own, base, kind="rate"), compare_paired(base, own, kind="rate")
    assert found.ci_high >= covered
    assert found.ci_high == pytest.approx(mean_interval(own)[2])
    assert (turned.ci_low, turned.ci_high) == pytest.approx((-found.ci_high, -found.ci_low))
    mixed = own.copy()
    base[-1] = 1.0
    assert compare_paired(mixed, base, kind="rate").ci_high < found.ci_high


def test_an_interval_of_many_seeds_is_narrower_by_more_than_the_spread() -> None:
    """Ten seeds seldom move a sample by the whole range, and the pseudo-samples follow."""
    own, base = ((RNG(seed).random((30, 10)) < 0.5).astype(float) for seed in (10, 11))
    differences = (own - base).mean(axis=1)
    plain = stats.t.ppf(0.975, 29) * differences.std(ddof=1) / math.sqrt(30)
    found = compare_paired(own, base)
    assert 2 * plain < found.ci_high - found.ci_low < 2.4 * plain


def test_ties_have_an_interval_with_width_and_something_detectable() -> None:
    found = compare_paired(np.ones(60), np.ones(60))
    assert found.p == 1.0
    assert found.ci_low < -0.03
    assert found.ci_high > 0.03
    assert found.detectable is not None
    assert found.detectable > 0.05


def test_five_clusters_can_never_show_anything() -> None:
    own, base = RNG(2).random(60) + 0.5, RNG(3).random(60)
    found = compare_paired(own, base, clusters=np.repeat(np.arange(5), 12), value_range=(0, 2))
    assert found.p == 0.0625
    assert found.detectable is None


def test_six_clusters_can_but_not_among_five_tests() -> None:
    own, base = RNG(2).random(60), RNG(3).random(60)
    clusters = np.repeat(np.arange(6), 10)
    assert compare_paired(own, base, clusters=clusters).detectable is not None
    assert compare_paired(own, base, clusters=clusters, tests_in_family=5).detectable is None


def test_one_cluster_is_no_test() -> None:
    found = compare_paired([1.0, 1.0], [0.0, 0.0], clusters=["a", "a"])
    assert (found.p, found.detectable, found.ci_low, found.ci_high) == (None, None, -1.0, 1.0)


def test_one_seed_of_an_optimizer_says_nothing_of_the_next() -> None:
    own, base = RNG(4).random((50, 1)), RNG(5).random((50, 1))
    found = compare_paired(own, base, seed_changes_system=True)
    assert (found.p, found.detectable, found.ci_low, found.ci_high) == (None, None, -1.0, 1.0)


def test_samples_and_seeds_together_are_the_formula() -> None:
    """Against the definition, written out with loops: clusters of two samples."""
    differences = RNG(6).normal(0.1, 0.2, (12, 3)) + RNG(7).normal(0, 0.1, (1, 3))
    clusters = np.arange(12) // 2
    c, s, n = 6, 3, 12
    mean = differences.mean()
    psi = [[c / n * sum(differences[i, k] - mean for i in (2 * j, 2 * j + 1)) for k in range(s)] for j in range(c)]
    a = s * sum((sum(row) / s) ** 2 for row in psi) / (c - 1)
    b = c * sum((sum(row[k] for row in psi) / c) ** 2 for k in range(s)) / (s - 1)
    v = (a + b) / (c * s)
    df = (a + b) ** 2 / (a * a / (c - 1) + b * b / (s - 1))
    p_both = 2 * stats.t.sf(mean / math.sqrt(v), df)
    p_seeds = 2 * stats.t.sf(mean / math.sqrt(b / (c * s)), s - 1)
    over_samples = compare_paired(differences, np.zeros((12, 1)), clusters=clusters)
    found = compare_paired(differences, np.zeros((12, 1)), clusters=clusters, seed_changes_system=True)
    assert found.p == pytest.approx(max(p_both, p_seeds, over_samples.p or 0))
    halves = [stats.t.ppf(0.975, df) * math.sqrt(v), stats.t.ppf(0.975, s - 1) * math.sqrt(b / (c * s))]
    assert (found.ci_low, found.ci_high) == pytest.approx((max(-1, mean - max(halves)), min(1, mean + max(halves))))


def test_seeds_that_are_all_alike_leave_the_test_over_samples() -> None:
    own = np.repeat(RNG(8).random((40, 1)) * 0.5 + 0.5, 3, axis=1)
    base = np.repeat(RNG(9).random((40, 1)) * 0.9, 3, axis=1)
    assert compare_paired(own, base, seed_changes_system=True).p == pytest.approx(compare_paired(own, base).p, abs=2e-3)


def test_a_missing_answer_of_one_seed_does_not_shift_the_difference() -> None:
    """A seed's systems are far apart; what is missing under one is filled with what that seed lets expect."""
    own = np.tile([0.3, 0.5, 0.7], (30, 1))
    own[:10, 2] = np.nan
    found = compare_paired(own, np.full((30, 1), 0.5), seed_changes_system=True)
    assert found.difference == pytest.approx(0.0, abs=1e-6)


def _false_alarms(seed_sd: float, n: int = 200, seeds: int = 3, sweeps: int = 300) -> tuple[float, float]:
    """Shares of sweeps without a true gain in which a test over samples, and one over seeds too, finds one."""
    rng = RNG(20240917)
    ease = rng.uniform(0.2, 0.8, (n, 1, sweeps))
    shift = rng.normal(0, seed_sd, (1, seeds, sweeps))
    own, base = (rng.random((n, seeds, sweeps)) < chance for chance in (np.clip(ease + shift, 0, 1), ease))
    differences, clusters = own.astype(float) - base, np.arange(n)
    columns: Any = Columns.of(differences.mean(axis=1), clusters)
    arguments: Any = ([(0.0, 1.0)] * sweeps, [False] * sweeps)
    naive = paired_columns(columns, *arguments, flips=499)
    honest = paired_columns(columns, *arguments, seed_spread(differences, clusters), flips=499)
    return float((naive.p < 0.05).mean()), float((honest.p < 0.05).mean())


def test_a_gain_that_is_only_the_luck_of_seeds_is_no_finding() -> None:
    """Three seeds of an optimizer end up apart by 0.1: a test by sample alone is wrong in a third of all sweeps."""
    naive, honest = _false_alarms(0.1)
    assert naive > 0.25
    assert honest <= 0.065


def test_systems_on_other_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="2 samples against 3"):
        compare_paired([1, 0], [1, 0, 1])
    with pytest.raises(ValueError, match="2 seeds against 3"):
        compare_paired(np.ones((4, 2)), np.ones((4, 3)))


def test_the_effect_size_is_the_mean_in_standard_deviations() -> None:
    assert effect_size([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert effect_size([1.0, 1.0]) is None
    assert effect_size([1.0, 3.0]) == pytest.approx(math.sqrt(2))
    assert effect_size([1.0]) is None
