"""Composed figures (kappa, macro F1) against the baseline's, from the jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seedbed.analysis.columns import ends_of
from seedbed.analysis.jackknife import Around, Jackknife
from seedbed.analysis.measured import Extreme, Measured
from seedbed.analysis.paired import finite, tidy
from seedbed.analysis.power import Sized
from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import SeedSpread
from seedbed.analysis.verdict import margin_of
from seedbed.suite import Metric


def composed_comparison(table: ScoreTable, blank: Comparison, margin: float, jackknife: Jackknife) -> Measured:
    """A figure of the whole cell against the baseline's."""
    label, baseline, metric = blank.label, blank.baseline, table.metric(blank.metric)
    own, base = jackknife.whole[label].get(metric.name), jackknife.whole[baseline].get(metric.name)
    found = jackknife.difference(label, baseline, metric.name, metric.range)
    if own is None or base is None:
        return Measured(replace(blank, reason="it is undefined for one of the two"))
    low, high = ends_of(metric.range)
    p = found.p if found is not None else None
    filled = replace(
        blank,
        n_pairs=jackknife.n_samples,
        n_clusters=jackknife.n_clusters,
        n_seeds=max(len(table.seeds[label]), len(table.seeds[baseline])),
        mean=tidy(own),
        baseline_mean=tidy(base),
        difference=tidy(own - base),
        ci_low=None if found is None else finite(found.low),
        ci_high=None if found is None else finite(found.high),
        p=None if p is None else tidy(p),
        test=None if found is None else "jackknife",
        margin=tidy(margin_of(metric.range, base, margin)),
    )
    if found is None:
        return Measured(filled)
    errors = [(float(found.estimate.error[0]), float(found.estimate.degrees[0]))]
    sized = Sized(jackknife.n_samples, found.blocks, found.blocks, high - low, errors, high - low, "t")
    shift, n_missing = _missing_shift(table, (label, baseline), metric)
    return Measured(
        replace(filled, n_missing=n_missing),
        sized,
        high - low,
        _composed_spread(table, label, baseline, metric.name, found),
        _composed_extremes(found, shift) if shift else (),
    )


def _missing_shift(table: ScoreTable, labels: Sequence[str], metric: Metric) -> tuple[float, int]:
    """How far what is missing could move a composed figure, taken as a mean of samples; and how many there are."""
    import numpy as np

    column = table.metrics.index(metric.name)
    shares = [table.missing[label][:, column] for label in labels if label in table.missing]
    low, high = ends_of(metric.range)
    total = sum(float(share.mean()) for share in shares)
    if not total:
        return 0.0, 0
    length = high - low
    return (total * length if np.isfinite(length) else 0.0), int((np.array(shares) > 0).any(axis=0).sum())


def _composed_extremes(found: Around, shift: float) -> tuple[Extreme, Extreme]:
    low, high = (found.moved(by) for by in (-shift, shift))
    return (
        Extreme(low.value, low.low, low.high, low.p),
        Extreme(high.value, high.low, high.high, high.p),
    )


def _composed_spread(table: ScoreTable, label: str, baseline: str, metric: str, found: Around) -> SeedSpread | None:
    """The spread over seeds of a composed figure: from the difference of each seed's figures."""
    import numpy as np

    if not {label, baseline} & table.made_by_seed:
        return None
    own, base = ({s: m.get(metric) for s, m in table.seeds[of].items()} for of in (label, baseline))
    if len(base) == 1 and baseline not in table.made_by_seed:
        base = dict.fromkeys(own, next(iter(base.values())))
    apart = [a - b for seed, a in own.items() if a is not None and (b := base.get(seed)) is not None]
    blocks, seeds = float(found.blocks), float(max(1, len(apart)))
    between = float(np.var(apart, ddof=1)) if len(apart) > 1 else float("nan")
    return SeedSpread(
        mean=np.array([found.value]),
        between_clusters=np.array([found.error**2 * blocks * seeds]),
        between_seeds=np.array([between * blocks]),
        clusters=np.array([blocks]),
        seeds=np.array([seeds]),
    )
