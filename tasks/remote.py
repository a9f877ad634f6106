"""What a phase needs where it does not run in the flow's own process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.context import SweepRun

_IDLE_S = 20.0
"""A cluster's next phase mostly comes sooner, and a newcomer to shared limits has to wait for its part."""

_lock = threading.Lock()
_at_work = 0
_closing: threading.Timer | None = None


@contextmanager
def runtime_for_a_while(run: SweepRun) -> Iterator[None]:
    """On a cluster, the process's LM runtime is closed when no phase has needed it for a while: nobody else would close
    it, and limits that are shared over processes would be shared with idle ones."""
    if not run.plan.config.runner.remote:
        yield
        return
    _count(+1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _at_work, _closing
    with _lock:
        _at_work += change
        if _closing is not None:
            _closing.cancel()
            _closing = None
        if _at_work == 0:
            _closing = threading.Timer(_IDLE_S, _close_if_idle)
            _closing.daemon = True
            _closing.start()


def _close_if_idle() -> None:
    with _lock:
        if _at_work == 0:
            close_runtimes()
