"""Intervals of figures that no sample has, held against a figure whose interval is known: the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from seedbed.analysis.intervals import mean_interval
from seedbed.analysis.jackknife import Jackknife, around, jackknife, why_not
from seedbed.analysis.means import mean
from seedbed.analysis.score_table import ScoreTable
from seedbed.suite import Metric, ScoreRow, Suite
from tests.support.toy import TOY

N = 15
OWN = np.array([0.1, 0.9, 0.4, 0.7, 0.7, 0.2, 1.0, 0.5, 0.3, 0.8, 0.6, 0.9, 0.0, 0.4, 0.6])
BASE = np.array([0.3, 0.5, 0.4, 0.6, 0.2, 0.3, 0.8, 0.5, 0.1, 0.4, 0.7, 0.6, 0.1, 0.2, 0.5])


def _pooled(rows: Sequence[ScoreRow]) -> Mapping[str, float | int | None]:
    return {"pooled": mean([row.details["value"] for row in rows if row.status == "ok"])}


def _grouped(
    rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """A figure that comes from the pairing alone: how far a system is above the one called base."""
    below = metrics["base"]["pooled"]
    return {label: {"pooled": (own["pooled"] or 0.0) - (below or 0.0)} for label, own in metrics.items()}


def _table(n: int, clusters: Any = None, **more: Any) -> ScoreTable:
    return ScoreTable(
        key=("toy", "sums", "reader"),
        baseline="base",
        declared=[Metric("pooled", "Pooled", kind="pooled")],
        reference=frozenset(),
        sample_ids=[f"s{i}" for i in range(n)],
        clusters=np.arange(n) if clusters is None else clusters,
        values={label: np.full((n, 1), np.nan) for label in ("own", "base")},
        seeds={},
        cells=more.get("cells", {}),
        failures=[],
        failure_counts={},
    )


def _jackknife(
    n: int = N, suite: Suite | None = None, failed: Sequence[tuple[str, str]] = (), own: Any = OWN, clusters: Any = None
) -> Jackknife | None:
    """`failed`: systems with the samples they have no answer to."""
    table = _table(n, clusters)
    rows = {
        (0, label): [
            ScoreRow(sample, "error")
            if (label, sample) in failed
            else ScoreRow(sample, "ok", {}, {"value": float(value)})
            for sample, value in zip(table.sample_ids, values, strict=False)
        ]
        for label, values in (("own", own), ("base", np.resize(BASE, n)))
    }
    return jackknife(table, suite or replace(TOY, aggregate=_pooled, score_group=None), lambda: rows)


def test_a_pooled_mean_has_the_interval_of_a_mean() -> None:
    found = _jackknife()
    assert found is not None
    made = found.figure("own", "pooled", (0.0, 1.0))
    assert made is not None
    assert (made.value, made.low, made.high) == pytest.approx(mean_interval(OWN), abs=1e-9)
    assert made.error == pytest.approx(stats.sem(OWN))
    assert made.blocks == N


def test_without_a_range_the_difference_of_two_has_the_p_of_the_paired_t_test() -> None:
    found = _jackknife()
    assert found is not None
    made = found.difference("own", "base", "pooled", None)
    assert made is not None
    assert made.value == pytest.approx((OWN - BASE).mean())
    assert made.error == pytest.approx(stats.sem(OWN - BASE))
    assert made.p == pytest.approx(stats.ttest_rel(OWN, BASE).pvalue)
    assert made.low < made.value < made.high


@given(
    value=st.floats(-0.4, 0.4),
    parts=st.lists(st.floats(-0.2, 0.2), min_size=5, max_size=20),
    moved=st.floats(-0.5, 0.5),
)
def test_the_p_of_a_difference_and_its_interval_say_the_same_of_nothing(
    value: float, parts: list[float], moved: float
) -> None:
    """A figure was called worse at a p of .024 while its interval held 0."""
    found = around(value, [value + part for part in parts], 60, (-1.0, 1.0), difference=True).moved(moved)
    assume(found.p is not None and abs(found.p - 0.05) > 1e-6)
    assert found.p is not None
    assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_a_figure_that_comes_from_pairing_is_paired_again_without_each_block() -> None:
    found = _jackknife(suite=replace(TOY, aggregate=_pooled, score_group=_grouped))
    assert found is not None
    made = found.figure("own", "pooled", (-1.0, 1.0))
    assert made is not None
    assert made.value == pytest.approx((OWN - BASE).mean())
    assert made.error == pytest.approx(stats.sem(OWN - BASE))


def test_a_figure_that_one_block_leaves_undefined_has_no_interval() -> None:
    def needs_the_first(rows: Sequence[ScoreRow]) -> Mapping[str, float | int | None]:
        return {"pooled": 0.5 if any(row.sample_id == "s0" for row in rows) else None}

    found = _jackknife(suite=replace(TOY, aggregate=needs_the_first, score_group=None))
    assert found is not None
    assert found.figure("own", "pooled", (0.0, 1.0)) is None
    assert found.difference("own", "base", "pooled", (0.0, 1.0)) is None


def test_what_does_not_vary_and_has_no_range_is_tested_only_where_it_is_nothing() -> None:
    same = replace(TOY, aggregate=lambda _rows: {"pooled": 0.5}, score_group=None)
    found = _jackknife(suite=same)
    assert found is not None
    level = found.figure("own", "pooled", None)
    nothing = found.difference("own", "base", "pooled", None)
    assert level is not None
    assert nothing is not None
    assert (level.p, nothing.p) == (None, 1.0)


def test_samples_that_somebody_failed_on_are_not_common() -> None:
    """Whoever failed: here the baseline on one, both on the other."""
    found = _jackknife(failed=[("base", "s1"), ("base", "s3"), ("own", "s3")])
    assert found is not None
    assert found.n_common == N - 2
    kept = np.delete(OWN, [1, 3])
    assert found.common["own"]["pooled"] == pytest.approx(kept.mean())
    assert found.whole["own"]["pooled"] == pytest.approx(np.delete(OWN, 3).mean())
    everything = _jackknife()
    assert everything is not None
    assert (everything.n_common, everything.common) == (N, everything.whole)


def test_without_a_sample_that_all_have_answered_there_are_no_common_figures() -> None:
    found = _jackknife(failed=[("own" if i % 2 else "base", f"s{i}") for i in range(N)])
    assert found is not None
    assert (found.n_common, found.common) == (0, {})


def test_below_five_clusters_there_is_nothing_to_leave_out() -> None:
    assert _jackknife(n=4) is None
    assert _jackknife(n=5) is not None


MANY = np.random.default_rng(8).random(40)


@pytest.mark.parametrize(("n_clusters", "blocks"), [(40, 20), (20, 20), (10, 10)])
def test_clusters_are_dealt_evenly_to_twenty_blocks_at_most_and_always_alike(n_clusters: int, blocks: int) -> None:
    """In an order that anybody can make again: what was published must come out of it for ever."""
    clusters = np.arange(40) % n_clusters
    found = _jackknife(n=40, own=MANY, clusters=clusters)
    assert found is not None
    assert (found.n_samples, found.n_clusters) == (40, n_clusters)
    block_of = np.random.default_rng(0).permutation(n_clusters)[clusters] % blocks
    assert np.bincount(block_of).tolist() == [40 // blocks] * blocks
    without = [MANY[block_of != block].mean() for block in range(blocks)]
    assert [part["own"]["pooled"] for part in found.without] == pytest.approx(without)


def test_a_mean_of_blocks_of_several_samples_has_the_interval_of_their_clusters() -> None:
    values = np.random.default_rng(3).beta(1, 3, 60)
    blocks = np.arange(60) // 5
    without = [values[blocks != block].mean() for block in range(12)]
    found = around(values.mean(), without, 60, (0.0, 1.0), difference=False)
    assert (found.value, found.low, found.high) == pytest.approx(mean_interval(values, clusters=blocks.tolist()))
    assert found.blocks == 12
    # Half a pseudo-sample at 0 and one at 1.
    assert found.estimate.mean[0] == pytest.approx((values.sum() + 0.5) / 61)


def test_a_difference_has_students_interval_around_its_estimate_within_twice_the_range() -> None:
    found = _jackknife()
    assert found is not None
    made = found.difference("own", "base", "pooled", (0.0, 1.0))
    assert made is not None
    centre, half = float(made.estimate.mean[0]), float(stats.t.ppf(0.975, N - 1) * made.estimate.error[0])
    assert (made.low, made.high) == pytest.approx((centre - half, centre + half))
    # Half a pseudo-sample at -1 and one at 1.
    assert centre == pytest.approx((OWN - BASE).sum() / (N + 1))


def test_a_table_of_twenty_thousand_rows_has_intervals_and_a_larger_one_says_why_not() -> None:
    cells: Any = {"own": ["seed 0", "seed 1"], "base": ["seed 0", "seed 1"]}
    assert why_not(_table(5000, cells=cells)) is None
    assert why_not(_table(5001, cells=cells)) == (
        "a figure of the whole cell is compared up to 20,000 rows, here are 20,004"
    )


@pytest.mark.parametrize("by", [0.2, -0.3])
def test_what_is_moved_keeps_its_width_and_its_error(by: float) -> None:
    found = _jackknife()
    assert found is not None
    made = found.difference("own", "base", "pooled", (0.0, 1.0))
    assert made is not None
    moved = made.moved(by)
    assert (moved.value, moved.low, moved.high) == pytest.approx((made.value + by, made.low + by, made.high + by))
    assert moved.estimate.mean[0] == pytest.approx(made.estimate.mean[0] + by)
    assert (moved.error, moved.blocks, moved.estimate.error) == (made.error, made.blocks, made.estimate.error)


@pytest.mark.parametrize("undefined", ["own", "base"])
def test_a_difference_needs_the_figure_of_both(undefined: str) -> None:
    found = _jackknife(failed=[(undefined, f"s{i}") for i in range(N)])
    assert found is not None
    assert found.whole[undefined]["pooled"] is None
    assert found.difference("own", "base", "pooled", (0.0, 1.0)) is None
