"""Callers that wait for a batch, on the event loop and without a thread."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import cast, get_args

from seedbed.errors import ProviderError, ProviderErrorKind, SeedbedError
from seedbed.lm.batches.lane import Lane
from seedbed.lm.ledger.batches import Ended

_KINDS = frozenset(get_args(ProviderErrorKind))


@dataclass(frozen=True, slots=True)
class Again:
    """The attempt ended without being sent, or nobody knows how: whoever wants the answer begins anew."""


Told = bytes | ProviderError | Again | SeedbedError


@dataclass(slots=True)
class Waiter:
    lane: Lane
    cell: str
    future: asyncio.Future[Told]
    own: bool
    """Whether the attempt is this process's; another's is only waited for."""


@dataclass(slots=True)
class Waiting:
    """By attempt. Used from one event loop."""

    waiters: dict[int, Waiter] = field(default_factory=dict[int, Waiter])

    def add(self, attempt_id: int, lane: Lane, cell: str, *, own: bool) -> asyncio.Future[Told]:
        future: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self.waiters[attempt_id] = Waiter(lane, cell, future, own)
        return future

    def remove(self, attempt_id: int) -> None:
        self.waiters.pop(attempt_id, None)

    def tell(self, attempt_id: int, told: Told) -> None:
        waiter = self.waiters.get(attempt_id)
        if waiter is not None and not waiter.future.done():
            waiter.future.set_result(told)

    def tell_ended(self, ended: Ended) -> None:
        """What another process wrote down."""
        self.tell(ended.attempt_id, _told(ended))

    def of(self, lane: Lane) -> list[int]:
        """Attempts of a lane that are waited for."""
        return [
            attempt for attempt, waiter in list(self.waiters.items())
            if waiter.lane is lane and not waiter.future.done()
        ]  # fmt: skip


def _told(ended: Ended) -> Told:
    if ended.outcome == "paid" and ended.reply is not None:
        return ended.reply
    if ended.outcome != "failed" or ended.error_class not in _KINDS:
        return Again()
    return ProviderError(cast("ProviderErrorKind", ended.error_class), ended.error or "failed in its batch")
