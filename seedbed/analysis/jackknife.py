"""Intervals for figures that are no means of samples (kappa, macro F1, CNBE): leave blocks of clusters out in turn.

The suite's own aggregate is asked again without each block, so nothing here knows what the figure is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seedbed.analysis.bootstrap import points_only
from seedbed.analysis.columns import Estimate, Range, ends_of, estimate
from seedbed.analysis.intervals import mean_ends
from seedbed.analysis.means import mean
from seedbed.analysis.score_table import ScoreTable
from seedbed.suite import ScoreRow, Suite, resolve

BLOCKS = 20
_MIN_CLUSTERS = 5
MAX_ROWS = 20_000
"""Beyond this many rows in a table its composed figures get no interval: their rows would have to be held at once."""

Figures = Mapping[str, Mapping[str, float | None]]
"""By label and metric, the mean over seeds."""
Rows = Mapping[tuple[int, str], list[ScoreRow]]
"""The scored rows of a table by seed and label."""


@dataclass(frozen=True)
class Around:
    """A composed figure, or a difference of two, with what it is uncertain by."""

    value: float
    low: float
    high: float
    estimate: Estimate
    """With pseudo-samples at the ends of the range, as a mean has them."""
    error: float
    """Of the figure as it is, without them."""
    blocks: int

    @property
    def p(self) -> float | None:
        """By the estimate that the interval of a difference is made from, so that both say the same of 0."""
        error = float(self.estimate.error[0])
        if not math.isfinite(error):
            # No block changes a figure without a range: nothing varies, so nothing can be tested unless it is 0.
            return 1.0 if abs(self.value) < 1e-12 else None
        from scipy.special import stdtr

        return 2 * float(stdtr(self.estimate.degrees[0], -abs(float(self.estimate.mean[0])) / error))

    def moved(self, by: float) -> Around:
        """The same around another value."""
        return replace(
            self,
            value=self.value + by,
            low=self.low + by,
            high=self.high + by,
            estimate=replace(self.estimate, mean=self.estimate.mean + by),
        )


@dataclass(frozen=True)
class Jackknife:
    whole: Figures
    without: Sequence[Figures]
    """The figures without each block."""
    common: Figures
    """The figures on the samples that all systems have answered under all seeds."""
    n_samples: int
    n_clusters: int
    n_common: int

    def figure(self, label: str, metric: str, value_range: Range) -> Around | None:
        parts = [part[label].get(metric) for part in self.without]
        return self._around(self.whole[label].get(metric), parts, ends_of(value_range), difference=False)

    def difference(self, label: str, baseline: str, metric: str, value_range: Range) -> Around | None:
        own, base = self.whole[label].get(metric), self.whole[baseline].get(metric)
        parts = [_minus(part[label].get(metric), part[baseline].get(metric)) for part in self.without]
        low, high = ends_of(value_range)
        return self._around(_minus(own, base), parts, (low - high, high - low), difference=True)

    def _around(
        self, value: float | None, parts: Sequence[float | None], ends: tuple[float, float], *, difference: bool
    ) -> Around | None:
        known = [part for part in parts if part is not None]
        if value is None or len(known) < len(parts):
            return None
        return around(value, known, self.n_samples, ends, difference=difference)


def around(
    value: float, parts: Sequence[float], n_samples: int, ends: tuple[float, float], *, difference: bool
) -> Around:
    """From a figure and what it is without each block: every block becomes a cluster whose samples have the value that
    would move the figure as far as leaving it out does."""
    import numpy as np

    blocks = len(parts)
    centre = math.fsum(parts) / blocks
    error = math.sqrt((blocks - 1) / blocks * math.fsum((part - centre) ** 2 for part in parts))
    moved = np.array([value - (blocks - 1) * (part - centre) for part in parts])[:, None]
    counts = np.full_like(moved, n_samples / blocks)
    bottom, top = np.array([ends[0]]), np.array([ends[1]])
    made = estimate(moved * counts, counts, bottom, top)
    low, high = made.interval(bottom, top) if difference else mean_ends(moved * counts, counts, bottom, top)
    return Around(value, float(low[0]), float(high[0]), made, error, blocks)


def why_not(table: ScoreTable) -> str | None:
    """Why the composed figures of a table have no interval and are not compared; None where they are."""
    clusters = len(set(table.clusters.tolist()))
    if clusters < _MIN_CLUSTERS:
        return f"a figure of the whole cell is compared from {_MIN_CLUSTERS} clusters on, here are {clusters}"
    rows = sum(len(cells) for cells in table.cells.values()) * len(table.sample_ids)
    if rows > MAX_ROWS:
        return f"a figure of the whole cell is compared up to {MAX_ROWS:,} rows, here are {rows:,}"
    return None


def jackknife(table: ScoreTable, suite: Suite, read_rows: Callable[[], Rows]) -> Jackknife | None:
    """None where all figures are means of samples, or there are too few clusters or too many rows, which are then not
    read either."""
    composed = [name for name in table.metrics if name not in table.means]
    clusters = len(set(table.clusters.tolist()))
    if not composed or why_not(table) is not None:
        return None
    rows = read_rows()
    block_of = _blocks(table, min(BLOCKS, clusters))
    shared = _answered_by_all(rows)

    def keeping(keep: Callable[[str], bool]) -> Figures:
        kept = {key: [row for row in own if keep(row.sample_id)] for key, own in rows.items()}
        return _figures(suite, kept, composed, grouped=grouped)

    with points_only():
        whole = _figures(suite, rows, composed, grouped=True)
        # Pairing the systems again in every round is for figures that come from it.
        grouped = whole != _figures(suite, rows, composed, grouped=False)
        without = [keeping(lambda s, out=block: block_of[s] != out) for block in range(min(BLOCKS, clusters))]
        common = whole if len(shared) == len(table.sample_ids) else keeping(shared.__contains__) if shared else {}
    return Jackknife(whole, without, common, len(table.sample_ids), clusters, len(shared))


def _answered_by_all(rows: Rows) -> set[str]:
    """Samples that no system failed on; those that nobody was asked do not count against anybody."""
    everything = {row.sample_id for own in rows.values() for row in own}
    return everything - {row.sample_id for own in rows.values() for row in own if row.status == "error"}


def _blocks(table: ScoreTable, number: int) -> dict[str, int]:
    """Clusters dealt out evenly in a shuffled order, so that blocks do not follow the order of the file."""
    import numpy as np

    order = np.random.default_rng(0).permutation(int(table.clusters.max()) + 1)
    return {
        sample: int(order[cluster]) % number
        for sample, cluster in zip(table.sample_ids, table.clusters.tolist(), strict=True)
    }


def _figures(suite: Suite, rows: Rows, names: Sequence[str], *, grouped: bool) -> Figures:
    made: dict[tuple[int, str], Mapping[str, Any]] = {}
    aggregate = resolve(suite.aggregate)
    for seed in dict.fromkeys(seed for seed, _ in rows):
        own = {label: listed for (of, label), listed in rows.items() if of == seed}
        metrics = {label: dict(aggregate(listed)) for label, listed in own.items()}
        if grouped and suite.score_group is not None:
            metrics = resolve(suite.score_group)(own, metrics)
        made |= {(seed, label): metrics[label] for label in own}
    labels = dict.fromkeys(label for _, label in rows)
    return {label: {name: _over_seeds(made, label, name) for name in names} for label in labels}


def _over_seeds(made: Mapping[tuple[int, str], Mapping[str, Any]], label: str, name: str) -> float | None:
    return mean([value for (_, of), m in made.items() if of == label and (value := m.get(name)) is not None])


def _minus(own: float | None, base: float | None) -> float | None:
    return None if own is None or base is None else own - base
