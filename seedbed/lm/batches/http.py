"""What the batch APIs share: one session, errors as ProviderErrors, results read line by line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import aiohttp
import orjson

from seedbed.errors import ProviderError
from seedbed.lm.providers.openai_http import http_error, is_loopback
from seedbed.lm.types import JsonDict

_ANSWER_S = 60.0
_HAND_OVER_S = 600.0
"""For a file of some hundred megabytes on a slow line."""
_MAX_ANSWER = 20_000_000


class BatchHttp:
    """Made and used on one event loop."""

    def __init__(self, base: str, headers: Callable[[], Mapping[str, str]], max_line: int) -> None:
        self._base = base
        self._headers = headers
        self._max_line = max_line
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, method: str, url: str, **content: Any) -> JsonDict:
        """A JSON object; anything else is a ProviderError."""
        limit = aiohttp.ClientTimeout(total=_HAND_OVER_S if content else _ANSWER_S)
        try:
            async with self._open().request(
                method, url, headers=self._headers(), timeout=limit, allow_redirects=False, **content
            ) as reply:
                said = await reply.content.read(_MAX_ANSWER)
                while not reply.content.at_eof() and len(said) < _MAX_ANSWER:
                    said += await reply.content.read(_MAX_ANSWER - len(said))
                if reply.status >= 300:
                    raise http_error(reply.status, reply.headers, said)
        except Exception as error:
            raise _explained(error, url) from None
        return _parsed(said)

    async def lines(self, url: str) -> AsyncIterator[bytes]:
        """The lines of a reply as they come, however long it is. A line longer than a reply may be is left out."""
        limit = aiohttp.ClientTimeout(total=None, sock_connect=_ANSWER_S, sock_read=_ANSWER_S)
        left, skipping = b"", False
        try:
            async with self._open().get(url, headers=self._headers(), timeout=limit, allow_redirects=False) as reply:
                if reply.status != 200:
                    raise http_error(reply.status, reply.headers, await reply.content.read(10_000))
                async for part in reply.content.iter_any():
                    *whole, left = (left + part).split(b"\n")
                    for line in whole:
                        if line.strip() and not skipping:
                            yield line
                        skipping = False
                    if len(left) > self._max_line:
                        left, skipping = b"", True
        except Exception as error:
            raise _explained(error, url) from None
        if left.strip() and not skipping:
            yield left

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A proxy from the environment cannot reach a server on this machine.
            self._session = aiohttp.ClientSession(trust_env=not is_loopback(self._base))
        return self._session


def as_object(value: Any) -> JsonDict:
    """What a provider puts where an object belongs; empty where it is none."""
    return value if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[JsonDict]:
    """The objects of what a provider puts where a list of them belongs."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def as_counts(value: Any) -> dict[str, int]:
    """The whole numbers of an object."""
    return {name: n for name, n in as_object(value).items() if isinstance(n, int)}


def parsed_line(line: bytes) -> JsonDict | None:
    """A line of results; None where it is no JSON object, as one that was cut."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _parsed(said: bytes) -> JsonDict:
    found = parsed_line(said)
    if found is None:
        raise ProviderError("malformed", "the response is not a JSON object")
    return found


def _explained(error: Exception, url: str) -> Exception:
    match error:
        case ProviderError():
            return error
        case TimeoutError():
            return ProviderError("timeout", f"{url} did not answer in time")
        case aiohttp.ClientConnectorError() | aiohttp.InvalidURL():
            return ProviderError("transport", f"cannot reach {url}: {error}", unsent=True)
        case aiohttp.ClientError() | OSError():
            return ProviderError("transport", f"{type(error).__name__}: {error}")
        case _:
            return error
