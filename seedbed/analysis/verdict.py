"""What a comparison says in words: better, worse, no difference, or too small to tell."""

from __future__ import annotations

from typing import Literal

from seedbed.analysis.columns import Range
from seedbed.analysis.paired import ALPHA

Verdict = Literal[
    "better", "worse", "higher", "lower", "no difference", "too small to tell", "too many missing", "no verdict"
]


def margin_of(value_range: Range, baseline_mean: float, margin: float) -> float:
    """The difference taken as none: a share of the metric's range; of a metric without one (tokens, seconds), of the
    baseline's mean."""
    if value_range is None:
        return margin * abs(baseline_mean)
    low, high = value_range
    return margin * (high - low)


def verdict(
    *,
    difference: float | None,
    interval: tuple[float | None, float | None],
    p: float | None,
    margin: float,
    higher_is_better: bool | None,
    alpha: float = ALPHA,
) -> Verdict:
    """Significant differences have a direction. "no difference" must be earned: the whole interval lies within the
    margin."""
    low, high = interval
    if difference is None or low is None or high is None or p is None:
        return "too small to tell"
    if p < alpha:
        if higher_is_better is None:
            return "higher" if difference > 0 else "lower"
        return "better" if (difference > 0) == higher_is_better else "worse"
    return "no difference" if -margin <= low and high <= margin else "too small to tell"
