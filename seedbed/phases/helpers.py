"""The processes that help this one to answer samples: started when they are first needed, kept for all cells of the
sweep, closed with the runtime whose ledger and limits they share."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from seedbed.errors import SeedbedError
from seedbed.lm.runtime import LMRuntime
from seedbed.phases.helper import LENGTH, Message, packed

logger = logging.getLogger("seedbed")

_STARTS = 3
"""A helper that ends so often is not started again: what it died of, as too little memory, would kill the next."""
_END_S = 8.0


class HelperGone(SeedbedError):
    """A helper ended, or never came up; what it had in hand has to be done by others."""


class Helper:
    """One process. Must be used on the runtime's loop."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._numbers = itertools.count()
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._starts = 0
        self.on_ledger = False
        """Whether it has come to the ledger, and so is one of its peers."""

    @property
    def alive(self) -> bool:
        return self._reading is not None and not self._reading.done()

    @property
    def may_start(self) -> bool:
        return self.alive or self._starts < _STARTS

    async def ready(self, **begin: Any) -> None:
        """Returns when it takes requests; started with `begin` if it does not run."""
        async with self._starting:
            if self.alive:
                return
            self._starts += 1
            self.on_ledger = False
            command = (sys.executable, "-m", "seedbed.phases.helper")
            try:
                self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
            except OSError as error:
                raise HelperGone(f"a helping process could not be started ({error})") from None
            self._reading = asyncio.create_task(self._read(self._process))
            await self.call("begin", path=sys.path, **begin)

    async def call(self, do: str, **fields: Any) -> Message:
        """The reply to a request: `done`, `stopped` or `failed`."""
        number = next(self._numbers)
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            self.send(do, id=number, **fields)
            return await reply
        finally:
            self._waiting.pop(number, None)

    def send(self, do: str, **fields: Any) -> None:
        """A request that is not answered."""
        if not self.alive:
            raise HelperGone("a helping process has ended")
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(packed({"do": do, **fields}))

    async def end(self) -> None:
        """Let it write what is queued; one that does not end, or that never came to work, is killed."""
        if self._process is None:
            return
        if not self.on_ledger:
            with suppress(ProcessLookupError):
                self._process.kill()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(packed({"do": "end"}))
        try:
            async with asyncio.timeout(_END_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            while True:
                head = await process.stdout.readexactly(LENGTH.size)
                reply = json.loads(await process.stdout.readexactly(*LENGTH.unpack(head)))
                if (waiting := self._waiting.get(reply["id"])) is not None and not waiting.done():
                    waiting.set_result(reply)
        except (asyncio.IncompleteReadError, OSError):
            code = await process.wait()
            ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(HelperGone(f"a helping process has ended ({ended})"))


class Helpers:
    """All of a runtime. They take part of what this process may send, so they are told how many they are."""

    def __init__(self, runtime: LMRuntime, processes: int) -> None:
        self._runtime = runtime
        self._processes = processes
        self._all = [Helper() for _ in range(processes - 1)]
        self._at_work = 0
        self._jobs = itertools.count()

    def some(self, number: int) -> list[Helper]:
        return self._all[:number]

    def next_job(self) -> int:
        return next(self._jobs)

    async def ready(self, helper: Helper) -> None:
        """Returns when the helper takes requests. A newcomer need not wait to be seen where nobody else is at work on
        the ledger: this process makes room for it at once."""
        if not helper.alive:
            peers = await asyncio.to_thread(self._runtime.ledger.look_around)
            known = peers <= self._members
            await helper.ready(processes=self._processes, known=known)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """While any helper is at work, this process keeps to its part of the limits; it has its part before the helper
        begins."""
        self._at_work += 1
        try:
            await self._runtime.divide(self._processes, self._members)
            yield
        finally:
            self._at_work -= 1
            if not self._at_work:
                await self._runtime.divide(1, self._members)

    async def lost(self, helper: Helper, error: HelperGone) -> None:
        """Say so, and have what it had in flight counted as lost now."""
        logger.warning("%s; its samples are asked again, what was paid for is reused", error)
        await asyncio.to_thread(self._runtime.ledger.look_around)
        if not helper.may_start:
            logger.warning("it ended %d times and is not started again", _STARTS)

    @property
    def _members(self) -> int:
        """Those of the ledger's peers that are this process or help it."""
        return 1 + sum(helper.alive and helper.on_ledger for helper in self._all)

    async def aclose(self) -> None:
        await asyncio.gather(*(helper.end() for helper in self._all))


def helpers_of(runtime: LMRuntime, processes: int) -> Helpers:
    return runtime.keep("helpers", lambda: Helpers(runtime, processes))
