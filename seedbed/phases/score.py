"""Score: compare predictions with gold, write a row a case, the metrics and the account of the cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from seedbed.errors import staying
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.reads import history
from seedbed.phases.context import CellContext
from seedbed.phases.predict import read_prediction
from seedbed.phases.result import write_result
from seedbed.phases.scorers import add_scores, cell_metrics
from seedbed.phases.times import write_rows
from seedbed.storage.store import read_json, read_jsonl, write_json, write_jsonl
from seedbed.suite import SCORE_TIMES, Case, Metric, Prediction, ScoreRow, resolve
from seedbed.suites.kit.outcomes import TRUNCATED
from seedbed.sweep.manifest import manifest

FILES = [
    "metrics.json",
    "lm_history.jsonl",
    "manifest.json",
    "evaluation_results/evaluation_result.txt",
    "evaluation_results/result.json",
    "metric_logs/test.jsonl",
]

OF_CASES = ("data_hash", "excluded", "warnings")
"""Fields of a cell's manifest that are known from its cases."""


def score(context: CellContext, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Writes scores.jsonl and the files above; returns metrics and usage, small enough to travel."""
    cases = context.benchmark.test
    context.need_rivals()
    predictions = {row["sample_id"]: read_prediction(row) for row in read_jsonl(folder / "predictions.jsonl")}
    rows = context.runtime.run(score_answers(context, cases, predictions))
    _one_row_a_case(context, rows)
    metrics = cell_metrics(context.resolved, rows)
    before = _earlier_phases(context, folder)
    engine = context.runtime.ledger.engine
    usage = {
        **{phase: done["usage"] for phase, done in before.items()},
        "score": context.usage().to_json(),
    }
    written = write_rows(folder, "scores.jsonl", [asdict(row) for row in rows], "details", SCORE_TIMES)
    write_json(folder / "metrics.json", {"metrics": {context.cell.label: metrics}, "usage": usage})
    executions = [*(done["execution"] for done in before.values()), context.execution]
    write_jsonl(folder / "lm_history.jsonl", history(engine, context.cell.id, executions))
    write_jsonl(folder / "metric_logs" / "test.jsonl", metric_log(context.resolved.metrics[0], rows))
    write_result(context, folder, metrics, usage)
    who = answerers(engine, context.run.plan.config.name, context.run.generation, cell=context.cell.id)
    write_json(folder / "manifest.json", cell_manifest(context, who))
    return [*written, *FILES], {**context.account(), "metrics": metrics, "usage": usage}


async def score_answers(
    context: CellContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]
) -> list[ScoreRow]:
    """A row a case: what the suite's scorer says of its answer, then what the added ones say."""
    import dspy

    from seedbed.lm.adapter import quick_adapter

    with staying(), dspy.context(adapter=quick_adapter(), disable_history=True, track_usage=False):
        rows = await resolve(context.suite.score)(context, cases, predictions)
        return _with_cuts(context, await add_scores(context, cases, predictions, rows))


def _with_cuts(context: CellContext, rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """The rows, those of samples with a cut off answer saying so."""
    cut = {sample: usage.cut for sample, usage in context.sample_usage().items() if usage.cut}
    return [
        replace(row, details={**row.details, TRUNCATED: cut[row.sample_id]}) if row.sample_id in cut else row
        for row in rows
    ]


def _one_row_a_case(context: CellContext, rows: list[ScoreRow]) -> None:
    expected = [case.sample_id for case in context.benchmark.test]
    if [row.sample_id for row in rows] != expected:
        raise AssertionError(f"suite {context.suite.name!r} must score every case once, in order: {len(rows)} rows")


def _earlier_phases(context: CellContext, folder: Path) -> dict[str, dict[str, Any]]:
    """What the phases before this one reported; a cell without an optimizer has no optimise phase."""
    before = context.cell.phases[:-1]
    return {phase: read_json(folder / "done" / f"{phase}.json")["result"] for phase in before}


def metric_log(primary: Metric, rows: Sequence[ScoreRow]) -> list[dict[str, Any]]:
    """The first metric of every sample: metric_logs/test.jsonl."""
    return [{"sample_id": row.sample_id, "status": row.status, "score": row.scores.get(primary.name)} for row in rows]


def cell_manifest(
    context: CellContext, who: Sequence[Mapping[str, Any]], *, with_cases: bool = True
) -> Mapping[str, Any]:
    """What the cell was made with: manifest.json. Without the cases at hand, what is known from them is left out."""
    plan, cell, resolved = context.run.plan, context.cell, context.resolved
    roles = ("task", *resolved.roles)
    found = manifest(
        cell_id=cell.id,
        config_hash=plan.config_hash,
        data_hash=plan.data_hash(cell) if with_cases else "",
        simulated=any(resolved.model(role)[1].simulated for role in roles),
        suite={"name": resolved.suite.name, "version": resolved.suite.version},
        score_key=cell.key("score"),
        roles={role: resolved.model(role)[0] for role in roles},
        answerers=[{name: value for name, value in row.items() if name != "answers"} for row in who],
        excluded=dict(context.benchmark.excluded) if with_cases else {},
        warnings=list(context.benchmark.warnings) if with_cases else [],
        benchmark_options=resolved.benchmark_options.model_dump(mode="json"),
    )
    return found if with_cases else {name: value for name, value in found.items() if name not in OF_CASES}
