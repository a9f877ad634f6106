"""One phase of one cell: under its lock, from files to files, and only if it is not done already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from seedbed.errors import CellFailed
from seedbed.phases.context import CellContext, open_run
from seedbed.phases.generate import generate
from seedbed.phases.lock import cell_lock
from seedbed.phases.optimise import optimise
from seedbed.phases.score import score
from seedbed.storage.paths import explain_disk
from seedbed.storage.redact import telling_no_secret
from seedbed.storage.store import Done
from seedbed.sweep.cell import Phase

_WORK: Mapping[Phase, Callable[[CellContext, Path], tuple[list[str], dict[str, Any]]]] = {
    "optimise": optimise,
    "generate": generate,
    "score": score,
}


@telling_no_secret
def run_phase(folder: str, cell_id: str, phase: Phase) -> dict[str, Any]:
    """Do a phase and return its small result: counts and usage. Running it again returns the same without work. What it
    fails with tells no secret: others write it down. A disk that is full, or not for us, is a sentence: no second try
    mends it."""
    try:
        return _run_phase(folder, cell_id, phase)
    except Exception as error:
        if (sentence := explain_disk(error)) is not None:
            raise CellFailed(sentence) from None
        raise


def _run_phase(folder: str, cell_id: str, phase: Phase) -> dict[str, Any]:
    run = open_run(folder)
    cell = run.plan.cell(cell_id)
    with cell_lock(run, cell) as check_lock:
        path = run.store.claim_folder(cell)
        marker = run.store.done(cell, phase, cell.key(phase), run.generation)
        if marker is not None:
            return marker["result"]
        # What was made from the files that are now replaced is no longer done.
        run.store.forget(cell, cell.phases[cell.phases.index(phase) :])
        with closing(CellContext(run, cell, phase)) as context:
            files, result = _WORK[phase](context, path)
        check_lock()
        run.store.mark_done(cell, phase, Done(cell.key(phase), run.generation, cell.parts(phase), files, result))
        return result
