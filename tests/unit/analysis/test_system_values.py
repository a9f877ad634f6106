"""Systems side by side, though their tables hold other samples, metrics and seeds; and rows made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

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
    cell = SimpleNamespace(suite="toy", benchmark="tiny", system="s", optimizer="Baseline", model="reader")
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
