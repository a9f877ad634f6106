"""Resampling and paired tests, against closed forms and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.paired import (
    bootstrap_interval,
    detectable,
    effect_size,
    mcnemar_of,
    rate_interval,
    resampled_means,
    sign_flip_p,
    standard_error,
)


def column(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def test_the_bootstrap_interval_of_many_samples_is_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, 800)
    means = resampled_means(column(values.tolist()), np.ones((800, 1)), draws=4000)
    found = bootstrap_interval(means[:, 0], 800)
    half = 1.96 * values.std(ddof=1) / math.sqrt(800)
    assert found is not None
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_few_clusters_widen_the_interval_as_students_t_does() -> None:
    values = np.random.default_rng(2).normal(0, 1, 8)
    means = resampled_means(column(values.tolist()), np.ones((8, 1)), draws=20_000)[:, 0]
    found = bootstrap_interval(means, 8)
    plain = np.quantile(means, [0.025, 0.975])
    assert found is not None
    assert found.low < plain[0]
    assert found.high > plain[1]


def test_whole_clusters_are_drawn() -> None:
    # Two clusters of equal samples: each draw holds both, or one of them twice.
    means = resampled_means(np.array([[10.0], [0.0]]), np.array([[10.0], [10.0]]), draws=500)
    assert set(np.round(means[:, 0], 9).tolist()) == {0.0, 0.5, 1.0}


def test_the_same_seed_gives_the_same_draws() -> None:
    arguments = (column([1.0, 2.0, 4.0]), np.ones((3, 1)))
    assert np.array_equal(resampled_means(*arguments, seed=3), resampled_means(*arguments, seed=3))


def test_a_figure_that_no_draw_has_has_no_interval() -> None:
    means = resampled_means(np.zeros((4, 1)), np.zeros((4, 1)), draws=50)
    assert np.isnan(means).all()
    assert bootstrap_interval(means[:, 0], 4) is None


def test_the_permutation_test_of_few_pairs_tries_every_sign() -> None:
    differences = [0.5, 0.25, -0.125, 1.0, 0.75]
    total = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=5)
    expected = np.mean([abs(sum(s * d for s, d in zip(row, differences, strict=True))) >= total for row in signs])
    assert sign_flip_p(column(differences)) == [pytest.approx(expected)]


def test_the_permutation_test_of_many_pairs_agrees_with_scipy() -> None:
    values = np.random.default_rng(5).normal(0.4, 1, 60)
    own = sign_flip_p(column(values.tolist()), flips=20_000)[0]
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    assert own == pytest.approx(theirs, abs=0.01)


def test_no_difference_at_all_is_no_evidence() -> None:
    assert sign_flip_p(np.zeros((30, 1))) == [1.0]


def test_a_p_from_random_signs_is_never_zero() -> None:
    assert 0 < sign_flip_p(np.ones((200, 1)))[0] < 0.001


def test_mcnemar_counts_only_pairs_that_differ() -> None:
    assert mcnemar_of([1.0] * 10 + [-1.0] * 2 + [0.0] * 500) == pytest.approx(0.03857421875)


def test_the_sign_flip_of_rates_is_mcnemar() -> None:
    differences = [1.0] * 9 + [-1.0] * 3
    assert sign_flip_p(column(differences))[0] == pytest.approx(mcnemar_of(differences))


def test_wilson_is_for_rates_only() -> None:
    assert rate_interval([0.0, 1.0, 0.5]) is None
    found = rate_interval([1.0] * 5 + [0.0] * 5)
    assert found is not None
    assert found.low == pytest.approx(0.236593090513)


def test_the_error_of_samples_on_their_own_is_s_over_root_n() -> None:
    values = [0.1, 0.4, 0.4, 0.9]
    assert standard_error(column(values)[:, 0], np.ones(4)) == pytest.approx(stats.sem(values))


def test_the_effect_size_is_the_mean_in_standard_deviations() -> None:
    assert effect_size([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert effect_size([1.0, 1.0]) is None


def test_the_detectable_difference_is_found_with_the_power_it_says() -> None:
    n, rng = 40, np.random.default_rng(0)
    shift = detectable(1 / math.sqrt(n), n - 1)
    assert shift is not None
    draws = rng.normal(shift, 1, (4000, n))
    found = stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)
