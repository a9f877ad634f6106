"""One limiter a model, shared by all cells of the process: calls in flight, requests and tokens a minute.

A 429 slows every caller of the model: the number in flight is halved and nothing is sent until the provider's
Retry-After has passed; each success then raises the number a little, up to the configured one. A timeout halves it too:
a server that queues more than it can answer in time would otherwise answer nobody. Where the config names a number to
start with, the number in flight is found out: `concurrency_search`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

from seedbed.lm.concurrency_search import ConcurrencySearch
from seedbed.sweep.model_config import Limits

_DEFAULT_PAUSE_S = 1.0
_SAVED_S = 0.25

Sleep = Callable[[float], Awaitable[None]]


class Slot:
    """A call's slot among those in flight, until it is released or its `with` ends."""

    __slots__ = ("_give_back",)

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back: Callable[[], None] | None = give_back

    def release(self) -> None:
        if self._give_back is not None:
            self._give_back()
            self._give_back = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Limiter:
    """Must be used from one event loop only."""

    def __init__(self, limits: Limits, peers: int = 1, known_from: float = 0.0) -> None:
        """Where limits are shared, nothing is sent before `known_from` (of the monotonic clock): until then the other
        processes may still use the share of this one."""
        self._limits = limits
        self._search = ConcurrencySearch(limits.start) if limits.start is not None else None
        self._most = self._max = self._allowed = float(limits.concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = known_from if limits.scope == "sweep" else 0.0
        self._last_back_off = float("-inf")
        self._requests = _Bucket(limits.rpm) if limits.rpm else None
        self._tokens = _Bucket(limits.tpm) if limits.tpm else None
        self.share(peers)

    @property
    def allowed(self) -> int:
        """How many calls may be in flight now."""
        return max(1, int(self._allowed))

    def share(self, peers: float, processes: int = 1) -> None:
        """Take this process's part: of limits that all of a ledger share, one of `peers`, and of limits that hold for
        a sweep's process, one of the `processes` over which its samples are spread."""
        parts = peers if self._limits.scope == "sweep" else processes
        self._most = max(1.0, float(self._limits.concurrency // parts))
        self._bound()
        self._allowed = min(self._allowed, self._max) if self._last_back_off > 0 else self._max
        for bucket in (self._requests, self._tokens):
            if bucket:
                bucket.share(parts)
        self._wake()

    @property
    def over(self) -> bool:
        """Whether more calls are in flight than may be now, as after a share became smaller."""
        return self._in_flight > self.allowed

    async def slot(self) -> Slot:
        """Wait for one of the model's slots."""
        await self._acquire()
        return Slot(self._release)

    async def _acquire(self) -> None:
        if self._in_flight < self.allowed and not self._waiting:
            self._in_flight += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                # The slot came in the same moment as the cancellation.
                self._release()
            else:
                with suppress(ValueError):
                    self._waiting.remove(waiter)
            raise

    async def wait_to_send(self, tokens: int, sleep: Sleep = asyncio.sleep) -> None:
        """Wait out a pause and the rates; `tokens` is the size the request is expected to have."""
        await self._wait_out_pause(sleep)
        delay = max(
            self._requests.take(1) if self._requests else 0.0, self._tokens.take(tokens) if self._tokens else 0.0
        )
        if delay > 0:
            await sleep(delay)
            # A refusal may have come meanwhile.
            await self._wait_out_pause(sleep)

    def settle(self, expected: int, actual: int) -> None:
        """Correct the tokens-a-minute account once the real size is known."""
        if self._tokens:
            self._tokens.give_back(expected - actual)

    def succeeded(self, took_s: float = 0.0, sent_at: float = 0.0) -> None:
        """`sent_at` is the `time.monotonic()` of the request that was answered."""
        if self._allowed < self._max:
            self._allowed = min(self._max, self._allowed + 1.0 / self._allowed)
            self._wake()
        elif self._search is not None and self._waiting:
            self._search.answered(took_s, sent_at, int(self._most))
            self._follow()

    @property
    def asks_for_slots(self) -> bool:
        """Whether it helps to know how many the server works on at once."""
        return self._search is not None

    def told_slots(self, slots: int) -> None:
        if self._search is not None:
            self._search.told(slots)
            self._follow()

    def _follow(self) -> None:
        """The number in flight is the one that the search is at."""
        self._bound()
        self._allowed = self._max
        self._wake()

    def _bound(self) -> None:
        self._max = self._most if self._search is None else min(self._most, float(self._search.level))

    def rate_limited(self, retry_after: float | None, sent_at: float) -> float:
        """`sent_at` is the `time.monotonic()` of the refused request. Returns how much longer the pause became: much
        for the first of many that are refused together, little for the others."""
        now, before = time.monotonic(), self._paused_until
        self._paused_until = max(before, now + (_DEFAULT_PAUSE_S if retry_after is None else retry_after))
        self._back_off(sent_at)
        return self._paused_until - max(before, now)

    def timed_out(self, sent_at: float) -> None:
        """`sent_at` is the `time.monotonic()` of the request that got no answer in time."""
        self._back_off(sent_at)

    def _back_off(self, sent_at: float) -> None:
        # Calls that were in flight together fail together: one refusal, one halving.
        if sent_at > self._last_back_off:
            self._last_back_off = time.monotonic()
            self._allowed = max(1.0, self._allowed / 2)
            if self._search is not None:
                self._search.fall_to(self.allowed)
                self._bound()

    async def _wait_out_pause(self, sleep: Sleep) -> None:
        while (pause := self._paused_until - time.monotonic()) > 0:
            await sleep(pause)

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
    """So much a minute, with at most a quarter of a second's worth saved up, so that a start is no burst. What can be
    saved up is taken off the rate: with it no minute has more than it may."""

    def __init__(self, per_minute: float) -> None:
        self._whole = per_minute
        self._at = time.monotonic()
        self._measure(per_minute)
        self._level = self._size

    def share(self, parts: float) -> None:
        """Have one of so many parts from now on."""
        self._fill()
        self._measure(self._whole / parts)
        self._level = min(self._level, self._size)

    def _measure(self, per_minute: float) -> None:
        self._size = max(1.0, per_minute * _SAVED_S / 60.0)
        self._rate = (per_minute - (self._size - 1.0)) / 60.0

    def take(self, amount: float) -> float:
        """Take now, going into debt if need be; returns how long to wait until the debt is paid."""
        self._fill()
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        self._level = min(self._size, self._level + amount)

    def _fill(self) -> None:
        now = time.monotonic()
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
