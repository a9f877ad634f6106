"""How far a phase has come, told to whoever listens: a progress bar in the terminal, an artifact in Prefect."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from seedbed.sweep.cell import Cell

Listener = Callable[[Cell, str, int, int], None]
"""Cell, phase, samples done, samples in all."""

_listeners: list[Listener] = []


def listen(listener: Listener) -> Callable[[], None]:
    """Add a listener; the returned function removes it. It is called from the event loop and must not block."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)


def report(cell: Cell, phase: str, done: int, total: int) -> None:
    for listener in _listeners:
        # Whoever listens may have lost its reader (`| head`), or its disk be full: that is no fault of the phase.
        with suppress(OSError):
            listener(cell, phase, done, total)
