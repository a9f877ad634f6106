"""What a comparison says in words, by its p, its interval and the margin."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.analysis.verdict import Verdict, margin_of, verdict


def said(**more: Any) -> Verdict:
    given: dict[str, Any] = {
        "difference": 0.1,
        "interval": (0.02, 0.18),
        "p": 0.01,
        "margin": 0.05,
        "higher_is_better": True,
    }
    return verdict(**(given | more))


@pytest.mark.parametrize(
    ("value_range", "baseline_mean", "margin"),
    [((0.0, 1.0), 0.7, 0.05), ((1.0, 5.0), 3.0, 0.2), ((-1.0, 1.0), 0.5, 0.1), (None, 400.0, 20.0), (None, -40.0, 2.0)],
)
def test_the_margin_is_a_share_of_the_range_or_of_the_baseline_without_one(
    value_range: tuple[float, float] | None, baseline_mean: float, margin: float
) -> None:
    assert margin_of(value_range, baseline_mean, 0.05) == pytest.approx(margin)


@pytest.mark.parametrize(
    ("difference", "higher_is_better", "expected"),
    [
        (0.1, True, "better"), (-0.1, True, "worse"), (0.1, False, "worse"), (-0.1, False, "better"),
        (0.1, None, "higher"), (-0.1, None, "lower"), (0.0, None, "lower"), (0.0, True, "worse"),
    ],
)  # fmt: skip
def test_a_significant_difference_has_the_direction_of_its_metric(
    difference: float, higher_is_better: bool | None, expected: Verdict
) -> None:
    assert said(difference=difference, higher_is_better=higher_is_better) == expected


@pytest.mark.parametrize(("p", "expected"), [(0.0499, "better"), (0.05, "too small to tell")])
def test_significant_is_below_the_level(p: float, expected: Verdict) -> None:
    assert said(p=p) == expected
    assert said(p=p / 5, alpha=0.01) == expected


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((-0.05, 0.05), "no difference"),
        ((-0.051, 0.05), "too small to tell"),
        ((-0.05, 0.051), "too small to tell"),
        ((0.06, 0.07), "too small to tell"),
        ((-0.07, -0.06), "too small to tell"),
    ],
)
def test_no_difference_is_an_interval_within_the_margin(interval: tuple[float, float], expected: Verdict) -> None:
    assert said(difference=0.0, interval=interval, p=0.5) == expected


@pytest.mark.parametrize(
    "unknown", [{"difference": None}, {"interval": (None, 0.01)}, {"interval": (0.0, None)}, {"p": None}]
)
@pytest.mark.parametrize("p", [0.01, 0.5])
def test_what_is_not_known_in_full_is_too_small_to_tell(unknown: dict[str, Any], p: float) -> None:
    assert said(**({"interval": (-0.01, 0.01), "p": p} | unknown)) == "too small to tell"
