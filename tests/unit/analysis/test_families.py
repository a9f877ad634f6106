"""From score tables to rows and verdicts: missing answers, systems that every seed makes anew, Holm."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.comparisons import table_comparisons
from seedbed.analysis.families import judged
from seedbed.analysis.results import Comparison, Row
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import ONE_SEED
from seedbed.analysis.table_rows import table_rows
from seedbed.report.tables import _best, verdict_text  # pyright: ignore[reportPrivateUsage]
from seedbed.suite import Metric

RNG = np.random.default_rng
F1 = Metric("f1", "F1")


def table(
    values: Mapping[str, Any],
    *,
    missing: Mapping[str, Any] | None = None,
    by_seed: Mapping[str, Any] | None = None,
    metric: Metric = F1,
    benchmark: str = "tiny",
    clusters: Any = None,
) -> ScoreTable:
    """Systems with one metric; the first is the baseline."""
    n = len(next(iter(values.values())))
    columns = {label: np.asarray(own, dtype=float)[:, None] for label, own in values.items()}
    seeds = {label: {int(s): np.asarray(v, dtype=float)[:, None] for s, v in own.items()}
             for label, own in (by_seed or {}).items()}  # fmt: skip
    known = {label: float(np.nanmean(own)) for label, own in values.items()}
    cell = {"n": n, "n_errors": 0, "n_skipped": 0, "usage": {}}
    return ScoreTable(
        key=("toy", benchmark, "reader"),
        baseline=next(iter(values)),
        declared=[metric],
        reference=frozenset(),
        sample_ids=[f"s{i}" for i in range(n)],
        clusters=np.arange(n) if clusters is None else np.asarray(clusters),
        values=columns,
        seeds={label: {s: {metric.name: known[label], **cell} for s in seeds.get(label, {1: 0})} for label in values},
        cells={label: [_cell(label, benchmark)] for label in values},
        failures=[],
        failure_counts={},
        missing={label: np.asarray(own, dtype=float)[:, None] for label, own in (missing or {}).items()},
        by_seed=seeds,
        made_by_seed=frozenset(label for label in seeds if label != next(iter(values))),
    )


def _cell(label: str, benchmark: str) -> Any:
    return SimpleNamespace(
        suite="toy", benchmark=benchmark, system=label, optimizer="Baseline", model="reader", label=label
    )


def verdict(*tables: ScoreTable) -> list[Comparison]:
    return judged([m for own in tables for m in table_comparisons(own, 0.05, None)])


def rows(own: ScoreTable) -> dict[str, Row]:
    return {row.label: row for row in table_rows(own, [], None)}


def test_a_system_that_fails_on_hard_samples_is_not_the_best() -> None:
    """Both score alike; one has no answer to the hardest fifth, and a higher mean for it."""
    ease = np.linspace(0.1, 0.9, 100)
    whole, gaps = ease + 0.01, ease.copy()
    gaps[:20] = np.nan
    made = rows(table({"whole": whole, "gaps": gaps}, missing={"gaps": np.arange(100) < 20}))
    assert np.nanmean(gaps) > whole.mean()
    assert _best(list(made.values()), F1) == {("toy", "tiny", "reader", "whole")}
    samples = made["gaps"].samples["f1"]
    assert (samples.n_missing, samples.n_common) == (20, 80)
    worst = ease[20:].sum() / 100
    assert (samples.bound_low, samples.bound_high) == pytest.approx((worst, worst + 0.2))
    assert made["whole"].samples["f1"].bound_low is None


def test_what_is_undefined_by_its_nature_is_not_missing() -> None:
    own = np.where(np.arange(60) % 2, 0.5, np.nan)
    found = rows(table({"a": own, "b": own}))["a"].samples["f1"]
    assert (found.n_samples, found.n_missing, found.bound_low) == (30, 0, None)


def test_a_verdict_that_missing_answers_could_turn_is_none() -> None:
    base = RNG(1).uniform(0.3, 0.6, 100)
    better = base + 0.1
    few, many = np.arange(100) < 3, np.arange(100) < 30

    def said(lost: Any) -> Comparison:
        own = np.where(lost, np.nan, better)
        (found,) = verdict(table({"base": base, "own": own}, missing={"own": lost} if lost.any() else None))
        return found

    assert said(few & False).verdict == "better"
    assert said(few).verdict == "better"
    lost = said(many)
    assert (lost.verdict, lost.n_missing) == ("too many missing", 30)
    assert "30 samples" in (lost.reason or "")


def test_no_difference_must_survive_what_is_missing_too() -> None:
    own = RNG(2).random(400)
    lost = np.arange(400) < 40
    same = table({"base": own, "own": own})
    gaps = table({"base": own, "own": np.where(lost, np.nan, own)}, missing={"own": lost})
    assert verdict(same)[0].verdict == "no difference"
    assert verdict(gaps)[0].verdict == "too many missing"


def _optimised(shifts: list[float], benchmark: str = "tiny", n: int = 200, seed: int = 3) -> ScoreTable:
    rng = RNG(seed)
    base = rng.uniform(0.3, 0.6, n)
    seeds = {s: base + shift + rng.normal(0, 0.05, n) for s, shift in enumerate(shifts)}
    own = np.mean(list(seeds.values()), axis=0)
    return table({"base": base, "own": own}, by_seed={"own": seeds}, benchmark=benchmark)


def test_an_optimizers_gain_must_show_over_its_seeds() -> None:
    """The mean gain is the same; once every seed has it, once one of three."""
    even, lucky = verdict(_optimised([0.1, 0.1, 0.1]))[0], verdict(_optimised([0.0, 0.0, 0.3]))[0]
    assert (even.verdict, even.test, even.n_seeds) == ("better", "samples and seeds", 3)
    assert lucky.verdict == "too small to tell"
    assert not lucky.significant


def test_one_seed_of_an_optimizer_gets_no_verdict_and_the_reason() -> None:
    (found,) = verdict(_optimised([0.2]))
    assert (found.verdict, found.p, found.ci_low, found.reason) == ("no verdict", None, None, ONE_SEED)
    assert not found.significant


def test_benchmarks_of_one_system_share_its_spread_over_seeds() -> None:
    """One benchmark cannot tell a gain of seeds that differ so much; three that agree on the spread can."""
    shifts = [0.06, 0.1, 0.14]
    alone = verdict(_optimised(shifts))[0]
    together = verdict(*(_optimised(shifts, name, seed=i) for i, name in enumerate("abc")))
    assert alone.p is not None
    assert all(c.p is not None and c.p < alone.p for c in together)


def test_detectable_grows_with_the_tests_that_holm_has_left() -> None:
    """Five systems with the same differences: the first is tested at a fifth of the level."""
    base, own = RNG(4).random((2, 80))
    alone = verdict(table({"base": base, "s0": own}))[0]
    among = verdict(table({"base": base, **{f"s{i}": own for i in range(5)}}))
    assert alone.detectable is not None
    assert among[0].detectable is not None
    assert among[0].detectable > 1.15 * alone.detectable
    assert among[4].detectable == alone.detectable


def test_very_unequal_clusters_are_told() -> None:
    sizes = [60, 40, 30, 20, 15, 10, 10, 5, 5, 5]
    own = RNG(5).random(200)
    unequal = rows(table({"a": own}, clusters=np.repeat(np.arange(10), sizes)))["a"].samples["f1"]
    equal = rows(table({"a": own}, clusters=np.repeat(np.arange(10), 20)))["a"].samples["f1"]
    assert unequal.unequal_clusters
    assert not equal.unequal_clusters
    assert equal.equal_clusters == pytest.approx(10)


@pytest.mark.parametrize(("n_clusters", "told"), [(49, True), (50, False), (98, False)])
def test_few_clusters_are_told_and_single_samples_are_none(n_clusters: int, told: bool) -> None:
    own = np.linspace(0, 1, 98)
    samples = rows(table({"a": own}, clusters=np.arange(98) % n_clusters))["a"].samples["f1"]
    assert samples.few_clusters is told
    few = rows(table({"a": own[:20]}, clusters=np.arange(20)))["a"].samples["f1"]
    assert not few.few_clusters


def test_bounds_stay_in_the_range_over_seeds_and_samples() -> None:
    near = table({"a": [1.0] * 19 + [0.9]})
    found = rows(near)["a"].samples["f1"]
    assert found.ci_high == 1.0
    assert found.ci_low is not None
    assert found.ci_low > 0.8


KAPPA = Metric("kappa", "Kappa", kind="pooled")


def test_a_figure_of_few_clusters_says_why_there_is_no_pair() -> None:
    few = table({"a": [0.0] * 6, "b": [1.0] * 6}, metric=KAPPA, clusters=[0, 0, 1, 1, 2, 2])
    (found,) = judged(table_comparisons(few, 0.05, None))
    assert (found.n_pairs, found.verdict) == (0, "too small to tell")
    assert found.reason == "a figure of the whole cell is compared from 5 clusters on, here are 3"
    assert verdict_text(found) == f"too small to tell: {found.reason}"


def test_a_score_that_no_sample_has_on_both_sides_says_so() -> None:
    apart = table({"a": [0.5, np.nan], "b": [np.nan, 0.5]})
    (found,) = judged(table_comparisons(apart, 0.05, None))
    assert (found.n_pairs, found.reason) == (0, "no sample has this score on both sides")
