"""From the rows of a cell to its figures and their intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from seedbed.analysis.bootstrap import cluster_bootstraps, only_points
from seedbed.analysis.intervals import Interval, wilson
from seedbed.analysis.means import mean
from seedbed.suite import ScoreRow
from seedbed.suites.contract_risk.levels import ENGLISH, LEVELS
from seedbed.suites.contract_risk.metrics import INVALID, quick_levels, resampled_figures, risk_level_metrics
from seedbed.suites.contract_risk.rule_figures import Rate, defined_rate, rule_rates
from seedbed.suites.contract_risk.verify import one_verifier
from seedbed.suites.kit.outcomes import counts

BOOTSTRAPPED = ("weighted_accuracy", "kappa_linear", "high_risk_f2", "macro_f1")
_FLAT = (*BOOTSTRAPPED, "accuracy", "kappa_quadratic", "macro_precision", "macro_recall")
_BY_CLASS = ("class_precision", "class_recall", "class_f1")


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    """All figures of a cell. Errors count as misses in every total of levels and parsing; skipped rows do not. Figures
    by class and the confusion matrix are nested as the source of the suite has them."""
    scored = [row for row in rows if row.status != "skipped"]
    one_verifier(row.details["verifier"] for row in scored)
    matrix = confusion(scored)
    count = quick_levels if only_points() else risk_level_metrics
    levels = count([row[:3] for row in matrix], [row[INVALID] for row in matrix])
    figures: dict[str, Any] = {name: levels[name] for name in (*_FLAT, *_BY_CLASS)}
    figures |= {name: levels[name] for name in ("high_to_medium_rate", "high_to_low_rate", "total", "n_parsed")}
    figures |= {f"n_{name}": levels["n_parsed" if name == "kappa_linear" else "total"] for name in BOOTSTRAPPED}
    figures |= {f"support_{ENGLISH[level]}": sum(matrix[i]) for i, level in enumerate(LEVELS)}
    for name, rate in rates(scored).items():
        figures |= _with_interval(name, rate)
    resampled = bootstrap(scored)
    for name in BOOTSTRAPPED:
        figures |= _ends(name, resampled.get(name))
    figures |= _latency(scored)
    figures["n_law_incomplete"] = sum(_law_verdicts(scored)["incomplete"])
    figures["confusion"] = [row[:INVALID] for row in matrix]
    figures["invalid_by_gold"] = [row[INVALID] for row in matrix]
    return figures | counts(rows)


def confusion(rows: Sequence[ScoreRow]) -> list[list[int]]:
    """Rows gold, columns predicted, the last column invalid: what did not parse, and errors."""
    counts = Counter(matrix_cell(row) for row in rows)
    return [[counts[4 * i + j] for j in range(4)] for i in range(3)]


def matrix_cell(row: ScoreRow) -> int:
    """Where a row falls in the matrix, counted along its lines from 0 to 11."""
    predicted = row.details.get("pred")
    column = LEVELS.index(predicted) if predicted is not None else INVALID
    return 4 * LEVELS.index(row.details["gold"]) + column


def rates(rows: Sequence[ScoreRow]) -> dict[str, Rate | None]:
    """Every rate as a fraction; None where it has no meaning for these rows at all."""
    total = len(rows)
    evidence, laws = _evidence(rows), _law_verdicts(rows)
    judged = laws["valid"] + laws["invalid"]
    return {
        "accuracy": (sum(row.scores.get("accuracy") == 1.0 for row in rows), total),
        **{name: _scored_rate(rows, name) for name in _SCORED},
        "clause_hallucination_rate": None if evidence is None else (evidence.count(False), len(evidence)),
        "law_hallucination_rate": (len(laws["invalid"]), len(judged)),
        "hallucination_rate": None
        if evidence is None
        else (evidence.count(False) + len(laws["invalid"]), len(evidence) + len(judged)),
        "evidence_coverage": None if evidence is None else defined_rate(rows, "evidence_coverage"),
        **rule_rates(rows),
    }


_SCORED = ("parse_rate", "task_success_rate", "task_success_lenient")


def by_cluster(rows: Sequence[ScoreRow]) -> dict[str, list[ScoreRow]]:
    clusters: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        clusters[row.cluster or row.sample_id].append(row)
    return clusters


def bootstrap(rows: Sequence[ScoreRow]) -> dict[str, Interval | None]:
    """The intervals of the figures that are no rates, resampled by group."""
    sums = {cluster: _counts(own) for cluster, own in by_cluster(rows).items()}
    return cluster_bootstraps(sums, resampled_figures)


def _counts(rows: Sequence[ScoreRow]) -> list[int]:
    return [count for line in confusion(rows) for count in line]


def _scored_rate(rows: Sequence[ScoreRow], name: str) -> Rate | None:
    """Of all rows, errors included; None where the score is undefined for those that did not fail."""
    good = [row.scores.get(name) for row in rows if row.status == "ok"]
    if any(value is None for value in good):
        return None
    return sum(value == 1.0 for value in good), len(rows)


def _evidence(rows: Sequence[ScoreRow]) -> list[bool] | None:
    """The verdict of every excerpt; None where evidence was not checked or not given."""
    found = [row.details.get("evidence") for row in rows if row.status == "ok"]
    if any(items is None for items in found):
        return None
    return [item["valid"] for items in found for item in items or ()]


def _law_verdicts(rows: Sequence[ScoreRow]) -> dict[str, list[bool]]:
    verdicts = [law["verdict"] for row in rows for law in row.details.get("laws") or ()]
    return {
        "valid": [True for v in verdicts if v == "valid"],
        "incomplete": [True for v in verdicts if v == "incomplete"],
        "invalid": [True for v in verdicts if v not in ("valid", "incomplete")],
    }


def _latency(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """Over the cases with a paid call."""
    import numpy as np

    seconds = [value for row in rows if (value := row.details.get("latency_s")) is not None]
    p50, p95 = np.percentile(seconds, (50, 95)).tolist() if seconds else (None, None)
    return {"avg_latency": mean(seconds), "p50_latency": p50, "p95_latency": p95, "n_avg_latency": len(seconds)}


def _with_interval(name: str, rate: Rate | None) -> dict[str, float | int | None]:
    if rate is None or not rate[1]:
        return {name: None, f"n_{name}": 0 if rate else None, **_ends(name, None)}
    return {name: rate[0] / rate[1], f"n_{name}": rate[1], **_ends(name, wilson(*rate))}


def _ends(name: str, interval: Interval | None) -> dict[str, float | int | None]:
    return {f"{name}_low": interval.low if interval else None, f"{name}_high": interval.high if interval else None}
