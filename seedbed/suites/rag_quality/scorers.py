"""Scores the cases of a cell. Metrics fail and are skipped one by one: a case may have five scores and an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.stats import mean, sample_std
from seedbed.suite import Case, PhaseContext, Prediction, ScoreRow
from seedbed.suites.rag_quality.embedding import load_embedder
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase, EvalResult
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.options import Scoring


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """Fills every case with its prediction and judges it. A system that failed leaves an error, not a wrong answer."""
    held: Mapping[str, EvalCase] = context.benchmark.resources["cases"]
    scoring: Scoring = context.benchmark.resources["scoring"]
    embedder = load_embedder(scoring.embedder) if scoring.embedder else None
    judge = Judge(context.lm("judge"))

    async def one(case: Case) -> ScoreRow:
        prediction = predictions[case.sample_id]
        if prediction.output is None:
            return _failed(case, prediction)
        filled = fill(held[case.sample_id], prediction.output)
        return as_row(case, filled, await evaluate(filled, judge, scoring, embedder))

    return await context.each(cases, one)


def fill(case: EvalCase, output: Mapping[str, Any]) -> EvalCase:
    """The case with what a system made of it."""
    update = {"answer": output.get("answer"), "retrieved_contexts": output.get("retrieved_contexts"), "results": {}}
    return EvalCase.model_validate({**case.model_dump(), **update})


def as_row(case: Case, filled: EvalCase, results: Mapping[str, EvalResult]) -> ScoreRow:
    """`ok` if any metric has a score; `error` if none has and one failed; else `skipped`."""
    statuses = {result.status for result in results.values()}
    status = "ok" if "ok" in statuses else "error" if "error" in statuses else "skipped"
    failed = [f"{r.metric}: {r.reason}" for r in results.values() if r.status == "error"]
    return ScoreRow(
        case.sample_id,
        status,
        {name: result.score for name, result in results.items()},
        {
            **case.meta,
            "question": filled.question,
            "answer": filled.answer,
            "gold": filled.ground_truth_answer,
            "results": {name: result.model_dump(mode="json") for name, result in results.items()},
        },
        reason="; ".join(failed) or None,
        cluster=case.cluster,
    )


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """For each metric mean, std and n_ok, n_skipped, n_error; `n` counts the rows with any score."""
    metrics: dict[str, float | int | None] = {}
    for name in METRICS:
        values = [value for row in rows if (value := row.scores.get(name)) is not None]
        statuses = [_status(row, name) for row in rows]
        metrics[name], metrics[f"{name}_std"] = mean(values), sample_std(values)
        metrics[f"{name}_n_ok"] = len(values)
        metrics[f"{name}_n_skipped"] = statuses.count("skipped")
        metrics[f"{name}_n_error"] = statuses.count("error")
    metrics["n"] = sum(row.status == "ok" for row in rows)
    metrics["n_errors"] = sum(row.status == "error" for row in rows)
    metrics["n_skipped"] = sum(row.status == "skipped" for row in rows)
    return metrics


def _status(row: ScoreRow, metric: str) -> str:
    """A row without results is one whose system failed: an error of every metric."""
    results: Mapping[str, Any] = row.details.get("results") or {}
    return results[metric]["status"] if metric in results else "error"


def _failed(case: Case, prediction: Prediction) -> ScoreRow:
    error = prediction.error or {}
    reason = f"{error.get('kind')}: {error.get('message')}"
    return ScoreRow(case.sample_id, "error", details=dict(case.meta), reason=reason, cluster=case.cluster)
