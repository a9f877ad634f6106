"""Means of a judge's scores corrected by labels that were drawn with known chances, samples in clusters.

The general form of `calibrated_mean`, to which it comes down where all chances are alike: lambda times the judge's mean
over all samples, plus the weighted mean of what labels say beyond lambda times the judge. Its variance is that of each
cluster's part in it, so it holds for other samples of the kind, whatever the judge's error is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_FOLDS = 5
MIN_LABELS = 5
"""Fewer say too little of the judge to correct it by."""
_FEW_ERRORS = 5
"""With fewer labels than this that differ from the judge, what was not seen is counted too."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A figure with its error: `fixed` is the part of its variance that more labels leave as it is, `by_labels` the
    part that falls as one over their number."""

    mean: float
    fixed: float
    by_labels: float
    degrees: float
    n_labels: int
    n_samples: int
    n_open: int
    """Of the samples, those whose truth only a label tells."""
    trust: float
    """How far the judge is believed, from 0 (the labels alone) to 1."""
    ends: tuple[float, float]
    most_degrees: float = math.inf
    """What no number of labels can raise the degrees of freedom above."""

    def with_seeds(self, variance: float, degrees: float) -> Corrected:
        """For other seeds too, where every seed makes another system: with the variance over those that were run."""
        whole = self.variance + variance
        parts = self.variance**2 / self.degrees + variance**2 / degrees
        shared = whole**2 / parts if parts else self.degrees
        return replace(self, fixed=self.fixed + variance, degrees=min(self.degrees, shared), most_degrees=shared)

    @property
    def variance(self) -> float:
        return self.fixed + self.by_labels

    @property
    def error(self) -> float:
        return math.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's, cut to the range of the figure."""
        half = quantile(self.degrees, level) * self.error
        return max(self.ends[0], self.mean - half), min(self.ends[1], self.mean + half)

    @property
    def p(self) -> float:
        """Of no difference, two-sided."""
        from scipy.special import stdtr

        if not self.error:
            return 1.0 if self.mean == 0 else 0.0
        return float(2 * stdtr(self.degrees, -abs(self.mean) / self.error))


def quantile(degrees: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + level / 2))


def corrected(
    labels: Floats,
    judged: Floats,
    everywhere: Floats,
    chances: Floats,
    clusters: Ints,
    *,
    certain: NDArray[np.bool_] | None = None,
    ends: tuple[float, float] = (-math.inf, math.inf),
    step: float | None = None,
    two_marks: bool = False,
) -> Corrected | None:
    """The mean that people would give all samples. One entry a sample: its label (nan without one), what the judge said
    of the very answer that was labelled, what it says of the sample over all seeds (nan where the sample does not
    count), the chance with which it was drawn, and its cluster. For a paired difference each of the first three is a
    difference. `certain` are samples whose truth is `everywhere` and needs no label, as where two systems gave the same
    answer. `step` is the largest error a judge can make in a sample, if there is an end to it; `two_marks` says
    that a label is at one end of the range or the other. None for too few labels.
    """
    import numpy as np

    sure = np.zeros(len(labels), dtype=bool) if certain is None else certain
    counted = ~np.isnan(everywhere)
    f_all, labels, judged, chances = (values[counted] for values in (everywhere, labels, judged, chances))
    clusters, sure = clusters[counted], sure[counted]
    has = ~(np.isnan(labels) | np.isnan(judged) | sure)
    n, k, open_n = len(f_all), int(has.sum()), int((~sure).sum())
    if k < MIN_LABELS:
        return None
    y, f, weight = labels[has], judged[has], 1 / chances[has]
    weight *= open_n / weight.sum()
    trust = _trust(y, f, weight, clusters[has])
    centre, believed = float(f_all[~sure].mean()), float((weight * trust).sum() / open_n)
    rest = y - trust * (f - centre)
    among_open = float((weight * rest).sum() / open_n)
    mean = (float(f_all[sure].sum()) + open_n * among_open) / n
    part = np.where(sure, f_all - mean, believed * (f_all - centre) + among_open - mean)
    part[has] += weight * (rest - among_open)
    present = np.unique(clusters, return_inverse=True)[1]
    n_clusters = int(present.max()) + 1
    many = n_clusters / max(1, n_clusters - 1)
    variance = many * float(np.square(np.bincount(present, part)).sum()) / n**2
    few = k / (k - 1)
    drawn = few * float(((1 - chances[has]) * np.square(weight * (rest - among_open))).sum()) / n**2
    drawn = min(drawn, variance)
    own = np.bincount(present[has], weight)
    return Corrected(
        mean=mean,
        fixed=variance * few - drawn,
        by_labels=drawn + _unseen(y - f, open_n / n, step, two_marks),
        degrees=max(1.0, open_n**2 / float(np.square(own).sum()) - 2),
        n_labels=k,
        n_samples=n,
        n_open=open_n,
        trust=believed,
        ends=ends,
    )


def _trust(y: Floats, f: Floats, weight: Floats, clusters: Ints) -> Floats:
    """A lambda a label, from the labels of other clusters: what was fitted on a sample would be too kind to it."""
    import numpy as np

    found = np.zeros(len(y))
    _, places = np.unique(clusters, return_inverse=True)
    fold = places % _FOLDS
    for number in range(_FOLDS):
        others = fold != number
        own = weight[others]
        if not others.any():
            continue
        a, b = y[others], f[others]
        a, b = a - np.average(a, weights=own), b - np.average(b, weights=own)
        spread = float((own * b * b).sum())
        if spread > 1e-12:
            found[fold == number] = min(1.0, max(0.0, float((own * a * b).sum()) / spread))
    return found


def _unseen(errors: Floats, share: float, step: float | None, two_marks: bool) -> float:
    """Variance for errors of the judge that so few labels may have missed: without it an interval around a judge that
    was never seen to err would have no width. Where labels are one of two marks an error counts for the part of the
    range that it spans, else any counts as one."""
    import numpy as np

    if step is None:
        return 0.0
    size = np.abs(errors)
    seen = float(size.sum() / step) if two_marks else int((size > 1e-9).sum())
    return max(0.0, 1 - seen / _FEW_ERRORS) * (share * step / (len(errors) + 1)) ** 2


def labels_to_settle(found: Corrected, margin: float, alpha: float = 0.05) -> int | None:
    """How many further labels would decide a difference, were they like those there are: its interval then leaves 0
    out, or lies within the margin. 0 where it does; None where labels of all samples would not."""
    import numpy as np
    from scipy.special import stdtrit

    k = np.arange(found.n_labels, found.n_open + 1)
    left = np.linspace(1.0, 0.0, len(k))
    error = np.sqrt(found.fixed + found.by_labels * found.n_labels / k * left)
    degrees = np.minimum(k - 2.0, found.most_degrees)
    half = stdtrit(np.where(k == found.n_labels, found.degrees, degrees), 1 - alpha / 2) * error
    decided = (np.abs(found.mean) > half) | (np.abs(found.mean) + half <= margin)
    return int(k[np.argmax(decided)] - found.n_labels) if decided.any() else None
