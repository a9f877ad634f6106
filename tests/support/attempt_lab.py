"""Attempts of one model, with a ledger that says what it is told and a provider that does what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy.exc import OperationalError

from seedbed.errors import ProviderError, SeedbedError
from seedbed.lm.attempts import Attempts, Binding, Kind, ModelState, Query
from seedbed.lm.ledger import Begin, BeginResult, End, Granted, Ledger
from seedbed.lm.limits import Limiter
from seedbed.lm.prices import WorstCase, price_of
from seedbed.lm.stop import StopSignal
from seedbed.lm.types import Attempt, Usage
from seedbed.sweep.model_config import Limits, ModelConfig
from tests.support.lm import scope

MODEL = ModelConfig.model_validate({"model": "openai/x", "price": {"input": 1.0, "output": 1.0}, "max_tokens": 10})
REPLY = {"choices": [{"message": {"content": "yes"}}]}
USAGE = Usage(3, 1)
DISK_FULL = OperationalError("INSERT", {}, Exception("disk full"))


class Book:
    """A ledger that answers each begin with the next word, or grants it, and keeps the ends."""

    def __init__(self, *words: BeginResult) -> None:
        self.begun, self.ended = list[Begin](), list[End]()
        self.fails_at_end = False
        self.held: asyncio.Future[BeginResult] | None = None
        """What a begin waits for, if it is to wait."""
        self.writing: asyncio.Future[None] | None = None
        """What the writing of an end waits for, if it is to wait."""
        self._words = list(words)

    def begin(self, begin: Begin) -> asyncio.Future[BeginResult]:
        self.begun.append(begin)
        if self.held is not None:
            return self.held
        return _done(self._words.pop(0) if self._words else begin.known or Granted(len(self.begun)))

    def end(self, end: End) -> asyncio.Future[None]:
        self.ended.append(end)
        return self.writing or _done(DISK_FULL if self.fails_at_end else None)


def _done(result: Any) -> asyncio.Future[Any]:
    future = asyncio.get_running_loop().create_future()
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
    return future


class Stops(StopSignal):
    """Sleeps take no time and are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.slept = list[float]()

    async def sleep(self, seconds: float, cell: str) -> None:
        self.slept.append(seconds)
        self.check(cell)
        await asyncio.sleep(0)


@dataclass
class Lab:
    """Attempts of one model at a provider that does what it is told."""

    book: Book = field(default_factory=Book)
    limits: Limits = field(default_factory=lambda: Limits(concurrency=16))
    priced: bool = True
    slots: Callable[[], Awaitable[int | None]] | None = None
    replay: bool = False
    batched: bool = False
    lane: Any = None

    def __post_init__(self) -> None:
        self.stops = Stops()
        self.reasons = list[SeedbedError]()
        self.attempts = Attempts(cast(Ledger, self.book), self.stops, self._stop, replay=self.replay)
        price = price_of(MODEL) if self.priced else None
        worst = WorstCase.of(MODEL, price) if price else None
        self.limiter = Limiter(self.limits)
        self.state = ModelState(self.limiter, price, worst, "openai", self.lane, self.batched, False)
        self.sent = list[str]()

    def _stop(self, reason: SeedbedError) -> None:
        self.reasons.append(reason)
        self.stops.stop(reason)

    async def ask(self, key: str = "k", does: Any = None, told: Usage | None = None, pause_s: float = 0.0) -> str:
        """The answer to one attempt; `does` is awaited, raised or returned as the reply."""

        async def send(_body: Any, attempt: Attempt) -> Any:
            self.sent.append(attempt.key)
            found: Any = await cast(Any, does)() if callable(does) else does
            if isinstance(found, BaseException):
                raise found
            return REPLY if found is None else found

        def read(reply: Any) -> str:
            if not reply.get("choices"):
                raise ProviderError("malformed", "no choices")
            return reply["choices"][0]["message"]["content"]

        self.kind = Kind(send, read, lambda *_: USAGE, lambda _: True, self.slots, told=lambda *_: told)
        attempt = Attempt(key, None, 0, 1, 60.0)
        body = {"model": "openai/x", "messages": [{"role": "user", "content": "Is 4 even?"}], "max_tokens": 10}
        query = Query(Binding(scope(), MODEL), self.kind, body, attempt, None, pause_s)
        return await self.attempts.answer(query, self.state)


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 20))  # type: ignore[arg-type]


async def some_passes() -> None:
    """Let the loop go on until nothing but what is held waits."""
    for _ in range(8):
        await asyncio.sleep(0)
