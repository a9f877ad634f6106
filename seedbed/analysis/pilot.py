"""How many samples a difference needs to be seen, judged by the spread of a pilot."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.analysis.columns import by_seed, numbered
from seedbed.analysis.seeds import seed_spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.05
_RANGE_LEVEL = 0.8
"""How sure the range of a planned number is, as far as the pilot's own chance goes."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the variance of a difference comes from. Of a pilot with one seed, what seeds add is not known."""

    samples: float
    seeds: float
    rest: float
    clusters: int
    pilot_seeds: int
    per_cluster: float
    """Samples in a cluster, on average."""


def samples_needed(
    pilot_system: ArrayLike,
    pilot_baseline: ArrayLike,
    *,
    difference: float,
    seeds: int,
    power: float = 0.8,
    clusters: Sequence[Hashable] | None = None,
) -> tuple[int, int, float] | None:
    """Samples that show a difference in `power` of all sweeps with so many seeds, and the range that the pilot's size
    leaves open (its end may be infinite). None where no number of samples would do: seeds differ too much, more of
    them are needed."""
    own, base = by_seed(pilot_system), by_seed(pilot_baseline)
    parts = variance_parts(own - base, clusters)
    wanted = _detectable_variance(difference, power)
    found = _samples(parts, wanted, seeds)
    if found is None:
        return None
    low, high = (_samples(_at(parts, level), wanted, seeds) for level in _ends())
    return math.ceil(found), math.ceil(low or found), math.ceil(high) if high is not None else math.inf


def variance_parts(differences: Floats, clusters: Sequence[Hashable] | None = None) -> Parts:
    """Of differences as samples x seeds: what samples (clusters), seeds and the rest contribute, none below 0."""
    import numpy as np

    places = numbered(clusters, len(differences))
    spread = seed_spread(differences[:, :, None], places)
    c, s = float(spread.clusters[0]), float(spread.seeds[0])
    if c < 2:
        raise ValueError(f"a pilot of {c:g} cluster(s) shows no spread; give at least two")
    a, b = float(spread.between_clusters[0]), float(spread.between_seeds[0])
    n = float((~np.isnan(differences)).any(axis=1).sum())
    if s < 2:
        # All of it is taken for the samples': more seeds would lower a part of it, so this is enough.
        return Parts(a, 0.0, 0.0, int(c), 1, n / c)
    assert spread.rest is not None
    e = float(spread.rest[0])
    return Parts(max(0.0, (a - e) / s), max(0.0, (b - e) / c), e, int(c), int(s), n / c)


def _detectable_variance(difference: float, power: float) -> float:
    """The variance of the mean difference at which it is found so often."""
    from scipy.special import ndtri

    if not difference or not 0 < power < 1:
        raise ValueError("a difference other than 0 and a power between 0 and 1 are needed")
    return difference**2 / float(ndtri(1 - ALPHA / 2) + ndtri(power)) ** 2


def _samples(parts: Parts, wanted: float, seeds: int) -> float | None:
    left = wanted - parts.seeds / seeds
    if left <= 0:
        return None
    return (parts.samples + parts.rest / seeds) / left * parts.per_cluster


def _ends() -> tuple[float, float]:
    return (1 + _RANGE_LEVEL) / 2, (1 - _RANGE_LEVEL) / 2


def _at(parts: Parts, level: float) -> Parts:
    """The parts as they may be in truth: scaled to a quantile of what a pilot of that size shows."""
    from scipy.special import chdtri

    def scale(degrees: int) -> float:
        return degrees / float(chdtri(degrees, 1 - level)) if degrees > 0 else 1.0

    of_samples, of_seeds = scale(parts.clusters - 1), scale(parts.pilot_seeds - 1)
    return Parts(
        parts.samples * of_samples,
        parts.seeds * of_seeds,
        parts.rest * of_samples,
        parts.clusters,
        parts.pilot_seeds,
        parts.per_cluster,
    )
