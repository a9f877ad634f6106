"""Intervals and tests: what the golden vectors do not show."""

import pytest

from seedbed.intervals import cluster_bootstrap, cluster_ratio, holm, mcnemar_exact, wilson


def test_wilson_of_no_cases_is_undefined() -> None:
    assert wilson(0, 0) is None


def test_wilson_refuses_more_hits_than_cases() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_wilson_is_symmetric() -> None:
    few, many = wilson(2, 9), wilson(7, 9)
    assert few is not None
    assert many is not None
    assert few.low == pytest.approx(1 - many.high)


def test_mcnemar_does_not_care_which_system_comes_first() -> None:
    assert mcnemar_exact(3, 11) == mcnemar_exact(11, 3)


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_holm_stops_at_one() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_holm_leaves_out_what_was_not_tested() -> None:
    assert holm([None, 0.02, None]) == [None, 0.02, None]


def test_cluster_ratio_of_nothing_is_undefined() -> None:
    assert cluster_ratio([(0, 0)]).micro is None


def test_cluster_ratio_of_one_cluster_has_no_error() -> None:
    ratio = cluster_ratio([(1, 4)])
    assert ratio.micro == 0.25
    assert ratio.se is None


def _share(rows: list[int]) -> float | None:
    return sum(rows) / len(rows) if rows else None


def test_bootstrap_is_the_same_for_the_same_seed_whatever_the_order() -> None:
    rows = {"a": [1, 1], "b": [0, 1], "c": [0, 0]}
    turned = dict(reversed(rows.items()))
    assert cluster_bootstrap(rows, _share, 3, 200) == cluster_bootstrap(turned, _share, 3, 200)


def test_bootstrap_keeps_clusters_whole() -> None:
    balanced = {name: [0, 1] for name in "abcd"}
    interval = cluster_bootstrap(balanced, _share, 0, 200)
    assert interval is not None
    assert (interval.low, interval.high) == (0.5, 0.5)


def test_bootstrap_covers_the_estimate() -> None:
    rows = {str(i): [int(i % 3 == 0)] for i in range(60)}
    interval = cluster_bootstrap(rows, _share)
    assert interval is not None
    assert interval.low < 1 / 3 < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * (2 / 9 / 60) ** 0.5, rel=0.25)


def test_bootstrap_of_one_cluster_is_undefined() -> None:
    assert cluster_bootstrap({"a": [1, 0]}, _share) is None


def test_bootstrap_of_a_statistic_that_is_mostly_undefined_is_undefined() -> None:
    assert cluster_bootstrap({"a": [1], "b": [0]}, lambda _: None, 0, 50) is None
