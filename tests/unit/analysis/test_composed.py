"""Figures of a whole cell against the baseline's: what is missing could move them, and seeds make other systems."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.composed import composed_comparison
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.measured import Measured, blank_comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.suite import Metric

N, BLOCKS = 12, 6
KAPPA = Metric("kappa", "Kappa", kind="pooled", range=(-1.0, 1.0))


def table(metric: Metric = KAPPA, **more: Any) -> ScoreTable:
    made = ScoreTable(
        key=("toy", "tiny", "reader"),
        baseline="base",
        declared=[Metric("f1", "F1"), metric],
        reference=frozenset(),
        sample_ids=[f"s{i}" for i in range(N)],
        clusters=np.arange(N),
        values={label: np.full((N, 2), np.nan) for label in ("own", "base")},
        seeds={"own": {0: {"kappa": 0.5}, 1: {"kappa": 0.7}, 2: {"kappa": 0.6}}, "base": {0: {"kappa": 0.4}}},
        cells={},
        failures=[],
        failure_counts={},
    )
    return replace(made, **more)


def knife(own: float | None = 0.6, base: float | None = 0.4, apart: float = 0.02) -> Jackknife:
    """Without each block the system's figure is a little higher or lower; the baseline's stays."""
    parts = [0.6 + apart * (-1) ** block for block in range(BLOCKS)]
    without = [{"own": {"kappa": part}, "base": {"kappa": base}} for part in parts]
    return Jackknife({"own": {"kappa": own}, "base": {"kappa": base}}, without, {}, N, N, N)


def compared(made: ScoreTable, cut: Jackknife | None = None) -> Measured:
    blank = blank_comparison(made, "own", "base", made.declared[1])
    return composed_comparison(made, blank, 0.05, cut or knife())


def test_a_comparison_is_filled_from_the_jackknife() -> None:
    found = compared(table())
    own = found.comparison
    around = knife().difference("own", "base", "kappa", (-1.0, 1.0))
    assert around is not None
    assert (own.mean, own.baseline_mean, own.difference, own.test) == (0.6, 0.4, 0.2, "jackknife")
    assert (own.n_pairs, own.n_clusters, own.n_seeds, own.n_missing) == (N, N, 3, 0)
    assert (own.ci_low, own.ci_high, own.p) == pytest.approx((around.low, around.high, around.p))
    assert own.margin == pytest.approx(0.1)
    assert (found.most, found.spread, found.extremes) == (2.0, None, ())
    assert found.sized is not None
    assert (found.sized.n, found.sized.n_clusters, found.sized.n_differ) == (N, BLOCKS, BLOCKS)
    assert (found.sized.step, found.sized.most, found.sized.test) == (2.0, 2.0, "t")
    assert found.sized.errors == [(float(around.estimate.error[0]), float(around.estimate.degrees[0]))]


@pytest.mark.parametrize(("own", "base"), [(None, 0.4), (0.6, None)])
def test_what_is_undefined_for_one_of_the_two_says_so(own: float | None, base: float | None) -> None:
    found = compared(table(), knife(own, base))
    assert found.comparison.reason == "it is undefined for one of the two"
    assert (found.comparison.difference, found.sized) == (None, None)


def test_a_figure_that_a_block_leaves_undefined_has_a_difference_and_no_interval() -> None:
    cut = knife()
    broken = replace(cut, without=[{"own": {"kappa": None}, "base": {"kappa": 0.4}}, *cut.without[1:]])
    found = compared(table(), broken)
    own = found.comparison
    assert (own.difference, own.ci_low, own.ci_high, own.p, own.test) == (0.2, None, None, None, None)
    assert found.sized is None


def test_what_is_missing_on_either_side_could_move_the_figure() -> None:
    share = np.zeros((N, 2))
    share[0, 1] = 1.0
    other = np.zeros((N, 2))
    other[2:4, 1] = 0.5
    found = compared(table(missing={"own": share, "base": other}))
    plain = compared(table()).comparison
    assert plain.ci_low is not None
    assert plain.ci_high is not None
    assert found.comparison.n_missing == 3
    shift = (1 / N + 1 / N) * 2.0
    low, high = found.extremes
    assert (low.difference, high.difference) == pytest.approx((0.2 - shift, 0.2 + shift))
    assert (low.ci_low, low.ci_high) == pytest.approx((plain.ci_low - shift, plain.ci_high - shift))
    assert (high.ci_low, high.ci_high) == pytest.approx((plain.ci_low + shift, plain.ci_high + shift))
    assert low.p is not None
    assert high.p is not None
    assert high.p < low.p


def test_without_ends_nobody_knows_how_far_it_could_move() -> None:
    share = np.zeros((N, 2))
    share[0, 1] = 1.0
    found = compared(table(replace(KAPPA, range=None), missing={"own": share}))
    assert (found.extremes, found.comparison.n_missing, found.most) == ((), 1, math.inf)
    none = compared(table(missing={"own": np.zeros((N, 2))}))
    assert (none.extremes, none.comparison.n_missing) == ((), 0)


def test_the_spread_over_seeds_is_that_of_the_differences() -> None:
    found = compared(table(made_by_seed=frozenset({"own"}))).spread
    around = knife().difference("own", "base", "kappa", (-1.0, 1.0))
    assert found is not None
    assert around is not None
    assert (found.mean[0], found.clusters[0], found.seeds[0]) == (pytest.approx(0.2), BLOCKS, 3)
    assert found.between_seeds[0] == pytest.approx(np.var([0.1, 0.3, 0.2], ddof=1) * BLOCKS)
    assert found.between_clusters[0] == pytest.approx(around.error**2 * BLOCKS * 3)


def test_seeds_are_paired_where_the_baseline_is_made_by_them_too() -> None:
    both = table(made_by_seed=frozenset({"own", "base"}))
    one = compared(both).spread
    assert one is not None
    assert (one.seeds[0], math.isnan(one.between_seeds[0])) == (1, True)
    seeds = {"own": both.seeds["own"], "base": {0: {"kappa": 0.4}, 1: {"kappa": 0.7}, 2: {"kappa": None}}}
    two = compared(replace(both, seeds=seeds)).spread
    assert two is not None
    assert two.seeds[0] == 2
    assert two.between_seeds[0] == pytest.approx(np.var([0.1, 0.0], ddof=1) * BLOCKS)
