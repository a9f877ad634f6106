"""From a score table to the rows of a summary: each system's figures over seeds and over samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from seedbed.analysis.columns import Columns, ends_of
from seedbed.analysis.intervals import mean_ends, wilson, wilson_applies
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.means import over_seeds, sample_std
from seedbed.analysis.paired import finite, tidy
from seedbed.analysis.results import OverSamples, Row
from seedbed.analysis.score_table import ScoredCell, ScoreTable
from seedbed.analysis.system_values import filled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def table_rows(table: ScoreTable, planned: Sequence[ScoredCell], jackknife: Jackknife | None) -> list[Row]:
    """A row a system of the table; `planned` are all its cells, finished or not."""
    import numpy as np

    shared = _shared(table)
    rows: list[Row] = []
    for label, values in table.values.items():
        means = _over_samples(table, label, Columns.of(values, table.clusters))
        samples = {
            name: means[name] if name in table.means else _composed(table, jackknife, label, name)
            for name in table.metrics
        }
        for number, name in enumerate(table.metrics):
            if name in table.means:
                own = values[shared[:, number], number]
                mean = tidy(float(own.mean())) if len(own) and not np.isnan(own).any() else None
                samples[name] = replace(samples[name], common=mean, n_common=len(own))
        rows.append(_row(table, label, [c for c in planned if c.label == label], samples))
    return rows


def _shared(table: ScoreTable) -> NDArray[np.bool_]:
    """By metric, the samples that all systems have which have any."""
    import numpy as np

    found = np.ones((len(table.sample_ids), len(table.metrics)), dtype=bool)
    for values in table.values.values():
        known = ~np.isnan(values)
        found &= known | ~known.any(axis=0)
    return found


def _over_samples(table: ScoreTable, label: str, columns: Columns) -> dict[str, OverSamples]:
    import numpy as np

    ends = [ends_of(metric.range) for metric in table.declared]
    low, high = (np.array(side) for side in zip(*ends, strict=True))
    lows, highs = mean_ends(columns.sums, columns.counts, low, high)
    n_seeds = max(1, len(table.seeds.get(label, {})))
    found: dict[str, OverSamples] = {}
    for column, metric in enumerate(table.declared):
        own, counts = columns.defined(column), columns.counts[:, column]
        by_rate = wilson_applies(metric.kind, len(own), n_seeds, singletons=columns.singletons)
        rate = wilson(sum(own), len(own)) if by_rate else None
        interval = (rate.low, rate.high) if rate else (float(lows[column]), float(highs[column]))
        found[metric.name] = OverSamples(
            n_samples=len(own),
            n_clusters=int(columns.n_clusters[column]),
            std=sample_std(own),
            ci_low=finite(interval[0]) if own else None,
            ci_high=finite(interval[1]) if own else None,
            method=None if not own else "wilson" if rate else "pseudo-samples",
            equal_clusters=tidy(float(counts.sum() ** 2 / np.square(counts).sum())) if own else 0.0,
        )
        found[metric.name] = _with_bounds(found[metric.name], table, label, column, n_seeds)
    return found


def _with_bounds(samples: OverSamples, table: ScoreTable, label: str, column: int, n_seeds: int) -> OverSamples:
    """With the mean had all that is missing been at either end of the range."""
    import numpy as np

    share = table.missing[label][:, column] if label in table.missing else np.zeros(0)
    if not share.any():
        return samples
    samples = replace(samples, n_missing=round(float(share.sum()) * n_seeds))
    value_range = table.declared[column].range
    if value_range is None:
        return samples
    low, high = (float(np.nanmean(filled(table.values[label][:, column], share, end))) for end in value_range)
    return replace(samples, bound_low=tidy(low), bound_high=tidy(high))


def _composed(table: ScoreTable, jackknife: Jackknife | None, label: str, metric: str) -> OverSamples:
    if jackknife is None:
        return OverSamples(0, 0, None, None, None, None)
    found = jackknife.figure(label, metric, table.metric(metric).range)
    common = jackknife.common.get(label, {}).get(metric)
    return OverSamples(
        n_samples=jackknife.n_samples,
        n_clusters=jackknife.n_clusters,
        std=None,
        ci_low=None if found is None else finite(found.low),
        ci_high=None if found is None else finite(found.high),
        method=None if found is None else "jackknife",
        equal_clusters=jackknife.n_clusters,
        common=None if common is None else tidy(common),
        n_common=jackknife.n_common,
    )


def _row(table: ScoreTable, label: str, planned: Sequence[ScoredCell], samples: Mapping[str, OverSamples]) -> Row:
    present = list(table.seeds[label].values())
    first = table.cells[label][0]
    usages = [usage for metrics in present for usage in metrics["usage"].values()]
    return Row(
        suite=first.suite,
        benchmark=first.benchmark,
        system=first.system,
        optimizer=first.optimizer,
        model=first.model,
        label=label,
        is_baseline=label == table.baseline,
        metrics={m.name: over_seeds([metrics.get(m.name) for metrics in present], m.range) for m in table.declared},
        samples=samples,
        n_seeds=len(present),
        n_seeds_planned=len(planned),
        n=sum(metrics["n"] for metrics in present),
        n_errors=sum(metrics["n_errors"] for metrics in present),
        n_skipped=sum(metrics["n_skipped"] for metrics in present),
        n_unreadable=sum(metrics.get("n_unreadable") or 0 for metrics in present),
        n_truncated=sum(metrics.get("n_truncated") or 0 for metrics in present),
        tokens_in=sum(usage["tokens_in"] for usage in usages),
        tokens_out=sum(usage["tokens_out"] for usage in usages),
        list_usd=_sum_known([usage["list_usd"] for usage in usages]),
        spent_usd=_sum_known([usage["spent_usd"] for usage in usages]),
        uncounted=any(usage["calls"] is None for usage in usages),
        by_seed={
            seed: {m.name: metrics.get(m.name) for m in table.declared} for seed, metrics in table.seeds[label].items()
        },
    )


def _sum_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
