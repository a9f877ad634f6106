"""Keeping a cell to one worker, wherever its folder lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from seedbed.lm.ledger.locks import hold
from seedbed.phases.context import SweepRun
from seedbed.storage.paths import is_local
from seedbed.sweep.cell import Cell


@contextmanager
def cell_lock(run: SweepRun, cell: Cell) -> Iterator[Callable[[], None]]:
    """A lock on the file system where the results lie on one, else in the ledger. Yields a check to make before the
    phase is marked as done: it fails if another worker has taken over meanwhile."""
    runtime = run.runtime()
    if is_local(run.store.root):
        with run.store.lock(cell, runtime.check_stop):
            # The operating system takes such a lock from nobody who is alive.
            yield lambda: None
    else:
        with hold(runtime.ledger, str(run.store.cell_dir(cell)), runtime.check_stop) as check:
            yield check
