"""OpenAI's own clients, whose requests go straight into the runtime: no socket, the same counting. The sample is that
which is being worked on where a request is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import httpx
from openai import AsyncOpenAI, OpenAI

from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.gateway.gateway import gateway_of
from seedbed.lm.gateway.grants import Bind, Grant
from seedbed.lm.gateway.routes import Reply

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

_BASE = "http://gateway.invalid/v1"
"""Nobody is asked there."""
_KEY = "in-process"


def async_client(runtime: LMRuntime, bind: Bind, role: str) -> AsyncOpenAI:
    """For code on the runtime's loop, or on any other."""
    transport = _AsyncTransport(_Door(runtime, bind, role))
    return AsyncOpenAI(api_key=_KEY, base_url=_BASE, http_client=httpx.AsyncClient(transport=transport))


def sync_client(runtime: LMRuntime, bind: Bind, role: str) -> OpenAI:
    """For code in a thread."""
    transport = _Transport(_Door(runtime, bind, role))
    return OpenAI(api_key=_KEY, base_url=_BASE, http_client=httpx.Client(transport=transport))


class _Door:
    """The way of a request into the gateway, for one role."""

    def __init__(self, runtime: LMRuntime, bind: Bind, role: str) -> None:
        self.runtime = runtime
        self.cell = bind(role).scope.cell
        self._gateway = gateway_of(runtime)
        self._grant: Callable[[tuple[str | None, int]], Grant] = partial(self._gateway.grant, bind, role)

    def work(self, path: str, content: bytes) -> Callable[[], asyncio.Future[Reply]]:
        grant = self._grant(CURRENT_SAMPLE.get())
        return lambda: asyncio.ensure_future(self._gateway.answer(grant, path, content, _here))


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, door: _Door) -> None:
        self._door = door

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        door = self._door
        work = door.work(request.url.path, await request.aread())
        if asyncio.get_running_loop() is door.runtime.loop:
            return _response(await work())
        elsewhere = asyncio.run_coroutine_threadsafe(door.runtime.until_stop(work, door.cell), door.runtime.loop)
        return _response(await asyncio.wrap_future(elsewhere))


class _Transport(httpx.BaseTransport):
    def __init__(self, door: _Door) -> None:
        self._door = door

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        work = self._door.work(request.url.path, request.read())
        return _response(self._door.runtime.run_until_stop(work, self._door.cell))


def _response(reply: Reply) -> httpx.Response:
    return httpx.Response(reply.status, headers=reply.headers, content=reply.content)


def _here() -> bool:
    return False
