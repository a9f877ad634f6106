"""No reply is read further than it can be meant to go, also by clients of other libraries.

litellm and the openai package make their own httpx clients, in many places, and read a reply whole. What they all pass
is `httpx.AsyncClient.send`: inside `limited_replies` it counts what comes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from seedbed.errors import ProviderError, causes

_most_bytes: ContextVar[int | None] = ContextVar("most_bytes", default=None)


class ReplyTooLong(Exception):
    """Raised where a reply is read. Libraries put errors of their own around it."""


def too_long(max_bytes: int) -> ProviderError:
    return ProviderError(
        "malformed", f"the reply is longer than {max_bytes / 1e6:g} MB; raise max_reply_mb if it is meant"
    )


def is_too_long(error: BaseException) -> bool:
    """Whether an error comes from a reply that was longer than allowed."""
    return any(isinstance(cause, ReplyTooLong) for cause in causes(error))


@contextmanager
def limited_replies(max_bytes: int) -> Iterator[None]:
    """Replies to requests made inside, by whatever httpx client, end with `ReplyTooLong` after so many bytes."""
    _count_replies()
    token = _most_bytes.set(max_bytes)
    try:
        yield
    finally:
        _most_bytes.reset(token)


@lru_cache(maxsize=1)
def _count_replies() -> None:
    """Put ourselves before `send`, once a process. Requests made outside `limited_replies` pass as before."""
    import httpx

    class Counted(httpx.AsyncByteStream):
        def __init__(self, stream: httpx.AsyncByteStream, most: int) -> None:
            self._stream, self._left = stream, most

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for part in self._stream:
                self._left -= len(part)
                if self._left < 0:
                    raise ReplyTooLong
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    send = httpx.AsyncClient.send

    async def counted(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **more: Any
    ) -> httpx.Response:
        most = _most_bytes.get()
        if most is None:
            return await send(self, request, stream=stream, **more)
        response = await send(self, request, stream=True, **more)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = Counted(response.stream, most)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response

    httpx.AsyncClient.send = counted
