"""Score: compare predictions with gold, write a row a case, the metrics and the account of the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed.hashing import hash_file, hash_json
from seedbed.lm.ledger.reads import history, phase_usage
from seedbed.manifest import manifest
from seedbed.phases.context import CellContext
from seedbed.store import read_json, read_jsonl, write_json, write_jsonl, write_text
from seedbed.suite import Prediction, ScoreRow, resolve

FILES = [
    "scores.jsonl",
    "metrics.json",
    "lm_history.jsonl",
    "manifest.json",
    "evaluation_results/evaluation_result.txt",
    "evaluation_results/result.json",
]


def score(context: CellContext, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Writes the files above; returns metrics and usage, small enough to travel."""
    cases = context.benchmark.test
    predictions = {row["sample_id"]: Prediction(**row) for row in read_jsonl(folder / "predictions.jsonl")}
    rows = context.runtime.run(_score_all(context, cases, predictions))
    _one_row_a_case(context, rows)
    metrics = resolve(context.suite.aggregate)(rows)
    generated = read_json(folder / "done" / "generate.json")["result"]
    engine = context.runtime.ledger.engine
    usage = {
        "generate": generated["usage"],
        "score": phase_usage(engine, context.cell.id, "score", context.execution).to_json(),
    }
    write_jsonl(folder / "scores.jsonl", (asdict(row) for row in rows))
    write_json(folder / "metrics.json", {"metrics": {context.cell.label: metrics}, "usage": usage})
    write_jsonl(folder / "lm_history.jsonl", history(engine, context.cell.id, [generated["execution"], context.execution]))
    _write_result(context, folder, metrics, generated["usage"])
    write_json(folder / "manifest.json", _manifest(context, folder))
    return FILES, {"execution": context.execution, "metrics": metrics, "usage": usage}


async def _score_all(context: CellContext, cases: Any, predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    import dspy

    with dspy.context(disable_history=True, track_usage=False):
        return await resolve(context.suite.score)(context, cases, predictions)


def _one_row_a_case(context: CellContext, rows: list[ScoreRow]) -> None:
    expected = [case.sample_id for case in context.benchmark.test]
    if [row.sample_id for row in rows] != expected:
        raise AssertionError(f"suite {context.suite.name!r} must score every case once, in order: {len(rows)} rows")


def _write_result(context: CellContext, folder: Path, metrics: Mapping[str, Any], usage: Mapping[str, Any]) -> None:
    """The row of a results table: score in percent, tokens and as-if-fresh dollars of the evaluation."""
    primary = metrics.get(context.suite.metrics[0].name)
    percent = None if primary is None else 100.0 * primary
    values = [percent, usage["list_usd"], usage["tokens_in"], usage["tokens_out"]]
    row = ",".join("" if value is None else str(value) for value in values)
    target = folder / "evaluation_results"
    write_text(target / "evaluation_result.txt", f"score,cost,input_tokens,output_tokens,\n{row},\n")
    write_json(
        target / "result.json",
        {
            "metric": context.suite.metrics[0].name,
            "score": percent,
            "n": metrics["n"],
            "n_errors": metrics["n_errors"],
            "cost": usage["list_usd"],
            "paid": usage["spent_usd"],
            "input_tokens": usage["tokens_in"],
            "output_tokens": usage["tokens_out"],
        },
    )


def _manifest(context: CellContext, folder: Path) -> Mapping[str, Any]:
    plan, cell = context.run.plan, context.cell
    roles = ("task", *plan.system_spec(cell).roles, *context.suite.score_roles)
    return manifest(
        cell_id=cell.id,
        config_hash=hash_json(plan.config.model_dump(mode="json")),
        data_hash=hash_file(folder / "predictions.jsonl"),
        simulated=any(plan.model(cell, role)[1].simulated for role in roles),
        suite={"name": context.suite.name, "version": context.suite.version},
        excluded=dict(context.benchmark.excluded),
    )
