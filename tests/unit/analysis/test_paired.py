"""Comparisons of two systems on the same samples."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import compare_paired
from seedbed.analysis.columns import Columns, estimate
from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.paired import (
    difference_ends,
    effect_size,
    finite,
    mcnemar_applies,
    paired_columns,
    sample_p,
    tidy,
)
from seedbed.analysis.power import detectable
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
    found = compare_paired(own, base, clusters=np.repeat(np.arange(5), 12).tolist(), value_range=(0, 2))
    assert found.p == 0.0625
    assert found.detectable is None


def test_six_clusters_can_but_not_among_five_tests() -> None:
    own, base = RNG(2).random(60), RNG(3).random(60)
    clusters = np.repeat(np.arange(6), 10).tolist()
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
    over_samples = compare_paired(differences, np.zeros((12, 1)), clusters=clusters.tolist())
    found = compare_paired(differences, np.zeros((12, 1)), clusters=clusters.tolist(), seed_changes_system=True)
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
    ranges, exact = [(0.0, 1.0)] * sweeps, [False] * sweeps
    naive = paired_columns(columns, ranges, exact, flips=499)
    honest = paired_columns(columns, ranges, exact, seed_spread(differences, clusters), flips=499)
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


def test_a_baseline_of_several_seeds_may_be_held_against_one_column() -> None:
    own, base = np.array([[0.5], [0.7], [0.9]]), np.array([[0.1, 0.3], [0.2, 0.4], [0.6, 0.8]])
    found = compare_paired(own, base)
    assert (found.difference, found.n_seeds) == (pytest.approx(0.3), 2)


def test_two_clusters_are_tested_and_without_any_pair_nothing_is_known() -> None:
    assert compare_paired([0.5, 0.9], [0.1, 0.2]).p == 1 / 2
    nothing = compare_paired([np.nan, 0.5], [0.5, np.nan])
    assert (nothing.p, nothing.detectable, nothing.n, nothing.n_clusters) == (None, None, 0, 0)
    assert math.isnan(nothing.difference)
    assert math.isnan(nothing.ci_low)
    assert math.isnan(nothing.ci_high)


def test_random_signs_are_the_same_each_time() -> None:
    own, base = RNG(2).random(30), RNG(3).random(30)
    p = compare_paired(own, base).p
    assert p == compare_paired(own, base, rng=0).p != compare_paired(own, base, rng=1).p
    columns = Columns.of((own - base)[:, None], np.arange(30))
    assert paired_columns(columns, [(0.0, 1.0)], [False]).p.tolist() == [p]
    assert sample_p(columns, [False]).tolist() == [p]
    assert sample_p(columns, [False], flips=99)[0] == pytest.approx(p, abs=0.15)


@pytest.mark.parametrize(("tests", "level"), [(0, 0.05), (1, 0.05), (2, 0.025), (5, 0.01)])
def test_what_is_detectable_is_at_the_level_that_the_family_leaves(tests: int, level: float) -> None:
    own, base = RNG(4).random(40), RNG(5).random(40)
    columns = paired_columns(Columns.of((own - base)[:, None], np.arange(40)), [(0.0, 1.0)], [False])
    expected = detectable(columns.sized(0), level)
    assert compare_paired(own, base, tests_in_family=tests).detectable == expected is not None


def _two_columns() -> tuple[Columns, np.ndarray]:
    """Three clusters of two samples; the second column lacks one sample, and its last cluster is a tie."""
    values = np.array([[0.5, 1.0], [0.1, 1.0], [0.2, -1.0], [0.0, np.nan], [-0.4, 0.5], [0.2, -0.5]])
    return Columns.of(values, np.repeat(np.arange(3), 2)), values


def test_what_the_power_depends_on_is_counted_column_by_column() -> None:
    columns, _ = _two_columns()
    found = paired_columns(columns, [(0.0, 1.0), (0.0, 2.0)], [False, False])
    first, second = found.sized(0), found.sized(1)
    assert (first.n, first.n_clusters, first.n_differ, first.most, first.test) == (6, 3, 3, 1.0, "flips")
    assert (second.n, second.n_clusters, second.n_differ, second.most, second.test) == (5, 3, 2, 2.0, "flips")
    assert first.step == pytest.approx((0.6 + 0.2 + 0.2) / 3 * 3 / 6)
    assert second.step == pytest.approx((2.0 + 1.0) / 2 * 3 / 5)
    plain = estimate(columns.sums, columns.counts, np.full(2, -9.0), np.full(2, 9.0), 0.0)
    assert second.errors == [(float(plain.error[1]), float(plain.degrees[1]))]
    assert (first.deviation, second.deviation) == (None, None)


def test_ties_alone_would_move_the_mean_by_the_whole_range() -> None:
    tied = paired_columns(Columns.of(np.zeros((4, 1)), np.arange(4)), [(0.0, 3.0)], [False]).sized(0)
    assert (tied.n_differ, tied.step) == (0, 3.0)


def test_over_seeds_the_errors_and_the_deviation_are_those_of_the_seeds_too() -> None:
    cube = RNG(6).normal(0.1, 0.3, (8, 3, 2))
    columns, spread = Columns.of(cube.mean(axis=1), np.arange(8)), seed_spread(cube, np.arange(8))
    own = paired_columns(columns, [(0.0, 1.0)] * 2, [False] * 2, spread).sized(1)
    assert own.errors[1:] == [(float(error[1]), float(degrees[1])) for error, degrees in spread.errors()]
    assert len(own.errors) == 3
    assert spread.deviation is not None
    assert own.deviation == spread.deviation[1]
    unknown = paired_columns(columns, [(0.0, 1.0)] * 2, [False] * 2, replace(spread, rest=None)).sized(1)
    assert unknown.deviation is None


@pytest.mark.parametrize(
    ("exact", "over_seeds", "test"),
    [(True, False, "mcnemar"), (True, True, "flips"), (False, False, "flips"), (False, True, "flips")],
)
def test_mcnemars_power_is_asked_for_where_its_test_decides(exact: bool, over_seeds: bool, test: str) -> None:
    cube = (RNG(6).random((9, 2, 1)) < 0.5).astype(float)
    spread = seed_spread(cube, np.arange(9)) if over_seeds else None
    found = paired_columns(Columns.of(cube[:, 0], np.arange(9)), [(0.0, 1.0)], [exact], spread)
    assert found.sized(0).test == test


@pytest.mark.parametrize(
    ("kind", "clustered", "seeds", "applies"),
    [("rate", False, 1, True), ("rate", False, 2, False), ("rate", True, 1, False), ("mean", False, 1, False)],
)
def test_mcnemars_test_is_for_rates_of_single_samples_under_one_seed(
    kind: Any, clustered: bool, seeds: int, applies: bool
) -> None:
    columns = Columns.of(np.ones((4, 1)), np.arange(4) // 2 if clustered else np.arange(4))
    assert mcnemar_applies(kind, columns, seeds) is applies


def test_each_column_has_the_test_that_applies_to_it() -> None:
    values = np.stack([np.r_[np.ones(6), -1.0], np.r_[np.ones(6), -1.0], np.full(7, np.nan)], axis=1)
    values[:, 1] *= [1, 1, 1, 1, 1, 1, 3]
    found = sample_p(Columns.of(values, np.arange(7)), [True, False, True])
    assert found[0] == pytest.approx(16 / 128)
    assert found[1] == pytest.approx(sum(abs(sum(signs)) >= 3 for signs in product((1, -1), (1, -1), (1, -1),
                                     (1, -1), (1, -1), (1, -1), (3, -3))) / 128)  # fmt: skip
    assert np.isnan(found[2])


def test_published_numbers_keep_twelve_digits_and_have_no_infinite_end() -> None:
    assert (tidy(1 / 3), tidy(2e5 / 3)) == (0.333333333333, 66666.6666667)
    assert [finite(value) for value in (1 / 3, math.inf, -math.inf, math.nan)] == [0.333333333333, None, None, None]
