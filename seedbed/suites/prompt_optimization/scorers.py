"""Scores cells and groups, and gives optimizers their feedback."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import mean, sample_std
from seedbed.suite import Case, Failure, Feedback, PhaseContext, Prediction, ScoreRow
from seedbed.suites.kit.outcomes import failed_row, n_unreadable, unanswered_row
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.verdicts import verdict


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """Every case once; a judge or a provider that failed leaves an error, not a 0; an unreadable answer has one."""
    if context.benchmark.resources["kind"] == "papillon":
        return await _score_privacy(context, cases, predictions)
    # Comparing expressions waits for another process: not on the loop on which all cells' calls are made.
    return await asyncio.to_thread(lambda: [_judged(case, predictions[case.sample_id]) for case in cases])


def _judged(case: Case, prediction: Prediction) -> ScoreRow:
    if isinstance(prediction, Failure):
        return unanswered_row(case, prediction, SUITE.metrics, ("score",))
    return verdict_row(case, prediction.output)


def verdict_row(case: Case, output: Mapping[str, Any]) -> ScoreRow:
    """The row of an answer that code alone can judge."""
    given = verdict(case, output)
    return _row(case, {"score": given.score, **given.beside}, {"told": given.text})


async def _score_privacy(
    context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]
) -> list[ScoreRow]:
    from seedbed.suites.prompt_optimization.judges import judge_privacy, told

    async def one(case: Case) -> ScoreRow:
        given = predictions[case.sample_id]
        if isinstance(given, Failure):
            return unanswered_row(case, given, SUITE.metrics, ("score",))
        output = given.output
        try:
            privacy = await judge_privacy(context.lm("judge"), case, output)
        except Exception as error:
            return failed_row(case, f"judge {type(error).__name__}: {str(error)[:300]}")
        scores = {"score": privacy.score, "quality": privacy.quality, "leakage": privacy.leakage}
        return _row(case, scores, {"told": told(privacy, case.gold["pii_units"], str(output.get("llm_request")))})

    return await context.each(cases, one)


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """Means over the samples that were answered; the others where a benchmark has them."""
    good = [row for row in rows if row.status == "ok"]
    metrics: dict[str, float | int | None] = {}
    for name in ("score", "strict", "quality", "leakage"):
        values = [value for row in good if (value := row.scores.get(name)) is not None]
        if values or name == "score":
            metrics[name], metrics[f"{name}_std"] = mean(values), sample_std(values)
    metrics["n"] = len(good)
    metrics["n_errors"] = sum(row.status == "error" for row in rows)
    metrics["n_skipped"] = sum(row.status == "skipped" for row in rows)
    metrics["n_unreadable"] = n_unreadable(rows)
    return metrics


def score_group(
    rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Adds what an optimizer gained over the same program without one, on the samples that both answered."""
    paired: dict[str, dict[str, Any]] = {}
    for label, own in metrics.items():
        base = rows.get(label.partition("+")[0]) if "+" in label else None
        before = {row.sample_id: row.scores["score"] for row in base or () if row.status == "ok"}
        gains = [
            float(row.scores["score"] or 0.0) - float(before[row.sample_id] or 0.0)
            for row in rows[label]
            if row.status == "ok" and row.sample_id in before
        ]
        paired[label] = {**own, "gain": mean(gains), "n_paired": len(gains)}
    return paired


def feedback(context: PhaseContext, case: Case, output: Mapping[str, Any]) -> Feedback:
    """What the optimizer learns from one answer."""
    if case.meta["kind"] != "papillon":
        given = verdict(case, output)
        return Feedback(given.score, given.text)
    from seedbed.suites.prompt_optimization.judges import privacy_feedback

    return privacy_feedback(context, case, output)


def _row(case: Case, scores: Mapping[str, float], details: Mapping[str, Any]) -> ScoreRow:
    return ScoreRow(case.sample_id, "ok", dict(scores), dict(details), cluster=case.cluster)
