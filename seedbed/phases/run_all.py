"""Running the samples of a phase: many at once on the runtime's loop, until they are done or the runtime is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from seedbed.lm.runtime import LMRuntime

T = TypeVar("T")

_LOOK_S = 0.25
_AHEAD = 4
"""One item is made ready for so many that are being answered."""


async def run_all(
    runtime: LMRuntime,
    items: Sequence[T],
    work: Callable[[T], Awaitable[None]],
    *,
    calls_at_once: int,
    cell: str | None = None,
) -> None:
    """Do the work of every item, of somewhat more at a time than the model takes calls: a call that ends then finds the
    next one ready to be sent. When the runtime (or `cell` of it) is stopped, no further item
    is started, those running get a moment to end (at a budget's end: all the time they need), and the reason is
    raised."""
    waiting = iter(items)
    at_once = min(calls_at_once + calls_at_once // _AHEAD, len(items))
    workers = [asyncio.ensure_future(_work_on(runtime, waiting, work, cell)) for _ in range(at_once)]
    running = set(workers)
    deadline: float | None = None
    try:
        while running:
            done, running = await asyncio.wait(running, timeout=_LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            if deadline is None and runtime.is_stopped(cell) and (grace := runtime.grace_s(cell)) is not None:
                deadline = asyncio.get_running_loop().time() + grace
            if deadline is not None and asyncio.get_running_loop().time() > deadline:
                break
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    runtime.check_stop(cell)


async def _work_on(
    runtime: LMRuntime, waiting: Iterator[T], work: Callable[[T], Awaitable[None]], cell: str | None
) -> None:
    for item in waiting:
        if runtime.is_stopped(cell):
            return
        await runtime.turn()
        try:
            await work(item)
        except Exception:
            if not runtime.is_stopped(cell):
                raise
            # Broken off by the stop, whose reason is raised when the others have had their moment.
            return
