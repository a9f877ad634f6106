"""Resampling of whole clusters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from seedbed.analysis import bootstrap
from seedbed.analysis.bootstrap import cluster_bootstraps, only_points, points_only
from seedbed.analysis.intervals import Interval
from seedbed.analysis.means import mean


def _share(sums: Any) -> dict[str, Any]:
    return {"share": sums[:, 0] / sums[:, 1]}


def _interval(rows: Mapping[str, Sequence[int]], seed: int = 0, n: int = 1000) -> Interval | None:
    """Of the share of ones."""
    return cluster_bootstraps({name: (sum(own), len(own)) for name, own in rows.items()}, _share, seed, n).get("share")


def test_bootstrap_is_the_same_for_the_same_seed_whatever_the_order() -> None:
    rows = {"a": [1, 1], "b": [0, 1], "c": [0, 0]}
    turned = dict(reversed(rows.items()))
    assert _interval(rows, 3, 200) == _interval(turned, 3, 200)


def test_bootstrap_draws_as_a_loop_over_resamples_would() -> None:
    rows = {f"c{i}": [int(j < i % 4) for j in range(1 + i % 5)] for i in range(17)}
    clusters = [rows[name] for name in sorted(rows)]
    shares = [
        mean([float(value) for index in drawn for value in clusters[index]]) or 0.0
        for drawn in np.random.default_rng(5).integers(17, size=(300, 17)).tolist()
    ]
    interval = _interval(rows, 5, 300)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(shares, (0.025, 0.975))), abs=1e-12)


def test_draws_do_not_depend_on_how_much_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {f"c{i}": [i % 2, i % 3 == 0] for i in range(40)}
    whole = _interval(rows, 7, 500)
    monkeypatch.setattr(bootstrap, "BLOCK", 1000)
    assert _interval(rows, 7, 500) == whole


@pytest.mark.parametrize(("total", "width"), [(10_000, 1_000), (3, 10), (7, 5_000_000), (0, 10)])
def test_portions_are_whole_and_fit_into_memory(total: int, width: int) -> None:
    sizes = list(bootstrap.blocks(total, width))
    assert sum(sizes) == total
    assert all(size == 1 or size * width <= bootstrap.BLOCK for size in sizes)


def test_bootstrap_keeps_clusters_whole() -> None:
    balanced = {name: [0, 1] for name in "abcd"}
    assert _interval(balanced, 0, 200) == Interval(0.5, 0.5)


def test_bootstrap_covers_the_estimate() -> None:
    interval = _interval({str(i): [int(i % 3 == 0)] for i in range(60)})
    assert interval is not None
    assert interval.low < 1 / 3 < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * (2 / 9 / 60) ** 0.5, rel=0.25)


def test_bootstrap_of_one_cluster_is_undefined() -> None:
    assert _interval({"a": [1, 0]}) is None


def test_bootstrap_of_a_figure_that_is_mostly_undefined_is_undefined() -> None:
    sums = {"a": [1.0], "b": [0.0]}
    assert cluster_bootstraps(sums, lambda totals: {"x": np.full(len(totals), np.nan)}) == {"x": None}


def test_who_asks_for_points_only_gets_no_interval() -> None:
    with points_only():
        assert _interval({"a": [1], "b": [0]}) is None


@pytest.mark.parametrize(("undefined", "says"), [(0.4, True), (0.6, False)])
def test_a_figure_that_most_resamples_do_not_define_has_no_interval(undefined: float, says: bool) -> None:
    def figures(sums: Any) -> dict[str, Any]:
        values = np.arange(len(sums), dtype=np.float64)
        values[: int(undefined * len(values))] = np.nan
        return {"figure": values}

    found = cluster_bootstraps({"a": (1.0,), "b": (2.0,)}, figures)
    assert (found["figure"] is not None) is says


def test_after_points_only_there_are_intervals_again() -> None:
    with points_only():
        with points_only():
            assert only_points()
        assert only_points()
    assert not only_points()
    assert _interval({"a": [1], "b": [0]}) == Interval(0.0, 1.0)


def test_without_a_word_of_it_the_seed_is_0_and_the_resamples_are_a_thousand_at_95_percent() -> None:
    sums = {f"c{i}": (float(i**2), 1.0) for i in range(9)}
    drawn = np.random.default_rng(0).integers(9, size=(1000, 9))
    shares = np.array([sum(i**2 for i in row) / 9 for row in drawn.tolist()])
    found = cluster_bootstraps(sums, _share)["share"]
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(shares, (0.025, 0.975))))
    ninety = cluster_bootstraps(sums, _share, confidence=0.9)["share"]
    assert ninety is not None
    assert (ninety.low, ninety.high) == pytest.approx(tuple(np.quantile(shares, (0.05, 0.95))))


def test_weights_that_others_are_given_too_cannot_be_written_to() -> None:
    (weights,) = bootstrap.resampled_weights(3, 5, 10)
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 9.0
    assert weights.sum(axis=1).tolist() == [3.0] * 10


def test_a_figure_that_just_half_of_the_resamples_define_has_an_interval() -> None:
    def figures(sums: Any) -> dict[str, Any]:
        return {"half": np.where(np.arange(len(sums)) % 2, 1.0, np.nan)}

    assert cluster_bootstraps({"a": (1.0,), "b": (2.0,)}, figures)["half"] == Interval(1.0, 1.0)


def test_portions_are_as_large_as_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "BLOCK", 100)
    assert list(bootstrap.blocks(10, 25)) == [4, 4, 2]
    assert list(bootstrap.blocks(3, 25)) == [3]
    assert list(bootstrap.blocks(3, 101)) == [1, 1, 1]
    assert list(bootstrap.blocks(150, 1)) == [100, 50]
    assert list(bootstrap.blocks(150, 0)) == [100, 50], "nothing takes no room"
