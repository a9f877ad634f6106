"""One attempt at one request, from the ledger or by a call, recorded whatever happens to it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy.exc import SQLAlchemyError

from seedbed.errors import BudgetReached, ProviderError, ReplayMiss, SeedbedError, SweepStopped, Unreachable
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.service import Batches
from seedbed.lm.ends import failed_end, unsent_end
from seedbed.lm.fatal import advice, fatal_sentence
from seedbed.lm.ledger import (
    BatchSeat,
    Begin,
    BeginResult,
    Busy,
    CallScope,
    Cap,
    End,
    Granted,
    InBatch,
    Ledger,
    OverBudget,
    Stored,
    Unknown,
)
from seedbed.lm.limits import Limiter, Slot
from seedbed.lm.normalise import normalised
from seedbed.lm.pace import Pace
from seedbed.lm.prices import ModelPrice, WorstCase
from seedbed.lm.request_size import RequestSize, request_size
from seedbed.lm.stop import StopSignal
from seedbed.lm.tokens import billed_usage
from seedbed.lm.types import Attempt, JsonDict, Usage
from seedbed.lm.usage import who_answered
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.normalise_config import NormaliseRule

R = TypeVar("R")

_POLL_S = 0.1
_BATCH_POLL_S = 1.0
"""The same where a batch is waited for: who waits are many, and nothing ends within moments."""
_ALONE_S = 2.0
"""How long the first request to a model goes alone: one is enough to find a wrong address, name or key."""
_LONG_PAUSE_S = 20.0
"""What is longer looks like a hang to who watches, unless it is said."""

logger = logging.getLogger("seedbed.lm")


@dataclass(frozen=True, slots=True)
class Binding:
    """For whom and with which model an LM calls."""

    scope: CallScope
    model: ModelConfig
    caps: tuple[Cap, ...] = ()
    rules: tuple[NormaliseRule, ...] = ()
    """What of a request does not count when it is looked up."""

    def normalise(self, body: JsonDict) -> JsonDict:
        """The body as its key is made of it."""
        return normalised(body, self.rules) if self.rules else body


@dataclass(frozen=True, slots=True)
class Kind(Generic[R]):
    """What tells a chat from an embedding. `read` refuses a reply it cannot use with a ProviderError."""

    send: Callable[[JsonDict, Attempt], Awaitable[JsonDict]]
    read: Callable[[JsonDict], R]
    usage: Callable[[JsonDict, JsonDict], Usage]
    worth_keeping: Callable[[JsonDict], bool]
    slots: Callable[[], Awaitable[int | None]] | None = None
    """How many requests the server says it works on at once, where it can be asked."""
    batches: bool = False
    """Whether a batch may answer it."""
    told: Callable[[JsonDict, JsonDict], Usage | None] = billed_usage
    """The tokens that a reply says itself, however useless it is."""


@dataclass(slots=True)
class ModelState:
    """What all calls of one model share."""

    limiter: Limiter
    price: ModelPrice | None
    worst_case: WorstCase | None
    provider: str
    """Whom it is asked of."""
    lane: Lane | None
    """Where its calls wait for batches, or may have waited before; None where it has no batches."""
    batched: bool
    """Whether batches answer its calls, at their price."""
    listed_as_batch: bool
    """Whether a fresh run would have batches answer."""
    answered: bool = False
    """Whether any request has had a reply: the address is right."""
    first: asyncio.Future[None] | None = None
    """The end of the first request that was sent."""

    def listed(self, usage: Usage) -> float | None:
        """What a fresh run would pay."""
        return self.price.cost(usage, batch=self.listed_as_batch) if self.price else None


@dataclass(frozen=True, slots=True)
class Query(Generic[R]):
    """One request of one caller."""

    binding: Binding
    kind: Kind[R]
    body: JsonDict
    attempt: Attempt
    sample: str | None
    pause_s: float = 0.0
    """To wait before it is tried, after a try that failed."""
    size: RequestSize = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", request_size(self.body))


class Attempts:
    """The one way to make an attempt, whatever its kind. Must be used from one event loop only."""

    def __init__(
        self, ledger: Ledger, stops: StopSignal, stop: Callable[[SeedbedError], None], *, replay: bool
    ) -> None:
        self._ledger = ledger
        self.batches = Batches(ledger, stops, stop)
        self._stops = stops
        self._stop = stop
        self._replay = replay
        self.pace = Pace()
        self._flights: dict[str, asyncio.Future[Stored | None]] = {}

    async def answer(self, query: Query[R], state: ModelState) -> R:
        """The reply, from the ledger if it is there, else by one call. Failures are ProviderErrors."""
        await self._stops.sleep(query.pause_s, query.binding.scope.cell)
        key, known = query.attempt.key, None
        while known is None and (flight := self._flights.get(key)) is not None:
            # The same request is on its way: its answer will be ours too.
            await asyncio.wait([flight])
            known = flight.result()
        if known is not None:
            return await self._record_reuse(query, state, known)
        mine = self._flights[key] = asyncio.get_running_loop().create_future()
        fresh: Stored | None = None
        try:
            if state.batched and state.lane is not None:
                return await self._by_batch(query, state, state.lane)
            while True:
                with await state.limiter.slot() as slot:
                    found = await self._try(query, state, slot)
                if isinstance(found, InBatch):
                    await self._until_out_of_batch(query, state, found)
                    continue
                if found is not None:
                    reply, fresh = found
                    return reply
                # Somebody else has the request in flight or the money reserved; no slot is held meanwhile.
                await self._stops.sleep(_POLL_S, query.binding.scope.cell)
        finally:
            del self._flights[key]
            mine.set_result(fresh)

    async def _record_reuse(self, query: Query[R], state: ModelState, known: Stored) -> R:
        self._stops.check(query.binding.scope.cell)
        await self._recorded(self._ledger.begin(self._begin(query, state, known)))
        return query.kind.read(orjson.loads(known.body))

    async def _by_batch(self, query: Query[R], state: ModelState, lane: Lane) -> R:
        """The reply by a batch: on record, in a batch with others, and waited for without a slot or a thread."""
        scope = query.binding.scope
        begin = self._begin(query, state, seat=BatchSeat(lane.id, orjson.dumps(query.body)))
        while True:
            async with self.batches.gate(scope.cell):
                self._stops.check(scope.cell)
                begun = await self._begun(begin)
                if isinstance(begun, Stored):
                    return query.kind.read(orjson.loads(begun.body))
                if not isinstance(begun, Granted | InBatch):
                    self._refuse(query, begun)
                    # Others of the cell wait behind this one: what it needs, they need too.
                    await self._stops.sleep(_BATCH_POLL_S, scope.cell)
                    continue
            own = isinstance(begun, Granted)
            told = await self.batches.outcome(begun.attempt_id, lane, scope.cell, own=own)
            if isinstance(told, bytes) and own:
                await self.pace.turn()
                return query.kind.read(orjson.loads(told))
            if isinstance(told, Exception):
                raise told
            # Somebody else's answer, or no answer at all: the ledger is asked again.

    async def _until_out_of_batch(self, query: Query[Any], state: ModelState, found: InBatch) -> None:
        """A call that a batch of before will answer is not paid a second time."""
        if state.lane is None:
            await self._stops.sleep(_BATCH_POLL_S, query.binding.scope.cell)
            return
        told = await self.batches.outcome(found.attempt_id, state.lane, query.binding.scope.cell, own=False)
        if isinstance(told, SeedbedError) and not isinstance(told, ProviderError):
            raise told

    def _refuse(self, query: Query[Any], begun: Busy | OverBudget | Unknown) -> None:
        """Stop what cannot go on; what can, tries again."""
        scope = query.binding.scope
        match begun:
            case OverBudget(cap, used, reserved):
                if reserved == 0.0:
                    self._over_budget(scope, cap, used)
            case Unknown():
                key = query.attempt.key[:12]
                self._stop(ReplayMiss(f"a replay met a request that is not in the ledger (key {key}, {scope.model})"))
            case Busy():
                pass

    async def _try(self, query: Query[R], state: ModelState, slot: Slot) -> tuple[R, Stored | None] | InBatch | None:
        scope = query.binding.scope
        self._stops.check(scope.cell)
        begin = self._begin(query, state)
        match await self._begun(begin):
            case Stored() as stored:
                return query.kind.read(orjson.loads(stored.body)), stored
            case Granted(attempt_id):
                return await self._call(query, state, slot, begin, attempt_id)
            case InBatch() as waits:
                return waits
            case Busy() | OverBudget() | Unknown() as refused:
                self._refuse(query, refused)
                return None

    def _begin(
        self, query: Query[Any], state: ModelState, known: Stored | None = None, seat: BatchSeat | None = None
    ) -> Begin:
        body = query.body
        return Begin(
            scope=query.binding.scope,
            key=query.attempt.key,
            number=query.attempt.number,
            sample=query.sample,
            request=orjson.dumps(body),
            reserved_usd=state.worst_case.usd(body, query.size) if state.worst_case else None,
            caps=query.binding.caps,
            may_call=not self._replay,
            known=known,
            seat=seat,
        )

    async def _begun(self, begin: Begin) -> BeginResult:
        """Begin; a caller that is cancelled meanwhile leaves no attempt open behind it."""
        future = self._ledger.begin(begin)
        try:
            return await self._recorded(asyncio.shield(future))
        except asyncio.CancelledError:
            future.add_done_callback(lambda done: self._give_back(begin, done))
            raise

    def _give_back(self, begin: Begin, done: asyncio.Future[BeginResult]) -> None:
        if not done.cancelled() and done.exception() is None and isinstance(granted := done.result(), Granted):
            if begin.seat is not None:
                self.batches.give_back(granted.attempt_id)
            else:
                self._ledger.end(unsent_end(granted.attempt_id, begin))

    async def _call(
        self, query: Query[R], state: ModelState, slot: Slot, begin: Begin, attempt_id: int
    ) -> tuple[R, Stored | None]:
        cell, limiter = begin.scope.cell, state.limiter
        ended: End | None = unsent_end(attempt_id, begin)
        reply: JsonDict | None = None
        sent_at = time.monotonic()
        try:
            await _after_the_first(state)
            await limiter.wait_to_send(query.size.likely, lambda seconds: self._stops.sleep(seconds, cell))
            self._stops.check(cell)
            state.first = state.first or asyncio.get_running_loop().create_future()
            sent_at, ended = time.monotonic(), None
            reply = await query.kind.send(query.body, query.attempt)
            took = time.monotonic() - sent_at
            if not state.answered:
                await _learn_slots(limiter, query.kind)
            state.answered = True
            answer = query.kind.read(reply)
            usage = query.kind.usage(query.body, reply)
            cost = state.price.cost(usage) if state.price else None
            # A key that an endpoint quotes is kept nowhere.
            said = redact(orjson.dumps(reply).decode()).encode() if query.kind.worth_keeping(reply) else None
            kept = Stored(said, usage) if said else None
            body = kept.body if kept else None
            who = who_answered(reply, state.provider)
            listed = state.listed(usage)
            ended = End(attempt_id, begin, "paid", usage, cost, listed, 0.0, took, response=body, answerer=who)
        except ProviderError as error:
            error.message = advice(error)
            if error.kind == "rate_limit":
                _tell_long(query.binding.model, limiter.rate_limited(error.retry_after, sent_at))
            elif error.kind == "timeout":
                limiter.timed_out(sent_at)
            told = query.kind.told(query.body, reply) if reply else None
            cost = state.price.cost(told) if told and state.price else None
            ended = failed_end(attempt_id, begin, error, told, cost, time.monotonic() - sent_at)
            if (sentence := fatal_sentence(query.binding.model, error, answered=state.answered)) is not None:
                self._stop(Unreachable(sentence))
            state.answered = state.answered or error.status is not None
            raise
        except BaseException as error:
            if ended is None:
                at_risk, name = begin.reserved_usd or 0.0, type(error).__name__
                took = time.monotonic() - sent_at
                ended = End(attempt_id, begin, "lost", None, 0.0, 0.0, at_risk, took, response=None, error_class=name)
            raise
        finally:
            # Also when cancelled, or after a bug in a provider: no record may say "in flight" for ever.
            assert ended is not None
            recorded = self._ledger.end(ended)
            if state.first is not None and not state.first.done():
                state.first.set_result(None)
            # The next call may go: the ledger writes in order, so its begin is never on record before this end.
            slot.release()
            if ended.outcome != "lost":
                await self._recorded(recorded)
        limiter.succeeded(took, sent_at)
        limiter.settle(query.size.likely, usage.input + usage.output)
        await self.pace.turn()
        return answer, kept

    async def _recorded(self, future: asyncio.Future[R]) -> R:
        """What cannot be written down must not be paid for: a broken ledger stops everything."""
        try:
            return await future
        except SQLAlchemyError as error:
            reason = SweepStopped(
                f"the ledger cannot be written ({error.__cause__ or error}); no call is made without it"
            )
            self._stop(reason)
            raise reason from error

    def _over_budget(self, scope: CallScope, cap: Cap, used: float) -> None:
        if cap.scope.startswith("sweep:"):
            self._stop(BudgetReached(f"the next call could take the sweep past ${cap.max_usd:g} (${used:.4f} used)"))
        else:
            text = f"the next call could take the cell past its ${cap.max_usd:g} (${used:.4f} used)"
            self._stops.stop_cell(scope.cell, BudgetReached(text))


async def _after_the_first(state: ModelState) -> None:
    """The first request goes alone, for a while: where it is refused for good, none of the others is sent."""
    if not state.answered and state.first is not None:
        await asyncio.wait([state.first], timeout=_ALONE_S)


async def _learn_slots(limiter: Limiter, kind: Kind[Any]) -> None:
    """Before the others go: the first answer has shown that somebody is there to be asked."""
    if kind.slots is not None and limiter.asks_for_slots and (slots := await kind.slots()) is not None:
        limiter.told_slots(slots)


def _tell_long(model: ModelConfig, pause: float) -> None:
    if pause > _LONG_PAUSE_S:
        logger.warning("%s takes no calls for %.0f s (429, Retry-After); waiting", model.model, pause)
