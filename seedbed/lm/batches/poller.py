"""The poller of a lane: one a process. It packs what has gathered, and takes the batches that are this process's to
their end, step by step. Each step is on record before the next depends on it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import ProviderError, SeedbedError, SweepStopped, Unreachable
from seedbed.lm.batches.lane import MAX_BYTES, Lane
from seedbed.lm.batches.protocol import Perhaps, Progress, RowsRefused
from seedbed.lm.batches.taking import Taking
from seedbed.lm.batches.waiting import Waiting
from seedbed.lm.fatal import fatal_sentence
from seedbed.lm.ledger import Ledger, batches
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.ledger.database import reading, split_owners
from seedbed.storage.redact import redact

T = TypeVar("T")

TICK_S = 0.5
_LOOK_S = 2.0
"""Between two looks at what other processes have done."""
_MAX_PAUSE_S = 60.0
_NO_ANSWER = frozenset({"timeout", "transport", "malformed", "server"})
"""After these nobody knows whether a batch was made."""
_NO_BATCHES = frozenset({404, 405, 501})
"""What servers without batches say."""

logger = logging.getLogger("seedbed.lm")


class Aside(Protocol):
    """Does something in a thread of its own, where the loop must not wait."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class Poller:
    """Must be used from one event loop only."""

    def __init__(
        self, ledger: Ledger, lane: Lane, waiting: Waiting, aside: Aside, stop: Callable[[SeedbedError], None],
        may_send: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._ledger, self._lane, self._waiting = ledger, lane, waiting
        self._aside, self._stop, self._may_send = aside, stop, may_send
        self._taking = Taking(ledger, lane, waiting, aside)
        self._due: dict[str, float] = {}
        self._fails: dict[str, int] = {}
        self._unsure_since: dict[str, float] = {}
        self._missing_since: dict[str, float] = {}
        self._uploaded: set[str] = set()
        """Batches whose files were uploaded here, and so not long ago."""
        self._looked = float("-inf")
        self.open: list[Batch] = []
        """As last seen, of all processes."""

    async def run(self) -> None:
        """Until it is cancelled, or the runtime is stopped for a reason that holds for every call."""
        while True:
            try:
                while await self.round():
                    pass
            except SQLAlchemyError as error:
                told = f"the ledger cannot be written ({error.__cause__ or error}); no call is made without it"
                self._stop(SweepStopped(told))
                return
            except Exception as error:
                logger.exception("the poller of %s broke", self._lane.model.model)
                self._stop(SweepStopped(f"the batches of {self._lane.model.model} cannot be looked after: {error}"))
                return
            await asyncio.sleep(min(TICK_S, self._lane.model.batch.poll_s))

    async def round(self) -> bool:
        """Everything that is due now. Returns whether a next step is, too, which does not wait for the provider."""
        engine, lane, own = self._ledger.engine, self._lane, self._ledger.owner
        if self._may_send():
            await self._pack()
        self.open = await self._aside(lambda: batches.open_batches(engine, {lane.id}))
        if time.monotonic() - self._looked >= _LOOK_S:
            await self._look_at_others()
        more = False
        for batch in self.open:
            if batch.owner == own and time.monotonic() >= self._due.get(batch.id, 0.0):
                went_well = await self._carefully(batch)
                more = more or (went_well and batch.state in ("packed", "uploaded"))
        return more

    async def _pack(self) -> None:
        engine, lane, batch = self._ledger.engine, self._lane, self._lane.model.batch
        while True:
            count, first = await self._aside(lambda: batches.gathering(engine, lane.id))
            if count < batch.size and (first is None or time.time() - first < batch.age_s):
                return
            made = await self._aside(
                lambda: batches.pack(
                    engine, self._ledger.owner, lane.id, lane.spec, size=batch.size, max_bytes=MAX_BYTES
                )
            )
            if made is None:
                return
            logger.debug("batch %s: %d requests", made.id, made.requests)

    async def _look_at_others(self) -> None:
        """Take over the batches of processes that died, and hear of ends that other processes wrote down."""
        self._looked = time.monotonic()
        engine, own = self._ledger.engine, self._ledger.owner
        if any(batch.owner != own for batch in self.open):
            free = await self._aside(lambda: _nobodys(self._ledger, self.open))
            for one in free:
                await self._aside(lambda one=one: batches.lease(engine, own, one.id))
            if free:
                self.open = await self._aside(lambda: batches.open_batches(engine, {self._lane.id}))
        waited = self._waiting.of(self._lane)
        for ended in await self._aside(lambda: batches.ended(engine, waited)) if waited else ():
            self._waiting.tell_ended(ended)

    async def _carefully(self, batch: Batch) -> bool:
        """One step, tried again later where it does not go well."""
        try:
            await self._step(batch)
        except ProviderError as error:
            self._fails[batch.id] = self._fails.get(batch.id, 0) + 1
            pause = min(_MAX_PAUSE_S, self._lane.model.backoff_s * 2 ** min(self._fails[batch.id], 10))
            self._due[batch.id] = time.monotonic() + max(error.retry_after or 0.0, pause)
            logger.warning("batch %s: %s; trying again", batch.provider_id or batch.id, redact(error.message))
            await self._give_up_for_good(error)
            return False
        self._fails.pop(batch.id, None)
        return True

    async def _give_up_for_good(self, error: ProviderError) -> None:
        """Stop where no later try can go better. Batches that the provider has not heard of are taken apart then: with
        what the user mends nobody might ever send them, and normal calls would wait for them."""
        model = self._lane.model
        sentence = fatal_sentence(model, error, answered=self._lane.answered)
        if error.status in _NO_BATCHES:
            told = redact(error.message)
            remedy = "Remove `service: batch` of the model, or correct its api_base, and run again."
            sentence = f"{model.model}: the server has no batches ({told}). {remedy}"
        self._lane.answered = self._lane.answered or error.status is not None
        if sentence is None:
            return
        engine, own = self._ledger.engine, self._ledger.owner
        for one in await self._aside(lambda: batches.open_batches(engine, {self._lane.id})):
            if one.owner == own and one.state in ("packed", "uploaded"):
                await self._aside(lambda one=one: batches.unpack(engine, own, one.id))
        # Last: who hears of it may close the runtime, which ends this poller.
        self._stop(Unreachable(sentence))

    async def _step(self, batch: Batch) -> None:
        match batch.state:
            case "packed":
                await self._upload(batch)
            case "uploaded":
                await self._create(batch)
            case "creating":
                await self._find(batch)
            case "running":
                await self._poll(batch)
            case "ended":
                pass

    async def _upload(self, batch: Batch) -> None:
        try:
            file = await self._lane.api.upload(batch, await self._rows(batch))
        except ProviderError as error:
            await self._refused_or_raise(batch, error)
            return
        self._lane.answered = True
        self._uploaded.add(batch.id)
        await self._advance(batch, state="uploaded", file_id=file)

    async def _create(self, batch: Batch) -> None:
        rows = await self._rows(batch)
        if not rows:
            return await self._end(batch, "nothing left to ask")
        if not await self._advance(batch, state="creating"):
            return None
        try:
            made = await self._lane.api.create(batch, rows)
        except RowsRefused as error:
            await self._taking.refuse_some(batch, error.refused)
            await self._advance(batch, state="uploaded")
            return None
        except ProviderError as error:
            if error.kind in _NO_ANSWER and not error.unsent and error.status not in _NO_BATCHES:
                self._unsure_since[batch.id] = time.monotonic()
                raise
            if error.status in (400, 404) and batch.file_id is not None and batch.id not in self._uploaded:
                # It was uploaded by a process that is gone, perhaps long ago: the provider may have dropped the file.
                await self._advance(batch, state="packed", file_id=None)
                return None
            await self._advance(batch, state="uploaded")
            return await self._refused_or_raise(batch, error)
        self._lane.answered = True
        if not await self._advance(batch, state="running", provider_id=made):
            # Another process took this one for dead and has made it anew.
            await self._lane.api.cancel(made)
        return None

    async def _refused_or_raise(self, batch: Batch, error: ProviderError) -> None:
        """What no second try can mend ends the batch, and each of its calls with the reason."""
        if error.kind not in ("invalid_request", "context_length") or error.status in (*_NO_BATCHES, None):
            raise error
        if error.status == 413:
            error.message += "; lower `batch: {size: ...}` of the model"
        await self._taking.refuse_all(batch, error)
        await self._end(batch, error.message)

    async def _find(self, batch: Batch) -> None:
        """Its creation was cut off: look for it at the provider before it is made again, and paid again."""
        engine = self._ledger.engine
        since = self._unsure_since.setdefault(batch.id, time.monotonic())

        def known() -> set[str]:
            with reading(engine) as connection:
                return batches.known_ids(connection)

        sent = replace(batch, requests=len(await self._rows(batch)))
        try:
            found = await self._lane.api.find(sent, batch.packed_at, await self._aside(known))
        except ProviderError as error:
            if error.status not in _NO_BATCHES:
                raise
            if self._missed_for_long(batch):
                why = f"its creation was cut off, and batches are not listed: {error.message}"
                await self._taking.give_up(batch, why)
                await self._end(batch, error.message)
            return
        self._lane.answered = True
        settle = self._lane.model.batch.settle_s
        if isinstance(found, str):
            await self._advance(batch, state="running", provider_id=found)
        elif isinstance(found, Perhaps) or time.monotonic() - since < settle:
            pause = self._lane.model.batch.poll_s if isinstance(found, Perhaps) else min(1.0, settle / 4)
            self._due[batch.id] = time.monotonic() + pause
        else:
            self._unsure_since.pop(batch.id)
            await self._advance(batch, state="uploaded")

    async def _poll(self, batch: Batch) -> None:
        assert batch.provider_id is not None
        try:
            now = await self._lane.api.progress(batch.provider_id)
            await self._note(batch, now)
            if not now.ended:
                self._due[batch.id] = time.monotonic() + self._lane.model.batch.poll_s
                return None
            if not await self._taking.take(batch, now, lambda: self._missed_for_long(batch)):
                return None
        except ProviderError as error:
            if error.status not in (404, 410):
                raise
            if not self._missed_for_long(batch):
                return None
            await self._taking.give_up(batch, f"the provider has it no more: {error.message}")
            return await self._end(batch, error.message)
        return await self._end(batch, None if now.status in ("completed", "ended") else f"{now.status} at the provider")

    def _missed_for_long(self, batch: Batch) -> bool:
        """Whether results were looked for in vain for long enough; if not, they are looked for again in a while. What
        is given up is asked again, and may be paid a second time."""
        settle = self._lane.model.batch.settle_s
        now = time.monotonic()
        self._due[batch.id] = now + min(1.0, settle / 4)
        return now - self._missing_since.setdefault(batch.id, now) >= settle

    async def _note(self, batch: Batch, now: Progress) -> None:
        self._lane.answered = True
        await self._advance(batch, provider_status=now.status, done=now.done, failed=now.failed, asked_at=time.time())

    async def _end(self, batch: Batch, error: str | None) -> None:
        said = redact(error).replace("\0", "") if error else None
        await self._advance(batch, state="ended", ended_at=time.time(), error=said)
        self._uploaded.discard(batch.id)
        for known in (self._due, self._fails, self._unsure_since, self._missing_since):
            known.pop(batch.id, None)

    async def _advance(self, batch: Batch, **values: object) -> bool:
        engine, own = self._ledger.engine, self._ledger.owner
        return await self._aside(lambda: batches.advance(engine, own, batch.id, **values))

    async def _rows(self, batch: Batch) -> list[tuple[str, dict[str, object]]]:
        engine = self._ledger.engine
        return await self._aside(
            lambda: [(batch.custom_id(key), body) for key, body in batches.bodies(engine, batch.id)]
        )


def _nobodys(ledger: Ledger, found: list[Batch]) -> list[Batch]:
    """Batches on which no living process works."""
    with reading(ledger.engine) as connection:
        alive, _ = split_owners(connection)
    return [batch for batch in found if batch.owner is None or batch.owner not in alive]
