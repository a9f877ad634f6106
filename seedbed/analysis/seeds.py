"""Comparisons of systems that every seed makes anew, as an optimizer does: chance of samples and of seeds together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ROUNDS = 50
"""What is missing is filled in with what sample and seed let expect, and these are taken again with it."""
ONE_SEED = "one seed of an optimizer says nothing of the next"


@dataclass(frozen=True)
class SeedSpread:
    """How a mean difference varies with clusters (A) and with seeds (B), as mean squares; a column a comparison."""

    mean: Floats
    between_clusters: Floats
    between_seeds: Floats
    clusters: Floats
    seeds: Floats
    benchmarks: int = 1
    """How many benchmarks of the same system the spread over seeds was taken from."""
    rest: Floats | None = None
    """Mean square of what neither cluster nor seed explains (E), held by A and B both; None where it is not known."""

    @property
    def known(self) -> bool:
        """Whether more than one seed speaks, in the only column."""
        return bool(self.seeds[0] >= 2) and bool(self.between_seeds[0] >= 0)

    def column(self, number: int) -> SeedSpread:
        """One comparison of many."""
        at = slice(number, number + 1)
        return SeedSpread(
            self.mean[at],
            self.between_clusters[at],
            self.between_seeds[at],
            self.clusters[at],
            self.seeds[at],
            self.benchmarks,
            None if self.rest is None else self.rest[at],
        )

    @property
    def deviation(self) -> Floats | None:
        """Of the mean difference. The errors are larger than it: they count what neither explains twice."""
        import numpy as np

        if self.rest is None:
            return None
        a, b = (np.maximum(part - self.rest, 0) for part in (self.between_clusters, self.between_seeds))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt((a + b + self.rest) / (self.clusters * self.seeds))

    def errors(self) -> list[tuple[Floats, Floats]]:
        """Standard errors with their degrees of freedom: over both, and over seeds alone where one benchmark speaks."""
        import numpy as np

        a, b, c, s = self.between_clusters, self.between_seeds, self.clusters, self.seeds
        cells = c * s
        with np.errstate(invalid="ignore", divide="ignore"):
            both = np.sqrt((a + b) / cells)
            parts = np.square(a) / (c - 1) + np.square(b) / (self.benchmarks * (s - 1))
            degrees = np.where(parts > 0, np.square(a + b) / parts, 1e9)
            alone = np.sqrt(b / cells)
        found = [(both, degrees)]
        return found if self.benchmarks > 1 else [*found, (alone, s - 1)]


def seed_spread(differences: Floats, clusters: Ints) -> SeedSpread:
    """From differences as samples x seeds x comparisons. What is missing under some seeds is filled with what the
    sample and the seed let expect; a sample without any value is left out."""
    import numpy as np

    filled, rows, columns = _filled(differences)
    number = int(clusters.max()) + 1 if len(clusters) else 0
    n, seeds = rows.sum(axis=0), columns.sum(axis=0).astype(np.float64)
    present = np.zeros((number, rows.shape[1]))
    np.add.at(present, clusters, rows.astype(np.float64))
    n_clusters = (present > 0).sum(axis=0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=(0, 1)) / (n * seeds)
        centred = np.where(rows[:, None, :] & columns[None, :, :], filled - mean, 0.0)
        psi = np.zeros((number, *centred.shape[1:]))
        np.add.at(psi, clusters, centred)
        psi *= n_clusters / n
        by_cluster, by_seed = psi.sum(axis=1) / seeds, psi.sum(axis=0) / n_clusters
        a = seeds * np.square(by_cluster).sum(axis=0) / (n_clusters - 1)
        b = n_clusters * np.square(by_seed).sum(axis=0) / (seeds - 1)
        both = np.where((present > 0)[:, None, :] & columns[None, :, :], by_cluster[:, None, :] + by_seed, 0.0)
        e = np.square(psi - both).sum(axis=(0, 1)) / ((n_clusters - 1) * (seeds - 1))
    return SeedSpread(mean, a, b, n_clusters, seeds, rest=e)


def _filled(differences: Floats) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Values with what is missing filled in, 0 in rows and seeds without any; which rows and which seeds have one."""
    import numpy as np

    known = ~np.isnan(differences)
    rows, columns = known.sum(axis=1) > 0, known.sum(axis=0) > 0
    values = np.nan_to_num(differences)
    wanted = rows[:, None, :] & columns[None, :, :]
    n_rows, n_columns = np.maximum(rows.sum(axis=0), 1), np.maximum(columns.sum(axis=0), 1)
    for _ in range(0 if known.sum() == wanted.sum() else _ROUNDS):
        of_row = values.sum(axis=1, keepdims=True) / n_columns
        of_seed = values.sum(axis=0) / n_rows
        expected = of_row + of_seed - values.sum(axis=(0, 1)) / (n_rows * n_columns)
        values = np.where(known, values, np.where(wanted, expected, 0.0))
    return values, rows, columns


def pooled_over_benchmarks(spreads: Sequence[SeedSpread]) -> list[SeedSpread]:
    """Several benchmarks of one system share their spread over seeds: the mean of what each shows, which is the
    variance of its seeds' means. (A mean square grows with the number of clusters, so it is divided by that.)"""
    import numpy as np

    if len(spreads) < 2:
        return list(spreads)
    shared = np.mean([spread.between_seeds / spread.clusters for spread in spreads], axis=0)
    return [replace(s, between_seeds=shared * s.clusters, benchmarks=len(spreads)) for s in spreads]


def widened(
    spread: SeedSpread,
    p: Floats,
    interval: tuple[Floats, Floats],
    ends: tuple[Floats, Floats],
    level: float = 0.95,
) -> tuple[Floats, tuple[Floats, Floats]]:
    """The p and the interval over samples, made to hold for other seeds too: the largest p, the widest interval, cut to
    `ends`. With one seed there is no p (nan) and the interval is everything."""
    import numpy as np
    from scipy.special import stdtr, stdtrit

    low, high = interval
    for error, degrees in spread.errors():
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(spread.mean == 0, 0.0, np.abs(spread.mean) / error)
            p = np.maximum(p, 2 * stdtr(degrees, -t))
            half = stdtrit(degrees, 0.5 + level / 2) * error
        wider = 2 * half > high - low
        low, high = np.where(wider, spread.mean - half, low), np.where(wider, spread.mean + half, high)
    alone = spread.seeds < 2
    low, high = np.where(alone, -np.inf, low), np.where(alone, np.inf, high)
    return np.where(alone, np.nan, p), (np.maximum(low, ends[0]), np.minimum(high, ends[1]))
