"""A judge is an instrument with an error: means of what it says, corrected by samples that a person labelled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_FOLDS = 5


def calibrated_mean(
    labels: ArrayLike, judged: ArrayLike, judged_unlabelled: ArrayLike, *, level: float = 0.95
) -> tuple[float, float, float]:
    """The mean that people would give, with its interval: from their `labels`, what the judge said of the same samples
    (`judged`), and what it said of those without a label. Also for paired differences, as one value a sample.

    How far the judge is trusted follows from how it goes along with the labels: a useless one leaves the labels' own
    mean. nan for fewer than three labels.
    """
    import numpy as np
    from scipy.special import stdtrit

    y, f, rest = (np.asarray(values, dtype=np.float64) for values in (labels, judged, judged_unlabelled))
    if y.shape != f.shape:
        raise ValueError(f"calibrated_mean: {len(y)} labels for {len(f)} judgements; give one a sample, in one order")
    known = ~(np.isnan(y) | np.isnan(f))
    y, f, rest = y[known], f[known], rest[~np.isnan(rest)]
    k, m = len(y), len(rest)
    if k < 3:
        return math.nan, math.nan, math.nan
    trust = _trust(y, f, m)
    centre = rest.mean() if m else 0.0
    corrected = y - trust * (f - centre)
    mean = float(corrected.mean())
    variance = float(corrected.var(ddof=1)) / k
    if m > 1:
        variance += float(np.square(trust).mean()) * float(rest.var(ddof=1)) / m
    half = float(stdtrit(k - 2, 0.5 + level / 2)) * math.sqrt(variance)
    return mean, mean - half, mean + half


def _trust(y: Floats, f: Floats, m: int) -> Floats:
    """A weight a sample, from the others: what was fitted on a sample would be too kind to it."""
    import numpy as np

    found = np.zeros(len(y))
    if m < 2:
        return found
    fold = np.arange(len(y)) % _FOLDS
    for number in range(_FOLDS):
        others = fold != number
        if not (spread := float(f[others].var(ddof=1))):
            continue
        along = float(np.cov(y[others], f[others])[0, 1])
        found[fold == number] = min(1.0, max(0.0, along / ((1 + len(y) / m) * spread)))
    return found
