"""Corrected means hold where the judge alone does not, and a good judge makes labels go further."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seedbed.analysis import calibrated_mean


def _draw(rng: np.random.Generator, n: int, noise: float, lenient: float) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.beta(2, 2, n)
    return truth, np.clip(truth + lenient + rng.normal(0, noise, n), 0, 1)


def test_the_interval_covers_the_truth_though_the_judge_is_lenient() -> None:
    rng = np.random.default_rng(0)
    covered, alone = 0, 0
    for _ in range(400):
        truth, judged = _draw(rng, 600, 0.1, 0.1)
        _, low, high = calibrated_mean(truth[:80], judged[:80], judged[80:])
        covered += low <= 0.5 <= high
        half = 1.96 * judged.std() / math.sqrt(600)
        alone += abs(judged.mean() - 0.5) <= half
    assert 0.92 <= covered / 400 <= 0.98
    assert alone / 400 < 0.05


def test_a_good_judge_makes_the_interval_narrower_and_a_useless_one_does_no_harm() -> None:
    rng = np.random.default_rng(1)
    good, useless, plain = [], [], []
    for _ in range(60):
        truth, judged = _draw(rng, 1000, 0.05, 0.1)
        noise = rng.random(1000)
        _, low, high = calibrated_mean(truth[:60], judged[:60], judged[60:])
        good.append(high - low)
        _, low, high = calibrated_mean(truth[:60], noise[:60], noise[60:])
        useless.append(high - low)
        plain.append(2 * 2.0 * truth[:60].std(ddof=1) / math.sqrt(60))
    assert np.mean(good) ** 2 * 1.9 < np.mean(plain) ** 2, "worth at least 1.9 times the labels"
    assert np.mean(useless) < 1.06 * np.mean(plain)


def test_without_unlabelled_samples_it_is_the_mean_of_the_labels() -> None:
    labels = [0.0, 1.0, 1.0, 0.0, 1.0]
    mean, low, high = calibrated_mean(labels, [1.0, 1.0, 0.0, 0.0, 1.0], [])
    assert mean == pytest.approx(0.6)
    assert low < 0.6 < high


def test_few_labels_say_nothing_and_lengths_must_fit() -> None:
    assert all(map(math.isnan, calibrated_mean([1.0, 0.0], [1.0, 0.0], [1.0] * 10)))
    with pytest.raises(ValueError, match="one a sample"):
        calibrated_mean([1.0, 0.0, 1.0], [1.0], [1.0] * 10)
