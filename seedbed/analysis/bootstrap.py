"""Resampling of whole clusters, for figures that follow from sums. What a suite sums up is its own business."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

from seedbed.analysis.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_POINTS_ONLY = ContextVar("points_only", default=False)

_MIN_DEFINED = 0.5
"""A bootstrap whose statistic is undefined in more than this share of the resamples says nothing."""
BLOCK = 2_000_000
"""Numbers in memory at once while resampling."""


@contextmanager
def points_only() -> Iterator[None]:
    """Inside, bootstraps give no interval, and an aggregate may leave out what is no metric of its suite: for who asks
    it many times and wants those figures alone."""
    token = _POINTS_ONLY.set(True)
    try:
        yield
    finally:
        _POINTS_ONLY.reset(token)


def only_points() -> bool:
    return _POINTS_ONLY.get()


def cluster_bootstraps(
    sums: Mapping[str, Sequence[float]],
    figures: Callable[[Floats], Mapping[str, Floats]],
    seed: int = 0,
    n: int = 1000,
    confidence: float = 0.95,
) -> dict[str, Interval | None]:
    """Percentile intervals of figures that follow from sums, when whole clusters are drawn with replacement.

    `sums` holds a row a cluster; `figures` gets the totals of all resamples, a row each, and returns a value a resample
    by name, nan where undefined. Those are left out; None where too few are left, and nothing below two clusters.
    Clusters are drawn in the order of their names, so intervals depend on the sums and the seed alone.
    """
    if len(sums) < 2 or only_points():
        return {}
    import numpy as np

    table = np.array([sums[name] for name in sorted(sums)], dtype=np.float64)
    totals = np.concatenate([weights @ table for weights in resampled_weights(len(sums), seed, n)])
    with np.errstate(invalid="ignore", divide="ignore"):
        found = figures(totals)
    return {name: _percentiles(values, confidence) for name, values in found.items()}


def resampled_weights(clusters: int, seed: int, draws: int) -> Iterator[Floats]:
    """How often each cluster is in each resample (resamples x clusters), in blocks of bounded memory.

    They depend on the arguments alone. The figures of a sweep ask for the same ones again and again, so small ones are
    kept.
    """
    if draws * clusters <= BLOCK:
        yield _kept_weights(clusters, seed, draws)
    else:
        yield from _weights(clusters, seed, draws)


@lru_cache(maxsize=2)
def _kept_weights(clusters: int, seed: int, draws: int) -> Floats:
    (weights,) = _weights(clusters, seed, draws)
    weights.flags.writeable = False
    return weights


def _weights(clusters: int, seed: int, draws: int) -> Iterator[Floats]:
    import numpy as np

    rng = np.random.default_rng(seed)
    for size in blocks(draws, clusters):
        drawn = rng.integers(clusters, size=(size, clusters)) + np.arange(size)[:, None] * clusters
        yield np.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters).astype(np.float64)


def blocks(total: int, width: int) -> Iterator[int]:
    """`total` rows of `width` numbers in portions that memory has room for."""
    size = max(1, min(total, BLOCK // max(1, width)))
    for start in range(0, total, size):
        yield min(size, total - start)


def _percentiles(values: Floats, confidence: float) -> Interval | None:
    import numpy as np

    defined = values[~np.isnan(values)]
    if len(defined) < _MIN_DEFINED * len(values):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, (tail, 1 - tail)).tolist()
    return Interval(low, high)
