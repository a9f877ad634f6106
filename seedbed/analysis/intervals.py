"""Intervals of means over samples: Wilson's, as it is or with the number of samples that would be as uncertain."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.analysis.columns import Columns, Estimate, Range, by_seed, ends_of, estimate, numbered, over_columns
from seedbed.suite import MetricKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_FEW_WEIGHT = 1.0
FEW_SAMPLES = 30
"""Below this Wilson's shape alone covers a rate near an end too seldom (90% of 27 with a rate of 0.02)."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def wilson(k: float, n: float, confidence: float = 0.95) -> Interval | None:
    """Score interval of the rate k/n; None for n = 0."""
    if n <= 0:
        return None
    if not 0 <= k <= n:
        raise ValueError(f"wilson: k must be between 0 and n, not {k} of {n}")
    from scipy.special import ndtri

    z = float(ndtri(0.5 + confidence / 2))
    rate = k / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At the ends the formula gives 0 and 1 but for rounding.
    return Interval(0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half))


def mean_interval(
    values: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    value_range: Range = (0.0, 1.0),
    kind: MetricKind = "mean",
    level: float = 0.95,
) -> tuple[float, float, float]:
    """Mean over samples with its interval, of values as samples x seeds, nan where one is missing.

    Wilson's interval is for rates of single samples under one seed. nan throughout where there is no value; without a
    range an interval may be infinite, and with one it is never wider than that.
    """
    import numpy as np

    table = by_seed(values)
    own = over_columns(table)
    known = own[~np.isnan(own)]
    if not len(known):
        return math.nan, math.nan, math.nan
    centre = math.fsum(known.tolist()) / len(known)
    columns = Columns.of(own[:, None], numbered(clusters, len(own)))
    if wilson_applies(kind, len(known), table.shape[1], singletons=columns.singletons):
        found = wilson(float(known.sum()), len(known), level)
        assert found is not None
        return centre, found.low, found.high
    low, high = (np.array([end]) for end in ends_of(value_range))
    ends = mean_ends(columns.sums, columns.counts, low, high, level)
    return centre, float(ends[0][0]), float(ends[1][0])


def wilson_applies(kind: MetricKind, n: int, n_seeds: int, *, singletons: bool) -> bool:
    """A sample's mean over several seeds is no longer 0 or 1, and clusters are no single samples."""
    return kind == "rate" and singletons and n_seeds == 1 and n >= FEW_SAMPLES


def mean_ends(sums: Floats, counts: Floats, low: Floats, high: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Of every column of sums and counts of clusters, the interval of its mean.

    With a range it is Wilson's for as many single 0/1 samples as would be as uncertain; of few samples it is at least
    Student's with a pseudo-sample at each end. Without a range it is Student's.
    """
    import numpy as np

    made = estimate(sums, counts, low, high)
    below, above = _wilson_shaped(sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1), made, low, high, level)
    few = np.isfinite(high - low) & (counts.sum(axis=0) < FEW_SAMPLES)
    if few.any():
        least = estimate(sums, counts, low, high, _FEW_WEIGHT).interval(low, high, level)
        below, above = (
            np.where(few, np.minimum(below, least[0]), below),
            np.where(few, np.maximum(above, least[1]), above),
        )
    return below, above


def _wilson_shaped(mean: Floats, made: Estimate, low: Floats, high: Floats, level: float) -> tuple[Floats, Floats]:
    """Student's where there is no range, and the whole range where there is no error."""
    import numpy as np
    from scipy.special import stdtrit

    student = made.interval(low, high, level)
    with np.errstate(invalid="ignore"):
        width = high - low
        rate, centre = np.clip((mean - low) / width, 0, 1), (made.mean - low) / width
        # centre * (1 - centre) / error^2 samples of 0 or 1 would be as uncertain.
        t = stdtrit(np.maximum(made.degrees, 1e-3), 0.5 + level / 2)
        k = np.square(t * made.error / width) / (centre * (1 - centre))
        half = np.sqrt(rate * (1 - rate) * k + np.square(k) / 4)
        below = low + width * np.clip((rate + k / 2 - half) / (1 + k), 0, rate)
        above = low + width * np.clip((rate + k / 2 + half) / (1 + k), rate, 1)
    known = np.isfinite(k)
    return np.where(known, below, student[0]), np.where(known, above, student[1])
