"""Systems side by side, though their tables hold other samples, metrics and seeds; and rows made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.measured import blank_comparison
from seedbed.analysis.results import Comparison, OverSamples
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.system_values import SystemValues, aligned_values, common_seeds, filled, values_of
from seedbed.analysis.table_rows import table_rows
from seedbed.suite import Metric

NAN = np.nan
USAGE = {"tokens_in": 10, "tokens_out": 3, "list_usd": 0.5, "spent_usd": 0.25, "calls": 1}


def table(values: Mapping[str, Any], metrics: str = "f1 em", ids: str = "abcd", **more: Any) -> ScoreTable:
    arrays = {label: np.asarray(own, dtype=float) for label, own in values.items()}
    cell: Any = SimpleNamespace(suite="toy", benchmark="tiny", system="s", optimizer="Baseline", model="reader")
    made = ScoreTable(
        key=("toy", "tiny", "reader"),
        baseline=next(iter(values)),
        declared=[Metric(name, name.upper()) for name in metrics.split()],
        reference=frozenset(),
        sample_ids=list(ids),
        clusters=np.arange(len(ids)),
        values=arrays,
        seeds={},
        cells={label: [cell] for label in values},
        failures=[],
        failure_counts={},
    )
    return replace(made, **more)


def test_values_are_put_in_the_order_of_another_table() -> None:
    base = table({"x": [[1, 10], [2, 20], [3, 30], [4, 40]]}, by_seed={"x": {7: np.arange(8.0).reshape(4, 2)}})
    own = table({"x": np.zeros((3, 3))}, metrics="em new f1", ids="dbz")
    moved = aligned_values(base, "x", own)
    np.testing.assert_array_equal(moved.values, [[40, NAN, 4], [20, NAN, 2], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(moved.by_seed[7], [[7, NAN, 6], [3, NAN, 2], [NAN, NAN, NAN]])
    assert moved.missing is None
    assert moved.n_seeds == 1


def test_what_is_missing_moves_along_and_is_not_missing_where_nothing_was_asked() -> None:
    base = table({"x": np.ones((4, 2))}, missing={"x": np.array([[0.5, 0], [0, 0], [0, 0.25], [0, 0]])})
    moved = aligned_values(base, "x", table({"x": np.zeros((2, 2))}, ids="cz"))
    assert moved.missing is not None
    np.testing.assert_array_equal(moved.missing, [[0, 0.25], [0, 0]])


def test_a_table_without_seeds_has_one() -> None:
    plain = table({"x": np.ones((4, 2))})
    assert (values_of(plain, "x").n_seeds, values_of(plain, "x").made_by_seed) == (1, False)
    three = replace(plain, seeds={"x": {0: {}, 1: {}, 2: {}}}, made_by_seed=frozenset({"x"}))
    assert (values_of(three, "x").n_seeds, values_of(three, "x").made_by_seed) == (3, True)


def test_only_systems_that_a_seed_changes_say_which_seeds_count() -> None:
    def system(*seeds: int, made: bool = True) -> SystemValues:
        return SystemValues("x", np.zeros((1, 1)), by_seed={s: np.zeros((1, 1)) for s in seeds}, made_by_seed=made)

    assert common_seeds(system(3, 1, 2), system(9, made=False)) == [1, 2, 3]
    assert common_seeds(system(9, made=False), system(3, 1)) == [1, 3]
    assert common_seeds(system(3, 1, 2), system(2, 3, 4)) == [2, 3]
    assert common_seeds(system(1, made=False), system(1, made=False)) == []


def test_a_seed_that_a_system_lacks_is_its_mean() -> None:
    own = SystemValues("x", np.array([[5.0]]), by_seed={1: np.array([[1.0]])})
    np.testing.assert_array_equal(own.seeds([1, 2]), [[[1.0], [5.0]]])


def test_what_is_missing_is_filled_in_its_share_at_an_end() -> None:
    values, missing = np.array([0.5, 0.5, NAN, NAN]), np.array([0.0, 0.25, 1.0, 0.0])
    np.testing.assert_allclose(filled(values, missing, 1.0), [0.5, 0.625, 1.0, NAN])
    own = SystemValues("x", values, missing=missing)
    np.testing.assert_allclose(own.at_end(np.array(0.0)), [0.5, 0.375, 0.0, NAN])
    np.testing.assert_array_equal(SystemValues("x", values).at_end(np.array(0.0)), values)


def _of(label: str, *cells: Mapping[str, Any]) -> dict[str, dict[int, dict[str, Any]]]:
    blank = {"f1": 0.5, "n": 4, "n_errors": 0, "n_skipped": 0, "usage": {"generate": USAGE}}
    return {label: {seed: {**blank, **cell} for seed, cell in enumerate(cells)}}


def rows(made: ScoreTable, planned: tuple[str, ...] = ()) -> dict[str, Any]:
    cells: Any = [SimpleNamespace(label=label) for label in planned]
    return {row.label: row for row in table_rows(made, cells, None)}


def test_a_row_sums_its_seeds_up_and_knows_how_many_were_planned() -> None:
    seeds = _of("x", {"n_errors": 1, "n_unreadable": 2}, {"n_skipped": 3}) | _of("y", {})
    both = table({"x": np.ones((4, 1)), "y": np.ones((4, 1))}, metrics="f1", seeds=seeds)
    found = rows(both, ("x", "x", "x", "y"))
    x = found["x"]
    assert (x.n_seeds, x.n_seeds_planned, x.n, x.n_errors, x.n_skipped, x.n_unreadable) == (2, 3, 8, 1, 3, 2)
    assert (x.tokens_in, x.tokens_out, x.list_usd, x.spent_usd, x.uncounted) == (20, 6, 1.0, 0.5, False)
    assert (x.is_baseline, found["y"].is_baseline) == (True, False)


def test_one_unknown_price_or_count_makes_a_row_unknown() -> None:
    unpriced = {"usage": {"generate": {**USAGE, "list_usd": None, "calls": None}}}
    made = table({"x": np.ones((4, 1))}, metrics="f1", seeds=_of("x", {}, unpriced))
    x = rows(made)["x"]
    assert (x.list_usd, x.spent_usd, x.uncounted) == (None, 0.5, True)


def test_the_best_is_chosen_on_samples_that_all_systems_have() -> None:
    seeds = _of("x", {}) | _of("y", {}) | _of("none", {})
    values = {"x": [[1], [0], [1], [NAN]], "y": [[NAN], [1], [1], [1]], "none": np.full((4, 1), NAN)}
    found = rows(table(values, metrics="f1", seeds=seeds))
    assert [(found[label].samples["f1"].common, found[label].samples["f1"].n_common) for label in values] == [
        (0.5, 2), (1.0, 2), (None, 2),
    ]  # fmt: skip
    nothing = found["none"].samples["f1"]
    assert (nothing.n_samples, nothing.ci_low, nothing.method, nothing.equal_clusters) == (0, None, None, 0.0)


def test_what_is_missing_bounds_the_mean_from_both_ends() -> None:
    missing = {"x": np.array([[1.0], [0.5], [0.0], [0.0]])}
    made = table({"x": [[NAN], [1], [1], [0]]}, metrics="f1", seeds=_of("x", {}, {}), missing=missing)
    own = rows(made)["x"].samples["f1"]
    assert (own.n_missing, own.bound_low, own.bound_high) == (3, pytest.approx(0.375), pytest.approx(0.75))
    endless = replace(made, declared=[Metric("f1", "F1", range=None)])
    own = rows(endless)["x"].samples["f1"]
    assert (own.n_missing, own.bound_low, own.bound_high) == (3, None, None)


def test_a_pooled_figure_without_a_jackknife_has_no_interval() -> None:
    made = table({"x": np.ones((4, 1))}, metrics="f1", seeds=_of("x", {}))
    pooled = replace(made, declared=[Metric("f1", "F1", kind="pooled")])
    assert rows(pooled)["x"].samples["f1"] == OverSamples(0, 0, None, None, None, None)


def test_few_large_clusters_are_very_unequal() -> None:
    made = table({"x": np.ones((4, 1))}, metrics="f1", seeds=_of("x", {}), clusters=np.array([0, 0, 0, 1]))
    own = rows(made)["x"].samples["f1"]
    assert (own.n_clusters, own.equal_clusters) == (2, pytest.approx(16 / 10))
    assert [replace(own, n_clusters=n).unequal_clusters for n in (2, 3)] == [False, True]
    assert not replace(own, n_clusters=3, equal_clusters=2.0).unequal_clusters, "half as many again is not very unequal"


def test_a_comparison_has_the_names_of_its_table_and_metric() -> None:
    made = replace(table({"x": np.ones((4, 2)), "y": np.ones((4, 2))}), reference=frozenset({"y"}))
    metric = Metric("em", "EM", digits=1, higher_is_better=False)
    blank = blank_comparison(made, "y", "x", metric)
    assert blank == Comparison("toy", "tiny", "reader", "y", "x", "em", "EM", 1, False, True)
    assert not blank_comparison(made, "x", "y", metric).reference


def test_significant_is_below_the_level_and_not_at_it() -> None:
    blank = Comparison("toy", "tiny", "reader", "y", "x", "em")
    assert [replace(blank, p_holm=p).significant for p in (None, 0.05, 0.0499)] == [False, False, True]
    assert blank.higher_is_better is True


def test_values_alone_are_of_one_seed_that_makes_nothing_anew() -> None:
    alone = SystemValues("x", np.zeros((1, 1)))
    assert (alone.n_seeds, alone.missing, dict(alone.by_seed), alone.made_by_seed) == (1, None, {}, False)
    assert common_seeds(alone, alone) == []
    np.testing.assert_array_equal(alone.at_end(np.array(1.0)), [[0.0]])


def test_a_system_keeps_its_seeds_in_another_table() -> None:
    made = table({"x": np.ones((4, 2))}, seeds={"x": {0: {}, 1: {}}}, made_by_seed=frozenset({"x"}))
    moved = aligned_values(made, "x", table({"x": np.zeros((4, 2))}))
    assert (moved.label, moved.n_seeds, moved.made_by_seed) == ("x", 2, True)


def test_a_table_knows_its_metrics_by_name_and_which_are_means() -> None:
    made = replace(table({"x": np.ones((4, 2))}), declared=[Metric("f1", "F1"), Metric("kappa", "K", kind="pooled")])
    assert (made.metrics, made.means) == (["f1", "kappa"], frozenset({"f1"}))
    assert made.metric("kappa").label == "K"


def test_a_metric_has_samples_where_one_system_has_one() -> None:
    made = table({"x": np.full((4, 2), NAN), "y": [[NAN, NAN], [0, NAN], [NAN, NAN], [NAN, NAN]]})
    assert [made.has_samples(name) for name in ("f1", "em", "unknown")] == [True, False, False]


@pytest.mark.parametrize("kind", ["mean", "rate"])
@pytest.mark.parametrize(("n", "n_seeds"), [(40, 1), (40, 2), (29, 1)])
def test_a_row_has_the_interval_of_its_mean(kind: Any, n: int, n_seeds: int) -> None:
    """Wilson's for enough single answers of one seed."""
    right = (np.arange(n) % 3 == 0).astype(float)
    made = table({"x": right[:, None]}, metrics="f1", ids="s" * n, seeds=_of("x", *[{}] * n_seeds))
    made = replace(made, declared=[Metric("f1", "F1", kind=kind)])
    own = rows(made)["x"].samples["f1"]
    by_rate = kind == "rate" and n == 40 and n_seeds == 1
    assert own.method == ("wilson" if by_rate else "pseudo-samples")
    _, low, high = mean_interval(np.stack([right] * n_seeds, axis=1), kind=kind)
    assert (own.ci_low, own.ci_high) == pytest.approx((low, high))
    assert own.std == pytest.approx(right.std(ddof=1))


