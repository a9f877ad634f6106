"""What a sweep would still ask: every sample is replayed against the ledger, to its first call that is not there."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seedbed.lm.looking import LookingRuntime, Seen
from seedbed.lm.runtime import LMRuntime
from seedbed.phases.changes import stale
from seedbed.phases.context import CellContext, SweepRun
from seedbed.phases.optimise import load_program
from seedbed.phases.predict import predict, read_prediction
from seedbed.phases.scorers import add_scores
from seedbed.storage.store import Store, read_jsonl
from seedbed.suite import Case, Failure, Prediction, resolve
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.plan import Plan

logger = logging.getLogger("seedbed")


@dataclass(frozen=True)
class _LookingRun(SweepRun):
    looking: LookingRuntime | None = None

    def runtime(self) -> LMRuntime:
        assert self.looking is not None
        return self.looking


@dataclass(frozen=True)
class _LookingContext(CellContext):
    """Systems and scorers may write files of their own; those of a replay go where nobody looks."""

    scratch: Path = Path()

    @property
    def folder(self) -> Path:
        return self.scratch


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is known of a cell's phases before it runs."""

    seen: Sequence[Seen]
    """Calls of the phases that were replayed, up to the first unknown one of each sample."""
    cut: Mapping[Phase, int]
    """By phase, samples that were not followed to their end, because an answer is missing."""
    unknown: Sequence[Phase]
    """Phases that nothing can be said of yet."""


def replay(
    plan: Plan, root: Path, looking: LookingRuntime, cell: Cell, scratch: Path, *, grows: bool = False
) -> Replayed:
    """Ask the system and the scorers of a cell, with answers from the ledger alone. `scratch` is a folder for what they
    write. A cell that `grows` has further cases to ask, whatever is done."""
    run = _LookingRun(root, plan, Store(root), replay=True, looking=looking)
    todo: list[Phase] = [
        phase for phase in cell.phases if stale(run, cell, phase) is not None or (grows and phase != "optimise")
    ]
    if "optimise" in todo or ("generate" in todo and plan.resolve(cell).system_options.starts_programs):
        return Replayed([], {}, todo)
    looking.seen.clear()
    cut: dict[Phase, int] = {}
    unknown: list[Phase] = []
    cases = plan.benchmark(cell).test
    predictions: dict[str, Prediction] = {}
    if "generate" in todo:
        predictions = _generated(_LookingContext(run, cell, "generate", scratch=scratch), cases)
        cut["generate"] = _samples_cut(looking.seen, "generate")
    elif "score" in todo:
        rows = read_jsonl(run.store.cell_dir(cell) / "predictions.jsonl")
        predictions = {row["sample_id"]: read_prediction(row) for row in rows}
    if "score" in todo:
        try:
            looking.run(_scored(_LookingContext(run, cell, "score", scratch=scratch), cases, predictions))
        except Exception as error:  # a scorer may need all answers of its judge
            logger.debug("%s: the scoring could not be replayed: %s", cell.title, error)
            unknown.append("score")
        cut["score"] = _samples_cut(looking.seen, "score")
    return Replayed(list(looking.seen), cut, unknown)


def _samples_cut(seen: Sequence[Seen], phase: Phase) -> int:
    return len({call.sample for call in seen if call.phase == phase and not call.known})


def _generated(context: CellContext, cases: Sequence[Case]) -> dict[str, Prediction]:
    return {p.sample_id: p for p in context.runtime.run(_ask(context, cases))}


async def _ask(context: CellContext, cases: Sequence[Case]) -> list[Prediction]:
    import dspy

    from seedbed.lm.adapter import quick_adapter

    resolved = context.resolved
    with dspy.context(lm=context.lm("task"), adapter=quick_adapter(), disable_history=True, track_usage=False):
        system = resolve(resolved.system_spec.build)(context, resolved.system_options)
        if context.cell.optimised:
            load_program(system, context.run.store.cell_dir(context.cell))
        return await context.each(cases, partial(predict, system))


async def _scored(context: CellContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> None:
    import dspy

    from seedbed.lm.adapter import quick_adapter

    missing = {
        case.sample_id: Failure(case.sample_id, {"kind": "unknown", "message": "not asked yet"}) for case in cases
    }
    given = {**missing, **predictions}
    with dspy.context(adapter=quick_adapter(), disable_history=True, track_usage=False):
        rows = await resolve(context.suite.score)(context, cases, given)
        await add_scores(context, cases, given, rows)
