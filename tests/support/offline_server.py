"""The offline model behind an OpenAI-compatible address on loopback, with its own books: what it says it was asked."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from seedbed.lm.types import Attempt
from seedbed.offline.options import OfflineOptions
from seedbed.offline.provider import OfflineProvider


@dataclass
class Bill:
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    by_body: Counter[str] = field(default_factory=Counter)
    charged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By body: the input and output tokens that one request of it was charged for."""


def body_name(raw: bytes) -> str:
    """The name under which the books keep a request."""
    return hashlib.sha256(raw).hexdigest()


class OfflineServer:
    """Serves from a thread of its own. The same body gets the same answer."""

    def __init__(self, *, latency_s: float = 0.0, ability: float = 0.92) -> None:
        self.bill = Bill()
        self.latency_s = latency_s
        self._provider = OfflineProvider("offline/served", OfflineOptions(ability=ability, noise=0.05))
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="offline-server")
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> OfflineServer:
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        runner = web.ServerRunner(web.Server(self._handle, access_log=None))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        name = body_name(raw)
        body: dict[str, Any] = orjson.loads(raw)
        self.bill.requests += 1
        self.bill.by_body[name] += 1
        await asyncio.sleep(self.latency_s)
        reply = await self._provider.chat(body, Attempt(name, 0, 0, 1, 60.0))
        charged = reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"]
        self.bill.tokens_in += charged[0]
        self.bill.tokens_out += charged[1]
        self.bill.charged[name] = charged
        return web.Response(body=orjson.dumps(reply), content_type="application/json")
