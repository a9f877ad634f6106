"""Ctrl-C and SIGTERM (docker, slurm, systemd) end a command in the same way, from its first moment to its last."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from seedbed.errors import Signalled

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_signal(act: Callable[[int], None]) -> Iterator[None]:
    """While the block runs, `act` is called with the number of a signal that comes. One that was ignored before, as the
    shell does for what runs in its background, stays so."""

    def handle(number: int, _frame: FrameType | None) -> None:
        act(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt(number: int) -> None:
    """End what the main thread does, wherever it is."""
    raise Signalled(number)
