"""What Seedbed did before: bootstrap intervals, the verdict of the gate by significance, the former `detectable`.

Kept to say what today's figures cost. The tests over samples (McNemar, sign flips) are the same; the former ones took
every seed of an optimizer for the same system.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, stdtrit

from bench.stats_simulation.draws import Floats
from seedbed.analysis.columns import Columns, plain_means
from seedbed.analysis.intervals import wilson

_DRAWS = 2000
_SEED = 20240917


def interval(columns: Columns) -> tuple[Floats, Floats]:
    """Percentiles of 2,000 resamples of clusters, widened as Student's t is; no width where nothing varies."""
    number = len(columns.sums)
    weights = _weights(number)
    # All sweeps of a setting have clusters of the same sizes.
    means = (weights @ columns.sums) / (weights @ columns.counts[:, :1])
    tail = float(ndtr(math.sqrt(number / (number - 1)) * stdtrit(number - 1, 0.025)))
    low, high = np.quantile(means, (tail, 1 - tail), axis=0)
    return low, high


@lru_cache(maxsize=2)
def _weights(number: int) -> Floats:
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(number, size=(_DRAWS, number)) + np.arange(_DRAWS)[:, None] * number
    return np.bincount(drawn.ravel(), minlength=_DRAWS * number).reshape(_DRAWS, number).astype(np.float64)


def mean_interval(columns: Columns) -> tuple[Floats, Floats]:
    """Wilson's where all values happen to be 0 or 1."""
    low, high = interval(columns)
    if columns.singletons:
        n = columns.values.shape[0]
        for at in np.flatnonzero(np.isin(columns.values, (0.0, 1.0)).all(axis=0)):
            found = wilson(float(columns.values[:, at].sum()), n)
            assert found is not None
            low[at], high[at] = found.low, found.high
    return low, high


def gate_passes(columns: Columns, p: Floats, min_effect: float) -> int:
    """Significant and no drop beyond min_effect, or not significant and an interval within it; of ties, enough."""
    low, high = interval(columns)
    within = (low >= -min_effect) & (high <= min_effect)
    within &= (low < high) | (3 / len(columns.sums) <= max(min_effect, 0.05))
    return int(np.where(p < 0.05, plain_means(columns) >= -min_effect, within).sum())


def detectable(columns: Columns) -> Floats:
    """By the linearised standard error, at 5% however many tests Holm's family has."""
    clusters = len(columns.sums)
    total = columns.counts.sum(axis=0)
    squares = np.square(columns.sums - plain_means(columns) * columns.counts).sum(axis=0)
    error = np.sqrt(clusters / (clusters - 1) * squares) / total
    return (stdtrit(clusters - 1, 0.975) + stdtrit(clusters - 1, 0.8)) * error
