"""Planned numbers of samples, against formulas and against sweeps that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

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


@pytest.mark.slow
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


def test_the_parts_are_the_mean_squares_of_two_ways() -> None:
    values = np.random.default_rng(5).normal(0.1, 1.0, (6, 3))
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    rest = values - rows[:, None] - columns[None, :] + values.mean()
    e = np.square(rest).sum() / (5 * 2)
    a, b = 3 * rows.var(ddof=1), 6 * columns.var(ddof=1)
    parts = variance_parts(values)
    assert parts.rest == pytest.approx(e)
    assert parts.samples == pytest.approx(max(0.0, (a - e) / 3))
    assert parts.seeds == pytest.approx(max(0.0, (b - e) / 6))
    assert (parts.clusters, parts.pilot_seeds, parts.per_cluster) == (6, 3, 1.0)


def test_samples_without_any_value_are_no_part_of_a_pilot() -> None:
    values = np.random.default_rng(6).normal(0.1, 1.0, (6, 3))
    holes = np.vstack([values[:2], np.full((1, 3), np.nan), values[2:]])
    clusters = [0, 0, 9, 1, 1, 2, 2]
    assert variance_parts(holes, clusters) == variance_parts(values, [0, 0, 1, 1, 2, 2])
    assert variance_parts(holes, clusters).per_cluster == 2.0


def test_of_one_seed_all_of_the_spread_is_the_samples() -> None:
    values = np.array([[0.1], [0.5], [0.9]])
    parts = variance_parts(values)
    assert (parts.seeds, parts.rest, parts.pilot_seeds) == (0.0, 0.0, 1)
    assert parts.samples == pytest.approx(values.var(ddof=1))


@pytest.mark.parametrize(("difference", "seeds", "power"), [(0.3, 2, 0.8), (0.3, 5, 0.9), (0.2, 5, 0.8)])
def test_the_number_and_its_range_follow_from_the_parts(difference: float, seeds: int, power: float) -> None:
    values = np.random.default_rng(8).normal(0, 0.3, (40, 1)) + np.random.default_rng(9).normal(0, 0.2, (40, 4))
    values += np.array([-0.05, 0.05, 0.0, 0.02])
    parts = variance_parts(values)
    a, b, e = 4 * parts.samples + parts.rest, 40 * parts.seeds + parts.rest, parts.rest
    wanted = difference**2 / (stats.norm.ppf(0.975) + stats.norm.ppf(power)) ** 2

    def needed(a: float, b: float, rest: float) -> float:
        left = wanted - max(0.0, (b - e) / 40) / seeds
        return math.ceil(((a - rest) / 4 + rest / seeds) / left) if left > 0 else math.inf

    (a_low, b_low), (a_high, b_high) = (
        (39 / float(stats.chi2.ppf(q, 39)), 3 / float(stats.chi2.ppf(q, 3))) for q in (0.95, 0.05)
    )
    found = samples_needed(values, np.zeros((40, 4)), difference=difference, seeds=seeds, power=power)
    low = min(needed(a * a_low, b * b_low, e * of_rest) for of_rest in (a_low, a_high))
    high = max(needed(a * a_high, b * b_high, e * of_rest) for of_rest in (a_low, a_high))
    assert found == (needed(a, b, e), low, high)


def test_the_end_of_the_range_is_open_where_seeds_may_differ_too_much() -> None:
    values = np.random.default_rng(8).normal(0, 0.3, (40, 3)) + np.array([-0.08, 0.0, 0.08])
    found = samples_needed(values, np.zeros((40, 3)), difference=0.17, seeds=3)
    assert found is not None
    assert found[2] == math.inf
    assert found[1] < found[0]


@pytest.mark.parametrize("wrong", [{"difference": 0.0}, {"power": 0.0}, {"power": 1.0}])
def test_a_question_without_an_answer_is_refused(wrong: dict[str, float]) -> None:
    asked = {"difference": 0.1, "power": 0.8, **wrong}
    with pytest.raises(ValueError, match="are needed"):
        samples_needed([0.1, 0.5, 0.2], [0.0, 0.1, 0.3], seeds=1, **asked)  # type: ignore[arg-type]
    assert samples_needed([0.1, 0.5], [0.0, 0.1], difference=0.1, seeds=1) is not None, "two are enough"


def test_two_seeds_tell_what_seeds_add() -> None:
    values = np.array([[0.0, 0.4], [0.3, 0.5], [0.1, 0.9], [0.2, 0.4]])
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    e = np.square(values - rows[:, None] - columns + values.mean()).sum() / 3
    parts = variance_parts(values)
    assert parts.seeds == pytest.approx((4 * columns.var(ddof=1) - e) / 4)
    assert (parts.rest, parts.pilot_seeds) == (pytest.approx(e), 2)


def test_of_one_seed_too_clusters_hold_so_many_samples() -> None:
    parts = variance_parts(np.array([[0.1], [0.5], [0.9], [0.2], [0.3], [0.8]]), [0, 0, 0, 1, 1, 1])
    assert (parts.clusters, parts.per_cluster) == (2, 3.0)


def test_the_level_is_five_percent_on_both_sides_together() -> None:
    """Of a variance of 1: (1.96 + 0.8416) squared over the difference squared."""
    found = samples_needed([-1.0, 1.0, 0.0], np.zeros(3), difference=0.25, seeds=1)
    assert found is not None
    assert found[0] == math.ceil((1.959964 + 0.841621) ** 2 / 0.0625)


def test_only_the_difference_of_the_two_counts() -> None:
    rng = np.random.default_rng(10)
    own, base = rng.normal(0, 0.3, 50), rng.normal(0.2, 0.5, 50)
    found = samples_needed(own + base, base, difference=0.1, seeds=1)
    assert found == samples_needed(own, np.zeros(50), difference=0.1, seeds=1) is not None


@pytest.mark.parametrize(("clusters", "seeds"), [(2, 1), (60, 2)])
def test_the_least_pilot_has_a_range_of_one_degree_of_freedom(clusters: int, seeds: int) -> None:
    values = np.random.default_rng(11).normal(0, 0.5, (clusters, seeds)) + np.array([0.0, 0.25])[:seeds]
    parts = variance_parts(values)
    wanted = 0.35**2 / (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    of_samples = (clusters - 1) / stats.chi2.ppf(0.95, clusters - 1)
    left = wanted
    if seeds > 1:
        between = (60 * parts.seeds + parts.rest) / stats.chi2.ppf(0.95, 1)
        left -= max(0.0, (between - parts.rest) / 60) / seeds
    low = (parts.samples + parts.rest / seeds) * of_samples / left
    found = samples_needed(values, np.zeros((clusters, seeds)), difference=0.35, seeds=seeds)
    assert found is not None
    assert found[1] == math.ceil(low)
