"""A pass is earned."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import gate_verdict
from seedbed.analysis.columns import Columns
from seedbed.analysis.gate_rule import MIN_COVERAGE, LowerBound, lower_bound
from seedbed.analysis.seeds import SeedSpread

RNG = np.random.default_rng


def test_nine_of_200_right_answers_lost_are_no_pass() -> None:
    """A drop of 0.045 with p = 0.004 was once "pass: no worse"."""
    night = np.ones(200)
    night[:9] = 0
    assert gate_verdict(night, np.ones(200), kind="rate", min_effect=0.05) == "inconclusive"
    assert gate_verdict(night, np.ones(200), kind="rate", min_effect=0.03) == "fail"
    assert gate_verdict(night, np.ones(200), kind="rate", min_effect=0.1) == "pass"


def test_200_of_300_undefined_values_are_no_pass() -> None:
    night = np.ones(300)
    assert gate_verdict(night, np.ones(300), min_effect=0.05) == "pass"
    night[:200] = np.nan
    assert gate_verdict(night, np.ones(300), min_effect=0.05) == "inconclusive"


def test_what_the_baseline_has_no_score_of_is_not_asked_for() -> None:
    half = np.where(np.arange(600) % 2, 1.0, np.nan)
    assert gate_verdict(half, half, min_effect=0.05) == "pass"


def test_ties_of_60_samples_do_not_rule_out_a_drop_of_a_hundredth() -> None:
    assert gate_verdict(np.ones(60), np.ones(60), min_effect=0.01) == "inconclusive"
    assert gate_verdict(np.ones(60), np.ones(60), min_effect=0.05) == "pass"


def test_the_bound_is_the_formula() -> None:
    differences = RNG(0).normal(0, 0.2, 50).clip(-1, 1)
    n = 50
    m = differences.sum() / (n + 2)
    v = (np.square(differences).sum() + 2) / (n + 2) - m * m
    expected = m - stats.t.ppf(0.975, n - 1) * math.sqrt(v / (n + 2) * n / (n - 1))
    columns = Columns.of(differences[:, None], np.arange(n))
    assert lower_bound(columns, (0.0, 1.0)).lowest == pytest.approx(expected)


def test_min_effect_is_a_share_of_the_range() -> None:
    night, base = RNG(1).random(200), RNG(2).random(200)
    for effect in (0.02, 0.05, 0.2):
        small = gate_verdict(night, base, min_effect=effect)
        assert gate_verdict(1 + 4 * night, 1 + 4 * base, value_range=(1, 5), min_effect=effect) == small


def test_a_figure_without_a_range_is_judged_by_a_share_of_the_baseline() -> None:
    base = RNG(3).normal(100, 5, 200)
    assert gate_verdict(base + RNG(4).normal(0, 1, 200), base, value_range=None, min_effect=0.05) == "pass"
    assert gate_verdict(base - RNG(5).normal(20, 1, 200), base, value_range=None, min_effect=0.05) == "fail"


@pytest.mark.parametrize("per_cluster", [1, 5])
def test_a_true_drop_of_min_effect_hardly_ever_passes(per_cluster: int) -> None:
    rng, passed = RNG(6), 0
    clusters = np.arange(300) // per_cluster
    for _ in range(200):
        ease = rng.uniform(0.2, 0.8, clusters.max() + 1)[clusters]
        base = (rng.random(300) < ease).astype(float)
        night = (rng.random(300) < ease - 0.05).astype(float)
        columns = Columns.of((night - base)[:, None], clusters)
        passed += lower_bound(columns, (0.0, 1.0)).lowest >= -0.05
    assert passed <= 16


def test_it_says_how_many_samples_would_decide() -> None:
    differences = np.tile([0.3, -0.3], 30)
    columns = Columns.of(differences[:, None], np.arange(60))
    needed = lower_bound(columns, (0.0, 1.0)).samples_to_decide(0.05)
    assert needed is not None
    assert 100 < needed < 400
    more = Columns.of(np.tile([0.3, -0.3], needed // 2 + 1)[:, None], np.arange(2 * (needed // 2 + 1)))
    assert lower_bound(more, (0.0, 1.0)).lowest >= -0.05


def test_at_its_limits_the_gate_passes_and_just_beyond_it_does_not() -> None:
    """The margin itself is allowed, and so is the least coverage; the least drop beyond the margin can fail."""
    at = LowerBound(difference=0.0, lowest=-0.1, n=100, half=0.1)
    assert at.word(None, 0.1, MIN_COVERAGE) == "pass"
    assert at.word(None, 0.0999, 1.0) == "inconclusive"
    assert at.word(None, 0.1, MIN_COVERAGE - 0.001) == "inconclusive"
    dropped = LowerBound(difference=-0.1, lowest=-0.2, n=100, half=0.1)
    assert dropped.word(0.001, 0.1, 1.0) == "inconclusive"
    assert dropped.word(0.001, 0.0999, 1.0) == "fail"
    assert dropped.word(0.05, 0.0999, 1.0, alpha=0.05) == "inconclusive"


def _spread(mean: float, between_seeds: float, seeds: float = 4.0) -> SeedSpread:
    return SeedSpread(
        mean=np.array([mean]),
        between_clusters=np.array([1.0]),
        between_seeds=np.array([between_seeds]),
        clusters=np.array([50.0]),
        seeds=np.array([seeds]),
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_seeds_that_make_other_systems_lower_the_bound(sign: int) -> None:
    differences = RNG(7).normal(0.1, 0.05, 50).clip(-1, 1)
    columns = Columns.of(differences[:, None], np.arange(50))
    alone = lower_bound(columns, (0.0, 1.0), sign=sign)
    assert (alone.seeds_half, alone.n) == (0.0, 50)
    assert alone.difference == pytest.approx(sign * differences.mean())
    assert alone.half == pytest.approx(alone.difference - alone.lowest)
    wide = _spread(0.1, 20.0)
    both, only_seeds = (stats.t.ppf(0.975, degrees[0]) * error[0] for error, degrees in wide.errors())
    found = lower_bound(columns, (0.0, 1.0), wide, sign=sign)
    assert found.lowest == pytest.approx(sign * 0.1 - max(both, only_seeds))
    assert found.seeds_half == pytest.approx(only_seeds)
    assert (found.half, found.difference) == (alone.half, alone.difference)
    steady = lower_bound(columns, (0.0, 1.0), _spread(0.9 * sign, 0.0), sign=sign)
    assert steady.lowest == alone.lowest, "seeds never raise it"


def test_of_one_seed_nothing_is_known_of_the_next() -> None:
    columns = Columns.of(RNG(7).normal(0.1, 0.05, 50)[:, None], np.arange(50))
    found = lower_bound(columns, (0.0, 1.0), _spread(0.1, math.nan, seeds=1.0))
    assert (found.lowest, found.seeds_half) == (-math.inf, math.inf)
    assert found.samples_to_decide(0.5) is None


@pytest.mark.parametrize(
    ("difference", "half", "seeds_half", "needed"),
    [
        (0.0, 0.2, 0.0, 400),
        (0.1, 0.2, 0.0, 101),
        (-0.2, 0.8, 0.0, 1600),
        (0.0, 0.2, 0.05, 1600),
        (0.0, 0.2, 0.1, None),
        (0.0, math.inf, 0.0, None),
        (-0.1, 0.2, 0.0, 400),
    ],
)
def test_samples_to_decide_grow_with_the_square_of_the_width(
    difference: float, half: float, seeds_half: float, needed: int | None
) -> None:
    """With a margin of 0.1 and 100 samples: what is above it needs room to the margin, what is below room to none."""
    bound = LowerBound(difference, difference - half, 100, half, seeds_half)
    found = bound.samples_to_decide(0.1)
    assert found == needed if needed is None else found in (needed, needed + 1)


def test_a_night_without_any_pair_is_inconclusive() -> None:
    assert gate_verdict([math.nan, 1.0], [1.0, math.nan], min_effect=0.5) == "inconclusive"


@pytest.mark.parametrize("ends", [(1.0, 5.0), (-2.0, 2.0), (4.0, 8.0)])
def test_a_bound_grows_with_the_length_of_the_range_wherever_it_lies(ends: tuple[float, float]) -> None:
    differences = RNG(8).normal(0, 0.2, 50)[:, None].clip(-1, 1)
    small, large = (Columns.of(scale * differences, np.arange(50)) for scale in (1, 4))
    expected = lower_bound(small, (0.0, 1.0))
    found = lower_bound(large, ends)
    assert (found.difference, found.lowest) == pytest.approx((4 * expected.difference, 4 * expected.lowest))


def test_one_sample_more_is_the_least_that_is_asked_for() -> None:
    assert LowerBound(difference=0.1, lowest=0.09, n=100, half=0.01).samples_to_decide(0.1) == 101


@pytest.mark.parametrize("turned", [False, True])
def test_several_seeds_on_either_side_make_no_rate_of_single_samples(turned: bool) -> None:
    """Ten losses of a whole answer weigh more than five gains of half a one; by numbers alone it would be 10 to 5."""
    single = np.zeros(60)
    single[:10] = 1.0
    seeds = np.zeros((60, 2))
    seeds[10:15, 0] = 1.0
    if turned:
        assert gate_verdict(1 - single, 1 - seeds, kind="rate", min_effect=0.05) == "fail"
    else:
        assert gate_verdict(seeds, single, kind="rate", min_effect=0.05) == "fail"
    alone = seeds.max(axis=1)
    assert gate_verdict(alone, single, kind="rate", min_effect=0.05) == "inconclusive"
