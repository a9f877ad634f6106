"""A system against another on the same samples: the difference, its interval, its p, and what could have been found."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from seedbed.analysis.columns import (
    Columns,
    Estimate,
    Range,
    by_seed,
    ends_of,
    estimate,
    numbered,
    over_columns,
    plain_means,
)
from seedbed.analysis.intervals import mean_ends
from seedbed.analysis.power import Sized, detectable
from seedbed.analysis.seeds import SeedSpread, seed_spread, widened
from seedbed.analysis.significance import mcnemar_p, sign_flip_p
from seedbed.suite import MetricKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Test = Literal["permutation", "mcnemar", "jackknife", "samples and seeds", "sequential"]
Method = Literal["wilson", "pseudo-samples", "jackknife"]

ALPHA = 0.05
_AT_THE_END = 0.5
"""Differences as large as the range allows that are counted with those seen, to say how far out pseudo-samples lie."""


@dataclass(frozen=True, slots=True)
class PairedResult:
    """`p` is None where no test can be made (one cluster, or one seed of an optimizer), `detectable` where nothing
    could have been found. Without a range an interval may be infinite."""

    difference: float
    ci_low: float
    ci_high: float
    p: float | None
    detectable: float | None
    n: int
    n_clusters: int
    n_seeds: int


def compare_paired(
    system: ArrayLike,
    baseline: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    value_range: Range = (0.0, 1.0),
    kind: MetricKind = "mean",
    seed_changes_system: bool = False,
    tests_in_family: int = 1,
    rng: int | np.random.Generator = 0,
) -> PairedResult:
    """A system minus a baseline, values as samples x seeds, nan where one is missing.

    Seeds are averaged per sample first; with `seed_changes_system` every seed is another system, and the comparison is
    about other seeds too. `tests_in_family` is how many tests Holm's adjustment has left: `detectable` is for the
    level that leaves.
    """
    own, base = by_seed(system), by_seed(baseline)
    _same_shape(own, base)
    differences = (over_columns(own) - over_columns(base))[:, None]
    places = numbered(clusters, len(own))
    columns = Columns.of(differences, places)
    n_seeds = max(own.shape[1], base.shape[1])
    exact = mcnemar_applies(kind, columns, n_seeds)
    spread = seed_spread((own - base)[:, :, None], places) if seed_changes_system else None
    found = paired_columns(columns, [value_range], [exact], spread, rng)
    n = int(columns.counts.sum())
    p = float(found.p[0])
    least = None if math.isnan(p) else detectable(found.sized(0), ALPHA / max(1, tests_in_family))
    return PairedResult(
        difference=float(found.difference[0]),
        ci_low=float(found.low[0]) if n else math.nan,
        ci_high=float(found.high[0]) if n else math.nan,
        p=None if math.isnan(p) else p,
        detectable=least,
        n=n,
        n_clusters=int(columns.n_clusters[0]),
        n_seeds=n_seeds,
    )


@dataclass(frozen=True)
class PairedColumns:
    """Many comparisons at once, a column each."""

    columns: Columns
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    """nan where no test can be made."""
    plain: Estimate
    """Without pseudo-samples: what the test itself sees."""
    spread: SeedSpread | None
    exact: Sequence[bool]
    """Where McNemar's test was taken."""
    most: Floats

    def sized(self, column: int) -> Sized:
        """What `detectable` must know."""
        import numpy as np

        sums, most = self.columns.sums[:, column], float(self.most[column])
        n, clusters = float(self.columns.counts[:, column].sum()), int(self.columns.n_clusters[column])
        moved = np.abs(sums[sums != 0])
        errors = [(float(self.plain.error[column]), float(self.plain.degrees[column]))]
        if self.spread is not None:
            errors += [(float(error[column]), float(df[column])) for error, df in self.spread.errors()]
        deviation = None if self.spread is None else self.spread.deviation
        return Sized(
            n=int(n),
            n_clusters=clusters,
            n_differ=len(moved),
            step=float(moved.mean()) * clusters / n if len(moved) else most,
            errors=errors,
            most=most,
            test="mcnemar" if self.exact[column] and self.spread is None else "flips",
            deviation=None if deviation is None else float(deviation[column]),
        )


