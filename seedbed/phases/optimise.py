"""Optimise: let an optimizer search better prompts for a cell's system on the train and val splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.errors import UserError, staying
from seedbed.phases.context import CellContext
from seedbed.phases.predict import as_output
from seedbed.phases.progress import report
from seedbed.phases.scorer_feedback import scorer_feedback
from seedbed.storage.store import read_json, write_json, write_jsonl
from seedbed.suite import Case, Feedback, resolve
from seedbed.sweep.optimizers import Job, OptimizerSpec, SearchSize

if TYPE_CHECKING:
    import dspy

    from seedbed.phases.guard import GuardedContext
    from seedbed.phases.search import SearchLog

PROGRAM = "program.json"
FILES = [PROGRAM, "candidates.jsonl", "metric_logs/train.jsonl", "metric_logs/val.jsonl"]

_NO_LIMIT = 1_000_000_000
_SAMPLE_ID = "dspy_sample_id"
"""DSPy neither shows fields of this prefix in prompts nor compares them."""


def optimise(context: CellContext, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Writes the files above. Run again after a crash it makes the same requests, finds the answers in the ledger, and
    so takes the same path; only what was in flight is paid again."""
    import dspy

    from seedbed.lm.adapter import quick_adapter
    from seedbed.phases.guard import Guard, GuardedContext, Halted, guarded
    from seedbed.phases.optimizers.silence import silence
    from seedbed.phases.search import SearchLog

    silence()
    guard = Guard()
    watched = GuardedContext(context.run, context.cell, context.phase, context.execution, guard=guard)
    log = SearchLog({"val": context.benchmark.val, "train": context.benchmark.train}, context.usage)
    # Failures end the phase before DSPy counts them; it must not stop at unreadable answers on its own.
    aside = {"disable_history": True, "track_usage": False, "max_errors": _NO_LIMIT}
    with dspy.context(lm=watched.lm("task"), adapter=quick_adapter(), **aside):
        job = _job(watched, log)
        job = replace(job, program=guarded(job.program, guard, log.called, log.failed))
        log.candidate(job.program)  # number 0 is the program as it was written
        try:
            best = resolve(_spec(context).compile)(job)
        except (Halted, Exception) as error:
            if guard.cause is None:
                raise
            raise guard.reason(context.cell.title) from error
    if guard.cause is not None:
        raise guard.reason(context.cell.title) from guard.cause
    report(context.cell, "optimise", log.metric_calls, log.metric_calls)
    rows = log.candidates(best)
    write_json(folder / PROGRAM, _program(context, best))
    write_jsonl(folder / "candidates.jsonl", rows)
    for split in ("train", "val"):
        write_jsonl(folder / f"metric_logs/{split}.jsonl", log.metric_rows(split))
    chosen = next(row for row in rows if row["chosen"])
    return FILES, {
        **context.account(),
        "optimizer": context.cell.optimizer,
        "n_train": len(context.benchmark.train),
        "n_val": len(context.benchmark.val),
        "n_candidates": len(rows),
        "chosen": chosen["candidate"],
        "val_score_before": rows[0]["val_score"],
        "val_score_after": chosen["val_score"],
        "metric_calls": log.metric_calls,
        "unreadable_answers": guard.unreadable,
        "too_long_prompts": guard.too_long,
        "usage": context.usage().to_json(),
    }


def load_program(system: Any, folder: Path) -> None:
    """Give a freshly built system the prompts that the optimise phase found."""
    system.load_state(read_json(folder / PROGRAM)["state"])


def to_example(case: Case, answer: str = "answer") -> dspy.Example:
    """A case as DSPy has them: inputs, and its gold as the fields a worked example would show; `answer` is the one that
    takes a gold without names."""
    import dspy

    fields = {**_labels(case.gold, answer), **case.inputs, _SAMPLE_ID: case.sample_id}
    return dspy.Example(**fields).with_inputs(*case.inputs)


def _labels(gold: Any, answer: str) -> dict[str, Any]:
    """A mapping names its fields; a text, or the first of several accepted ones, is the answer."""
    if isinstance(gold, Mapping):
        return {str(name): value for name, value in gold.items()}
    if isinstance(gold, str):
        return {answer: gold}
    if isinstance(gold, Sequence) and gold and isinstance(gold[0], str):
        return {answer: gold[0]}
    return {}


def _job(context: GuardedContext, log: SearchLog) -> Job:
    import dspy

    cell, benchmark, resolved = context.cell, context.benchmark, context.resolved
    system: Any = resolve(resolved.system_spec.build)(context, resolved.system_options)
    if not isinstance(system, dspy.Module) or not system.predictors():
        raise UserError(
            f"{cell.title}: {cell.optimizer} needs a dspy.Module with predictors, and system {cell.system!r} is none; "
            "leave it to Baseline."
        )
    answer = getattr(system, "answer_field", "answer")
    return Job(
        name=resolved.optimizer_name,
        options=resolved.optimizer_options,
        program=system,
        train=[to_example(case, answer) for case in benchmark.train],
        val=[to_example(case, answer) for case in benchmark.val],
        judge=_judge(context, log, _expected_calls(context, len(system.predictors()))),
        task_lm=context.lm("task"),
        reflection_lm=context.lm("reflection"),
        seed=cell.seed,
    )


def _judge(context: GuardedContext, log: SearchLog, expected: int) -> Any:
    """The suite's feedback, or the scorers', as a metric. A judge's failure ends the phase: it is no score."""
    feedback = scorer_feedback if context.suite.feedback is None else resolve(context.suite.feedback)
    cases = {case.sample_id: case for case in (*context.benchmark.train, *context.benchmark.val)}

    def judge(example: dspy.Example, prediction: dspy.Prediction, *, logged: bool = True) -> Feedback:
        context.guard.check()
        case = cases[example[_SAMPLE_ID]]
        try:
            with staying():
                verdict = feedback(context, case, as_output(prediction))
        except Exception as error:
            raise context.guard.halt(error) from error
        if logged:
            log.scored(case.sample_id, verdict.score)
            # How many there will be is a guess: the last is only known when the search has ended.
            report(context.cell, "optimise", log.metric_calls, max(expected, log.metric_calls + 1))
        return verdict

    return judge


def _expected_calls(context: CellContext, predictors: int) -> int:
    resolved, benchmark = context.resolved, context.benchmark
    size = len(benchmark.train), len(benchmark.val), predictors
    return _spec(context).budget(SearchSize(resolved.optimizer_name, resolved.optimizer_options, *size)).metric_calls


def _spec(context: CellContext) -> OptimizerSpec:
    spec = context.resolved.optimizer_spec
    assert spec is not None, "a cell without an optimizer has no optimise phase"
    return spec


def _program(context: CellContext, program: dspy.Module) -> dict[str, Any]:
    """The prompts to read, and the whole state to load."""
    from seedbed.phases.search import prompts_of

    prompts = prompts_of(program)
    state: dict[str, Any] = program.dump_state(json_mode=True)
    for own in state.values():
        if isinstance(own, dict) and "lm" in own:
            own["lm"] = None  # the model is the cell's; an optimizer may have left its own here
    return {
        "optimizer": context.cell.optimizer,
        "instructions": {name: own["instructions"] for name, own in prompts.items()},
        "n_demos": {name: len(own["demos"]) for name, own in prompts.items()},
        "state": state,
    }