def test_systems_without_a_sample_in_common_have_no_best() -> None:
    seeds = _of("x", {}) | _of("y", {})
    apart = table({"x": [[1], [0], [NAN], [NAN]], "y": [[NAN], [NAN], [1], [1]]}, metrics="f1", seeds=seeds)
    own = rows(apart)["x"].samples["f1"]
    assert (own.common, own.n_common) == (None, 0)


def test_a_row_counts_what_was_cut_off_and_what_its_cells_are_called() -> None:
    seeds = _of("x", {"n_truncated": 2}, {"n_truncated": None}, {"n_truncated": 1})
    made = table({"x": np.ones((4, 2))}, seeds=seeds)
    first = SimpleNamespace(suite="toy", benchmark="tiny", system="s", optimizer="MIPROv2", model="reader")
    x = rows(replace(made, cells={"x": [first, *made.cells["x"]]}))["x"]
    assert (x.n_truncated, x.n_unreadable) == (3, 0)
    assert (x.suite, x.name, x.key) == ("toy", ("tiny", "s", "MIPROv2", "reader"), ("toy", "tiny", "reader"))
    assert (x.metrics["f1"].mean, x.metrics["f1"].n_seeds, x.metrics["em"].mean) == (0.5, 3, None)
    assert x.by_seed == {seed: {"f1": 0.5, "em": None} for seed in range(3)}


