"""Corrected figures hold though the judge errs and samples are drawn with unequal chances."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis import calibrated_mean
from seedbed.analysis.agreement import kappa
from seedbed.analysis.corrected import corrected, labels_to_settle
from seedbed.analysis.label_draw import chances, draw_numbers, order, sizes


def _lab(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, a lenient judge's mark, and how unsure it is: it errs where it is."""
    truth = rng.beta(2, 2, n)
    unsure = np.where(rng.random(n) < 0.3, 0.25, 0.04)
    return truth, np.clip(truth + 0.1 + rng.normal(0, unsure), 0, 1), unsure


def test_the_truth_is_covered_with_samples_as_they_are_drawn() -> None:
    rng, covered, n, k = np.random.default_rng(3), 0, 300, 60
    for _ in range(400):
        truth, judged, unsure = _lab(rng, n)
        numbers, size = rng.random(n), sizes(unsure)
        labels = np.full(n, np.nan)
        taken = order(numbers, size)[:k]
        labels[taken] = truth[taken]
        found = corrected(labels, judged, judged, chances(numbers, size, k), np.arange(n), step=1.0)
        assert found is not None
        low, high = found.interval()
        covered += low <= 0.5 <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_without_weights_for_the_chances_the_draw_would_mislead() -> None:
    """Where labels are drawn from one side of the truth, equal weights give that side's mean."""
    rng, n, k, told, plain = np.random.default_rng(4), 400, 80, [], []
    for _ in range(100):
        truth = rng.random(n)
        numbers, size = rng.random(n), sizes(truth)
        taken = order(numbers, size)[:k]
        labels = np.full(n, np.nan)
        labels[taken] = truth[taken]
        silent = np.zeros(n)
        found = corrected(labels, silent, silent, chances(numbers, size, k), np.arange(n))
        assert found is not None
        told.append(found.mean)
        plain.append(truth[taken].mean())
    assert abs(np.mean(told) - 0.5) < 0.01
    assert np.mean(plain) > 0.55


def test_with_equal_chances_it_is_the_calibrated_mean() -> None:
    rng, n, k = np.random.default_rng(5), 500, 100
    truth, judged, _ = _lab(rng, n)
    labels = np.where(np.arange(n) < k, truth, np.nan)
    found = corrected(labels, judged, judged, np.full(n, k / n), np.arange(n))
    mean, low, high = calibrated_mean(truth[:k], judged[:k], judged[k:])
    assert found is not None
    assert found.mean == pytest.approx(mean, abs=0.003)
    assert found.interval()[1] - found.interval()[0] == pytest.approx(high - low, rel=0.04)


def test_clusters_that_stand_together_widen_the_interval() -> None:
    rng, n = np.random.default_rng(6), 200
    truth = np.repeat(rng.normal(0, 1, n // 4), 4)
    judged, chance = np.zeros(n), np.ones(n)
    alone = corrected(truth, judged, judged, chance, np.arange(n))
    together = corrected(truth, judged, judged, chance, np.arange(n) // 4)
    assert alone is not None
    assert together is not None
    assert together.error > 1.7 * alone.error


def test_a_judge_that_was_never_seen_to_err_leaves_an_interval_with_a_width() -> None:
    labels = np.where(np.arange(100) < 30, 1.0, np.nan)
    found = corrected(labels, np.ones(100), np.ones(100), np.full(100, 0.3), np.arange(100), ends=(0, 1), step=1.0)
    assert found is not None
    low, high = found.interval()
    assert high == 1.0
    assert 0.9 < low < 0.96


def test_what_is_certain_needs_no_label() -> None:
    rng, n = np.random.default_rng(7), 200
    truth = np.where(np.arange(n) < 100, 0.0, rng.normal(0.2, 0.3, n))
    labels = np.where(np.arange(n) % 4 == 0, truth, np.nan)
    judged, chance = truth + rng.normal(0, 0.3, n), np.full(n, 0.25)
    known = np.arange(n) < 100
    with_it = corrected(labels, judged, np.where(known, 0.0, judged), chance, np.arange(n), certain=known)
    without = corrected(labels, judged, judged, chance, np.arange(n))
    assert with_it is not None
    assert without is not None
    assert with_it.error < 0.9 * without.error, "with half as many labels that tell anything"
    assert with_it.n_labels == 25


def test_fewer_than_five_labels_say_nothing() -> None:
    labels = np.where(np.arange(50) < 4, 1.0, np.nan)
    assert corrected(labels, np.ones(50), np.ones(50), np.full(50, 0.1), np.arange(50)) is None


def test_the_number_of_labels_that_would_settle_it_does() -> None:
    rng, n, k = np.random.default_rng(8), 3000, 40
    truth = rng.normal(0.08, 0.5, n)
    judged = truth + rng.normal(0, 0.3, n)

    def first(k: int) -> tuple[int | None, float]:
        labels = np.where(np.arange(n) < k, truth, np.nan)
        found = corrected(labels, judged, judged, np.full(n, k / n), np.arange(n))
        assert found is not None
        return labels_to_settle(found, 0.01), abs(found.mean) / found.error

    more, before = first(k)
    assert more is not None
    assert more > 0
    again, after = first(k + more)
    assert after > before
    assert again is not None
    assert again < more


def test_kappa_is_cohens_for_two_marks_and_one_for_equal_raters() -> None:
    # 20 both yes, 5 only the first, 10 only the second, 15 both no: observed .7, by chance .5.
    one = np.array([1.0] * 25 + [0.0] * 25)
    other = np.array([1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15)
    assert kappa(one, other) == pytest.approx(0.4)
    assert kappa(np.array([1.0, 3.0, 5.0]), np.array([1.0, 3.0, 5.0])) == pytest.approx(1.0)
    assert kappa(np.ones(5), np.ones(5)) is None


def test_every_sample_has_its_number_wherever_it_is_asked_for() -> None:
    assert draw_numbers("salt", ["a", "b"]).tolist() == draw_numbers("salt", ["b", "a"]).tolist()[::-1]
    many = draw_numbers("salt", [str(i) for i in range(2000)])
    assert abs(many.mean() - 0.5) < 0.02


def test_sizes_are_equal_where_nothing_is_known_and_bounded_where_few_are_doubted() -> None:
    assert sizes(np.full(4, np.nan)).tolist() == [1.0] * 4
    found = sizes(np.array([0.0] * 99 + [1.0]))
    assert found.max() / found.min() <= 4.0
    assert found.mean() == pytest.approx(1.0)


def test_equal_labels_leave_two_degrees_less_than_there_are_labels_and_seeds_add_their_variance() -> None:
    rng = np.random.default_rng(9)
    labels = rng.random(12)
    found = corrected(labels, np.zeros(12), np.zeros(12), np.ones(12), np.arange(12))
    assert found is not None
    assert found.degrees == pytest.approx(10)
    assert found.with_seeds(0.04, 3).variance == pytest.approx(found.variance + 0.04)
