"""The batches of a runtime: who waits for which attempt, and a poller for every lane that is waited on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import BudgetReached, SeedbedError
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.poller import Poller
from seedbed.lm.batches.waiting import Told, Waiting
from seedbed.lm.batches.words import going_on, in_words
from seedbed.lm.ledger import Ledger, batches
from seedbed.lm.ledger.repair import mark_unsent
from seedbed.lm.stop import StopSignal
from seedbed.sweep.model_config import ModelConfig

T = TypeVar("T")

_LOOK_S = 0.25
_AT_ONCE = 64
"""Calls of a cell that are put on record at once. Under a cap that is full they ask again and again."""

logger = logging.getLogger("seedbed.lm")


class Batches:
    """Must be used from one event loop only, but for `words`."""

    def __init__(self, ledger: Ledger, stops: StopSignal, stop: Callable[[SeedbedError], None]) -> None:
        self._ledger, self._stops, self._stop = ledger, stops, stop
        self._waiting = Waiting()
        self._lanes: dict[str, Lane] = {}
        self._pollers: dict[str, Poller] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._unwanted: set[int] = set()
        self._seen_in_batch: set[int] = set()
        self._thread: ThreadPoolExecutor | None = None

    def lane(self, model: ModelConfig) -> Lane:
        """The one lane of its kind."""
        made = Lane(model)
        return self._lanes.setdefault(made.id, made)

    def gate(self, cell: str) -> asyncio.Semaphore:
        """Keeps the many calls of a cell that wait from asking the ledger all at once."""
        return self._gates.setdefault(cell, asyncio.Semaphore(_AT_ONCE))

    async def outcome(self, attempt_id: int, lane: Lane, cell: str, *, own: bool) -> Told:
        """How the attempt ends, whichever process sees to it; or why it is no longer waited for: what is in a batch by
        then goes on, and is found again."""
        future = self._waiting.add(attempt_id, lane, cell, own=own)
        self.look_after(lane)
        try:
            told = await future
        except asyncio.CancelledError:
            if own:
                self.give_back(attempt_id)
            raise
        finally:
            self._waiting.remove(attempt_id)
            self._seen_in_batch.discard(attempt_id)
        return told

    def give_back(self, attempt_id: int) -> None:
        """Nobody waits for it any more: unless it is in a batch, it ends unsent."""
        self._unwanted.add(attempt_id)

    def look_after(self, lane: Lane) -> Poller:
        """Have a poller for a lane from now on."""
        if lane.id not in self._pollers:
            poller = Poller(
                self._ledger, lane, self._waiting, self._aside, self._stop, lambda: self._stops.reason() is None
            )
            self._pollers[lane.id] = poller
            loop = asyncio.get_running_loop()
            if not self._tasks:
                self._tasks.append(loop.create_task(self._watch()))
            self._tasks.append(loop.create_task(poller.run()))
        return self._pollers[lane.id]

    def words(self, cell: str) -> str | None:
        """What a cell waits for, in a line: `waiting for batch, 312 of 500, 2 h 10 min`."""
        lanes = {w.lane.id for w in list(self._waiting.waiters.values()) if w.cell == cell}
        found = [batch for name in lanes if name in self._pollers for batch in self._pollers[name].open]
        if not lanes:
            return None
        if not found:
            return "gathering requests for a batch"
        done = sum(batch.done + batch.failed for batch in found)
        total = sum(batch.requests for batch in found)
        age = time.time() - min(batch.packed_at for batch in found)
        many = "batch" if len(found) == 1 else f"{len(found)} batches"
        return f"waiting for {many}, {done:,} of {total:,}, {in_words(age)}"

    async def aclose(self) -> None:
        """Leave the batches to whoever comes next."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._thread is not None:
            await self._leave()
            self._thread.shutdown(wait=False)
        for lane in self._lanes.values():
            await lane.aclose()

    async def _leave(self) -> None:
        engine, own = self._ledger.engine, self._ledger.owner
        try:
            left = await self._aside(lambda: batches.release(engine, own))
        except SQLAlchemyError as error:
            logger.warning("the batches could not be given back (%s); they are free when this process is gone", error)
            return
        if left:
            logger.info(going_on(len(left), sum(batch.requests for batch in left)))

    async def _watch(self) -> None:
        """Raises stops in those that wait: they are many, and must not look themselves."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                if self._unwanted:
                    ids = set(self._unwanted)
                    await self._unsent(ids)
                    self._unwanted -= ids
                if self._stops.any:
                    await self._tell_stops()
            except SQLAlchemyError as error:
                logger.warning("calls that wait for a batch could not be given back yet: %s", error)

    async def _tell_stops(self) -> None:
        stopped = {
            attempt: reason for attempt, waiter in list(self._waiting.waiters.items())
            if not waiter.future.done() and (reason := self._stops.reason(waiter.cell)) is not None
        }  # fmt: skip
        fresh = {attempt for attempt in stopped if attempt not in self._seen_in_batch}
        own = {attempt for attempt in fresh if self._waiting.waiters[attempt].own}
        unsent = await self._unsent(own) if own else set[int]()
        for attempt in fresh:
            reason = stopped[attempt]
            if attempt in unsent or not isinstance(reason, BudgetReached):
                self._waiting.tell(attempt, reason)
            else:
                # At a budget's end what is paid for is waited for.
                self._seen_in_batch.add(attempt)

    async def _unsent(self, ids: set[int]) -> set[int]:
        def mark() -> set[int]:
            with self._ledger.engine.begin() as connection:
                return set(mark_unsent(connection, sorted(ids)))

        return await self._aside(mark)

    def _aside(self, work: Callable[[], T]) -> asyncio.Future[T]:
        # Not among the runtime's threads: those may all be systems that wait for a batch.
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="seedbed-batches")
        return asyncio.get_running_loop().run_in_executor(self._thread, work)
