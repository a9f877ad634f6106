"""What a comparison of this size could have found: the smallest true difference that its own test would show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TestKind = Literal["flips", "mcnemar", "t"]

POWER = 0.8
_FEW_CLUSTERS = 8
"""Up to this many clusters the power of sign flips is tried out; beyond, Student's t says the same."""
_MANY_DEGREES = 50
_TRIES = 1000
_HALVINGS = 24


@dataclass(frozen=True, slots=True)
class Sized:
    """What the power of a comparison depends on."""

    n: int
    n_clusters: int
    n_differ: int
    """Clusters that are no tie; pairs, where McNemar's test is taken."""
    step: float
    """How far a cluster that is no tie moves the mean over clusters, times their number."""
    errors: Sequence[tuple[float, float]]
    """Standard errors with their degrees of freedom; the largest demand counts."""
    most: float
    """The largest difference that the range allows; infinite without a range."""
    test: TestKind = "flips"
    deviation: float | None = None
    """Of the mean difference itself, where the errors take it for larger than it is."""


def detectable(sized: Sized, level: float, power: float = POWER) -> float | None:
    """The smallest true difference called significant at `level` with the given power. None where no result could be:
    the least p of the test is not below the level, or the difference would leave the range."""
    if sized.n_clusters < 2 or (sized.test != "t" and 2.0 ** (1 - sized.n_clusters) >= level):
        return None
    found = _of_mcnemar(sized, level, power) if sized.test == "mcnemar" else _of_means(sized, level, power)
    return found if found is not None and 0 < found <= sized.most and math.isfinite(found) else None


def _of_means(sized: Sized, level: float, power: float) -> float | None:
    """By the errors, and by the number of clusters that must differ at all before any p is below the level."""
    demands = [_demand(error, degrees, sized.deviation, level, power) for error, degrees in sized.errors]
    if sized.test == "t":
        return max(demands, default=None)
    if sized.n_clusters <= _FEW_CLUSTERS and sized.errors:
        error = sized.errors[0][0]
        demands.append(sign_flip_multiple(sized.n_clusters, level, power) * error * math.sqrt(sized.n_clusters))
    return max([*demands, _share_that_differs(sized.n_clusters, level, power) * sized.step])


def _demand(error: float, degrees: float, deviation: float | None, level: float, power: float) -> float:
    """The difference that a test with this standard error asks for. With few degrees of freedom an error is more often
    too small than too large, so that it is taken as what half of all studies would exceed."""
    from scipy.special import gammaincinv, nctdtrinc, stdtrit

    spread = error if deviation is None else deviation
    if not spread > 0:
        return spread
    limit = float(stdtrit(degrees, 1 - level / 2)) * error / spread
    if degrees > _MANY_DEGREES:
        return spread * (limit + float(stdtrit(degrees, power)))
    median = math.sqrt(2 * float(gammaincinv(degrees / 2, 0.5)) / degrees)
    return spread * float(nctdtrinc(degrees, 1 - power, limit)) / median


def _share_that_differs(clusters: int, level: float, power: float) -> float:
    """The share of clusters that must differ, all one way, for enough of them to do so with the given power."""
    from scipy.special import bdtr

    needed = math.floor(1 - math.log2(level)) + 1
    return _least(lambda share: 1 - float(bdtr(needed - 1, clusters, share)), power, 1.0) or 1.0


@lru_cache(maxsize=256)
def sign_flip_multiple(clusters: int, level: float, power: float = POWER) -> float:
    """The difference in standard deviations of a cluster at which sign flips of so few normal ones have the power."""
    import numpy as np

    noise = np.random.default_rng(0).standard_normal((_TRIES, clusters))
    signs = 1.0 - 2.0 * ((np.arange(2 ** (clusters - 1))[:, None] >> np.arange(clusters)) & 1)

    def reached(shift: float) -> float:
        values = noise + shift
        totals = np.abs(values @ signs.T)
        seen = np.abs(values.sum(axis=1, keepdims=True)) - 1e-9
        return float(((totals >= seen).mean(axis=1) < level).mean())

    return _least(reached, power, 16.0) or math.inf


def _of_mcnemar(sized: Sized, level: float, power: float) -> float | None:
    """With as many pairs that differ as were seen and one more, or as many as the difference itself asks for."""
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    n = sized.n
    seen = (sized.n_differ + 1) / (n + 1)
    k, lost = np.arange(n + 1), _most_losses(n, level)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    def reached(difference: float) -> float:
        differing = max(seen, difference)
        share = np.exp(ways + xlogy(k, differing) + xlog1py(n - k, -differing))
        chance = 0.5 - 0.5 * difference / differing
        tails = bdtr(lost, k, chance) + bdtr(lost, k, 1 - chance)
        return float((share * np.where(lost >= 0, tails, 0.0)).sum())

    return _least(reached, power, 1.0)


@lru_cache(maxsize=64)
def _most_losses(n: int, level: float) -> NDArray[np.int64]:
    """For every number of pairs that differ, up to n, the most losses whose two-sided p is below the level; -1 where
    none has one."""
    import numpy as np
    from scipy.special import bdtr

    k = np.arange(n + 1)
    low, high = np.full(n + 1, -1), k // 2
    while (low < high).any():
        middle = (low + high + 1) // 2
        good = 2 * bdtr(middle, k, 0.5) < level
        low, high = np.where(good, middle, low), np.where(good, high, middle - 1)
    low.flags.writeable = False
    return low


def _least(reached: Callable[[float], float], power: float, most: float) -> float | None:
    """The smallest argument up to `most` at which a rising function reaches the power."""
    if reached(most) < power:
        return None
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return high
