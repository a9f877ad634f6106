"""One phase of one cell: under its lock, from files to files, and only if it is not done already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from seedbed.hashing import hash_json
from seedbed.phases.context import CellContext, SweepRun, open_run
from seedbed.phases.generate import generate
from seedbed.phases.lock import cell_lock
from seedbed.phases.optimise import PROGRAM, optimise
from seedbed.phases.score import score
from seedbed.store import file_hash_or_none

Phase = Literal["optimise", "generate", "score"]

_WORK: Mapping[Phase, Callable[[CellContext, Path], tuple[list[str], dict[str, Any]]]] = {
    "optimise": optimise,
    "generate": generate,
    "score": score,
}

_READS: Mapping[Phase, tuple[str, ...]] = {
    "optimise": (),
    "generate": (PROGRAM,),
    "score": ("predictions.jsonl",),
}
"""The files a phase starts from, beside what the cell id stands for."""


def run_phase(folder: str, cell_id: str, phase: Phase) -> dict[str, Any]:
    """Do a phase and return its small result: counts and usage. Running it again returns the same without work."""
    run = open_run(folder)
    cell = run.plan.cell(cell_id)
    with cell_lock(run, cell) as check_lock:
        path = run.store.claim_folder(cell)
        inputs = inputs_hash(run, cell_id, phase)
        marker = run.store.done(cell, phase, inputs, run.done_since(phase))
        if marker is None:
            files, result = _WORK[phase](CellContext(run, cell, phase), path)
            check_lock()
            run.store.mark_done(cell, phase, inputs, files, result)
            return result
        return marker["result"]


def inputs_hash(run: SweepRun, cell_id: str, phase: Phase) -> str:
    """Changes when a phase would start from something else."""
    folder = run.store.cell_dir(run.plan.cell(cell_id))
    return hash_json([cell_id, phase, *(file_hash_or_none(folder / name) for name in _READS[phase])])


def is_done(folder: str, cell_id: str, phase: Phase) -> bool:
    """Whether the files of a phase are there and current; asked before a cached result is believed."""
    run = open_run(folder)
    cell = run.plan.cell(cell_id)
    return run.store.done(cell, phase, inputs_hash(run, cell_id, phase), run.done_since(phase)) is not None
