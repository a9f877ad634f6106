"""Every system of a table against the baseline in every metric: held against comparing one column alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis import compare_paired
from seedbed.analysis.comparisons import paired, table_comparisons
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.measured import Measured
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import seed_spread
from seedbed.analysis.system_values import SystemValues
from seedbed.suite import Metric

N, NAN = 10, math.nan
RATE, F1, TOKENS = Metric("right", "Right", kind="rate"), Metric("f1", "F1"), Metric("tokens", "Tokens", range=None)
KAPPA = Metric("kappa", "Kappa", kind="pooled", range=(-1.0, 1.0))
RNG = np.random.default_rng(1)
BASE = np.column_stack([[1.0, 0, 0, 1, 0, 1, 0, 0, 1, 0], RNG.random(N), RNG.uniform(50, 90, N)])
OWN = np.column_stack([[1.0, 1, 1, 0, 0, 1, 1, 1, 1, 1], RNG.random(N), RNG.uniform(50, 90, N)])
NEW = np.column_stack([np.ones(N), np.where(np.arange(N) == 4, NAN, RNG.random(N)), RNG.uniform(50, 90, N)])


def table(values: Mapping[str, Any] | None = None, metrics: Any = (RATE, F1, TOKENS), **more: Any) -> ScoreTable:
    values = values or {"own": OWN, "base": BASE, "new": NEW}
    made = ScoreTable(
        key=("toy", "sums", "reader"), baseline="base", declared=metrics, reference=frozenset({"new"}),
        sample_ids=[f"s{i}" for i in range(N)], clusters=np.arange(N), values=values,
        seeds={label: {0: {}} for label in values}, cells={}, failures=[], failure_counts={},
    )  # fmt: skip
    return replace(made, **more)


def one(own: Any, base: Any, metric: Metric = F1, **more: Any) -> Measured:
    values = {label: np.asarray(side, dtype=float)[:, None] for label, side in (("own", own), ("base", base))}
    (found,) = table_comparisons(table(values, [metric], **more), 0.05, None)
    return found


def column(share: Any) -> Any:
    return np.asarray(share, dtype=float)[:, None]


def test_every_other_system_is_compared_in_every_metric_as_it_would_be_alone() -> None:
    made = table_comparisons(table(), 0.05, None)
    names = [(system, metric.name) for system in ("own", "new") for metric in (RATE, F1, TOKENS)]
    assert [(m.comparison.label, m.comparison.metric) for m in made] == names
    for place, (system, m) in enumerate(zip(["own"] * 3 + ["new"] * 3, made, strict=True)):
        at, metric, c = place % 3, (RATE, F1, TOKENS)[place % 3], m.comparison
        own, base = {"own": OWN, "new": NEW}[system][:, at], BASE[:, at]
        alone = compare_paired(own, base, value_range=metric.range, kind=metric.kind)
        known = ~np.isnan(own - base)
        assert (c.baseline, c.reference, c.reason) == ("base", system == "new", None)
        assert (c.n_pairs, c.n_clusters, c.n_seeds, c.n_missing) == (known.sum(), known.sum(), 1, 0)
        assert (c.difference, c.p, c.ci_low) == pytest.approx((alone.difference, alone.p, alone.ci_low))
        assert (c.mean, c.baseline_mean) == pytest.approx((own[known].mean(), base[known].mean()))
        assert c.margin == pytest.approx(0.05 * (base[known].mean() if metric is TOKENS else 1.0))
        assert c.test == ("mcnemar" if metric is RATE else "permutation")
        assert (m.most, m.spread, m.extremes) == (math.inf if metric is TOKENS else 1.0, None, ())
        assert m.columns is not None
        np.testing.assert_array_equal(m.columns.values[:, 0], own - base)


def test_wins_ties_and_losses_are_counted_by_sample() -> None:
    c = one([0.5, 0.5, 0.9, 0.5, 0.1, 0.2, NAN, 0.4, 0.4, 0.5], [0.5] * 6 + [0.5, 0.5, 0.5, 0.4]).comparison
    assert (c.wins, c.ties, c.losses) == (2, 3, 4)


def test_two_clusters_are_tested_and_one_is_not() -> None:
    own, base = OWN[:, 1], BASE[:, 1]
    two = one(own, base, clusters=np.arange(N) // 5).comparison
    assert (two.test, two.n_clusters) == ("permutation", 2)
    assert two.p == compare_paired(own, base, clusters=[i // 5 for i in range(N)]).p
    alone = one(own, base, clusters=np.zeros(N, dtype=np.int64)).comparison
    assert (alone.p, alone.test, alone.n_clusters) == (None, None, 1)
    assert alone.difference == pytest.approx((own - base).mean())


def test_a_side_of_several_seeds_makes_no_rate_of_single_samples() -> None:
    seeds = {"own": {0: {}}, "base": {0: {}, 1: {}, 2: {}}}
    c = one(OWN[:, 0], BASE[:, 0], RATE, seeds=seeds).comparison
    assert (c.n_seeds, c.test) == (3, "permutation")
    assert one(OWN[:, 0], BASE[:, 0], RATE).comparison.test == "mcnemar"


def test_nobody_is_compared_in_a_table_of_the_baseline_alone() -> None:
    assert table_comparisons(table({"base": BASE}), 0.05, None) == []


POOLED = {"own": np.column_stack([OWN[:, 1], OWN[:, 0]]), "base": np.column_stack([BASE[:, 1], BASE[:, 0]])}
"""The second metric is kappa."""


def test_a_figure_of_the_whole_cell_is_compared_by_the_jackknife_and_means_by_their_samples() -> None:
    parts = [{"own": {"kappa": 0.6 + 0.01 * block}, "base": {"kappa": 0.4}} for block in range(6)]
    knife = Jackknife({"own": {"kappa": 0.6}, "base": {"kappa": 0.4}}, parts, {}, N, N, N)
    mean, kappa = table_comparisons(table(POOLED, [F1, KAPPA]), 0.05, knife)
    assert (mean.comparison.test, mean.comparison.n_pairs) == ("permutation", N)
    assert (kappa.comparison.test, kappa.comparison.difference, kappa.comparison.reason) == ("jackknife", 0.2, None)


def test_without_a_jackknife_a_figure_of_the_whole_cell_has_no_pair() -> None:
    mean, kappa = table_comparisons(table(POOLED, [F1, KAPPA], clusters=np.arange(N) // 3), 0.05, None)
    assert mean.comparison.reason is None
    assert (kappa.comparison.n_pairs, kappa.comparison.difference) == (0, None)
    assert kappa.comparison.reason == "a figure of the whole cell is compared from 5 clusters on, here are 4"


def sides(made: ScoreTable) -> tuple[SystemValues, SystemValues]:
    return SystemValues("own", made.values["own"]), SystemValues("base", made.values["base"])


def test_in_metrics_that_are_named_samples_are_compared_whatever_the_kind() -> None:
    made = table(POOLED, [F1, KAPPA])
    (found,) = paired(made, [sides(made)], "last night", 0.05, ["kappa"])
    assert (found.comparison.metric, found.comparison.baseline, found.most) == ("kappa", "last night", 2.0)
    assert found.comparison.difference == pytest.approx((OWN - BASE)[:, 0].mean())
    both = [m.comparison for m in paired(made, [sides(made)], "last night", 0.05)]
    assert [c.metric for c in both] == ["f1", "kappa"]
    assert (both[1].n_pairs, both[1].reason) == (0, "a figure of the whole cell is compared within a sweep only")


def _gaps(*places: int, share: float = 1.0) -> Any:
    return column(np.where(np.isin(np.arange(N), places), share, 0.0))


def test_what_is_missing_on_either_side_is_counted_by_sample() -> None:
    missing = {"own": _gaps(1, 2, share=0.5), "base": _gaps(2, 3)}
    own, base = OWN[:, 1].copy(), np.where(np.arange(N) == 2, NAN, BASE[:, 1])
    assert one(own, base, missing=missing).comparison.n_missing == 3


@pytest.mark.parametrize("sides_lacking", [("own",), ("base",), ("own", "base")])
def test_extremes_are_the_comparisons_with_what_is_missing_at_the_ends(sides_lacking: tuple[str, ...]) -> None:
    """Once the system's at the low end and the baseline's at the high, once turned."""
    metric = Metric("kind", "Kindness", range=(1.0, 5.0))
    share = {label: np.where(np.isin(np.arange(N), (3, 5)), [0.5, 1.0] * 5, 0.0) for label in sides_lacking}
    values = {"own": 1 + 4 * OWN[:, 1], "base": 1 + 4 * BASE[:, 1]}
    values = {label: np.where(share.get(label, 0) == 1, NAN, own) for label, own in values.items()}
    found = one(values["own"], values["base"], metric, missing={label: column(own) for label, own in share.items()})

    def at(label: str, end: float) -> Any:
        own = share.get(label, np.zeros(N))
        return np.nan_to_num(values[label]) * (1 - own) + end * own

    for extreme, own_end, base_end in zip(found.extremes, (1.0, 5.0), (5.0, 1.0), strict=True):
        alone = compare_paired(at("own", own_end), at("base", base_end), value_range=(1.0, 5.0))
        assert (extreme.difference, extreme.p) == pytest.approx((alone.difference, alone.p))
        assert (extreme.ci_low, extreme.ci_high) == pytest.approx((alone.ci_low, alone.ci_high))


def test_a_rate_whose_missing_seeds_stand_at_an_end_is_no_longer_0_or_1() -> None:
    """Its extremes are tested by sign flips, where sizes count."""
    share = np.where(np.arange(N) < 4, 0.5, 0.0)
    found = one(OWN[:, 0], BASE[:, 0], RATE, missing={"own": column(share)})
    assert found.comparison.test == "mcnemar"
    low = compare_paired(OWN[:, 0] * (1 - share), BASE[:, 0])
    high = compare_paired(OWN[:, 0] * (1 - share) + share, BASE[:, 0])
    assert [extreme.p for extreme in found.extremes] == [low.p, high.p]
    assert low.p != compare_paired(OWN[:, 0] * (1 - share), BASE[:, 0], kind="rate").p


def test_only_metrics_with_something_missing_and_two_ends_have_extremes() -> None:
    open_below = Metric("logp", "Log p", range=(-math.inf, 0.0))
    open_above = Metric("ratio", "Ratio", range=(0.0, math.inf))
    metrics = [F1, RATE, TOKENS, open_below, open_above]
    values = {label: np.column_stack([own[:, 1], own[:, 0], own[:, 2], -own[:, 1], own[:, 1]])
              for label, own in (("own", OWN), ("base", BASE), ("new", OWN))}  # fmt: skip
    share = np.zeros((N, 5))
    share[0, [0, 2, 3, 4]] = 1.0
    made = table_comparisons(table(values, metrics, missing={"own": share}), 0.05, None)
    assert [len(m.extremes) for m in made] == [2, 0, 0, 0, 0, *[0] * 5]


def test_an_extreme_of_one_cluster_has_no_p() -> None:
    found = one(OWN[:, 1], BASE[:, 1], missing={"base": _gaps(0)}, clusters=np.zeros(N, dtype=np.int64))
    assert [extreme.p for extreme in found.extremes] == [None, None]


SEEDS = {
    label: {seed: column(np.clip(side[:, 1] + 0.02 * seed, 0, 1)) for seed in seeds}
    for label, side, seeds in (("own", OWN, (0, 1, 2)), ("base", BASE, (1, 2)))
}


def over(label: str) -> Any:
    return np.mean([own[:, 0] for own in SEEDS[label].values()], axis=0)


@pytest.mark.parametrize(
    ("made_by_seed", "seeds"), [(("own",), (0, 1, 2)), (("base",), (1, 2)), (("own", "base"), (1, 2))]
)
def test_seeds_that_make_other_systems_on_either_side_have_a_spread(
    made_by_seed: tuple[str, ...], seeds: tuple[int, ...]
) -> None:
    """Paired by seed; a side that no seed changes and that lacks one is taken as it is on average."""
    found = one(over("own"), over("base"), by_seed=SEEDS, made_by_seed=frozenset(made_by_seed))
    parts = [
        SEEDS["own"].get(seed, column(over("own"))) - SEEDS["base"].get(seed, column(over("base"))) for seed in seeds
    ]
    expected = seed_spread(np.stack(parts, axis=1), np.arange(N))
    assert found.spread is not None
    assert found.comparison.n_seeds == len(seeds)
    assert found.spread.mean[0] == pytest.approx(expected.mean[0])
    assert found.spread.between_seeds[0] == pytest.approx(expected.between_seeds[0], abs=1e-12)


def test_without_a_common_seed_nothing_is_known_of_their_spread() -> None:
    apart = {"own": {0: SEEDS["own"][0]}, "base": {1: SEEDS["base"][1]}}
    own, base = apart["own"][0][:, 0], apart["base"][1][:, 0]
    found = one(own, base, by_seed=apart, made_by_seed=frozenset({"own", "base"}))
    assert found.spread is not None
    assert not found.spread.known
    assert found.spread.mean[0] == pytest.approx((own - base).mean())
    assert found.comparison.n_seeds == 1
