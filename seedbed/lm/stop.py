"""Whether calls may still be started: for the whole process, or for a single cell that used up its own budget."""

from __future__ import annotations

import asyncio
import threading

from seedbed.errors import BudgetReached, SeedbedError

GRACE_S = 3.0
"""After a stop, calls in flight get this long to end before they are given up as lost."""

_SLICE_S = 0.25


class StopSignal:
    """Set from any thread, also from a signal handler. The first reason is the one that is reported."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._reason: SeedbedError | None = None
        self._cells: dict[str, SeedbedError] = {}

    def stop(self, reason: SeedbedError) -> None:
        """Stop everything."""
        if self._reason is None:
            self._reason = reason
            self.event.set()

    def stop_cell(self, cell: str, reason: SeedbedError) -> None:
        """Stop one cell; the others go on."""
        self._cells.setdefault(cell, reason)

    def reason(self, cell: str | None = None) -> SeedbedError | None:
        return self._reason or (self._cells.get(cell) if cell is not None else None)

    @property
    def any(self) -> bool:
        """Whether anything was stopped."""
        return self._reason is not None or bool(self._cells)

    def check(self, cell: str | None = None) -> None:
        """Raise the reason if there is one."""
        if (reason := self.reason(cell)) is not None:
            raise reason

    def grace_s(self, cell: str | None = None) -> float | None:
        """How long running calls may still take: at a budget's end they all finish, since they are paid for."""
        return None if isinstance(self.reason(cell), BudgetReached) else GRACE_S

    async def sleep(self, seconds: float, cell: str) -> None:
        """Sleep, but raise soon after a stop."""
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            self.check(cell)
            await asyncio.sleep(min(left, _SLICE_S))
        self.check(cell)
