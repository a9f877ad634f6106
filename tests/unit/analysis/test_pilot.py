"""Planned numbers of samples, against formulas and against sweeps that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seedbed.analysis import compare_paired, samples_needed
from seedbed.analysis.pilot import variance_parts


def test_the_parts_of_the_variance_are_found_again() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 0.3, (4000, 1)) + rng.normal(0, 0.2, (4000, 6))
    values += np.array([-0.1, 0.1, -0.1, 0.1, -0.1, 0.1])
    parts = variance_parts(values)
    assert parts.samples == pytest.approx(0.09, rel=0.1)
    assert parts.rest == pytest.approx(0.04, rel=0.1)
    assert parts.seeds == pytest.approx(0.012, rel=0.1)


def test_without_seeds_it_is_the_textbooks_number() -> None:
    rng = np.random.default_rng(1)
    own = rng.normal(0.0, 0.4, 300)
    found = samples_needed(own, np.zeros(300), difference=0.1, seeds=1)
    assert found is not None
    n, low, high = found
    assert n == math.ceil(own.var(ddof=1) * 7.8489 / 0.01)
    assert low < n < high


def test_where_seeds_differ_too_much_no_number_of_samples_will_do() -> None:
    rng = np.random.default_rng(2)
    own = rng.normal(0, 0.2, (200, 3)) + np.array([-0.15, 0.0, 0.15])
    base = np.zeros((200, 3))
    assert samples_needed(own, base, difference=0.03, seeds=3) is None
    more = samples_needed(own, base, difference=0.03, seeds=400)
    assert more is not None
    assert more[2] >= more[0]


def test_clusters_count_as_the_samples_they_hold() -> None:
    rng = np.random.default_rng(3)
    shared = np.repeat(rng.normal(0, 0.3, 50), 4)
    clusters = np.repeat(np.arange(50), 4).tolist()
    alone = samples_needed(shared, np.zeros(200), difference=0.1, seeds=1)
    together = samples_needed(shared, np.zeros(200), difference=0.1, seeds=1, clusters=clusters)
    assert alone is not None
    assert together is not None
    assert together[0] == pytest.approx(4 * alone[0], rel=0.05)


def test_the_planned_number_has_about_the_promised_power() -> None:
    rng = np.random.default_rng(4)
    pilot = rng.normal(0.08, 0.35, (300, 1))
    planned = samples_needed(pilot, np.zeros((300, 1)), difference=0.08, seeds=1)
    assert planned is not None
    draws = rng.normal(0.08, 0.35, (400, planned[0]))
    seen = [compare_paired(d, np.zeros(planned[0]), value_range=None, rng=1).ci_low > 0 for d in draws[:150]]
    assert 0.65 < np.mean(seen) < 0.93


def test_a_pilot_of_one_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two"):
        samples_needed([1.0], [0.0], difference=0.1, seeds=1)
