"""No reply is read further than it can be meant to go, and none leads a request elsewhere, also with clients of other
libraries.

litellm and the openai package make their own httpx clients, in many places, read a reply whole, and follow where it
sends them, with a key in headers that only the provider knows. What they all pass is `httpx.AsyncClient.send`: inside
`limited_replies` it counts what comes, as long as it is once unpacked, leaves a redirect to the caller, and keeps the
reply for who cannot make sense of what the library says of it.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seedbed.errors import ProviderError, causes

if TYPE_CHECKING:
    import httpx


@dataclass
class Replies:
    """Those to the requests made inside `limited_replies`."""

    most_bytes: int
    last: httpx.Response | None = None
    """To the last request; None while it has none."""


_replies: ContextVar[Replies | None] = ContextVar("replies", default=None)
_GZIP = zlib.MAX_WBITS | 16
"""Expect the header of gzip."""


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
def limited_replies(max_bytes: int) -> Iterator[Replies]:
    """Replies to requests made inside, by whatever httpx client, end with `ReplyTooLong` after so many bytes, and
    redirects are not followed."""
    _count_replies()
    replies = Replies(max_bytes)
    token = _replies.set(replies)
    try:
        yield replies
    finally:
        _replies.reset(token)


@lru_cache(maxsize=1)
def _count_replies() -> None:
    """Put ourselves before `send`, once a process. Requests made outside `limited_replies` pass as before."""
    import httpx

    class Counted(httpx.AsyncByteStream):
        def __init__(self, stream: httpx.AsyncByteStream, most: int, *, packed: bool) -> None:
            self._stream, self._left = stream, most
            self._unpacking = zlib.decompressobj(_GZIP) if packed else None

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for part in self._stream:
                told = self._unpacked(part)
                self._left -= len(told)
                if self._left < 0:
                    raise ReplyTooLong
                yield told

        def _unpacked(self, part: bytes) -> bytes:
            if self._unpacking is None:
                return part
            try:
                # No further than to the first byte that is too many: a few kilobytes can stand for gigabytes.
                return self._unpacking.decompress(part, self._left + 1)
            except zlib.error as error:
                raise httpx.DecodingError(str(error)) from error

        async def aclose(self) -> None:
            await self._stream.aclose()

    send = httpx.AsyncClient.send

    async def counted(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **more: Any
    ) -> httpx.Response:
        replies = _replies.get()
        if replies is None:
            return await send(self, request, stream=stream, **more)
        replies.last = None
        request.headers["accept-encoding"] = "gzip"
        more["follow_redirects"] = False
        response = await send(self, request, stream=True, **more)
        replies.last = response
        response.next_request = None
        assert isinstance(response.stream, httpx.AsyncByteStream)
        # Unpacked here and not by httpx, which knows no limit; what comes in another form was not asked for.
        packing = response.headers.pop("content-encoding", "").strip().lower()
        response.stream = Counted(response.stream, replies.most_bytes, packed=packing == "gzip")
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response

    httpx.AsyncClient.send = counted
