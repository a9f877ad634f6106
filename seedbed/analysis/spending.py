"""What looking costs: limits of a test that is looked at several times, and the p that accounts for the looks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_WIDTH, _STEPS = 9.0, 1800
_RARE = 1e-9
"""Below this a convolution by Fourier's transform is all rounding. To take such a probability as if nobody had looked
before makes the limit a trace stricter."""
_GRID = 60
_LEAST, _MOST = 1e-8, 0.999
"""Between which levels p is told; below it is the least."""
_FAMILIES = 20


@lru_cache(maxsize=256)
def boundaries(looks: int, alpha: float) -> tuple[float, ...]:
    """How far from 0 the standardised difference must be at each look, so that over all looks together a difference of
    0 is called one with probability `alpha`. Little is spent early (Lan and DeMets' form of O'Brien and Fleming)."""
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    shares = np.arange(1, looks + 1) / looks
    spent = 2 * ndtr(ndtri(alpha / 2) / np.sqrt(shares))
    grid = np.linspace(-_WIDTH, _WIDTH, 2 * _STEPS + 1)
    # The density of the sum of increments so far, in units of its standard error at the end, among those still going.
    density = _normal(grid, math.sqrt(shares[0]))
    found: list[float] = []
    for number, (share, to_spend) in enumerate(zip(shares, np.diff(spent, prepend=0.0).tolist(), strict=True)):
        scale = math.sqrt(share)
        if number == 0 or to_spend < _RARE:
            limit = -float(ndtri(to_spend / 2))
        else:
            tails = _tails(density, grid[1] - grid[0])

            def excess(limit: float, t: Floats = tails, s: float = scale, target: float = to_spend) -> float:
                return float(np.interp(limit * s, grid[_STEPS:], t)) - target

            root: Any = brentq(excess, 0.0, _WIDTH / scale - 0.01)
            limit = float(root)
        found.append(limit)
        if number + 1 < looks:
            going = _cut(grid, density, limit * scale)
            density = _convolved(going, looks) * (grid[1] - grid[0])
    return tuple(found)


def look_level(looks: int, number: int, alpha: float) -> float:
    """The two-sided level of a single test at a look: what an interval that accounts for the looks is wide by."""
    from scipy.special import ndtr

    return 2 * float(ndtr(-boundaries(looks, alpha)[number - 1]))


def reached_level(looks: int, number: int, z: ArrayLike) -> Any:
    """The level over all looks at which a standardised difference would have been called one at this look: its p. The
    least over all looks so far is the p of a comparison that was looked at so often."""
    import numpy as np

    levels, limits = _table(looks)
    own = limits[number - 1]
    # Interpolated on the logarithm, which is nearly a square of z.
    found = np.exp(np.interp(-np.abs(np.asarray(z, dtype=np.float64)), -own, np.log(levels)))
    return np.where(np.abs(z) <= own[-1], 1.0, found)


@lru_cache(maxsize=8)
def _table(looks: int) -> tuple[Floats, Floats]:
    """Levels, rising, and by look the limit that each has; those of Holm's families are among them exactly."""
    import numpy as np

    common = 0.05 / np.arange(1, _FAMILIES + 1)
    levels = np.unique(np.concatenate([np.geomspace(_LEAST, _MOST, _GRID), np.linspace(0.1, 0.95, 18), common]))
    limits = np.array([boundaries(looks, float(level)) for level in levels]).T
    # np.interp wants its places in order; from a level of about 0.95 on the limits of later looks rise again.
    return levels, np.minimum.accumulate(limits, axis=1)


def _tails(density: Floats, width: float) -> Floats:
    """From every place of the grid's upper half, the probability beyond it on both sides. Under no difference both are
    alike. Summed from outside, so that small ones keep their digits."""
    import numpy as np

    upper = np.maximum(density[_STEPS:], 0.0)
    cells = (upper[1:] + upper[:-1]) / 2 * width
    return 2 * np.concatenate([np.cumsum(cells[::-1])[::-1], [0.0]])


def _cut(grid: Floats, density: Floats, limit: float) -> Floats:
    """The density within the limits; of the cell that a limit lies in, the part inside."""
    import numpy as np

    step = grid[1] - grid[0]
    share = np.clip((limit - np.abs(grid)) / step + 0.5, 0.0, 1.0)
    return density * share


def _convolved(going: Floats, looks: int) -> Floats:
    """After one more increment of evenly spaced looks."""
    import numpy as np

    kernel, size = _kernel(looks)
    return np.maximum(np.fft.irfft(np.fft.rfft(going, size) * kernel, size)[_STEPS : 3 * _STEPS + 1], 0.0)


@lru_cache(maxsize=8)
def _kernel(looks: int) -> tuple[Any, int]:
    import numpy as np

    grid = np.linspace(-_WIDTH, _WIDTH, 2 * _STEPS + 1)
    size = 1 << (4 * _STEPS + 1).bit_length()
    return np.fft.rfft(_normal(grid, math.sqrt(1 / looks)), size), size


def _normal(grid: Floats, scale: float) -> Floats:
    import numpy as np

    return np.exp(-np.square(grid / scale) / 2) / (scale * math.sqrt(2 * math.pi))
