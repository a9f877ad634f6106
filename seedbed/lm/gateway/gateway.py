"""The gateway of a runtime: one server on loopback, open while a phase needs it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any

from aiohttp import web

from seedbed.lm.gateway.grants import Bind, Gone, Grant, Grants, Sample
from seedbed.lm.gateway.protocols import Refusal
from seedbed.lm.gateway.routes import Reply, answer, key_of, protocol_of, refused

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

_HOST = "127.0.0.1"
_BACKLOG = 1024
_MAX_REQUEST = 256 * 2**20
_CLOSE_S = 2.0
_REMEDY = "a key is good for one sample of one phase; take it from the environment or from context.address()"


def gateway_of(runtime: LMRuntime) -> Gateway:
    """The one gateway of a runtime, made at the first request and closed with it."""
    return runtime.keep("gateway", lambda: Gateway(runtime))


class Gateway:
    """Gives out keys from any thread; answers on the runtime's loop."""

    def __init__(self, runtime: LMRuntime) -> None:
        self._runtime = runtime
        self._grants = Grants()
        self._lock = threading.Lock()
        self._listening: socket.socket | None = None
        self._hosts: tuple[str, ...] = ()
        """What who connects may call it."""
        self._runner: web.AppRunner | None = None
        self._starting: Any = None
        self._ended: dict[str, list[Grant]] = {}
        """By execution: grants that ended before their phase, whose calls may still be on their way."""

    # -- for phases ------------------------------------------------------------------------------------------------

    def grant(self, bind: Bind, role: str, sample: Sample) -> Grant:
        """Leave to call for a role in a sample."""
        return self._grants.give(bind, role, sample)

    @property
    def port(self) -> int:
        """The port of the server, which is opened now if it is not."""
        with self._lock:
            if self._listening is None:
                # At once, from any thread: who connects before the server is up waits in the line.
                self._listening = socket.create_server((_HOST, 0), backlog=_BACKLOG)
                port = self._listening.getsockname()[1]
                self._hosts = tuple(f"{name}:{port}" for name in (_HOST, "localhost"))
                self._starting = asyncio.run_coroutine_threadsafe(self._serve(self._listening), self._runtime.loop)
            return self._listening.getsockname()[1]

    def end(self, key: str) -> Grant | None:
        """From now on the key is refused; returns what it stood for."""
        grant = self._grants.find(key)
        if grant is not None:
            self._grants.end(grant)
            if grant.running:
                self._ended.setdefault(grant.execution, []).append(grant)
        return grant

    def end_phase(self, execution: str) -> None:
        """Refuse all keys of a phase and give up what still runs under them; close the server if nobody needs it."""
        ended = self._grants.end_execution(execution) + self._ended.pop(execution, [])
        if ended or self._listening is not None:
            self._runtime.run(self._give_up(ended))

    async def aclose(self) -> None:
        with self._lock:
            listening, self._listening = self._listening, None
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()
        if listening is not None:
            listening.close()

    # -- for clients -----------------------------------------------------------------------------------------------

    async def answer(self, grant: Grant, path: str, content: bytes, gone: Gone) -> Reply:
        """A request of a client that is known, on the runtime's loop. It goes on when its client hangs up: the call is
        paid for, and its answer is there for who asks again."""
        task = asyncio.ensure_future(answer(self._runtime, grant, path, content, gone))
        grant.running.add(task)
        task.add_done_callback(grant.running.discard)
        return await task

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        reply = await self._reply(request)
        return web.Response(status=reply.status, body=reply.content, headers=reply.headers)

    async def _reply(self, request: web.Request) -> Reply:
        headers = {name.lower(): value for name, value in request.headers.items()}
        path = request.path.rstrip("/")
        protocol = protocol_of(path, headers)
        if headers.get("host", "") not in self._hosts:
            return refused(protocol, Refusal(403, "the gateway answers on loopback only, under its own name"))
        grant = self._grants.find(key_of(headers))
        if grant is None:
            return refused(protocol, Refusal(401, f"the gateway does not know this key; {_REMEDY}", "invalid_api_key"))
        try:
            content = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return refused(protocol, Refusal(413, f"the request is longer than {_MAX_REQUEST >> 20} MB"))
        return await self.answer(grant, path, content, lambda: _hung_up(request))

    # -- inside ----------------------------------------------------------------------------------------------------

    async def _serve(self, listening: socket.socket) -> None:
        app = web.Application(client_max_size=_MAX_REQUEST)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_CLOSE_S)
        await self._runner.setup()
        await web.SockSite(self._runner, listening, backlog=_BACKLOG).start()

    async def _give_up(self, ended: list[Grant]) -> None:
        running = [task for grant in ended for task in grant.running]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if not self._grants:
            if self._starting is not None:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wrap_future(self._starting)
            await self.aclose()


def _hung_up(request: web.Request) -> bool:
    transport = request.transport
    return transport is None or transport.is_closing()
