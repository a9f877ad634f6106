"""Ctrl-C, SIGTERM (docker, slurm, systemd) and SIGHUP (a terminal that is closed, a connection that breaks) end a
command in the same way, from its first moment to its last."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from seedbed.errors import Signalled

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def on_signal(act: Callable[[int], None]) -> Iterator[None]:
    """While the block runs, `act` is called with the number of a signal that comes. One that was ignored before, as the
    shell does for what runs in its background, and nohup, stays so."""

    def handle(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_the_terminal()
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


def _leave_the_terminal() -> None:
    """What is written to a terminal that is gone is an error, and must not end what is still to be done."""
    for output in (1, 2):
        try:
            os.write(output, b"")
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, output)
            os.close(nowhere)


def interrupt(number: int) -> None:
    """End what the main thread does, wherever it is."""
    raise Signalled(number)
