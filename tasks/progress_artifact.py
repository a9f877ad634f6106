"""Long phases show in the UI how far they have come."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.exceptions import MissingContextError

from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.halt import heed_stop
from seedbed.phases.progress import listen
from seedbed.phases.run import run_phase
from seedbed.sweep.cell import Cell, Phase
from tasks.remote import runtime_for_a_while

logger = logging.getLogger("seedbed.tasks")

_EVERY_S = 2.0
"""Between two looks."""
_SAY_EVERY_S = 60.0
"""Between two lines of the log about a batch that is waited for."""
_LONG_S = 5.0
"""What ends sooner needs no progress."""


def run_with_progress(folder: str, cell_id: str, phase: Phase, look: int | None = None) -> dict[str, Any]:
    """Do a phase; if it takes longer than a few seconds, a progress artifact follows it."""
    run = open_run(folder)
    with runtime_for_a_while(run), _followed(run, cell_id, phase):
        return run_phase(folder, cell_id, phase, look)


@contextmanager
def _followed(run: SweepRun, cell_id: str, phase: Phase) -> Iterator[None]:
    title = f"{run.plan.cell(cell_id).title} · {phase}"
    remote = run.plan.config.runner.remote
    seen = [0, 0]
    said = Said()
    over = threading.Event()

    def hear(cell: Cell, own: str, done: int, total: int) -> None:
        if (cell.id, own) == (cell_id, phase):
            seen[:] = [done, total]

    def show() -> None:
        artifact: UUID | None = None
        long = time.monotonic() + _LONG_S
        while not over.wait(_EVERY_S):
            if remote:
                _heed_stop(run)
            if time.monotonic() > long:
                waits = run.runtime().batches.words(cell_id)
                _say(title, waits, said)
                artifact = _shown(artifact, seen, title, waits)
        if artifact is not None:
            _shown(artifact, seen, title, None)

    remove = listen(hear)
    # The task run's context, so that the artifact hangs on it.
    follower = threading.Thread(target=contextvars.copy_context().run, args=(show,), daemon=True)
    follower.start()
    try:
        yield
    finally:
        over.set()
        remove()
        follower.join()


def _heed_stop(run: SweepRun) -> None:
    try:
        heed_stop(run)
    except Exception as error:
        # Storage that is away for a moment must not end the watch: a stop would then never be heard.
        logger.warning("could not look whether the sweep is to stop: %s", error)


@dataclass
class Said:
    """What the log last said of a batch, and when."""

    words: str | None = None
    at: float = float("-inf")


def _say(title: str, waits: str | None, said: Said) -> None:
    """A line in the task's log where a batch is waited for: at first, and now and then."""
    if waits is None or waits == said.words or time.monotonic() - said.at < _SAY_EVERY_S:
        return
    said.words, said.at = waits, time.monotonic()
    try:
        get_run_logger().info("%s: %s", title, waits)
    except MissingContextError as error:
        logger.debug("nobody to tell: %s", error)


def _shown(artifact: UUID | None, seen: list[int], title: str, waits: str | None) -> UUID | None:
    done, total = seen
    if not total and waits is None:
        return artifact
    share = 100 * done / total if total else 0.0
    told = ", ".join(part for part in (title, f"{total} samples" if total else None, waits) if part)
    try:
        if artifact is None:
            found: Any = create_progress_artifact(share, description=told)
            return found
        update_progress_artifact(artifact, share, description=told)
    except Exception as error:
        # Nobody looks at a picture of progress while the server is away.
        logger.debug("progress could not be shown: %s", error)
    return artifact
