"""Every system against the baseline, paired by sample: all metrics of a table at once, before families are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seedbed.analysis.columns import Columns, ends_of
from seedbed.analysis.composed import composed_comparison
from seedbed.analysis.jackknife import Jackknife, why_not
from seedbed.analysis.measured import Extreme, Measured, blank_comparison
from seedbed.analysis.paired import PairedColumns, effect_size, finite, mcnemar_applies, paired_columns, tidy
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import SeedSpread, seed_spread
from seedbed.analysis.system_values import SystemValues, common_seeds, values_of
from seedbed.analysis.verdict import margin_of
from seedbed.suite import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Pair = tuple[SystemValues, SystemValues]
"""A system and what it is held against."""

_WHOLE_CELL = "a figure of the whole cell is compared within a sweep only"
_NO_PAIR = "no sample has this score on both sides"
_RNG_SEED = 20240917
"""Any number: it only has to stay the same."""


def table_comparisons(table: ScoreTable, margin: float, jackknife: Jackknife | None) -> list[Measured]:
    """Every other system of the table against the baseline in every metric."""
    base = values_of(table, table.baseline)
    pairs = [(values_of(table, label), base) for label in table.values if label != table.baseline]
    made = paired(table, pairs, table.baseline, margin)
    if jackknife is None:
        reason = why_not(table)
        return [m if m.comparison.metric in table.means else _with_reason(m, reason) for m in made]
    return [
        m
        if m.comparison.metric in table.means
        else composed_comparison(table, replace(m.comparison, reason=None), margin, jackknife)
        for m in made
    ]


def _with_reason(m: Measured, reason: str | None) -> Measured:
    return replace(m, comparison=replace(m.comparison, reason=reason))


def paired(
    table: ScoreTable,
    pairs: Sequence[Pair],
    baseline: str,
    margin: float,
    metrics: Sequence[str] | None = None,
) -> list[Measured]:
    """Comparisons of systems with what they are held against, over the table's samples: in the metrics named, by what
    samples scored; without any named in all, those that are no means of samples left blank."""
    import numpy as np

    if not pairs:
        return []
    columns = Columns.of(np.hstack([own.values - base.values for own, base in pairs]), table.clusters)
    found = _compared(table, pairs, columns)
    extremes = _extremes(table, pairs)
    made: list[Measured] = []
    for place, (own, base) in enumerate(pairs):
        spread = _spread(table, own, base)
        for number, metric in enumerate(table.declared):
            if metrics is not None and metric.name not in metrics:
                continue
            column = place * len(table.declared) + number
            blank = blank_comparison(table, own.label, baseline, metric)
            composed = metrics is None and metric.kind == "pooled"
            if composed or not columns.defined(column):
                made.append(Measured(replace(blank, reason=_WHOLE_CELL if composed else _NO_PAIR)))
                continue
            known = _fields(found, column, (own, base), number, margin, metric)
            seeds = max(own.n_seeds, base.n_seeds) if spread is None else int(spread.seeds[number])
            made.append(
                Measured(
                    replace(blank, n_seeds=seeds, **known),
                    found.sized(column),
                    float(found.most[column]),
                    None if spread is None else spread.column(number),
                    extremes.get(column, ()),
                    columns.column(column),
                )
            )
    return made


def _compared(table: ScoreTable, pairs: Sequence[Pair], columns: Columns) -> PairedColumns:
    exact = [
        mcnemar_applies(metric.kind, columns, max(own.n_seeds, base.n_seeds))
        for own, base in pairs
        for metric in table.declared
    ]
    return paired_columns(columns, [metric.range for metric in table.declared] * len(pairs), exact, rng=_RNG_SEED)


def _fields(
    found: PairedColumns, column: int, pair: Pair, number: int, margin: float, metric: Metric
) -> Mapping[str, Any]:
    import numpy as np

    differences = found.columns.defined(column)
    known = ~np.isnan(found.columns.values[:, column])
    means = [math.fsum(side.values[known, number].tolist()) / len(differences) for side in pair]
    p, tested = float(found.p[column]), int(found.columns.n_clusters[column]) >= 2
    missing = [side.missing[:, number] > 0 for side in pair if side.missing is not None]
    return {
        "n_pairs": len(differences),
        "n_clusters": int(found.columns.n_clusters[column]),
        "n_missing": int(np.any(missing, axis=0).sum()) if missing else 0,
        "mean": tidy(means[0]),
        "baseline_mean": tidy(means[1]),
        "difference": tidy(math.fsum(differences) / len(differences)),
        "ci_low": finite(float(found.low[column])),
        "ci_high": finite(float(found.high[column])),
        "p": tidy(p) if tested else None,
        "test": None if not tested else "mcnemar" if found.exact[column] else "permutation",
        "effect_size": effect_size(differences),
        "margin": tidy(margin_of(metric.range, means[1], margin)),
        "wins": sum(d > 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
    }


def _spread(table: ScoreTable, own: SystemValues, base: SystemValues) -> SeedSpread | None:
    """Over the seeds that make other systems of a side; None where seeds make no other system."""
    if not (own.made_by_seed or base.made_by_seed):
        return None
    seeds = common_seeds(own, base)
    if not seeds:
        return seed_spread((own.values - base.values)[:, None, :], table.clusters)
    return seed_spread(own.seeds(seeds) - base.seeds(seeds), table.clusters)


def _extremes(table: ScoreTable, pairs: Sequence[Pair]) -> Mapping[int, tuple[Extreme, Extreme]]:
    """By column, where answers are missing of a metric with a range."""
    import numpy as np

    ends = np.array([ends_of(metric.range) for metric in table.declared])
    ranged = np.isfinite(ends[:, 0]) & np.isfinite(ends[:, 1])
    low, high = (np.where(ranged, ends[:, side], 0.0) for side in (0, 1))
    lacking = np.hstack([ranged & (_share(own) + _share(base) > 0) for own, base in pairs])
    chosen = np.flatnonzero(lacking)
    if not len(chosen):
        return {}
    ranges = [table.declared[column % len(table.declared)].range for column in chosen.tolist()]
    worst = np.hstack([own.at_end(low) - base.at_end(high) for own, base in pairs])[:, chosen]
    best = np.hstack([own.at_end(high) - base.at_end(low) for own, base in pairs])[:, chosen]
    # A sample with some seeds at an end is no longer 0 or 1: sign flips, which are McNemar's test where it is.
    made = [
        paired_columns(Columns.of(filled, table.clusters), ranges, [False] * len(chosen), rng=_RNG_SEED)
        for filled in (worst, best)
    ]
    return {n: (_extreme(made[0], k), _extreme(made[1], k)) for k, n in enumerate(chosen.tolist())}


def _share(system: SystemValues) -> Floats:
    """By metric, the share of answers that is missing."""
    import numpy as np

    return np.zeros(system.values.shape[1]) if system.missing is None else system.missing.mean(axis=0)


def _extreme(found: PairedColumns, column: int) -> Extreme:
    p = float(found.p[column])
    return Extreme(
        float(found.difference[column]),
        float(found.low[column]),
        float(found.high[column]),
        None if math.isnan(p) else p,
    )
