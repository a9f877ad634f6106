"""How many samples a contest needs, from a pilot: by the power of the very test that will be made, seeds included."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seedbed.analysis.columns import by_seed
from seedbed.analysis.pilot import Parts, ends, variance_parts
from seedbed.analysis.power import POWER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ALPHA = 0.05
MOST = 10_000_000
"""Samples; where more are needed, no number is told."""
_MANY_DEGREES = 1000


@dataclass(frozen=True, slots=True)
class Planned:
    """Samples of a benchmark for each of so many seeds; None where no number of samples would do, up to `MOST`."""

    seeds: int
    n: int | None
    low: int | None
    """The ends of the range that the pilot's size leaves open; None where no number would do either."""
    high: int | None

    def to_json(self) -> dict[str, int | None]:
        return {"seeds": self.seeds, "samples": self.n, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a pilot says of the spread of a contest."""

    parts: Parts
    made_by_seed: bool
    """Whether the verdict has to hold for other seeds too."""
    level: float = ALPHA

    @property
    def blind(self) -> bool:
        """Whether it has one seed of a system that seeds make: what they add cannot be known."""
        return self.made_by_seed and self.parts.pilot_seeds < 2

    def needed(self, difference: float, seeds: int) -> Planned:
        """Samples that show a difference in four of five sweeps with so many seeds."""
        fewer, more = ([self._samples(end, difference, seeds) for end in side] for side in ends(self.parts, seeds))
        low = min((n for n in fewer if n is not None), default=None)
        high = None if None in more else max(n for n in more if n is not None)
        return Planned(seeds, self._samples(self.parts, difference, seeds), low, high)

    def detectable(self, n: int, seeds: int) -> float:
        """The difference that so many samples show in four of five sweeps."""
        return _demand(self.parts, self, max(2.0, n / self.parts.per_cluster), seeds)

    def _samples(self, parts: Parts, difference: float, seeds: int) -> int | None:
        # Where seeds make no other system, what they have in common is chance of the pilot.
        return _samples(parts if self.made_by_seed else replace(parts, seeds=0.0), self, difference, seeds)


def pilot(
    system: ArrayLike,
    baseline: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    seed_changes_system: bool = False,
    tests_in_family: int = 1,
) -> Pilot:
    """Of values as samples x seeds. `tests_in_family` are the contests that Holm's adjustment is made over."""
    parts = variance_parts(by_seed(system) - by_seed(baseline), clusters)
    if not seed_changes_system:
        parts = replace(parts, seeds=0.0)
    return Pilot(parts, seed_changes_system, ALPHA / max(1, tests_in_family))


def _samples(parts: Parts, pilot: Pilot, difference: float, seeds: int) -> int | None:
    """The least number of samples whose demand the difference meets, in whole clusters."""
    if pilot.made_by_seed and seeds < 2:
        return None
    if _demand(parts, pilot, MOST, seeds) > difference:
        return None
    low, high = 1.0, 4.0
    while _demand(parts, pilot, high, seeds) > difference:
        low, high = high, high * 2
    while high - low > 0.01 * low and high - low > 0.1:
        middle = (low + high) / 2
        low, high = (low, middle) if _demand(parts, pilot, middle, seeds) <= difference else (middle, high)
    return math.ceil(high * parts.per_cluster)


def _demand(parts: Parts, pilot: Pilot, clusters: float, seeds: int) -> float:
    """The difference that a test over so many clusters and seeds shows with the power: the largest of what its errors
    ask for, as `compare_paired` takes the largest of its p."""
    c, s = max(2.0, clusters), float(seeds)
    over_samples = math.sqrt((parts.samples + parts.rest / s) / c)
    if not pilot.made_by_seed:
        return _demanded(c - 1, pilot.level, over_samples, over_samples)
    truly = math.sqrt(over_samples**2 + parts.seeds / s)
    a, b = s * parts.samples + parts.rest, c * parts.seeds + parts.rest
    spread = a**2 / (c - 1) + b**2 / (s - 1)
    degrees = (a + b) ** 2 / spread if spread else math.inf
    # What sample and seed do not explain is in both mean squares: the test's error is larger than the true one.
    errors = ((over_samples, c - 1), (math.sqrt((a + b) / (c * s)), degrees), (math.sqrt(b / (c * s)), s - 1))
    return max(_demanded(df, pilot.level, error, truly) for error, df in errors)


def _demanded(degrees: float, level: float, error: float, truly: float) -> float:
    """The difference that Student's test with such an error shows with the power, where the mean varies by `truly`."""
    from scipy.special import nctdtrinc, ndtri, stdtrit

    if degrees > _MANY_DEGREES:
        return float(ndtri(1 - level / 2)) * error + float(ndtri(POWER)) * truly
    limit = float(stdtrit(degrees, 1 - level / 2))
    return limit * error + (float(nctdtrinc(degrees, 1 - POWER, limit)) - limit) * truly
