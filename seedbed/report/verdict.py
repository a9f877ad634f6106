"""What a comparison says in words: better, worse, no difference, or too small to tell."""

from __future__ import annotations

from collections.abc import Sequence

from seedbed.report.model import ALPHA, Verdict

_UNIT_FROM = 0.5


def margin_of(values: Sequence[float], baseline_mean: float, margin: float) -> float:
    """The difference taken as none. Values that lie between 0 and 1 and fill a good part of it are shares, for which
    the margin holds as it is; of anything else (tokens, ratios) it is a share of the baseline's mean."""
    if values and min(values) >= 0 and _UNIT_FROM <= max(values) <= 1:
        return margin
    return margin * abs(baseline_mean)


def verdict(
    *,
    difference: float | None,
    interval: tuple[float | None, float | None],
    p: float | None,
    clusters: int,
    margin: float,
    higher_is_better: bool | None,
    alpha: float = ALPHA,
) -> Verdict:
    """Significant differences have a direction. "no difference" must be earned: the whole interval lies within the
    margin. Where all samples tie the interval has no width and says nothing; then as many clusters are asked for as let
    a difference of 1 in one of them stay within the margin (rule of three)."""
    low, high = interval
    if difference is None or low is None or high is None or p is None:
        return "too small to tell"
    if p < alpha:
        if higher_is_better is None:
            return "higher" if difference > 0 else "lower"
        return "better" if (difference > 0) == higher_is_better else "worse"
    if low == high:
        return "no difference" if low == 0 and 3 / clusters <= max(margin, 0.05) else "too small to tell"
    return "no difference" if -margin <= low and high <= margin else "too small to tell"
