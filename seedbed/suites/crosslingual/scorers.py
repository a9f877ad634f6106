"""Scores a sample, a cell and a group of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.stats import mean, sample_std
from seedbed.suite import Case, PhaseContext, Prediction, ScoreRow
from seedbed.suites.crosslingual.metrics import cnbe, cnbe_ratio, f1_mkqa, score_rows

PER_SAMPLE = ("em", "f1", "rlc", "rlc_ok", "f1_mkqa", "cost")


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """Every case once. A system that failed on a case leaves an error there, not a wrong answer."""
    answered = [case for case in cases if predictions[case.sample_id].output is not None]
    replies = [str((predictions[c.sample_id].output or {}).get("answer") or "") for c in answered]
    languages = [case.inputs["language"] for case in answered]
    columns = score_rows(replies, [case.gold for case in answered], languages)
    rows: dict[str, ScoreRow] = {}
    for index, (case, reply, language) in enumerate(zip(answered, replies, languages, strict=True)):
        output = predictions[case.sample_id].output or {}
        scores: dict[str, float | None] = {name: float(column[index]) for name, column in columns.items()}
        scores["f1_mkqa"] = f1_mkqa(reply, case.gold, language)
        scores["cost"] = float(output.get("translation_tokens") or 0)
        details = {"lang": language, "question": case.inputs["question"], "gold": case.gold, "pred": reply}
        rows[case.sample_id] = ScoreRow(case.sample_id, "ok", scores, details, cluster=case.cluster)
    return [rows.get(case.sample_id) or _failed(case, predictions[case.sample_id]) for case in cases]


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """Mean and sample standard deviation of each metric over the samples that were answered."""
    good = [row for row in rows if row.status == "ok"]
    metrics: dict[str, float | int | None] = {}
    for name in PER_SAMPLE:
        values = [value for row in good if (value := row.scores.get(name)) is not None]
        metrics[name], metrics[f"{name}_std"] = mean(values), sample_std(values)
    metrics["n"] = len(good)
    metrics["n_errors"] = sum(row.status == "error" for row in rows)
    metrics["n_skipped"] = sum(row.status == "skipped" for row in rows)
    return metrics


def score_group(
    rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Adds CNBE, which pairs each sample with the `direct` answer to it; undefined in a group without `direct`."""
    paired: dict[str, dict[str, Any]] = {}
    for label, own in metrics.items():
        base = _direct_of(label, rows)
        values, ratio = _cnbe(rows[label], base) if base is not None else ([], None)
        paired[label] = {
            **own,
            "cnbe": mean(values),
            "cnbe_std": sample_std(values),
            "cnbe_ratio": ratio,
            "n_paired": len(values),
        }
    return paired


def _cnbe(rows: Sequence[ScoreRow], base: Sequence[ScoreRow]) -> tuple[list[float], float | None]:
    direct = {row.sample_id: row.scores["f1"] for row in base if row.status == "ok"}
    both = [row for row in rows if row.status == "ok" and direct.get(row.sample_id) is not None]
    f1 = [float(row.scores["f1"] or 0.0) for row in both]
    before = [float(direct[row.sample_id] or 0.0) for row in both]
    cost = [float(row.scores["cost"] or 0.0) for row in both]
    return cnbe(f1, before, cost), cnbe_ratio(f1, before, cost)


def _direct_of(label: str, rows: Mapping[str, Sequence[ScoreRow]]) -> Sequence[ScoreRow] | None:
    """The direct system under the same optimizer if it ran, else without one."""
    _, plus, optimizer = label.partition("+")
    return rows.get(f"direct{plus}{optimizer}") or rows.get("direct")


def _failed(case: Case, prediction: Prediction) -> ScoreRow:
    error = prediction.error or {}
    reason = f"{error.get('kind')}: {error.get('message')}"
    return ScoreRow(
        case.sample_id, "error", details={"lang": case.inputs["language"]}, reason=reason, cluster=case.cluster
    )