def paired_columns(
    columns: Columns,
    ranges: Sequence[Range],
    exact: Sequence[bool],
    spread: SeedSpread | None = None,
    rng: int | np.random.Generator = 0,
    flips: int | None = None,
) -> PairedColumns:
    """Compare every column of differences with 0; `ranges` are those of the metrics, not of their differences."""
    import numpy as np

    most = np.array([high - low for low, high in map(ends_of, ranges)])
    low, high = difference_ends(columns, most)
    p = sample_p(columns, exact, rng, flips)
    if spread is not None:
        p, (low, high) = widened(spread, p, (low, high), (-most, most))
    centre = plain_means(columns) if spread is None else spread.mean
    plain = estimate(columns.sums, columns.counts, -most, most, 0.0)
    return PairedColumns(columns, centre, low, high, p, plain, spread, exact, most)


def difference_ends(columns: Columns, most: Floats) -> tuple[Floats, Floats]:
    """The interval of each column's mean difference; `most` is the largest that the range allows.

    Where no difference goes the other way, the far end is at least that of a mean of such values: when few are seen
    and all on one side, those not seen lie further out than an interval with equal arms reaches.
    """
    import numpy as np

    far = _how_far(columns.values, most)
    low, high = estimate(columns.sums, columns.counts, -far, far).interval(-most, most)
    values = np.nan_to_num(columns.values)
    for sign, far_end in ((1, high), (-1, low)):
        one_way = np.isfinite(most) & (sign * values >= 0).all(axis=0)
        sums, counts, end = sign * columns.sums[:, one_way], columns.counts[:, one_way], most[one_way]
        reach = mean_ends(sums, counts, np.zeros_like(end), end)[1]
        far_end[one_way] = sign * np.maximum(sign * far_end[one_way], reach)
    return low, high


def _how_far(differences: Floats, most: Floats) -> Floats:
    """Of each column, where the pseudo-samples lie: as far out as the differences that make up the spread, with half a
    one at the end of the range counted among them. Single 0/1 answers leave it at the end; the means of several seeds
    seldom go there, and neither need the pseudo-samples."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        squares = np.square(np.nan_to_num(differences) / most)
        return most * np.sqrt((np.square(squares).sum(axis=0) + _AT_THE_END) / (squares.sum(axis=0) + _AT_THE_END))


def sample_p(
    columns: Columns, exact: Sequence[bool], rng: int | np.random.Generator = 0, flips: int | None = None
) -> Floats:
    """p over samples of every column: McNemar's where it applies, else by sign flips; nan below two clusters."""
    import numpy as np

    found = np.full(len(exact), np.nan)
    rated = np.array(exact, dtype=bool)
    tested = columns.n_clusters >= 2
    if (rated & tested).any():
        found[rated & tested] = mcnemar_p(columns.values[:, rated & tested])
    rest = ~rated & tested
    if rest.any():
        own = columns.sums[:, rest]
        found[rest] = sign_flip_p(own, rng) if flips is None else sign_flip_p(own, rng, flips)
    return found


def mcnemar_applies(kind: MetricKind, columns: Columns, n_seeds: int) -> bool:
    """As Wilson's interval: for rates of single samples under one seed."""
    return kind == "rate" and columns.singletons and n_seeds == 1


def effect_size(differences: Sequence[float]) -> float | None:
    """Mean of the differences in units of their standard deviation (Cohen's d for pairs); None without a spread."""
    n = len(differences)
    if n < 2:
        return None
    centre = math.fsum(differences) / n
    spread = math.sqrt(math.fsum((d - centre) ** 2 for d in differences) / (n - 1))
    return tidy(centre / spread) if spread > 1e-12 else None


def tidy(value: float) -> float:
    """To 12 significant digits: what sums of floats leave behind that differs between machines is not published."""
    return float(f"{value:.12g}")


def finite(value: float) -> float | None:
    """As it is published: nothing where there is no end."""
    return tidy(value) if math.isfinite(value) else None


def _same_shape(own: Floats, base: Floats) -> None:
    if own.shape[0] != base.shape[0]:
        raise ValueError(f"compare_paired: {own.shape[0]} samples against {base.shape[0]}; they must be the same ones")
    if own.shape[1] != base.shape[1] and 1 not in (own.shape[1], base.shape[1]):
        raise ValueError(f"compare_paired: {own.shape[1]} seeds against {base.shape[1]}; give the same, or one column")
