"""Tests of paired differences: exact McNemar, sign flips by cluster, and Holm's adjustment over a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seedbed.analysis.bootstrap import blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLIPS = 10_000
"""Random sign patterns behind a permutation test with too many clusters to try them all."""
EXACT_CLUSTERS = 13
"""Up to this many clusters that differ, all sign patterns are tried."""
_SLACK = 1e-12
"""Totals that are equal but for rounding must count as equal: as a share of all that was summed."""


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided p of the exact test, from the numbers of pairs in which just one of two systems is right."""
    import numpy as np

    if only_a < 0 or only_b < 0:
        raise ValueError(f"mcnemar_exact: counts cannot be negative ({only_a}, {only_b})")
    return float(_mcnemar(np.array([only_a]), np.array([only_b]))[0])


def mcnemar_p(differences: Floats) -> Floats:
    """For each column of differences of 0/1 values the exact p: only the pairs that differ speak."""
    return _mcnemar((differences > 0).sum(axis=0), (differences < 0).sum(axis=0))


def _mcnemar(wins: NDArray[np.int64], losses: NDArray[np.int64]) -> Floats:
    import numpy as np
    from scipy.special import bdtr

    # With a chance of one half both tails are alike. (scipy.stats would take a second to import.)
    return np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5))


def sign_flip_p(sums: Floats, rng: int | np.random.Generator = 0, flips: int = FLIPS) -> list[float]:
    """For each column of summed differences the share of sign patterns, clusters kept whole, whose total is at least as
    far from 0. All patterns where few clusters differ, else random ones with the pattern seen counted among them."""
    import numpy as np

    found = [1.0] * sums.shape[1]
    differing = (sums != 0).sum(axis=0)
    many = [column for column, n in enumerate(differing.tolist()) if n > EXACT_CLUSTERS]
    for column, n in enumerate(differing.tolist()):
        if n <= EXACT_CLUSTERS:
            found[column] = _exact_p(sums[sums[:, column] != 0, column])
    if many:
        chosen = sums[:, many]
        bar = np.abs(chosen.sum(axis=0)) - _SLACK * np.abs(chosen).sum(axis=0)
        generator = np.random.default_rng(rng)
        reached = np.zeros(len(many))
        for size in blocks(flips, sums.shape[0]):
            signs = generator.integers(0, 2, size=(size, sums.shape[0]), dtype=np.int8).astype(np.float64)
            signs *= 2
            signs -= 1
            reached += (np.abs(signs @ chosen) >= bar).sum(axis=0)
        for column, count in zip(many, reached.tolist(), strict=True):
            found[column] = (count + 1) / (flips + 1)
    return found


def _exact_p(values: Floats) -> float:
    import numpy as np

    totals = np.zeros(1)
    for value in values.tolist():
        totals = np.concatenate([totals + value, totals - value])
    slack = _SLACK * float(np.abs(values).sum())
    return float((np.abs(totals) >= abs(float(values.sum())) - slack).mean())


def holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """Step-down adjusted p-values in the order given. What is None is no test: it stays None and does not count."""
    tested = sorted((p, place) for place, p in enumerate(pvalues) if p is not None)
    adjusted: list[float | None] = [None] * len(pvalues)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted
