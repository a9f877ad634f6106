"""A server on this loop that answers as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from seedbed.errors import ProviderError

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Asked:
    """What came, in order: method and path with query, headers, and the content as JSON where it is that."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.contents: list[bytes] = []
        self.url = ""

    @property
    def body(self) -> Any:
        """Of the last request."""
        return json.loads(self.contents[-1])


@asynccontextmanager
async def serving(answer: Answer | dict[str, Any]) -> AsyncIterator[Asked]:
    """`answer` gives the reply to a request, or is what each path is answered with: an object, a list of result
    lines, or a status."""
    asked = Asked()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        asked.paths.append(f"{request.method} {request.path_qs}")
        asked.headers.append({name.lower(): value for name, value in request.headers.items()})
        asked.contents.append(await request.read())
        return await answer(request) if callable(answer) else _said(answer[request.path_qs])

    server = web.Server(handle)
    runner = web.ServerRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1)
    await site.start()
    asked.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield asked
    finally:
        await runner.cleanup()


def _said(what: Any) -> web.StreamResponse:
    if isinstance(what, int):
        return web.json_response({"error": {"message": "no"}}, status=what)
    if isinstance(what, list):
        return web.Response(text="".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in what))
    return web.json_response(what)


async def failing(work: Awaitable[Any]) -> ProviderError:
    """The error of what does not go well."""
    try:
        found = await work
    except ProviderError as error:
        return error
    raise AssertionError(f"it went well: {found!r}")
