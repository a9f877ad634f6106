"""Means that never travel alone: n, errors and skipped stand beside every one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


def mean(values: Sequence[float]) -> float | None:
    """None for no values: undefined is not 0."""
    return math.fsum(values) / len(values) if values else None


def sample_std(values: Sequence[float]) -> float | None:
    """With n-1; 0.0 for a single value, None for none."""
    if not values:
        return None
    if len(values) < 2:
        return 0.0
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (len(values) - 1))


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """A figure over seeds, each seed counted once."""

    mean: float | None
    std: float | None
    ci_low: float | None
    ci_high: float | None
    n_seeds: int


def over_seeds(values: Sequence[float | None], value_range: tuple[float, float] | None = None) -> OverSeeds:
    """Mean, sample std and 95% t interval over the seeds where the figure is defined, cut to the range; no interval for
    one seed."""
    defined = [v for v in values if v is not None]
    centre, spread = mean(defined), sample_std(defined)
    low = high = None
    if centre is not None and spread is not None and len(defined) >= 2:
        from scipy.special import stdtrit

        half = float(stdtrit(len(defined) - 1, 0.975)) * spread / math.sqrt(len(defined))
        low, high = centre - half, centre + half
        if value_range is not None:
            low, high = max(low, value_range[0]), min(high, value_range[1])
    return OverSeeds(centre, spread, low, high, len(defined))
