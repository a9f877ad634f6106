"""Means of samples and differences between two systems on the same samples, resampled by whole clusters.

Everything works on sums and counts of clusters (columns are figures, rows are clusters), so that the figures of many
systems are resampled together, in blocks of bounded memory. Draws depend on the seed and the number of clusters alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from seedbed.analysis.intervals import Interval, blocks, mcnemar_exact, resampled_weights, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Test = Literal["permutation", "mcnemar", "jackknife"]
Method = Literal["bootstrap", "wilson", "jackknife"]

DRAWS = 2000
"""Resamples behind an interval."""
FLIPS = 10_000
"""Random sign patterns behind a permutation test with too many clusters to try them all."""
_EXACT_CLUSTERS = 13
"""Up to this many clusters that differ, all sign patterns are tried."""
POWER = 0.8


def resampled_means(sums: Floats, counts: Floats, seed: int = 0, draws: int = DRAWS) -> Floats:
    """Means of each column (second axis) when clusters (first axis) are drawn with replacement: draws x columns.

    A draw in which a column has no sample is nan there.
    """
    import numpy as np

    parts: list[Floats] = []
    for weights in resampled_weights(sums.shape[0], seed, draws):
        with np.errstate(invalid="ignore", divide="ignore"):
            parts.append((weights @ sums) / (weights @ counts))
    return np.concatenate(parts)


def bootstrap_interval(means: Floats, clusters: int, confidence: float = 0.95) -> Interval | None:
    """Percentile interval of resampled means, widened for the number of clusters: a plain one is too narrow by the
    difference between Student's t and the normal, which shows below some 50 clusters. None for fewer than two."""
    import numpy as np
    from scipy.special import ndtr, stdtrit

    defined = means[~np.isnan(means)]
    if clusters < 2 or len(defined) < len(means) / 2:
        return None
    tail = (1 - confidence) / 2
    wider = float(ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, tail)))
    ordered = np.sort(defined)
    return Interval(tidy(_quantile(ordered, wider)), tidy(_quantile(ordered, 1 - wider)))


def _quantile(ordered: Floats, share: float) -> float:
    """Of sorted values, between neighbours in proportion. As numpy has it, without the time it takes to look at what it
    was given."""
    at = share * (len(ordered) - 1)
    below = min(int(at), len(ordered) - 2) if len(ordered) > 1 else 0
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return low + (high - low) * (at - below)


def sign_flip_p(sums: Floats, seed: int = 0, flips: int = FLIPS) -> list[float]:
    """For each column of summed differences the share of sign patterns, clusters kept whole, whose total is at least as
    far from 0. All patterns where few clusters differ, else random ones with the pattern seen counted among them."""
    import numpy as np

    found = [1.0] * sums.shape[1]
    differing = (sums != 0).sum(axis=0)
    many = [column for column, n in enumerate(differing.tolist()) if n > _EXACT_CLUSTERS]
    for column, n in enumerate(differing.tolist()):
        if 0 < n <= _EXACT_CLUSTERS:
            found[column] = _exact_p(sums[sums[:, column] != 0, column])
    if many:
        chosen = sums[:, many]
        bar = np.abs(chosen.sum(axis=0)) * (1 - 1e-12)
        rng = np.random.default_rng(seed)
        reached = np.zeros(len(many))
        for size in blocks(flips, sums.shape[0]):
            signs = rng.integers(0, 2, size=(size, sums.shape[0]), dtype=np.int8).astype(np.float64)
            signs *= 2
            signs -= 1
            reached += (np.abs(signs @ chosen) >= bar).sum(axis=0)
        for column, count in zip(many, reached.tolist(), strict=True):
            found[column] = (count + 1) / (flips + 1)
    return found


def _exact_p(values: Floats) -> float:
    import numpy as np

    totals = np.zeros(1)
    for value in values.tolist():
        totals = np.concatenate([totals + value, totals - value])
    # Sums that are equal but for rounding must count as equal.
    slack = 1e-12 * float(np.abs(values).sum())
    return float((np.abs(totals) >= abs(float(values.sum())) - slack).mean())


def rate_interval(values: Sequence[float]) -> Interval | None:
    """Wilson's interval where every value is 0 or 1, else None."""
    if not values or any(value not in (0.0, 1.0) for value in values):
        return None
    found = wilson(sum(values), len(values))
    return None if found is None else Interval(tidy(found.low), tidy(found.high))


def mcnemar_of(differences: Sequence[float]) -> float:
    """Exact p from differences of 0/1 values: only the pairs that differ speak."""
    return tidy(mcnemar_exact(sum(d > 0 for d in differences), sum(d < 0 for d in differences)))


def standard_error(sums: Floats, counts: Floats) -> float | None:
    """Of a mean over samples in clusters, by linearisation; s/sqrt(n) where each sample is its own cluster."""
    import numpy as np

    inside = counts > 0
    clusters = int(inside.sum())
    if clusters < 2:
        return None
    total = float(counts.sum())
    centre = float(sums.sum()) / total
    squares = float(np.square(sums[inside] - centre * counts[inside]).sum())
    return math.sqrt(clusters / (clusters - 1) * squares) / total


def effect_size(differences: Sequence[float]) -> float | None:
    """Mean of the differences in units of their standard deviation (Cohen's d for pairs); None without a spread."""
    n = len(differences)
    if n < 2:
        return None
    centre = math.fsum(differences) / n
    spread = math.sqrt(math.fsum((d - centre) ** 2 for d in differences) / (n - 1))
    return tidy(centre / spread) if spread > 1e-12 else None


def detectable(se: float | None, degrees: int, alpha: float = 0.05, power: float = POWER) -> float | None:
    """The smallest true difference that a study of this size would call significant with the given power."""
    if se is None or degrees < 1:
        return None
    from scipy.special import stdtrit

    return tidy((float(stdtrit(degrees, 1 - alpha / 2)) + float(stdtrit(degrees, power))) * se)


def tidy(value: float) -> float:
    """To 12 significant digits: what sums of floats leave behind that differs between machines is not published."""
    return float(f"{value:.12g}")
