"""One limiter a model, shared by all cells of the process: calls in flight, requests and tokens a minute.

A 429 slows every caller of the model: the number in flight is halved and nothing is sent until the provider's
Retry-After has passed; each success then raises the number a little, up to the configured one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from seedbed.config import Limits

_BACK_OFF_ONCE_PER_S = 1.0
_DEFAULT_PAUSE_S = 1.0


class Limiter:
    """Must be used from one event loop only."""

    def __init__(self, limits: Limits) -> None:
        self._max = float(limits.concurrency)
        self._allowed = float(limits.concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._last_back_off = 0.0
        self._requests = _Bucket(limits.rpm) if limits.rpm else None
        self._tokens = _Bucket(limits.tpm) if limits.tpm else None

    @property
    def allowed(self) -> int:
        """How many calls may be in flight now."""
        return max(1, int(self._allowed))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the model's places for the length of a call."""
        if self._in_flight >= self.allowed or self._waiting:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._release()
                raise
        else:
            self._in_flight += 1
        try:
            yield
        finally:
            self._release()

    async def wait_to_send(self, tokens: int) -> None:
        """Wait out a pause and the rates; `tokens` is the size the request is expected to have."""
        while (pause := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(pause)
        delay = max(
            self._requests.take(1) if self._requests else 0.0, self._tokens.take(tokens) if self._tokens else 0.0
        )
        if delay > 0:
            await asyncio.sleep(delay)

    def settle(self, expected: int, actual: int) -> None:
        """Correct the tokens-a-minute account once the real size is known."""
        if self._tokens:
            self._tokens.give_back(expected - actual)

    def succeeded(self) -> None:
        self._allowed = min(self._max, self._allowed + 1.0 / self._allowed)
        self._wake()

    def rate_limited(self, retry_after: float | None) -> None:
        now = time.monotonic()
        self._paused_until = max(self._paused_until, now + (_DEFAULT_PAUSE_S if retry_after is None else retry_after))
        # Calls that were in flight together fail together: one refusal, one halving.
        if now - self._last_back_off > _BACK_OFF_ONCE_PER_S:
            self._last_back_off = now
            self._allowed = max(1.0, self._allowed / 2)

    def _release(self) -> None:
        self._in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self.allowed:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._in_flight += 1
                waiter.set_result(None)


class _Bucket:
    """So much a minute, with at most one second's worth saved up, so that a start is no burst."""

    def __init__(self, per_minute: float) -> None:
        self._rate = per_minute / 60.0
        self._level = self._size = max(1.0, self._rate)
        self._at = time.monotonic()

    def take(self, amount: float) -> float:
        """Take now, going into debt if need be; returns how long to wait until the debt is paid."""
        now = time.monotonic()
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        self._level = min(self._size, self._level + amount)
