"""Figures over several seeds. A case under three seeds is one case seen three times, and no three cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from seedbed.analysis.intervals import wilson
from seedbed.suite import ScoreRow, Shown
from seedbed.suites.contract_risk.figures import confusion, rates
from seedbed.suites.contract_risk.metrics import quick_figures

_MATRIX = (
    ("WAcc", "weighted_accuracy"),
    ("LWK", "kappa_linear"),
    ("F2-High", "high_risk_f2"),
    ("Macro F1", "macro_f1"),
)
_RATES = (
    ("Halluc.", "hallucination_rate"),
    ("clause", "clause_hallucination_rate"),
    ("law", "law_hallucination_rate"),
    ("Coverage", "evidence_coverage"),
    ("Rule R", "rule_recall"),
    ("Rule P", "rule_precision"),
    ("Rule R retr.", "rule_recall_retrieved"),
    ("Rule P retr.", "rule_precision_retrieved"),
    ("Risk id", "risk_id_accuracy"),
    ("Success", "task_success_rate"),
    ("lenient", "task_success_lenient"),
    ("Parse", "parse_rate"),
)
COLUMNS = ("Acc", *(title for title, _ in _MATRIX), *(title for title, _ in _RATES), "s/case")


def pooled_figures(seeds: Sequence[Sequence[ScoreRow]], shown: Mapping[str, Shown] | None = None) -> list[str | None]:
    """The cells of COLUMNS: what the report shows of the system elsewhere stands here as there, with its interval."""
    rows = [row for own in seeds for row in own if row.status != "skipped"]
    counts = [count for line in confusion(rows) for count in line]
    figures, known = quick_figures(counts), shown or {}
    return [
        _shown(known["accuracy"]) if "accuracy" in known else _rate(rows, "accuracy", len(seeds)),
        *(_shown(known.get(name, Shown(figures[name]))) for _, name in _MATRIX),
        *(_shown(known[name]) if name in known else _rate(rows, name, len(seeds)) for _, name in _RATES),
        _latency(rows),
    ]


def majority(seeds: Sequence[Sequence[ScoreRow]]) -> list[ScoreRow]:
    """One row a case: right if it was right under more than half of the seeds it was answered or failed under."""
    by_case: dict[str, list[ScoreRow]] = defaultdict(list)
    for own in seeds:
        for row in own:
            if row.status != "skipped":
                by_case[row.sample_id].append(row)
    return [_verdict(rows) for rows in by_case.values()]


def _verdict(rows: Sequence[ScoreRow]) -> ScoreRow:
    right = sum(row.scores.get("accuracy") == 1.0 for row in rows) * 2 > len(rows)
    return ScoreRow(rows[0].sample_id, "ok", {"accuracy": float(right)}, rows[0].details, cluster=rows[0].cluster)


def _rate(rows: Sequence[ScoreRow], name: str, n_seeds: int) -> str | None:
    """Seeds are averaged before the interval is taken: three looks at a case do not make three cases."""
    rate = rates(rows)[name]
    if rate is None or not rate[1]:
        return None
    interval = wilson(rate[0] / n_seeds, rate[1] / n_seeds)
    return _shown(Shown(rate[0] / rate[1], interval.low, interval.high) if interval else Shown(rate[0] / rate[1]))


def _latency(rows: Sequence[ScoreRow]) -> str | None:
    seconds = [value for row in rows if (value := row.details.get("latency_s")) is not None]
    return f"{sum(seconds) / len(seconds):.3f}" if seconds else None


def _shown(figure: Shown) -> str | None:
    if figure.mean is None:
        return None
    if figure.low is None or figure.high is None:
        return f"{figure.mean:.3f}"
    return f"{figure.mean:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
