"""Turns on the event loop, so that a call that is ready to be sent is not kept behind the work on answers.

The loop serves who is ready in the order of arrival. When many answers come at once, or many samples start, all of them
are worked on before the first next request leaves; meanwhile nothing is on its way, and the requests, sent together,
come back together. With turns the loop does a little of that work, sends what is ready, and goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

_A_PASS = 8
"""Turns in one pass of the loop: several milliseconds of work."""


class Pace:
    """Must be used from one event loop only."""

    def __init__(self) -> None:
        self._left = _A_PASS
        self._counting = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """Returns at once unless too many had their turn in this pass of the loop."""
        loop = asyncio.get_running_loop()
        if not self._counting:
            self._counting = True
            loop.call_soon(self._next_pass, loop)
        if self._left > 0 and not self._waiting:
            self._left -= 1
            return
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _next_pass(self, loop: asyncio.AbstractEventLoop) -> None:
        self._left = _A_PASS
        while self._waiting and self._left > 0:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                self._left -= 1
        if self._waiting:
            # A busy loop leaves the interpreter to the ledger's thread for moments only, and calls wait for that one.
            time.sleep(0)
        self._counting = self._left < _A_PASS
        if self._counting:
            loop.call_soon(self._next_pass, loop)
