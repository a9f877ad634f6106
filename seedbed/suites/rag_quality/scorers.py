"""Scores the cases of a cell. Metrics fail and are skipped one by one: a case may have five scores and an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.suite import TIMES, Case, Failure, PhaseContext, Prediction, ScoreRow
from seedbed.suites.kit.embedding import Embedder
from seedbed.suites.kit.outcomes import mean_figures, unanswered_row
from seedbed.suites.rag_quality import SUITE
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase, EvalResult
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.options import Scoring

_OF_ANY_ANSWER = ("faithfulness", "context_relevance", "answer_relevancy")


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """Fills every case with its prediction and judges it. A failure that is not the system's leaves an error,
    not a wrong answer."""
    held: Mapping[str, EvalCase] = context.benchmark.resources["cases"]
    scoring: Scoring = context.benchmark.resources["scoring"]
    embedder = Embedder(scoring.embedder).ready() if scoring.embedder else None
    judge = Judge(context.lm("judge"))

    async def one(case: Case) -> ScoreRow:
        prediction = predictions[case.sample_id]
        if isinstance(prediction, Failure):
            known = ["answer_correctness"] if held[case.sample_id].ground_truth_answer else []
            return unanswered_row(case, prediction, SUITE.metrics, [*_OF_ANY_ANSWER, *known], case.meta)
        filled = fill(held[case.sample_id], prediction.output)
        return as_row(case, filled, await evaluate(filled, judge, scoring, embedder))

    return await context.each(cases, one)


def fill(case: EvalCase, output: Mapping[str, Any]) -> EvalCase:
    """The case with what a system made of it."""
    update = {"answer": output.get("answer"), "retrieved_contexts": output.get("retrieved_contexts"), "results": {}}
    return EvalCase.model_validate({**case.model_dump(), **update})


def as_row(case: Case, filled: EvalCase, results: Mapping[str, EvalResult]) -> ScoreRow:
    """`ok` if any metric has a score, with the reason why others failed; `error` if none has and one failed; else
    `skipped`."""
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
            "results": {name: stored(result) for name, result in results.items()},
            TIMES: {name: result.elapsed_s for name, result in results.items() if result.elapsed_s is not None},
        },
        reason="; ".join(failed) or None,
        cluster=case.cluster,
    )


def stored(result: EvalResult) -> dict[str, Any]:
    """What is kept of a result beside the cases; how long it took is another file's."""
    return result.model_dump(mode="json", exclude={"elapsed_s"})


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """For each metric mean, std and n_ok, n_skipped, n_error. A case is an error if the system failed on it, or the
    judge did in any metric; `n` counts the cases that have all their scores."""
    metrics = mean_figures(rows, METRICS)
    for name in METRICS:
        statuses = [_status(row, name) for row in rows]
        metrics |= {f"{name}_n_{status}": statuses.count(status) for status in ("ok", "skipped", "error")}
    return metrics


def _status(row: ScoreRow, metric: str) -> str:
    """A row without results is one whose system failed: an error of every metric."""
    results: Mapping[str, Any] = row.details.get("results") or {}
    return results[metric]["status"] if metric in results else "error"
