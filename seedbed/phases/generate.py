"""Generate: put every case of a cell to its system and write down what came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed.errors import CellFailed
from seedbed.phases.context import CellContext
from seedbed.phases.spread import answer_spread
from seedbed.phases.times import write_rows
from seedbed.phases.uncounted import counted, warn_uncounted
from seedbed.storage.store import write_json
from seedbed.suite import GENERATE_TIMES, Failure

_CHANCE = 5
"""Fewer failures than this among the few samples of an early look say nothing of their share."""


def generate(context: CellContext, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Writes config.json and predictions.jsonl, a row a case in the order of the benchmark."""
    cases = context.benchmark.test
    new = [case for case in cases if case.sample_id not in context.kept]
    made = {p.sample_id: p for p in context.runtime.run(answer_spread(context, new))}
    predictions = [made.get(case.sample_id) or context.kept[case.sample_id] for case in cases]
    failures = [p for p in predictions if isinstance(p, Failure)]
    # What a system's own answer brought about is scored: it is no reason to give the cell up.
    errors = [p.error for p in failures if not p.unreadable]
    write_json(folder / "config.json", cell_config(context))
    files = write_rows(folder, "predictions.jsonl", [asdict(p) for p in predictions], "output", GENERATE_TIMES)
    # Without its marker the phase is not done, but what there is can be read.
    _refuse_too_many(context, len(cases), errors)
    answered = len(cases) - len(errors)
    usage = counted(context.usage().to_json(), context.resolved.calls_per_case, answered)
    if usage["calls"] is None:
        warn_uncounted(context.cell.system, answered)
    return ["config.json", *files], {
        **context.account(),
        "n": len(cases),
        "n_errors": len(errors),
        "n_unreadable": len(failures) - len(errors),
        "excluded": dict(context.benchmark.excluded),
        "usage": usage,
    }


def _refuse_too_many(context: CellContext, total: int, errors: list[Mapping[str, Any]]) -> None:
    allowed = context.run.plan.config.max_error_share
    looks = context.run.plan.looks(context.cell)
    if looks is not None and total < looks.planned and len(errors) < _CHANCE:
        return
    if len(errors) > allowed * total:
        kind, count = Counter(error["kind"] for error in errors).most_common(1)[0]
        example = next(error["message"] for error in errors if error["kind"] == kind)
        raise CellFailed(
            f"{context.cell.title}: {len(errors)} of {total} samples failed, more than max_error_share {allowed:g}; "
            f"{count} with {kind}: {example.rstrip('.')}. All answers are in {context.cell.folder}/predictions.jsonl; "
            "mend the cause, or raise max_error_share to have them scored"
        )


def cell_config(context: CellContext) -> dict[str, Any]:
    """What this cell is, readable without the sweep it belongs to."""
    resolved = context.resolved
    return {
        "cell": asdict(context.cell),
        "suite_version": resolved.suite.version,
        "benchmark_options": resolved.benchmark_options.model_dump(mode="json"),
        "system_options": resolved.system_options.model_dump(mode="json"),
        "optimizer_options": resolved.optimizer_options.model_dump(mode="json"),
        "model": resolved.model()[1].model_dump(mode="json"),
        "roles": {role: resolved.model(role)[0] for role in resolved.answer_roles},
    }
