"""From score_tables to figures: rows over seeds and samples, comparisons with the baseline, Holm over each family."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from seedbed.analysis.intervals import holm
from seedbed.analysis.jackknife import Jackknife
from seedbed.analysis.means import over_seeds, sample_std
from seedbed.analysis.paired import (
    bootstrap_interval,
    detectable,
    effect_size,
    mcnemar_of,
    rate_interval,
    resampled_means,
    sign_flip_p,
    standard_error,
    tidy,
)
from seedbed.analysis.results import ALPHA, Comparison, OverSamples, Row
from seedbed.analysis.score_table import ScoredCell, ScoreTable
from seedbed.analysis.verdict import margin_of, verdict
from seedbed.suite import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RNG_SEED = 20240917
"""Any number: it only has to stay the same."""


@dataclass(frozen=True)
class Columns:
    """Per-sample values as sums and counts of clusters, a column a figure."""

    values: Floats
    sums: Floats
    counts: Floats
    singletons: bool
    """Whether each sample is a cluster of its own."""

    @classmethod
    def of(cls, values: Floats, clusters: NDArray[np.int64]) -> Columns:
        import numpy as np

        number = int(clusters.max()) + 1 if len(clusters) else 0
        sums, counts = np.zeros((number, values.shape[1])), np.zeros((number, values.shape[1]))
        np.add.at(sums, clusters, np.nan_to_num(values))
        np.add.at(counts, clusters, (~np.isnan(values)).astype(np.float64))
        return cls(values, sums, counts, number == len(clusters))

    def defined(self, column: int) -> list[float]:
        import numpy as np

        own = self.values[:, column]
        return own[~np.isnan(own)].tolist()

    def clusters(self, column: int) -> int:
        return int((self.counts[:, column] > 0).sum())


def table_rows(table: ScoreTable, planned: Sequence[ScoredCell], jackknife: Jackknife | None) -> list[Row]:
    """A row a system of the table; `planned` are all its cells, finished or not."""
    import numpy as np

    labels = list(table.values)
    columns = Columns.of(np.hstack([table.values[label] for label in labels]), table.clusters)
    means = resampled_means(columns.sums, columns.counts, _RNG_SEED)
    rows: list[Row] = []
    for place, label in enumerate(labels):
        samples: dict[str, OverSamples] = {}
        for number, name in enumerate(table.metrics):
            column = place * len(table.metrics) + number
            if name in table.means:
                samples[name] = _over_samples(table.metric(name), columns, column, means[:, column])
            else:
                samples[name] = _from_jackknife(jackknife, label, name)
        rows.append(_row(table, label, [c for c in planned if c.label == label], samples))
    return rows


def _over_samples(metric: Metric, columns: Columns, column: int, means: Floats) -> OverSamples:
    own, clusters = columns.defined(column), columns.clusters(column)
    rate = rate_interval(own) if metric.kind == "rate" and columns.singletons else None
    found = rate or bootstrap_interval(means, clusters)
    return OverSamples(
        n_samples=len(own),
        n_clusters=clusters,
        std=sample_std(own),
        ci_low=found.low if found else None,
        ci_high=found.high if found else None,
        method="wilson" if rate else "bootstrap" if found else None,
    )


def _from_jackknife(jackknife: Jackknife | None, label: str, metric: str) -> OverSamples:
    if jackknife is None:
        return OverSamples(0, 0, None, None, None, None)
    found = jackknife.interval(label, metric)
    low, high = (None, None) if found is None else (found.low, found.high)
    method = None if found is None else "jackknife"
    return OverSamples(jackknife.n_samples, jackknife.n_clusters, None, low, high, method)


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
        metrics={m.name: over_seeds([metrics.get(m.name) for metrics in present]) for m in table.declared},
        samples=samples,
        n_seeds=len(present),
        n_seeds_planned=len(planned),
        n=sum(metrics["n"] for metrics in present),
        n_errors=sum(metrics["n_errors"] for metrics in present),
        n_skipped=sum(metrics["n_skipped"] for metrics in present),
        tokens_in=sum(usage["tokens_in"] for usage in usages),
        tokens_out=sum(usage["tokens_out"] for usage in usages),
        list_usd=_sum_known([usage["list_usd"] for usage in usages]),
        spent_usd=_sum_known([usage["spent_usd"] for usage in usages]),
    )


def table_comparisons(table: ScoreTable, margin: float, jackknife: Jackknife | None) -> list[Comparison]:
    """Every other system against the baseline in every metric; p-values not yet adjusted, verdicts not yet given."""
    base = table.values[table.baseline]
    pairs = [(label, own, base) for label, own in table.values.items() if label != table.baseline]
    made = paired(table, pairs, table.baseline, margin)
    if jackknife is None:
        return made
    return [
        c if c.metric in table.means else replace(c, **jackknife.compared(c.label, c.baseline, c.metric, margin))
        for c in made
    ]


def paired(
    table: ScoreTable,
    pairs: Sequence[tuple[str, Floats, Floats]],
    baseline: str,
    margin: float,
    metrics: Sequence[str] | None = None,
) -> list[Comparison]:
    """Comparisons of (label, its values, the values it is held against) over the table's samples: in the metrics named,
    by what samples scored; without any named in all, those that are no means of samples left blank."""
    import numpy as np

    if not pairs:
        return []
    columns = Columns.of(np.hstack([own - base for _, own, base in pairs]), table.clusters)
    means = resampled_means(columns.sums, columns.counts, _RNG_SEED)
    flipped = sign_flip_p(columns.sums, _RNG_SEED)
    made: list[Comparison] = []
    for place, (label, own, base) in enumerate(pairs):
        for number, metric in enumerate(table.declared):
            name = metric.name
            if metrics is not None and name not in metrics:
                continue
            column = place * len(table.declared) + number
            blank = Comparison(
                *table.key,
                label=label,
                baseline=baseline,
                metric=name,
                metric_label=metric.label,
                digits=metric.digits,
                higher_is_better=metric.higher_is_better,
                reference=label in table.reference,
            )
            made.append(blank)
            if metrics is not None or metric.kind != "pooled":
                known = ~np.isnan(columns.values[:, column])
                both = own[known, number].tolist(), base[known, number].tolist()
                made[-1] = replace(
                    blank, **_compared(metric, columns, column, means[:, column], flipped[column], both, margin)
                )
    return made


def _compared(
    metric: Metric,
    columns: Columns,
    column: int,
    means: Floats,
    flipped: float,
    both: tuple[list[float], list[float]],
    margin: float,
) -> dict[str, Any]:
    differences, clusters = columns.defined(column), columns.clusters(column)
    if not differences:
        return {}
    # A sample's mean over several seeds is no longer 0 or 1.
    rates = metric.kind == "rate" and columns.singletons and set(both[0]) | set(both[1]) <= {0.0, 1.0}
    found = bootstrap_interval(means, clusters)
    se = standard_error(columns.sums[:, column], columns.counts[:, column])
    base = math.fsum(both[1]) / len(both[1])
    return {
        "n_pairs": len(differences),
        "n_clusters": clusters,
        "mean": tidy(math.fsum(both[0]) / len(both[0])),
        "baseline_mean": tidy(base),
        "difference": tidy(math.fsum(differences) / len(differences)),
        "ci_low": found.low if found else None,
        "ci_high": found.high if found else None,
        "p": None if clusters < 2 else mcnemar_of(differences) if rates else tidy(flipped),
        "test": None if clusters < 2 else "mcnemar" if rates else "permutation",
        "effect_size": effect_size(differences),
        "detectable": detectable(se, clusters - 1),
        "margin": tidy(margin_of(metric.range, base, margin)),
        "wins": sum(d > 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
    }


def judged(made: Iterable[Comparison], alpha: float = ALPHA) -> list[Comparison]:
    """With Holm's p over each family, which is all tests of one metric of a suite (reference systems apart), and the
    verdicts that follow."""
    listed = list(made)
    families: dict[tuple[str, str, bool], list[int]] = {}
    for place, comparison in enumerate(listed):
        families.setdefault((comparison.suite, comparison.metric, comparison.reference), []).append(place)
    for places in families.values():
        for place, p in zip(places, holm([listed[i].p for i in places]), strict=True):
            c = replace(listed[place], p_holm=None if p is None else tidy(p))
            words = verdict(
                difference=c.difference,
                interval=(c.ci_low, c.ci_high),
                p=c.p_holm,
                clusters=c.n_clusters,
                margin=c.margin or 0.0,
                higher_is_better=c.higher_is_better,
                alpha=alpha,
            )
            listed[place] = replace(c, verdict=words)
    return listed


def _sum_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
