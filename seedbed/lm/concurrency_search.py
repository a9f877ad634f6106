"""How many calls at once a server is worth asking, found out while it is asked."""

from __future__ import annotations

import time
from statistics import fmean

_FEWEST = 12
"""Answers that a number of calls in flight is judged by, at least."""
_TURNS = 2
"""Times that all calls in flight must have been answered, at least."""
_REST = 6
"""Judgements to wait after one step too far before it is tried again: an unlucky one is not for ever."""
_WORTH = 0.5
"""The part of what a step up could bring at best that it must bring."""


class ConcurrencySearch:
    """Goes up as long as more calls in flight bring more answers in the same time, and back by the step that did not.
    A server with two slots takes longer for each of four than for each of two; one that works on many at once does
    not."""

    def __init__(self, start: int) -> None:
        self.level = start
        self._since = float("-inf")
        self._took: list[float] = []
        self._below: tuple[int, float] | None = None
        """The number before the last step, and its answers a second."""
        self._rest = 0
        self._told = False

    def told(self, slots: int) -> None:
        """The server itself said how many it works on."""
        self.level, self._told = slots, True

    def answered(self, took_s: float, sent_at: float, top: int) -> None:
        """An answer that came while as many were in flight as may be, and others waited. `top` is never passed."""
        if self._told or sent_at < self._since:
            return
        self._took.append(took_s)
        if len(self._took) >= max(_FEWEST, _TURNS * self.level):
            self._judge(self.level / max(1e-9, fmean(self._took)), top)

    def fall_to(self, level: int) -> None:
        """A refusal or a timeout: that was too many."""
        self._to(max(1, level))
        self._below, self._rest = None, _REST

    def _judge(self, rate: float, top: int) -> None:
        level = self.level
        if self._below is not None and level > self._below[0]:
            before, rate_before = self._below
            if rate / rate_before - 1 < _WORTH * (level / before - 1):
                self._to(before)
                self._below, self._rest = None, _REST
                return
        self._rest = max(0, self._rest - 1)
        self._below = (level, rate)
        self._to(level if self._rest else max(level, min(top, level + max(1, level // 2))))

    def _to(self, level: int) -> None:
        self.level = level
        self._took.clear()
        self._since = time.monotonic()
