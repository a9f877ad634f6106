"""Progress of a sweep: a live board where the output is a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from seedbed.local.board import Board, batch_lines, headline, troubles
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.progress import listen
from seedbed.phases.standing import Standing, looking_at, started_at
from seedbed.report.screen import folded, screen_width
from seedbed.storage.redact import redact
from seedbed.sweep.cell import Cell

_EVERY_S = 30.0
"""Between two lines about the whole."""


@contextmanager
def show_progress(folder: Path) -> Iterator[None]:
    """While the block runs the sweep of a folder, show how far it has come, and what the library warns of."""
    run = open_run(str(folder))
    with _warnings(), _board(run) if sys.stdout.isatty() else _lines(run):
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
def _lines(run: SweepRun) -> Iterator[None]:
    """A line a finished phase, and now and then how the whole stands, with what went wrong."""

    def tell(cell: Cell, phase: str, done: int, total: int) -> None:
        if done == total:
            print(f"  {cell.title} · {phase}: {done} samples", flush=True)

    over = threading.Event()

    def tell_all() -> None:
        with looking_at(run) as look:
            while not over.wait(_EVERY_S):
                _tell_whole(run, look)
            _tell_whole(run, look)

    teller = threading.Thread(target=tell_all, name="seedbed-progress", daemon=True)
    remove = listen(tell)
    teller.start()
    try:
        yield
    finally:
        remove()
        over.set()
        teller.join()


@contextmanager
def _board(run: SweepRun) -> Iterator[None]:
    from rich.live import Live

    with looking_at(run) as look:
        with Live(Board(look), refresh_per_second=2, transient=True):
            yield
        _tell_whole(run, look)


def _tell_whole(run: SweepRun, look: Callable[[], Standing]) -> None:
    """How the whole stands, with what went wrong and what is waited for, in lines that stay."""
    # Who only looks on counts to the last cell's end, since nobody knows when a run died. This process lives.
    now = replace(look(), elapsed_s=time.time() - started_at(run.folder.name).timestamp())
    lines = (headline(now), *troubles(now), *batch_lines(now))
    told = "\n".join(folded(line, screen_width(), "  ") for line in lines)
    # A reader that is gone (`| head`) must not end the sweep.
    with suppress(BrokenPipeError):
        print(redact(told), flush=True)
