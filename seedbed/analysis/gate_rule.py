"""The rule of the gate: a pass is earned by the lower bound of a difference, a fail takes a significant drop."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from seedbed.analysis.columns import Columns, Range, by_seed, ends_of, estimate, numbered, over_columns
from seedbed.analysis.paired import ALPHA, mcnemar_applies, sample_p
from seedbed.analysis.seeds import SeedSpread
from seedbed.analysis.verdict import margin_of
from seedbed.suite import MetricKind

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GateWord = Literal["pass", "fail", "inconclusive"]

MIN_COVERAGE = 0.9
"""The share of the baseline's scores that must have been scored again before a night can pass."""
PASS_WEIGHT = 1.0
"""Pseudo-samples at each end of the range: a pass takes more than a figure in a table."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """What a difference is at least, less being worse."""

    difference: float
    lowest: float
    n: int
    half: float
    """How far the bound lies below the difference because of samples; more of them make it smaller."""
    seeds_half: float = 0.0
    """The same because of seeds, which more samples do not change."""

    def word(self, p: float | None, margin: float, coverage: float, alpha: float = ALPHA) -> GateWord:
        """Pass iff the bound is above the margin, whatever p is, and enough pairs were scored; fail iff significantly
        worse by more than the margin."""
        if p is not None and p < alpha and self.difference < -margin:
            return "fail"
        return "pass" if self.lowest >= -margin and coverage >= MIN_COVERAGE else "inconclusive"

    def samples_to_decide(self, margin: float) -> int | None:
        """With how many samples a difference and a spread like these would pass or fail; None where no number would."""
        room = self.difference + margin if self.difference > -margin else -self.difference
        if room <= self.seeds_half or not math.isfinite(self.half):
            return None
        return max(self.n + 1, math.ceil(self.n * (self.half / (room - self.seeds_half)) ** 2))


def lower_bound(
    columns: Columns, value_range: Range, spread: SeedSpread | None = None, alpha: float = ALPHA, sign: int = 1
) -> LowerBound:
    """Of the only column of differences; `sign` -1 where less is better."""
    import numpy as np
    from scipy.special import stdtrit

    low, high = ends_of(value_range)
    most = np.array([high - low])
    made = estimate(sign * columns.sums, columns.counts, -most, most, PASS_WEIGHT)
    n = int(columns.counts.sum())
    difference = sign * float(columns.sums.sum()) / n if n else math.nan
    everything = np.array([math.inf])
    lowest = float(made.interval(-everything, everything, 1 - alpha)[0][0])
    half, seeds_half = difference - lowest, 0.0
    if spread is not None:
        for error, degrees in spread.errors():
            reach = float(stdtrit(degrees[0], 1 - alpha / 2) * error[0]) if spread.known else math.inf
            lowest = min(lowest, sign * float(spread.mean[0]) - reach)
            seeds_half = reach
    return LowerBound(difference, lowest, n, half, seeds_half)


def gate_verdict(
    night: ArrayLike,
    baseline: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    value_range: Range = (0.0, 1.0),
    kind: MetricKind = "mean",
    min_effect: float,
    alpha: float = ALPHA,
) -> GateWord:
    """Whether a night is no worse than the baseline by `min_effect`, in one metric of which more is better; values as
    samples x seeds, nan where one is missing. `min_effect` is a share of the range, or of the baseline's mean where
    there is none. With fewer than nine in ten of the baseline's scores tonight there is no pass."""
    import numpy as np

    own, base = by_seed(night), by_seed(baseline)
    before = over_columns(base)
    differences = over_columns(own) - before
    known = ~np.isnan(differences)
    if not known.any():
        return "inconclusive"
    columns = Columns.of(differences[:, None], numbered(clusters, len(before)))
    exact = mcnemar_applies(kind, columns, max(own.shape[1], base.shape[1]))
    p = float(sample_p(columns, [exact])[0])
    return lower_bound(columns, value_range, alpha=alpha).word(
        None if math.isnan(p) else p,
        margin_of(value_range, float(before[known].mean()), min_effect),
        int(known.sum()) / int((~np.isnan(before)).sum()),
        alpha,
    )
