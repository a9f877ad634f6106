"""One phase of one cell: under its lock, from files to files, and only if it is not done already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from seedbed.errors import CellFailed
from seedbed.phases.asked import asked_of, covers, to_ask
from seedbed.phases.context import CellContext, open_run
from seedbed.phases.desk import desk
from seedbed.phases.generate import generate
from seedbed.phases.lock import cell_lock
from seedbed.phases.optimise import optimise
from seedbed.phases.predict import read_prediction
from seedbed.phases.score import score
from seedbed.phases.times import with_times
from seedbed.storage.paths import explain_disk
from seedbed.storage.redact import telling_no_secret
from seedbed.storage.store import Done
from seedbed.suite import GENERATE_TIMES
from seedbed.sweep.cell import Phase

_WORK: Mapping[Phase, Callable[[CellContext, Path], tuple[list[str], dict[str, Any]]]] = {
    "optimise": optimise,
    "generate": generate,
    "score": score,
}


@telling_no_secret
def run_phase(folder: str, cell_id: str, phase: Phase, look: int | None = None) -> dict[str, Any]:
    """Do a phase and return its small result: counts and usage. Running it again returns the same without work. What it
    fails with tells no secret: others write it down. A disk that is full, or not for us, is a sentence: no second try
    mends it. Of a cell that grows it is done up to a look, the last where none is given."""
    try:
        return _run_phase(folder, cell_id, phase, look)
    except Exception as error:
        if (sentence := explain_disk(error)) is not None:
            raise CellFailed(sentence) from None
        raise


def _run_phase(folder: str, cell_id: str, phase: Phase, look: int | None) -> dict[str, Any]:
    run = open_run(folder)
    cell = run.plan.cell(cell_id)
    with cell_lock(run, cell) as check_lock:
        run.store.claim_folder(cell)
        marker = run.store.done(cell, phase, cell.key(phase), run.generation)
        asked = to_ask(run, cell, phase, look)
        if marker is not None and covers(marker, asked):
            return marker["result"]
        if phase == "score":
            asked = asked_of(run, cell)
        if marker is None:
            # What was made from the files that are now replaced is no longer done.
            run.store.forget(cell, cell.phases[cell.phases.index(phase) :])
        with desk(run, cell, check_lock) as near:
            path = near.store.cell_dir(cell)
            with closing(CellContext(near, cell, phase, **_so_far(path, phase, marker), asked=asked)) as context:
                files, result = _WORK[phase](context, path)
            check_lock()
            done = Done(cell.key(phase), run.generation, cell.parts(phase), files, result)
            near.store.mark_done(cell, phase, done)
        return result


def _so_far(folder: Path, phase: Phase, marker: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a further look keeps: the answers there are, and the execution under which the ledger has them. Scores are
    given anew, since a scorer may look at all answers of a cell; its calls are on record."""
    if marker is None or phase != "generate":
        return {}
    rows = with_times(folder, "predictions.jsonl", "output", GENERATE_TIMES)
    kept = {row["sample_id"]: read_prediction(row) for row in rows}
    return {"execution": marker["result"]["execution"], "kept": kept}
