"""What a system gains over the direct answers to the same samples, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seedbed.analysis.bootstrap import only_points, resampled_weights
from seedbed.analysis.means import mean, sample_std
from seedbed.suite import ScoreRow
from seedbed.suites.crosslingual.metrics import cnbe, cnbe_ratio
from seedbed.suites.kit.outcomes import Figures, mean_figures

RESAMPLES = 1000
_SEED = 0


def paired_figures(rows: Sequence[ScoreRow], direct: Sequence[ScoreRow] | None) -> Figures:
    """CNBE and the F1 gain with its interval, over the samples that both systems answered; undefined without direct."""
    base = {row.sample_id: row.scores["f1"] for row in direct or () if row.status == "ok"}
    both = [row for row in rows if row.status == "ok" and base.get(row.sample_id) is not None]
    f1 = [float(row.scores["f1"] or 0.0) for row in both]
    before = [float(base[row.sample_id] or 0.0) for row in both]
    cost = [float(row.scores["cost"] or 0.0) for row in both]
    values = cnbe(f1, before, cost)
    gains = [own - other for own, other in zip(f1, before, strict=True)]
    low, high = gain_interval([row.cluster or row.sample_id for row in both], gains)
    return {
        "cnbe": mean(values),
        "cnbe_std": sample_std(values),
        "cnbe_ratio": cnbe_ratio(f1, before, cost) if both else None,
        "f1_gain": mean(gains),
        "f1_gain_low": low,
        "f1_gain_high": high,
        "n_paired": len(both),
    }


def gain_interval(
    clusters: Sequence[str], gains: Sequence[float], resamples: int = RESAMPLES
) -> tuple[float, float] | tuple[None, None]:
    """95% percentile interval of the mean gain when whole questions, in all their languages, are drawn anew."""
    sums: dict[str, tuple[float, int]] = {}
    for cluster, gain in zip(clusters, gains, strict=True):
        total, count = sums.get(cluster, (0.0, 0))
        sums[cluster] = (total + gain, count + 1)
    if len(sums) < 2 or only_points():
        return None, None
    import numpy as np

    table = np.array([sums[name] for name in sorted(sums)])
    totals = np.concatenate([weights @ table for weights in resampled_weights(len(sums), _SEED, resamples)])
    means = totals[:, 0] / totals[:, 1]
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return low, high


def by_language(rows: Sequence[ScoreRow], names: Sequence[str]) -> dict[str, Figures]:
    """Means of the samples in each language, with their counts."""
    groups: dict[str, list[ScoreRow]] = {}
    for row in rows:
        groups.setdefault(str(row.details.get("lang")), []).append(row)
    return {lang: mean_figures(group, names) for lang, group in sorted(groups.items())}


def direct_of(label: str, rows: Mapping[str, Sequence[ScoreRow]]) -> Sequence[ScoreRow] | None:
    """The direct system under the same optimizer if it ran, else without one."""
    _, plus, optimizer = label.partition("+")
    return rows.get(f"direct{plus}{optimizer}") or rows.get("direct")
