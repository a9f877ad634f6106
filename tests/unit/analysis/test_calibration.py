"""Corrected means hold where the judge alone does not, and a good judge makes labels go further."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

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


def _written_out(y: Sequence[float], f: Sequence[float], rest: Sequence[float], level: float) -> tuple[float, ...]:
    """The formula of the specification: how far the judge is trusted comes from the other four of five folds."""
    k, m, trust = len(y), len(rest), list[float]()
    for i in range(k):
        others = [j for j in range(k) if j % 5 != i % 5]
        ((_, along), (_, spread)) = np.cov([y[j] for j in others], [f[j] for j in others])
        trust.append(min(1.0, max(0.0, along / ((1 + k / m) * spread))) if m > 1 and spread else 0.0)
    centre = sum(rest) / m if m else 0.0
    left = [y[i] - trust[i] * (f[i] - centre) for i in range(k)]
    mean = sum(left) / k
    variance = sum((own - mean) ** 2 for own in left) / (k - 1) / k
    if m > 1:
        variance += sum(own**2 for own in trust) / k * sum((own - centre) ** 2 for own in rest) / (m - 1) / m
    half = float(stats.t.ppf(0.5 + level / 2, k - 2)) * math.sqrt(variance)
    return mean, mean - half, mean + half


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 50])
@pytest.mark.parametrize("k", [3, 4, 11])
def test_it_is_the_formula_however_few_samples_there_are(k: int, m: int, level: float) -> None:
    rng = np.random.default_rng(10 * k + m)
    truth = rng.random(k + m)
    judged = 0.3 + truth * 0.8 + rng.normal(0, 0.1, k + m)
    found = calibrated_mean(truth[:k], judged[:k], judged[k:], level=level)
    assert found == pytest.approx(_written_out(truth[:k].tolist(), judged[:k].tolist(), judged[k:].tolist(), level))


@pytest.mark.parametrize("turned", [1.0, -1.0])
def test_a_judge_is_trusted_between_not_at_all_and_wholly(turned: float) -> None:
    """One whose marks lie closer together than the labels would be trusted more than wholly, one that turns them
    round less than not at all."""
    labels = np.array([0.1, 0.9, 0.3, 0.7, 0.5, 0.2, 0.8])
    judged = 0.5 + turned * (labels - 0.5) / 4
    rest = np.linspace(0.45, 0.6, 70)
    found = calibrated_mean(labels, judged, rest)
    assert found == pytest.approx(_written_out(labels.tolist(), judged.tolist(), rest.tolist(), 0.95))
    wholly = (labels - judged).mean() + rest.mean()
    assert found[0] == pytest.approx(wholly if turned > 0 else labels.mean())


def test_a_judge_that_says_the_same_of_all_is_not_trusted() -> None:
    labels = [0.0, 1.0, 1.0, 0.0]
    assert calibrated_mean(labels, [0.5] * 4, [0.5] * 9)[0] == pytest.approx(0.5)
    assert calibrated_mean(labels, [0.5] * 4, [0.9] * 9)[0] == pytest.approx(0.5)


def test_what_has_no_label_or_no_judgement_is_left_out() -> None:
    nan = math.nan
    labels, judged, rest = [0.2, nan, 0.9, 0.4, 0.6], [0.3, 0.5, 0.8, nan, 0.7], [0.4, nan, 0.6, 0.1]
    assert calibrated_mean(labels, judged, rest) == calibrated_mean([0.2, 0.9, 0.6], [0.3, 0.8, 0.7], [0.4, 0.6, 0.1])
