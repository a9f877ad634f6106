"""Looking at a comparison while it grows, and stopping when it is decided, without paying for the looks in errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from seedbed.analysis.columns import by_seed, over_columns
from seedbed.analysis.spending import boundaries

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Decision = Literal["better", "worse", "futile", "go on"]

GROWTH = 1.04
"""What the most samples of a design with looks are, in those of one without: the price of looking."""
_FUTILE_POWER = 0.1


@dataclass(frozen=True, slots=True)
class Sequential:
    """A design: the difference that matters, how often is looked, and the level over all looks together."""

    difference: float
    looks: int
    alpha: float

    def look(self, system_so_far: ArrayLike, baseline_so_far: ArrayLike, total: int) -> Decision:
        """What the samples so far, of `total` planned, decide. Whole samples (or clusters' means) in a random order
        that is the same for both. Between two looks nothing is decided."""
        import numpy as np
        from scipy.special import ndtri, stdtr

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
        z = math.copysign(float(ndtri(tail)), mean)
        limits = boundaries(self.looks, self.alpha)
        if abs(z) >= limits[number - 1]:
            return "better" if z > 0 else "worse"
        if number == self.looks:
            return "futile"
        return "futile" if self.hopeless(z, error, share, limits[-1]) else "go on"

    def hopeless(self, z: float, error: float, share: float, limit: float) -> bool:
        """Whether so small a part of what is still to come would end beyond the limit, were the difference as large as
        matters, in either direction, that it is not worth its price."""
        from scipy.special import ndtr

        if share >= 1:
            return True
        drift = abs(self.difference) / (error * math.sqrt(share)) * (1 - share)
        hope = abs(z) * math.sqrt(share) + drift - limit
        return float(ndtr(hope / math.sqrt(1 - share))) < _FUTILE_POWER


def sequential(difference: float, *, looks: int = 10, alpha: float = 0.05) -> Sequential:
    """A design with evenly spaced looks, limits by O'Brien and Fleming's spending of the level."""
    if not difference or looks < 1 or not 0 < alpha < 1:
        raise ValueError("a difference other than 0, at least one look and a level between 0 and 1 are needed")
    return Sequential(difference, looks, alpha)


def _at_a_look(n: int, total: int, number: int, looks: int) -> bool:
    """Whether `n` is the first count that reaches the look of that number; the last is open-ended."""
    return n >= total or (n - 1) / total * looks < number
