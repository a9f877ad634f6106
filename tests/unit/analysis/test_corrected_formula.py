"""A corrected mean by its formula, written out sample by sample; its p, its interval, and how many labels settle it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.corrected import MIN_LABELS, Corrected, corrected, labels_to_settle

N, NAN = 40, math.nan
RNG = np.random.default_rng(11)
EVERYWHERE = RNG.random(N)
JUDGED = np.clip(EVERYWHERE + RNG.normal(0, 0.05, N), 0, 1)
LABELS = np.where(RNG.random(N) < 0.45, np.clip(JUDGED - 0.1 + RNG.normal(0, 0.2, N), 0, 1), NAN)
CHANCES = RNG.uniform(0.2, 0.9, N)
CERTAIN = np.arange(N) % 7 == 3
NEARLY = np.where(np.arange(N) % 11 == 4, JUDGED - 0.25, JUDGED)
"""Labels of people who seldom differ from the judge."""


def written_out(
    labels: Any,
    judged: Any,
    everywhere: Any,
    chances: Any,
    clusters: Any,
    certain: Any,
    step: float | None,
    two_marks: bool,
) -> Mapping[str, float]:
    counted = [i for i, value in enumerate(everywhere) if not math.isnan(value)]
    opened = [i for i in counted if not certain[i]]
    has = [i for i in opened if not math.isnan(labels[i] + judged[i])]
    n, m, k = len(counted), len(opened), len(has)
    inverse = math.fsum(1 / chances[i] for i in has)
    weight = {i: m / inverse / chances[i] for i in has}
    ranks = {cluster: rank for rank, cluster in enumerate(sorted({clusters[i] for i in has}))}

    def trust(i: int) -> float:
        others = [j for j in has if (ranks[clusters[j]] - ranks[clusters[i]]) % 5]
        whole = math.fsum(weight[j] for j in others)
        if not whole:
            return 0.0
        y, f = (math.fsum(weight[j] * side[j] for j in others) / whole for side in (labels, judged))
        along = math.fsum(weight[j] * (labels[j] - y) * (judged[j] - f) for j in others)
        spread = math.fsum(weight[j] * (judged[j] - f) ** 2 for j in others)
        return min(1.0, max(0.0, along / spread)) if spread > 1e-12 else 0.0

    believed = math.fsum(weight[i] * trust(i) for i in has) / m
    centre = math.fsum(everywhere[i] for i in opened) / m
    rest = {i: labels[i] - trust(i) * (judged[i] - centre) for i in has}
    among = math.fsum(weight[i] * rest[i] for i in has) / m
    mean = (math.fsum(everywhere[i] for i in counted if certain[i]) + m * among) / n
    parts, own = defaultdict[int, float](float), defaultdict[int, float](float)
    for i in counted:
        parts[clusters[i]] += everywhere[i] - mean if certain[i] else believed * (everywhere[i] - centre) + among - mean
    for i in has:
        parts[clusters[i]] += weight[i] * (rest[i] - among)
        own[clusters[i]] += weight[i]
    many = len(parts) / (len(parts) - 1) if len(parts) > 1 else 1.0
    variance = many * math.fsum(part**2 for part in parts.values()) / n**2
    drawn = math.fsum((1 - chances[i]) * (weight[i] * (rest[i] - among)) ** 2 for i in has) * k / (k - 1) / n**2
    drawn = min(drawn, variance)
    errors = [abs(labels[i] - judged[i]) for i in has]
    unseen = 0.0
    if step is not None:
        seen = math.fsum(errors) / step if two_marks else sum(error > 1e-9 for error in errors)
        unseen = max(0.0, 1 - seen / 5) * (m / n * step / (k + 1)) ** 2
    return {
        "mean": mean,
        "fixed": variance * k / (k - 1) - drawn,
        "by_labels": drawn + unseen,
        "degrees": max(1.0, m**2 / math.fsum(part**2 for part in own.values()) - 2),
        "trust": believed,
        "n_labels": k,
        "n_samples": n,
        "n_open": m,
    }


@pytest.mark.parametrize("labels", [LABELS, np.where(np.isnan(LABELS), NAN, NEARLY)], ids=["noisy", "near"])
@pytest.mark.parametrize(
    ("clusters", "certain", "step", "two_marks"),
    [
        (np.arange(N), np.zeros(N, dtype=bool), None, False),
        (np.arange(N) // 3, CERTAIN, None, False),
        (np.arange(N) % 9, CERTAIN, 2.0, False),
        (np.arange(N)[::-1] // 2, CERTAIN, 0.5, True),
        (np.arange(N) // 20, CERTAIN, 2.0, True),
        (np.zeros(N, dtype=int), CERTAIN, 1.0, False),
    ],
)
def test_every_part_is_that_of_the_formula(
    labels: Any, clusters: Any, certain: Any, step: float | None, two_marks: bool
) -> None:
    everywhere = np.where(np.isin(np.arange(N), [0, 9, 21]), NAN, EVERYWHERE)
    judged = np.where(np.arange(N) == 5, NAN, JUDGED)
    found = corrected(
        labels, judged, everywhere, CHANCES, clusters, certain=certain, step=step, two_marks=two_marks, ends=(0, 1)
    )
    assert found is not None
    expected = written_out(labels, judged, everywhere, CHANCES.tolist(), clusters, certain, step, two_marks)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected)
    assert (found.ends, found.most_degrees) == ((0, 1), math.inf)


def test_where_nothing_else_is_said_any_error_counts_and_nothing_is_certain() -> None:
    labels = np.where(np.isnan(LABELS), NAN, NEARLY)
    plain = corrected(labels, JUDGED, EVERYWHERE, CHANCES, np.arange(N), step=1.0)
    assert plain is not None
    expected = written_out(
        labels.tolist(), JUDGED.tolist(), EVERYWHERE.tolist(), CHANCES.tolist(), range(N), [False] * N, 1.0, False
    )
    assert plain.by_labels == pytest.approx(expected["by_labels"])
    assert (plain.n_open, plain.ends) == (N, (-math.inf, math.inf))


def test_a_judge_that_goes_wholly_along_is_believed_and_its_shift_taken_out() -> None:
    labels = np.where(np.arange(N) < 10, EVERYWHERE - 0.1, NAN)
    found = corrected(labels, EVERYWHERE, EVERYWHERE, np.full(N, 0.25), np.arange(N))
    assert found is not None
    assert found.mean == pytest.approx(EVERYWHERE.mean() - 0.1)
    assert found.trust == pytest.approx(1.0)


@pytest.mark.parametrize("n", [MIN_LABELS - 1, MIN_LABELS, MIN_LABELS + 1])
def test_five_labels_are_enough(n: int) -> None:
    labels = np.where(np.arange(N) < n, EVERYWHERE, NAN)
    found = corrected(labels, JUDGED, EVERYWHERE, np.full(N, 0.2), np.arange(N))
    assert (found is None) is (n < 5)


FOUND = Corrected(
    mean=0.2, fixed=0.003, by_labels=0.006, degrees=18.0, n_labels=20, n_samples=400, n_open=300, trust=0.5,
    ends=(-1.0, 1.0),
)  # fmt: skip


def test_the_variance_is_what_labels_leave_and_what_they_lower() -> None:
    assert FOUND.variance == pytest.approx(0.009)
    assert FOUND.error == pytest.approx(0.009**0.5)
    assert FOUND.p == pytest.approx(float(2 * stats.t.sf(0.2 / 0.009**0.5, 18)))
    assert replace(FOUND, mean=-0.2).p == FOUND.p


@pytest.mark.parametrize(("mean", "p"), [(0.0, 1.0), (0.1, 0.0), (-1.0, 0.0)])
def test_without_an_error_there_is_no_doubt(mean: float, p: float) -> None:
    assert replace(FOUND, mean=mean, fixed=0.0, by_labels=0.0).p == p


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_an_interval_is_students_cut_to_the_ends_of_the_figure(level: float) -> None:
    half = float(stats.t.ppf(0.5 + level / 2, 18)) * 0.009**0.5
    assert FOUND.interval(level) == pytest.approx((0.2 - half, 0.2 + half))
    assert replace(FOUND, ends=(0.1, 0.3)).interval(level) == (0.1, 0.3)
    assert FOUND.interval() == FOUND.interval(0.95)


@pytest.mark.parametrize(("variance", "degrees"), [(0.004, 2.0), (0.0001, 40.0)])
def test_seeds_add_their_variance_and_share_their_degrees_of_freedom(variance: float, degrees: float) -> None:
    """By Welch and Satterthwaite; more labels cannot make them more."""
    found = FOUND.with_seeds(variance, degrees)
    shared = (0.009 + variance) ** 2 / (0.009**2 / 18 + variance**2 / degrees)
    assert (found.fixed, found.by_labels) == (pytest.approx(0.003 + variance), 0.006)
    assert found.most_degrees == pytest.approx(shared)
    assert found.degrees == pytest.approx(min(18.0, shared))


def test_where_neither_samples_nor_seeds_vary_the_degrees_stay() -> None:
    found = replace(FOUND, fixed=0.0, by_labels=0.0).with_seeds(0.0, 2.0)
    assert (found.degrees, found.most_degrees, found.variance) == (18.0, 18.0, 0.0)


def _needed(found: Corrected, margin: float, alpha: float) -> int | None:
    """Label after label, the samples left to label growing fewer."""
    for k in range(found.n_labels, found.n_open + 1):
        left = (found.n_open - k) / (found.n_open - found.n_labels) if k > found.n_labels else 1.0
        error = math.sqrt(found.fixed + found.by_labels * found.n_labels / k * left)
        degrees = found.degrees if k == found.n_labels else min(k - 2, found.most_degrees)
        half = float(stats.t.ppf(1 - alpha / 2, degrees)) * error
        if abs(found.mean) > half or abs(found.mean) + half <= margin:
            return k - found.n_labels
    return None


@pytest.mark.parametrize(
    ("changed", "margin", "alpha", "settled"),
    [
        ({}, 0.01, 0.05, "now"),
        ({"mean": 0.15}, 0.01, 0.05, "later"),
        ({"mean": -0.15}, 0.01, 0.05, "later"),
        ({"mean": 0.15}, 0.01, 0.01, "later"),
        ({"mean": 0.08, "fixed": 0.0015}, 0.01, 0.05, "later"),
        ({"mean": 0.01, "fixed": 0.0001}, 0.1, 0.05, "later"),
        ({"mean": 0.15, "most_degrees": 3.0}, 0.01, 0.05, "never"),
        ({"mean": 0.1}, 0.01, 0.05, "never"),
        ({"mean": 0.15, "n_open": 20}, 0.01, 0.05, "never"),
        ({"mean": 0.2, "n_open": 20}, 0.01, 0.05, "now"),
        ({"mean": 0.13, "n_open": 22}, 0.01, 0.05, "by the last"),
        ({"mean": 0.11, "n_open": 22}, 0.01, 0.05, "never"),
        ({"mean": 0.11, "n_open": 40, "fixed": 0.0025}, 0.01, 0.05, "later"),
    ],
)
def test_labels_settle_a_difference_once_it_is_beyond_doubt_or_within_the_margin(
    changed: Mapping[str, Any], margin: float, alpha: float, settled: str
) -> None:
    found = replace(FOUND, **changed)
    needed = labels_to_settle(found, margin, alpha)
    assert needed == _needed(found, margin, alpha)
    most = found.n_open - found.n_labels
    words = "never" if needed is None else "now" if not needed else "by the last" if needed == most else "later"
    assert words == settled


def test_an_interval_that_ends_at_nothing_is_open_and_one_that_ends_at_the_margin_is_settled() -> None:
    half = float(stats.t.ppf(0.975, 18)) * math.sqrt(0.04)
    at_nothing = replace(FOUND, mean=half, fixed=0.04, by_labels=0.0)
    assert labels_to_settle(at_nothing, 0.0) == 1, "one more label has more degrees of freedom"
    assert labels_to_settle(replace(at_nothing, mean=0.0), half) == 0