def test_a_pooled_figure_has_the_interval_of_its_jackknife() -> None:
    made = table({"x": np.full((4, 1), NAN)}, metrics="kappa", seeds=_of("x", {"kappa": 0.6}))
    made = replace(made, declared=[Metric("kappa", "K", kind="pooled", range=(-1.0, 1.0))])
    without = [{"x": {"kappa": value}} for value in (0.5, 0.6, 0.7)]
    cut = Jackknife({"x": {"kappa": 0.6}}, without, {"x": {"kappa": 0.65}}, 12, 3, 9)
    around = cut.figure("x", "kappa", (-1.0, 1.0))
    assert around is not None
    (row,) = table_rows(made, [], cut)
    own = row.samples["kappa"]
    assert (own.n_samples, own.n_clusters, own.equal_clusters, own.std) == (12, 3, 3, None)
    assert (own.ci_low, own.ci_high) == pytest.approx((around.low, around.high))
    assert (own.method, own.common, own.n_common) == ("jackknife", 0.65, 9)
    (row,) = table_rows(made, [], replace(cut, without=[{"x": {"kappa": None}}, *without], common={}))
    own = row.samples["kappa"]
    assert (own.ci_low, own.ci_high, own.method, own.common) == (None, None, None, None)


@pytest.mark.parametrize(
    ("n_clusters", "n_samples", "few"),
    [(0, 0, False), (1, 9, True), (8, 9, True), (9, 9, False), (49, 600, True), (50, 600, False), (60, 600, False)],
)
def test_clusters_are_few_below_fifty_unless_each_is_a_sample(n_clusters: int, n_samples: int, few: bool) -> None:
    assert OverSamples(n_samples, n_clusters, None, None, None, None).few_clusters is few


def test_a_comparison_of_names_alone_has_counted_nothing() -> None:
    blank = Comparison("toy", "tiny", "reader", "y", "x", "em")
    assert (blank.n_pairs, blank.n_clusters, blank.n_seeds, blank.n_missing) == (0, 0, 0, 0)
    assert (blank.digits, blank.reference, blank.verdict) == (3, False, "too small to tell")
    assert not blank.significant
    figures = OverSamples(4, 4, None, None, None, None)
    assert (figures.n_missing, figures.n_common, figures.equal_clusters) == (0, 0, 0.0)
    assert not figures.few_clusters


def test_significance_may_be_asked_for_at_another_level() -> None:
    blank = Comparison("toy", "tiny", "reader", "y", "x", "em", p_holm=0.02)
    assert [blank.significant_at(alpha) for alpha in (0.01, 0.02, 0.03)] == [False, False, True]
