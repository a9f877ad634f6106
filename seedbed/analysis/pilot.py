"""How many samples a difference needs to be seen, judged by the spread of a pilot."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seedbed.analysis.columns import by_seed, numbered
from seedbed.analysis.seeds import seed_spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.05
_RANGE_LEVEL = 0.9
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
    fewer, more = ends(parts, seeds)
    low = min(_samples(end, wanted, seeds) or math.inf for end in fewer)
    high = max(_samples(end, wanted, seeds) or math.inf for end in more)
    return math.ceil(found), math.ceil(low), math.ceil(high) if math.isfinite(high) else math.inf


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


def ends(parts: Parts, seeds: int) -> tuple[list[Parts], list[Parts]]:
    """What the parts may be in truth where fewer samples of so many seeds do than the pilot says, and where it takes
    more: two of each. Large means of samples come of samples that differ or, by chance, of the rest. Only of the rest
    would more seeds than the pilot's rid the sweep, so it is tried small and large at both ends: what that leaves for
    the samples may be below 0, but by no more than makes up for the rest's size."""
    least, most = (_scaled(parts, (1 + sign * _RANGE_LEVEL) / 2) for sign in (1, -1))
    return [least, _with_rest(least, most.rest, seeds)], [most, _with_rest(most, least.rest, seeds)]


def _with_rest(parts: Parts, rest: float, seeds: int) -> Parts:
    """The same mean square of samples with another rest in it."""
    if parts.pilot_seeds < 2:
        return parts
    left = parts.samples + (parts.rest - rest) / parts.pilot_seeds
    return replace(parts, samples=max(left, (parts.rest - rest) / seeds), rest=rest)


def _scaled(parts: Parts, level: float) -> Parts:
    """Mean squares at a quantile of what is true where a pilot of that size shows these. What seeds add is taken from
    their mean square, which is not 0 where the part happens to be. Of the rest no more degrees are believed than there
    are clusters: that of one sample may be larger than that of another."""
    from scipy.special import chdtri

    def scale(degrees: int) -> float:
        return degrees / float(chdtri(degrees, 1 - level))

    of_samples = scale(parts.clusters - 1)
    found = replace(parts, samples=parts.samples * of_samples, rest=parts.rest * of_samples, seeds=0.0)
    if parts.pilot_seeds < 2:
        return found
    between = parts.clusters * parts.seeds + parts.rest
    return replace(found, seeds=max(0.0, (between * scale(parts.pilot_seeds - 1) - parts.rest) / parts.clusters))
