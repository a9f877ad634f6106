"""Intervals and tests for rates and clusters. Pure functions: what a suite pairs or resamples is its own business."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

_POINTS_ONLY = ContextVar("points_only", default=False)

_MIN_DEFINED = 0.5
"""A bootstrap whose statistic is undefined in more than this share of the resamples says nothing."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ClusterRatio:
    """A ratio of sums over clusters: `micro` weighs every unit alike, `macro` every cluster."""

    micro: float | None
    macro: float | None
    se: float | None
    """Of the micro ratio, by linearisation; None for fewer than two clusters."""


@contextmanager
def points_only() -> Iterator[None]:
    """Inside, bootstraps give no interval: for who asks a suite's aggregate many times and wants its figures alone."""
    token = _POINTS_ONLY.set(True)
    try:
        yield
    finally:
        _POINTS_ONLY.reset(token)


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


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided p of the exact test, from the numbers of pairs in which just one of two systems is right."""
    if only_a < 0 or only_b < 0:
        raise ValueError(f"mcnemar_exact: counts cannot be negative ({only_a}, {only_b})")
    if only_a + only_b == 0:
        return 1.0
    from scipy.special import bdtr

    # With a chance of one half both tails are alike. (scipy.stats would take a second to import.)
    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """Step-down adjusted p-values in the order given. What is None is no test: it stays None and does not count."""
    tested = sorted((p, place) for place, p in enumerate(pvalues) if p is not None)
    adjusted: list[float | None] = [None] * len(pvalues)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


def cluster_ratio(clusters: Sequence[tuple[float, float]]) -> ClusterRatio:
    """From (numerator, denominator) of each cluster. The macro mean leaves out clusters with an empty denominator."""
    total = math.fsum(n for _, n in clusters)
    if total <= 0:
        return ClusterRatio(None, None, None)
    micro = math.fsum(k for k, _ in clusters) / total
    shares = [k / n for k, n in clusters if n > 0]
    macro = math.fsum(shares) / len(shares)
    size = len(clusters)
    if size < 2:
        return ClusterRatio(micro, macro, None)
    squares = math.fsum((k - micro * n) ** 2 for k, n in clusters)
    return ClusterRatio(micro, macro, math.sqrt(size / (size - 1) * squares) / total)


def cluster_bootstrap(
    rows_by_cluster: Mapping[str, Sequence[T]],
    statistic: Callable[[list[T]], float | None],
    seed: int = 0,
    n: int = 1000,
    confidence: float = 0.95,
) -> Interval | None:
    """Percentile interval of a statistic when whole clusters are drawn with replacement.

    Clusters are drawn in the order of their names, so the interval depends on the rows and the seed alone. Resamples in
    which the statistic is None are left out; None where fewer than two clusters or too few defined resamples are left.
    """
    return cluster_bootstraps(rows_by_cluster, lambda rows: {"": statistic(rows)}, seed, n, confidence).get("")


def cluster_bootstraps(
    rows_by_cluster: Mapping[str, Sequence[T]],
    statistics: Callable[[list[T]], Mapping[str, float | None]],
    seed: int = 0,
    n: int = 1000,
    confidence: float = 0.95,
) -> dict[str, Interval | None]:
    """As `cluster_bootstrap`, for several statistics of the same resamples by name; empty below two clusters."""
    clusters = [list(rows_by_cluster[name]) for name in sorted(rows_by_cluster) if rows_by_cluster[name]]
    if len(clusters) < 2 or _POINTS_ONLY.get():
        return {}
    import numpy as np

    draws = np.random.default_rng(seed).integers(len(clusters), size=(n, len(clusters)))
    found = [statistics([row for index in drawn for row in clusters[index]]) for drawn in draws.tolist()]
    return {name: _percentiles([values[name] for values in found], confidence) for name in (found[0] if found else ())}


def _percentiles(values: Sequence[float | None], confidence: float) -> Interval | None:
    import numpy as np

    defined = [value for value in values if value is not None]
    if len(defined) < _MIN_DEFINED * len(values):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.asarray(defined, dtype=float), (tail, 1 - tail)).tolist()
    return Interval(low, high)
