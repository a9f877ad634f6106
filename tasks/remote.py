"""What a phase needs where it does not run in the flow's own process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import SweepRun

_lock = threading.Lock()
_at_work = 0


@contextmanager
def runtime_for_a_while(run: SweepRun) -> Iterator[None]:
    """On a cluster, the process's LM runtime is closed when no phase needs it any more: nobody else would close it, and
    limits that are shared over processes would be shared with idle ones."""
    global _at_work
    if not run.plan.config.runner.remote:
        yield
        return
    with _lock:
        _at_work += 1
    try:
        yield
    finally:
        with _lock:
            _at_work -= 1
            if _at_work == 0:
                close_runtimes()
