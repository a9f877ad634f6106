"""The spread of a difference over samples and over seeds, against the sums of squares written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from seedbed.analysis.seeds import SeedSpread, pooled_over_benchmarks, seed_spread, widened

Floats = NDArray[np.float64]
EVERYTHING = (np.array([-np.inf]), np.array([np.inf]))


def drawn(samples: int, seeds: int) -> Floats:
    return np.random.default_rng(3).normal(0.2, 1.0, (samples, seeds))


def one_each(samples: int) -> NDArray[np.int64]:
    return np.arange(samples)


def spread_of(table: Floats, clusters: NDArray[np.int64] | None = None) -> SeedSpread:
    return seed_spread(table[:, :, None], one_each(len(table)) if clusters is None else clusters)


def given(mean: float, a: float, b: float, clusters: float, seeds: float, benchmarks: int = 1) -> SeedSpread:
    of_one: list[Floats] = [np.array([value]) for value in (mean, a, b, clusters, seeds)]
    return SeedSpread(of_one[0], of_one[1], of_one[2], of_one[3], of_one[4], benchmarks)


def test_the_mean_squares_are_those_of_rows_and_of_columns() -> None:
    table = drawn(7, 4)
    spread = spread_of(table)
    assert spread.mean[0] == pytest.approx(table.mean())
    assert spread.between_clusters[0] == pytest.approx(4 * table.mean(axis=1).var(ddof=1))
    assert spread.between_seeds[0] == pytest.approx(7 * table.mean(axis=0).var(ddof=1))
    assert (spread.clusters[0], spread.seeds[0]) == (7, 4)
    left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    assert spread.rest is not None
    assert spread.rest[0] == pytest.approx((left**2).sum() / (6 * 3))


def test_the_deviation_counts_what_neither_explains_once() -> None:
    a, b, rest, clusters, seeds = 3.0, 2.0, 1.5, 10.0, 4.0
    spread = replace(given(0.2, a, b, clusters, seeds), rest=np.array([rest]))
    of_samples, of_seeds = (a - rest) / seeds, (b - rest) / clusters
    expected = of_samples / clusters + of_seeds / seeds + rest / (clusters * seeds)
    assert spread.deviation is not None
    assert spread.deviation[0] == pytest.approx(expected**0.5)
    assert spread.deviation[0] < spread.errors()[0][0][0]
    assert given(0.2, a, b, clusters, seeds).deviation is None


def test_clusters_of_one_size_count_like_their_means() -> None:
    table = drawn(12, 3)
    spread, means = spread_of(table, np.repeat(np.arange(4), 3)), table.reshape(4, 3, 3).mean(axis=1)
    expected = spread_of(means)
    assert spread.clusters[0] == 4
    assert spread.between_clusters[0] == pytest.approx(expected.between_clusters[0])
    assert spread.between_seeds[0] == pytest.approx(expected.between_seeds[0])


def test_a_missing_value_is_what_its_sample_and_its_seed_let_expect() -> None:
    """In a table of sums of both, that is the value itself."""
    whole = np.arange(5.0)[:, None] ** 2 + np.array([0.0, 3.0, 1.0, 7.0])[None, :]
    holes = whole.copy()
    holes[1, 2] = holes[3, 0] = np.nan
    for name in ("mean", "between_clusters", "between_seeds", "clusters", "seeds"):
        assert getattr(spread_of(holes), name)[0] == pytest.approx(getattr(spread_of(whole), name)[0], rel=1e-6), name


def test_samples_and_seeds_without_any_value_are_left_out() -> None:
    table = drawn(6, 4)
    wide = np.full((8, 5), np.nan)
    wide[1:7, :4] = table
    spread, expected = spread_of(wide), spread_of(table)
    assert (spread.clusters[0], spread.seeds[0]) == (6, 4)
    assert spread.mean[0] == pytest.approx(expected.mean[0])
    assert spread.between_clusters[0] == pytest.approx(expected.between_clusters[0])
    assert spread.between_seeds[0] == pytest.approx(expected.between_seeds[0])


def test_comparisons_stand_side_by_side() -> None:
    first, second = drawn(5, 3), drawn(5, 3) * 2 + 1
    both = seed_spread(np.stack([first, second], axis=2), one_each(5))
    for number, table in enumerate((first, second)):
        own, expected = both.column(number), spread_of(table)
        assert own.mean.shape == (1,)
        assert own.mean[0] == pytest.approx(expected.mean[0])
        assert own.between_seeds[0] == pytest.approx(expected.between_seeds[0])
        assert own.rest is not None
        assert own.rest == pytest.approx(expected.rest)
    assert given(0.1, 2.0, 3.0, 10, 4, benchmarks=5).column(0) == given(0.1, 2.0, 3.0, 10, 4, benchmarks=5)


def test_a_sample_with_one_seed_and_a_seed_with_one_sample_count() -> None:
    """Of a table of sums of both, whatever is missing."""
    whole = np.arange(5.0)[:, None] ** 2 + np.array([0.0, 3.0, 1.0, 7.0])[None, :]
    holes = whole.copy()
    holes[0, 1:] = holes[1:, 3] = np.nan
    holes[1, 3] = whole[1, 3]
    spread, expected = spread_of(holes), spread_of(whole)
    assert (spread.clusters[0], spread.seeds[0]) == (5, 4)
    assert spread.mean[0] == pytest.approx(expected.mean[0], rel=1e-3)


@pytest.mark.parametrize(("seeds", "known"), [(1.0, False), (2.0, True)])
def test_one_seed_tells_nothing_of_the_next(seeds: float, known: bool) -> None:
    assert given(0.1, 1.0, 1.0, 10, seeds).known is known
    assert not given(0.1, 1.0, float("nan"), 10, seeds).known


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_the_error_over_both_has_the_degrees_of_satterthwaite(unit: float) -> None:
    """In whatever unit."""
    (both, degrees), (alone, fewer) = given(0.1, 2.0 * unit, 3.0 * unit, 10, 4).errors()
    assert both[0] == pytest.approx(np.sqrt(5 * unit / 40))
    assert degrees[0] == pytest.approx(25 / (4 / 9 + 9 / 3))
    assert (alone[0], fewer[0]) == (pytest.approx(np.sqrt(3 * unit / 40)), 3)


@pytest.mark.parametrize("benchmarks", [2, 5])
def test_several_benchmarks_speak_of_the_seeds_together(benchmarks: int) -> None:
    ((error, degrees),) = given(0.1, 2.0, 3.0, 10, 4, benchmarks=benchmarks).errors()
    assert error[0] == pytest.approx(np.sqrt(5 / 40))
    assert degrees[0] == pytest.approx(25 / (4 / 9 + 9 / (3 * benchmarks)))


def test_without_any_spread_the_degrees_do_not_matter() -> None:
    (both, degrees), _ = given(0.1, 0.0, 0.0, 10, 4).errors()
    assert (both[0], degrees[0]) == (0.0, 1e9)


def test_benchmarks_share_the_variance_of_their_seeds_means() -> None:
    first, second = given(0.1, 2.0, 3.0, 10, 4), given(0.2, 5.0, 8.0, 20, 4)
    pooled = pooled_over_benchmarks([first, second])
    share = (3.0 / 10 + 8.0 / 20) / 2
    assert [one.between_seeds[0] for one in pooled] == [pytest.approx(share * 10), pytest.approx(share * 20)]
    assert [(one.mean[0], one.between_clusters[0], one.benchmarks) for one in pooled] == [(0.1, 2.0, 2), (0.2, 5.0, 2)]
    assert pooled_over_benchmarks([first]) == [first]


def _t(spread: SeedSpread) -> tuple[float, float]:
    """The largest p and the half width of the widest interval of its errors."""
    found = [(error[0], degrees[0]) for error, degrees in spread.errors()]
    p = max(2 * float(stats.t.sf(abs(spread.mean[0]) / error, degrees)) for error, degrees in found)
    return p, max(float(stats.t.ppf(0.975, degrees)) * error for error, degrees in found)


@pytest.mark.parametrize("mean", [0.6, -0.6])
def test_the_largest_p_and_the_widest_interval_count(mean: float) -> None:
    spread = given(mean, 2.0, 3.0, 10, 4)
    expected, half = _t(spread)
    narrow = np.array([mean - 0.01]), np.array([mean + 0.01])
    p, (low, high) = widened(spread, np.array([0.001]), narrow, EVERYTHING)
    assert (p[0], low[0], high[0]) == pytest.approx((expected, mean - half, mean + half))
    wide = np.array([mean - half - 0.1]), np.array([mean + half])
    p, (low, high) = widened(spread, np.array([0.99]), wide, EVERYTHING)
    assert (p[0], low[0], high[0]) == (0.99, wide[0][0], wide[1][0])


def test_an_interval_just_as_wide_stays() -> None:
    spread = given(0.5, 2.0, 3.0, 10, 4)
    half = _t(spread)[1]
    for share, replaced in ((0.99, True), (1.01, False)):
        moved = np.array([0.7 - share * half]), np.array([0.7 + share * half])
        low = widened(spread, np.array([0.001]), moved, EVERYTHING)[1][0][0]
        assert low == pytest.approx(0.5 - half if replaced else 0.7 - share * half)
    spread = given(0.5, 2.0, 3.0, 10, 4, benchmarks=2)
    ((error, degrees),) = spread.errors()
    half = special.stdtrit(degrees, 0.975) * error
    low, high = widened(spread, np.array([0.001]), (-half, half), EVERYTHING)[1]
    assert (low[0], high[0]) == (-half[0], half[0])


def test_no_difference_without_any_spread_is_no_evidence() -> None:
    p, _ = widened(given(0.0, 0.0, 0.0, 10, 4), np.array([0.2]), (np.array([0.0]), np.array([0.0])), EVERYTHING)
    assert p[0] == pytest.approx(1.0)


def test_with_one_seed_there_is_no_p_and_the_interval_is_everything_up_to_the_ends() -> None:
    ends = np.array([-0.8]), np.array([0.7])
    spread = given(0.1, 1.0, float("nan"), 10, 1)
    p, (low, high) = widened(spread, np.array([0.01]), (np.array([0.0]), np.array([0.2])), ends)
    assert np.isnan(p[0])
    assert (low[0], high[0]) == (-0.8, 0.7)


def test_two_seeds_say_something_of_the_next() -> None:
    spread = given(0.1, 1.0, 2.0, 10, 2)
    expected, half = _t(spread)
    p, (low, high) = widened(spread, np.array([0.01]), (np.array([0.0]), np.array([0.2])), EVERYTHING)
    assert (p[0], low[0], high[0]) == pytest.approx((expected, 0.1 - half, 0.1 + half))


def test_an_interval_is_cut_to_what_the_metric_allows() -> None:
    spread = given(0.5, 20.0, 30.0, 10, 4)
    _, (low, high) = widened(
        spread, np.array([0.01]), (np.array([0.4]), np.array([0.6])), (np.array([-0.9]), np.array([1.0]))
    )
    assert (low[0], high[0]) == (-0.9, 1.0)


def test_a_higher_level_asks_for_a_wider_interval() -> None:
    spread, inner = given(0.5, 2.0, 3.0, 10, 4), (np.array([0.49]), np.array([0.51]))
    half = max(stats.t.ppf(0.995, degrees[0]) * error[0] for error, degrees in spread.errors())
    _, (low, high) = widened(spread, np.array([0.01]), inner, EVERYTHING, level=0.99)
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half))
