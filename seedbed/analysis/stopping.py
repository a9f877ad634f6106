"""Looking at a comparison while it grows, and stopping when it is decided, without paying for the looks in errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from seedbed.analysis.columns import by_seed, over_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Decision = Literal["better", "worse", "futile", "go on"]

GROWTH = 1.04
"""What the most samples of a design with looks are, in those of one without: the price of looking."""
_FUTILE_POWER = 0.1
_WIDTH, _STEPS = 9.0, 1800


@dataclass(frozen=True, slots=True)
class Sequential:
    """A design: the difference that matters, how often is looked, and the level over all looks together."""

    difference: float
    looks: int = 10
    alpha: float = 0.05

    def look(self, system_so_far: ArrayLike, baseline_so_far: ArrayLike, total: int) -> Decision:
        """What the samples so far, of `total` planned, decide. Whole samples (or clusters' means) in a random order
        that is the same for both. Between two looks nothing is decided."""
        import numpy as np
        from scipy.special import ndtr, ndtri, stdtr

        differences = over_columns(by_seed(system_so_far)) - over_columns(by_seed(baseline_so_far))
        differences = differences[~np.isnan(differences)]
        n = len(differences)
        share = min(1.0, n / total)
        number = math.floor(share * self.looks + 1e-9)
        if n < 2 or number < 1 or not _at_a_look(n, total, number, self.looks):
            return "go on"
        mean, error = float(differences.mean()), float(differences.std(ddof=1) / math.sqrt(n))
        if error == 0:
            # All differ alike, or none does: nothing says what the next would do but the last look.
            return "go on" if number < self.looks else "futile"
        tail = float(stdtr(n - 1, -abs(mean / error)))
        z = math.copysign(-float(ndtri(tail)) if tail > 0 else math.inf, mean)
        limits = boundaries(self.looks, self.alpha)
        if abs(z) >= limits[number - 1]:
            return "better" if z > 0 else "worse"
        if number == self.looks:
            return "futile"
        # What is still to come, if the difference is as large as matters, in either direction.
        drift = abs(self.difference) / (error * math.sqrt(share)) * (1 - share)
        hope = max(z * math.sqrt(share), -z * math.sqrt(share)) + drift - limits[-1]
        return "futile" if float(ndtr(hope / math.sqrt(1 - share))) < _FUTILE_POWER else "go on"


def sequential(difference: float, *, looks: int = 10, alpha: float = 0.05) -> Sequential:
    """A design with evenly spaced looks, limits by O'Brien and Fleming's spending of the level."""
    if not difference or looks < 1 or not 0 < alpha < 1:
        raise ValueError("a difference other than 0, at least one look and a level between 0 and 1 are needed")
    return Sequential(difference, looks, alpha)


@lru_cache(maxsize=32)
def boundaries(looks: int, alpha: float) -> tuple[float, ...]:
    """How far from 0 the standardised difference must be at each look, so that over all looks together a difference of
    0 is called one with probability `alpha`. Little is spent early (Lan and DeMets' form of O'Brien and Fleming)."""
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    shares = np.arange(1, looks + 1) / looks
    spent = 2 * (1 - ndtr(ndtri(1 - alpha / 2) / np.sqrt(shares)))
    to_spend = np.diff(spent, prepend=0.0)
    grid = np.linspace(-_WIDTH, _WIDTH, 2 * _STEPS + 1)
    weight = grid[1] - grid[0]
    # The density of the sum of increments so far, in units of its standard error at the end, among those still going.
    density = _normal(grid, math.sqrt(shares[0]))
    found: list[float] = []
    for number, share in enumerate(shares):
        scale = math.sqrt(share)

        def excess(
            limit: float, d: Floats = density, s: float = scale, target: float = float(to_spend[number])
        ) -> float:
            return _beyond(grid, d, limit * s) - target

        root: Any = brentq(excess, 0.01, _WIDTH / scale - 0.01)
        limit = float(root)
        found.append(limit)
        going = np.where(np.abs(grid) < limit * scale, density, 0.0)
        if number + 1 < looks:
            step = math.sqrt(shares[number + 1] - share)
            density = np.convolve(going, _normal(grid, step), mode="same") * weight
    return tuple(found)


def _beyond(grid: Floats, density: Floats, limit: float) -> float:
    """Probability outside of the limits, on both sides; the cell at the limit in part."""
    import numpy as np

    cumulated = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    low, high = np.interp([-limit, limit], grid, cumulated)
    return float(low + cumulated[-1] - high)


def _normal(grid: Floats, scale: float) -> Floats:
    import numpy as np

    return np.exp(-np.square(grid / scale) / 2) / (scale * math.sqrt(2 * math.pi))


def _at_a_look(n: int, total: int, number: int, looks: int) -> bool:
    """Whether `n` is the first count that reaches the look of that number; the last is open-ended."""
    return n >= total or (n - 1) / total * looks < number
