"""Taking the results of a batch, row by row: each is committed before it is handed on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from seedbed.errors import ProviderError
from seedbed.lm.batches import results
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.protocol import Progress
from seedbed.lm.batches.waiting import Again, Told, Waiting
from seedbed.lm.ledger import End, Ledger, batches
from seedbed.lm.ledger.batches import Batch, OpenRow
from seedbed.lm.types import JsonDict
from seedbed.lm.usage import told_usage

if TYPE_CHECKING:
    from seedbed.lm.batches.poller import Aside

_AT_ONCE = 64
"""Rows on their way into the ledger; the next are read when they are committed."""


class Taking:
    def __init__(self, ledger: Ledger, lane: Lane, waiting: Waiting, aside: Aside) -> None:
        self._ledger, self._lane, self._waiting, self._aside = ledger, lane, waiting, aside
        self._on_the_way: list[Awaitable[None]] = []

    async def take(self, batch: Batch, progress: Progress, enough: Callable[[], bool]) -> bool:
        """All rows that have no end yet. What was broken off is begun again: rows that have one are passed over.

        Results that hold fewer rows than the provider counts, or says are done, may be cut or not all there yet: False
        then, and what is missing is left open, until they were waited for long enough.
        """
        rows = await self._open_rows(batch)
        left = {batch.custom_id(row.begin.key): row for row in rows}
        said: set[str] = set()
        assert batch.provider_id is not None
        try:
            async for name, result in self._lane.api.results(batch.provider_id, progress):
                said.add(name)
                row = left.pop(name, None)
                if row is not None:
                    await self._take(row, result)
            short = progress.complete or len(said) < progress.done + progress.failed
            if left and short and not enough():
                return False
            refused = dict(progress.refused)
            for place, row in enumerate(sorted(rows, key=lambda row: row.attempt_id), 1):
                if left.pop(batch.custom_id(row.begin.key), None) is not None:
                    await self._write(row, lambda row, place=place: _unsaid(row, refused.get(place), progress))
        finally:
            await self._committed()
        return True

    async def refuse_some(self, batch: Batch, refused: Mapping[str, ProviderError]) -> None:
        """Requests, by custom id, that keep the others from being sent."""
        for row in await self._open_rows(batch):
            if (error := refused.get(batch.custom_id(row.begin.key))) is not None:
                await self._write(row, lambda row, error=error: (results.refused(row, error), error))
        await self._committed()

    async def refuse_all(self, batch: Batch, error: ProviderError) -> None:
        """The provider did not take the batch."""
        for row in await self._open_rows(batch):
            await self._write(row, lambda row: (results.refused(row, error), error))
        await self._committed()

    async def give_up(self, batch: Batch, why: str) -> None:
        """Nobody can tell any more what became of its rows."""
        for row in await self._open_rows(batch):
            await self._write(row, lambda row: (results.lost(row, why), Again()))
        await self._committed()

    async def _open_rows(self, batch: Batch) -> list[OpenRow]:
        return await self._aside(lambda: batches.open_rows(self._ledger.engine, batch.id))

    async def _take(self, row: OpenRow, result: JsonDict | ProviderError) -> None:
        if isinstance(result, ProviderError):
            await self._write(row, lambda row: (results.refused(row, result), result))
            return
        request: JsonDict = {}
        if self._lane.model.batch_protocol != "openai" or told_usage(result) is None:
            request = await self._aside(lambda: batches.request_of(self._ledger.engine, row.begin.key))
        try:
            reply = await self._lane.api.read(result, request)
        except ProviderError as error:
            # Of no use; what it used may still be told, and was then paid.
            reply = {"usage": result.get("usage")}
            if told_usage(reply) is None:
                ended = results.refused(row, error), error
                await self._write(row, lambda _: ended)
                return
        end, told = results.answered(row, reply, request, self._lane.model, self._lane.price)
        if end.outcome == "paid" and end.response is None and isinstance(told, bytes):
            # Empty: paid for, not kept for reuse, and yet the answer to who asked, in whichever process.
            await self._aside(lambda: batches.keep_reply(self._ledger.engine, row.attempt_id, told))
        await self._write(row, lambda _: (end, told))

    async def _write(self, row: OpenRow, make: Callable[[OpenRow], tuple[End, Told]]) -> None:
        end, told = make(row)
        self._on_the_way.append(self._handed_on(self._ledger.end(end), row.attempt_id, told))
        if len(self._on_the_way) >= _AT_ONCE:
            await self._committed()

    async def _handed_on(self, recorded: asyncio.Future[None], attempt_id: int, told: Told) -> None:
        await recorded
        self._waiting.tell(attempt_id, told)

    async def _committed(self) -> None:
        on_the_way, self._on_the_way = self._on_the_way, []
        await asyncio.gather(*on_the_way)


def _unsaid(row: OpenRow, refused: str | None, progress: Progress) -> tuple[End, Told]:
    """A row of which the results say nothing."""
    error = ProviderError("invalid_request", refused) if refused else progress.why
    error = error or ProviderError("malformed", "the results of the batch say nothing of this request")
    own = ProviderError(error.kind, error.message, unsent=error.unsent)
    return results.refused(row, own), own
