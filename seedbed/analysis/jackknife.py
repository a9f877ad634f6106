"""Intervals for figures that are no means of samples (kappa, macro F1, CNBE): leave blocks of clusters out in turn.

The suite's own aggregate is asked again without each block, so nothing here knows what the figure is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.intervals import Interval, points_only
from seedbed.analysis.means import mean
from seedbed.analysis.paired import detectable, tidy
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.verdict import margin_of
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
class Jackknife:
    table: ScoreTable
    whole: Figures
    without: Sequence[Figures]
    """The figures without each block."""
    n_samples: int
    n_clusters: int

    def interval(self, label: str, metric: str) -> Interval | None:
        centre = self.whole[label].get(metric)
        return _around(centre, _error([part[label].get(metric) for part in self.without]), len(self.without))

    def compared(self, label: str, baseline: str, metric: str, margin: float) -> dict[str, Any]:
        """The difference of two systems, as fields of a comparison."""
        own, base = self.whole[label].get(metric), self.whole[baseline].get(metric)
        if own is None or base is None:
            return {}
        parts = [_minus(part[label].get(metric), part[baseline].get(metric)) for part in self.without]
        error, blocks = _error(parts), len(self.without)
        found = _around(own - base, error, blocks)
        return {
            "n_pairs": self.n_samples,
            "n_clusters": self.n_clusters,
            "mean": tidy(own),
            "baseline_mean": tidy(base),
            "difference": tidy(own - base),
            "ci_low": found.low if found else None,
            "ci_high": found.high if found else None,
            "p": _p(own - base, error, blocks),
            "test": "jackknife" if error is not None else None,
            "detectable": detectable(error, blocks - 1),
            "margin": tidy(margin_of(self.table.metric(metric).range, base, margin)),
        }


def jackknife(table: ScoreTable, suite: Suite, read_rows: Callable[[], Rows]) -> Jackknife | None:
    """None where all figures are means of samples, or there are too few clusters or too many rows, which are then not
    read either."""
    composed = [name for name in table.metrics if name not in table.means]
    n_cells = sum(len(cells) for cells in table.cells.values())
    clusters = len(set(table.clusters.tolist()))
    if not composed or clusters < _MIN_CLUSTERS or n_cells * len(table.sample_ids) > MAX_ROWS:
        return None
    rows = read_rows()
    block_of = _blocks(table, min(BLOCKS, clusters))

    def leaving_out(block: int) -> Figures:
        kept = {key: [row for row in own if block_of[row.sample_id] != block] for key, own in rows.items()}
        return _figures(suite, kept, composed, grouped=grouped)

    with points_only():
        whole = _figures(suite, rows, composed, grouped=True)
        # Pairing the systems again in every round is for figures that come from it.
        grouped = whole != _figures(suite, rows, composed, grouped=False)
        without = [leaving_out(block) for block in range(min(BLOCKS, clusters))]
    return Jackknife(table, whole, without, len(table.sample_ids), clusters)


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


def _error(parts: Sequence[float | None]) -> float | None:
    """Standard error from the figures without each block; None if one of them is undefined."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len(parts) < 2:
        return None
    centre = math.fsum(known) / len(known)
    return math.sqrt((len(known) - 1) / len(known) * math.fsum((part - centre) ** 2 for part in known))


def _around(centre: float | None, error: float | None, blocks: int) -> Interval | None:
    if centre is None or error is None:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(blocks - 1, 0.975)) * error
    return Interval(tidy(centre - half), tidy(centre + half))


def _p(difference: float, error: float | None, blocks: int) -> float | None:
    if error is None:
        return None
    if error < 1e-12:
        # No block changes the difference: nothing varies, so nothing can be tested unless there is none.
        return 1.0 if abs(difference) < 1e-12 else None
    from scipy.special import stdtr

    return tidy(2 * float(stdtr(blocks - 1, -abs(difference) / error)))


def _minus(own: float | None, base: float | None) -> float | None:
    return None if own is None or base is None else own - base
