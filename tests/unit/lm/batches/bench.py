"""A poller step by step: a real ledger, a provider that does what the test says, and hands on the clock."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import delete, update

from seedbed.errors import ProviderError, SeedbedError
from seedbed.lm.batches import poller as poller_module
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.poller import Poller
from seedbed.lm.batches.protocol import Perhaps, Progress
from seedbed.lm.batches.waiting import Waiting
from seedbed.lm.ledger import BatchSeat, Begin, Granted, Ledger, batches, schema
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.types import JsonDict
from seedbed.sweep.model_config import ModelConfig
from tests.support import lm

T = TypeVar("T")
_FILLED = (schema.attempts, schema.requests, schema.responses, schema.batches, schema.batch_rows)
RESERVED = 0.25
"""Dollars, of each attempt."""


class Clock:
    """Stands still."""

    def __init__(self) -> None:
        self.now = 1024.0
        self.wall = 0.0
        """Before anything was asked: no request is old."""

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.wall


class Provider:
    """Gives for each step what is written down for it, at last again and again; an error is raised."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Any]] = {
            "upload": ["file-1"], "create": ["batch-1"], "find": [None], "progress": [Progress("in_progress", False)],
            "cancel": [None],
        }  # fmt: skip
        self.rows: list[tuple[str, JsonDict | ProviderError]] = []
        self.asked: list[str] = []
        """Steps, in order."""
        self.told: dict[str, list[Any]] = defaultdict(list)
        """By step: what it was asked with."""
        self.meanwhile: Callable[[str], None] = lambda step: None
        self.closed = 0

    def count(self, step: str) -> int:
        return self.asked.count(step)

    def _answer(self, step: str, told: Any) -> Any:
        self.asked.append(step)
        self.told[step].append(told)
        self.meanwhile(step)
        left = self.answers[step]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def upload(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str | None:
        return self._answer("upload", [name for name, _ in rows])

    async def create(self, batch: Batch, rows: Iterable[tuple[str, JsonDict]]) -> str:
        return self._answer("create", [name for name, _ in rows])

    async def find(self, batch: Batch, since: float, known: Collection[str]) -> str | Perhaps | None:
        return self._answer("find", (batch.requests, since, set(known)))

    async def progress(self, provider_id: str) -> Progress:
        return self._answer("progress", provider_id)

    async def results(
        self, provider_id: str, progress: Progress
    ) -> AsyncIterator[tuple[str, JsonDict | ProviderError]]:
        for row in list(self.rows):
            yield row

    async def read(self, reply: JsonDict, request: JsonDict) -> JsonDict:
        return reply

    async def cancel(self, provider_id: str) -> None:
        self._answer("cancel", provider_id)

    async def aclose(self) -> None:
        self.closed += 1


class Bench:
    """`size` and the other settings are those of the model's `batch`."""

    def __init__(self, url: str, ledger: Ledger, runner: asyncio.Runner, clock: Clock, **settings: Any) -> None:
        own = {"size": 2, "age_s": 64.0, "poll_s": 8.0, "settle_s": 2.0}
        top = {name: settings.pop(name) for name in ("backoff_s", "model", "api_base") if name in settings}
        self.model = ModelConfig.model_validate(
            {"model": "openai/loop", "api_base": "http://127.0.0.1:9/v1", "price": lm.PRICE, "service": "batch",
             "backoff_s": 1.0, "batch": {**own, **settings}, **top}
        )  # fmt: skip
        self.clock, self.api, self.waiting = clock, Provider(), Waiting()
        self.lane = Lane(self.model)
        self.lane.__dict__["api"] = self.api
        self.stops: list[SeedbedError] = []
        self.may_send = True
        self.url, self.ledger = url, ledger
        self._runner, self._asked = runner, 0
        self._others: list[Ledger] = []
        self.poller = self.another_poller()

    def run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return self._runner.run(awaited())

    def another_process(self) -> Ledger:
        """A further writer of the ledger, as another process is."""
        self._others.append(opened(self.url))
        return self._others[-1]

    def another_poller(self, aside: Any = None) -> Poller:
        """One that knows nothing of what was before."""
        aside = aside or _at_once
        return Poller(self.ledger, self.lane, self.waiting, aside, self.stops.append, lambda: self.may_send)

    def ask(self, count: int = 1, ledger: Ledger | None = None) -> list[int]:
        """Put so many attempts on record that are waited for; their numbers."""
        return [self.run(self._ask(ledger or self.ledger)) for _ in range(count)]

    async def _ask(self, ledger: Ledger) -> int:
        self._asked += 1
        key = chr(96 + self._asked) * 64
        seat = BatchSeat(self.lane.id, b'{"messages": []}')
        begin = Begin(lm.scope(), key, 1, "q", b'{"messages": []}', RESERVED, (), seat=seat)
        granted = await ledger.begin(begin)
        assert isinstance(granted, Granted)
        self.waiting.add(granted.attempt_id, self.lane, "c", own=ledger is self.ledger)
        return granted.attempt_id

    def round(self) -> bool:
        return self.run(self.poller.round())

    def rounds(self) -> None:
        """Until nothing is left to do now."""
        while self.round():
            pass

    def later(self, seconds: float) -> None:
        """All that is due then."""
        self.clock.now += seconds
        self.rounds()

    def running(self, count: int = 2) -> list[int]:
        """A batch of so many attempts that the provider works on; their numbers."""
        asked = self.ask(count)
        self.rounds()
        assert self.batch().state == "running"
        return asked

    @property
    def open(self) -> list[Batch]:
        return batches.open_batches(self.ledger.engine)

    def batch(self) -> Batch:
        """The one that is open."""
        [found] = self.open
        return found

    def ended(self) -> list[Any]:
        """Batches that have ended."""
        with self.ledger.engine.begin() as connection:
            return list(connection.execute(schema.batches.select().where(schema.batches.c.ended_at.is_not(None))))

    def set(self, **values: Any) -> None:
        """Change all batches on record."""
        with self.ledger.engine.begin() as connection:
            connection.execute(update(schema.batches).values(**values))

    def outcomes(self) -> list[tuple[str | None, str | None, float | None]]:
        """Of the attempts in order: outcome, kind of error, and dollars at risk."""
        a = schema.attempts.c
        with self.ledger.engine.begin() as connection:
            rows = connection.execute(schema.attempts.select().order_by(a.id))
            return [(row.outcome, row.error_class, row.at_risk_usd) for row in rows]

    def told(self, attempt: int) -> Any:
        """What who waits for an attempt was told; None so far."""
        future = self.waiting.waiters[attempt].future
        return future.result() if future.done() else None

    def custom_id(self, place: int) -> str:
        """Of the request that was asked as the so manyth, from 1 on, in the open batch."""
        return self.batch().custom_id(chr(96 + place) * 64)

    def close(self) -> None:
        for ledger in self._others:
            ledger.close()


async def _at_once(work: Callable[[], Any]) -> Any:
    return work()


def reply(text: str = "yes", tokens_in: int = 10, tokens_out: int = 2) -> JsonDict:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    return {"id": "r", "model": "loop", "choices": [choice], "usage": usage}


def opened(url: str) -> Ledger:
    return Ledger(url, list_price=lambda scope, usage: None)


class Benches:
    """All of them share one ledger, which each finds empty: to open one takes longer than a test."""

    def __init__(self, folder: Path) -> None:
        self._url = lm.ledger_url(folder)
        self._ledger = opened(self._url)

    @contextmanager
    def __call__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[Bench]:
        clock = Clock()
        monkeypatch.setattr(poller_module, "time", clock)
        with self._ledger.engine.begin() as connection:
            for table in _FILLED:
                connection.execute(delete(table))
        with asyncio.Runner() as runner:
            bench = Bench(self._url, self._ledger, runner, clock, **settings)
            try:
                yield bench
            finally:
                bench.close()

    def close(self) -> None:
        self._ledger.close()
