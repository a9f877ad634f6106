"""Values of samples, a column a figure, and the one estimate of a mean that every interval is made from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Range = tuple[float, float] | None
"""The least and the greatest value a sample can have; None where there is no end."""
PSEUDO_WEIGHT = 0.5
"""Pseudo-samples on each side of a figure."""


@dataclass(frozen=True)
class Columns:
    """Per-sample values as sums and counts of clusters, a column a figure."""

    values: Floats
    sums: Floats
    counts: Floats
    singletons: bool
    """Whether each sample is a cluster of its own."""

    @classmethod
    def of(cls, values: Floats, clusters: Ints) -> Columns:
        import numpy as np

        number = int(clusters.max()) + 1 if len(clusters) else 0
        known = ~np.isnan(values)
        if number == len(clusters):
            place = np.argsort(clusters)
            return cls(values, np.nan_to_num(values)[place], known.astype(np.float64)[place], True)
        sums, counts = np.zeros((number, values.shape[1])), np.zeros((number, values.shape[1]))
        np.add.at(sums, clusters, np.nan_to_num(values))
        np.add.at(counts, clusters, known.astype(np.float64))
        return cls(values, sums, counts, False)

    @property
    def n_clusters(self) -> Ints:
        """Of each column, the clusters with a value."""
        return (self.counts > 0).sum(axis=0)

    def column(self, number: int) -> Columns:
        """One figure of many."""
        at = slice(number, number + 1)
        return Columns(self.values[:, at], self.sums[:, at], self.counts[:, at], self.singletons)

    def defined(self, column: int) -> list[float]:
        import numpy as np

        own = self.values[:, column]
        return own[~np.isnan(own)].tolist()


@dataclass(frozen=True)
class Estimate:
    """Means of columns with their standard errors; without a spread (fewer than two clusters) the error is infinite."""

    mean: Floats
    error: Floats
    degrees: Floats

    def interval(self, low: Floats, high: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
        """Student's, cut to the range; the whole range where nothing is known of the spread."""
        import numpy as np
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            half = stdtrit(np.maximum(self.degrees, 1e-3), 0.5 + level / 2) * self.error
        half = np.where(np.isnan(half), np.inf, half)
        return np.maximum(self.mean - half, low), np.minimum(self.mean + half, high)


def estimate(sums: Floats, counts: Floats, low: Floats, high: Floats, weight: float = PSEUDO_WEIGHT) -> Estimate:
    """The mean of samples in clusters with `weight` pseudo-samples at each end of the range, and its error.

    The pseudo-samples keep intervals honest where samples are few, near an end, or all alike. Without a range (infinite
    ends) there are none. The error leaves out each cluster in turn, which for clusters of one size is the common
    C/(C-1) times the sum of squares, and is wider where they differ.
    """
    import numpy as np

    ended = np.isfinite(low) & np.isfinite(high)
    w = np.where(ended, weight, 0.0)
    bottom, top = np.where(ended, low, 0.0), np.where(ended, high, 0.0)
    n = counts.sum(axis=0)
    clusters = (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = n + 2 * w
        mean = (sums.sum(axis=0) + w * (bottom + top)) / total
        many = clusters / (clusters - 1)
        apart = (sums - mean * counts) / (1 - counts / n)
        ends = w * (np.square(bottom - mean) + np.square(top - mean))
        squares = np.square(apart).sum(axis=0) / many + ends * many
        error = np.sqrt(squares) / total
        # Values that are all alike show no spread, and without ends nothing else says how far they might have been.
        error = np.where((clusters > 1) & (ended | (error > 1e-12 * np.abs(mean))), error, np.inf)
        degrees = np.square(n) / np.square(counts).sum(axis=0) - 1
    return Estimate(mean, error, np.where(clusters > 1, degrees, 0.0))


def plain_means(columns: Columns) -> Floats:
    """Of each column, the mean of its samples; nan where it has none."""
    import numpy as np

    n = columns.counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return columns.sums.sum(axis=0) / n


def by_seed(values: ArrayLike) -> Floats:
    """Values as samples x seeds; one column where a flat sequence was given."""
    import numpy as np

    found = np.asarray(values, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found


def over_columns(values: Floats) -> Floats:
    """Of each sample the mean of what its seeds have; nan where none has a value."""
    import numpy as np

    known = ~np.isnan(values)
    n = known.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(n > 0, np.nan_to_num(values).sum(axis=1) / np.maximum(n, 1), np.nan)


def numbered(clusters: Sequence[Hashable] | None, n: int) -> Ints:
    """Clusters of samples as numbers from 0; each sample its own where none are given."""
    import numpy as np

    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"clusters: {len(clusters)} for {n} samples; give one a sample")
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(cluster, len(places)) for cluster in clusters], dtype=np.int64)


def ends_of(value_range: Range) -> tuple[float, float]:
    """A range as two numbers, infinite where there is none."""
    import math

    return value_range if value_range is not None else (-math.inf, math.inf)
