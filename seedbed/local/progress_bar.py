"""Progress of a sweep: bars where the output is a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from seedbed.phases.progress import listen
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan


@contextmanager
def show_progress(plan: Plan) -> Iterator[None]:
    """While the block runs, show how far its phases have come, and what the library warns of."""
    with _warnings(), _bars(plan) if sys.stdout.isatty() else _lines():
        yield


@contextmanager
def _warnings() -> Iterator[None]:
    """On the terminal, since Prefect's own handler keeps to errors there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("seedbed: %(message)s"))
    logger = logging.getLogger("seedbed")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def _lines() -> Iterator[None]:
    def tell(cell: Cell, phase: str, done: int, total: int) -> None:
        if done == total:
            print(f"  {cell.title} · {phase}: {done} samples", flush=True)

    remove = listen(tell)
    try:
        yield
    finally:
        remove()


@contextmanager
def _bars(plan: Plan) -> Iterator[None]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, transient=True) as progress:
        overall = progress.add_task("cells generated", total=len(plan.cells))
        bars: dict[tuple[str, str], int] = {}
        lock = threading.Lock()

        def tell(cell: Cell, phase: str, done: int, total: int) -> None:
            with lock:
                key = (cell.id, phase)
                if key not in bars:
                    bars[key] = progress.add_task(f"{cell.title} · {phase}", total=total)
                progress.update(bars[key], completed=done)  # type: ignore[arg-type]
                if done == total:
                    progress.remove_task(bars[key])  # type: ignore[arg-type]
                    progress.advance(overall)

        remove = listen(tell)
        try:
            yield
        finally:
            remove()
