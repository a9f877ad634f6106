"""Verdicts where seeds make other systems, where answers are missing, and where several tests share a level."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis import compare_paired, families
from seedbed.analysis.comparisons import table_comparisons
from seedbed.analysis.families import judged
from seedbed.analysis.measured import Extreme, Measured
from seedbed.analysis.power import Sized, detectable
from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import SeedSpread
from seedbed.suite import Metric

N = 40
BASE = np.random.default_rng(12).uniform(0.3, 0.6, N)


def _table(seeds: Sequence[Any]) -> ScoreTable:
    by_seed = {seed: np.asarray(own)[:, None] for seed, own in enumerate(seeds)}
    return ScoreTable(
        key=("toy", "sums", "reader"), baseline="base", declared=[Metric("f1", "F1")], reference=frozenset(),
        sample_ids=[f"s{i}" for i in range(N)], clusters=np.arange(N) // 2,
        values={"base": BASE[:, None], "own": np.mean(list(by_seed.values()), axis=0)},
        seeds={"base": {0: {}}, "own": {seed: {} for seed in by_seed}}, cells={}, failures=[], failure_counts={},
        by_seed={"own": by_seed}, made_by_seed=frozenset({"own"}),
    )  # fmt: skip


@pytest.mark.parametrize("apart", [0.001, 0.02, 0.08])
@pytest.mark.parametrize("gain", [0.0, 0.05, 0.2])
def test_over_seeds_a_verdict_is_that_of_samples_and_seeds_together(gain: float, apart: float) -> None:
    """Whether samples alone are the least sure, or seeds."""
    rng = np.random.default_rng(13)
    seeds = [BASE + gain + apart * place + rng.normal(0, 0.05, N) for place in (-1, 0, 1)]
    (found,) = judged(table_comparisons(_table(seeds), 0.05, None))
    base = np.repeat(BASE[:, None], 3, axis=1)
    alone = compare_paired(np.column_stack(seeds), base, clusters=[i // 2 for i in range(N)], seed_changes_system=True)
    assert found.test == "samples and seeds"
    assert (found.difference, found.p) == pytest.approx((alone.difference, alone.p))
    assert (found.ci_low, found.ci_high) == pytest.approx((alone.ci_low, alone.ci_high))
    assert found.detectable == pytest.approx(alone.detectable)


def spread(mean: float, over_seeds: float, seeds: float = 4.0) -> SeedSpread:
    """`over_seeds`: variance of the mean over seeds."""
    return SeedSpread(
        mean=np.array([mean]),
        between_clusters=np.array([1e-6]),
        between_seeds=np.array([over_seeds * 50 * seeds]),
        clusters=np.array([50.0]),
        seeds=np.array([seeds]),
    )


SIZED = Sized(50, 50, 40, 0.1, [(0.02, 49.0)], 1.0)


def measured(
    label: str = "own", p: float | None = 0.001, difference: float = 0.3, extremes: Sequence[Extreme] = (), **more: Any
) -> Measured:
    compared = Comparison(
        "toy", "sums", "reader", label, "base", "f1", n_pairs=50, n_clusters=50, difference=difference,
        ci_low=difference - 0.04, ci_high=difference + 0.04, p=p, test="permutation", margin=0.05, n_missing=7,
    )  # fmt: skip
    return replace(Measured(compared, SIZED, most=1.0, extremes=extremes), **more)


def verdict(*made: Measured) -> list[str]:
    return [found.verdict for found in judged(made)]


@pytest.mark.parametrize("kind", ["t", "flips", "mcnemar"])
def test_what_could_have_been_found_counts_the_errors_over_seeds(kind: Any) -> None:
    over = spread(0.3, 0.001)
    (found,) = judged([measured(spread=over, sized=replace(SIZED, test=kind))])
    errors = [*SIZED.errors, *((error[0], degrees[0]) for error, degrees in over.errors())]
    wide = replace(SIZED, errors=errors, test="t" if kind == "t" else "flips")
    assert over.deviation is None
    assert found.detectable == pytest.approx(detectable(wide, 0.05))


@pytest.mark.parametrize(("sized", "p"), [(None, 0.001), (SIZED, None), (None, None)])
def test_without_a_size_or_a_test_nothing_is_told_of_what_could_have_been_found(sized: Any, p: float | None) -> None:
    assert judged([measured(p=p, sized=sized)])[0].detectable is None
    assert judged([measured()])[0].detectable == pytest.approx(detectable(SIZED, 0.05))


def test_an_interval_without_ends_stays_without_them_over_seeds() -> None:
    m = measured(spread=spread(0.3, 1e-6), most=math.inf)
    (found,) = judged([replace(m, comparison=replace(m.comparison, ci_low=None, ci_high=None))])
    assert (found.ci_low, found.ci_high, found.test) == (None, None, "samples and seeds")


def test_a_comparison_without_a_p_over_samples_has_none_over_seeds() -> None:
    (found,) = judged([measured(p=None, spread=spread(0.3, 1e-6))])
    assert (found.p, found.test, found.verdict) == (None, None, "too small to tell")


def extreme(difference: float, p: float | None = 0.001) -> Extreme:
    return Extreme(difference, difference - 0.04, difference + 0.04, p)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (extreme(0.2), extreme(0.4), "better"),
        (extreme(0.02, 0.3), extreme(0.4), "too many missing"),
        (extreme(0.2), extreme(-0.4), "too many missing"),
        (extreme(0.2, None), extreme(0.4), "too many missing"),
    ],
)
def test_a_verdict_must_survive_both_ends_of_what_is_missing(low: Extreme, high: Extreme, said: str) -> None:
    (found,) = judged([measured(extremes=(low, high))])
    assert found.verdict == said
    assert (found.reason == "7 samples have an answer missing; had it been as bad or as good as can be, it might "
            "differ") is (said == "too many missing")  # fmt: skip


def test_what_is_missing_turns_no_verdict_that_there_is_not() -> None:
    assert verdict(measured(p=0.2, extremes=(extreme(-0.4), extreme(0.4)))) == ["too small to tell"]


@pytest.mark.parametrize(("low", "said"), [(0.06, "too many missing"), (0.2, "better")])
def test_the_ends_are_tested_over_seeds_too(low: float, said: str) -> None:
    """Seeds vary by .02, so that .06 is no longer sure and .2 is."""
    over = spread(0.3, 0.0004)
    assert verdict(measured(extremes=(extreme(0.06), extreme(0.4)))) == ["better"], "over samples alone"
    assert verdict(measured(spread=over, extremes=(extreme(low), extreme(0.4)))) == [said]
    assert verdict(measured(spread=over, extremes=(extreme(0.2, None), extreme(0.4)))) == ["too many missing"]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.0, 0.0, "no difference"), (-0.02, 0.0, "too many missing"), (0.0, 0.02, "too many missing")],
)
@pytest.mark.parametrize("over", [None, spread(0.0, 1e-9)])
def test_no_difference_must_lie_within_the_margin_at_both_ends(
    low: float, high: float, said: str, over: SeedSpread | None
) -> None:
    """Intervals reach .04 to both sides, and .05 is taken as none."""
    ends = (extreme(low, 0.5), extreme(high, 0.5))
    assert verdict(measured(p=0.5, difference=0.0, spread=over, extremes=ends)) == [said]


@pytest.mark.parametrize(("p", "said"), [(0.024, "better"), (0.026, "too many missing")])
def test_the_ends_are_held_to_the_level_that_holm_left(p: float, said: str) -> None:
    """Of two tests the first has half of the level."""
    first, second = measured(extremes=(extreme(0.2, p), extreme(0.4))), measured("other", p=0.04)
    assert verdict(first, second) == [said, "better"]
    assert verdict(measured(extremes=(extreme(0.2, 0.026), extreme(0.4)))) == ["better"]


@pytest.mark.parametrize(
    ("ps", "left"),
    [
        ([0.03, 0.01, 0.02], [1, 3, 2]),
        ([None, 0.01, None, 0.02], [1, 2, 1, 1]),
        ([0.01, 0.01], [2, 1]),
        ([], []),
    ],
)
def test_holm_has_as_many_tests_left_as_are_no_surer(ps: Sequence[float | None], left: Sequence[int]) -> None:
    assert families.tests_left(ps) == left


@pytest.mark.parametrize(
    ("changed", "adjusted"),
    [({}, 0.02), ({"metric": "em"}, 0.01), ({"suite": "talk"}, 0.01), ({"reference": True}, 0.01),
     ({"benchmark": "texts"}, 0.02), ({"model": "writer"}, 0.02)],
)  # fmt: skip
def test_a_family_is_a_metric_of_a_suite_whatever_the_benchmark_and_the_model(
    changed: Mapping[str, Any], adjusted: float
) -> None:
    one, other = measured("a", p=0.01), measured("b", p=0.04)
    other = replace(other, comparison=replace(other.comparison, **changed))
    assert judged([one, other])[0].p_holm == pytest.approx(adjusted)
