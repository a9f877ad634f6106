"""Any endpoint that speaks the OpenAI chat dialect, over aiohttp: a fraction of the CPU of httpx-based clients."""

from __future__ import annotations

import difflib
import email.utils
import math
import os
import re
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import orjson

from seedbed.errors import ProviderError, ProviderErrorKind
from seedbed.lm.providers.reply_limit import too_long
from seedbed.lm.types import Attempt, JsonDict
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig

DEFAULT_BASE = "https://api.openai.com/v1"

_BY_STATUS: Mapping[int, ProviderErrorKind] = {
    401: "auth",
    402: "billing",
    403: "auth",
    408: "timeout",
    409: "server",
    429: "rate_limit",
    504: "timeout",
}
_BY_CODE: Mapping[str, ProviderErrorKind] = {
    "insufficient_quota": "billing",
    "billing_hard_limit_reached": "billing",
    "context_length_exceeded": "context_length",
    "string_above_max_length": "context_length",
}
# Servers without OpenAI's codes (vLLM, llama.cpp, Ollama) say it in words.
_TOO_LONG = re.compile(
    r"context (length|window|size)|maximum (context|model) len|exceed\w* .*context|too many tokens", re.IGNORECASE
)
_MAX_ERROR_TEXT = 300
_MAX_ERROR_BODY = 10_000
_LIST_TIMEOUT_S = 5.0
_SLOTS_TIMEOUT_S = 2.0
_SHOWN_NAMES = 3
_DNS_CACHE_S, _KEEPALIVE_S = 300, 30
_MAX_RETRY_AFTER_S = 3600.0
"""Longer than this is no pause but a closed door; the next refusal says so again."""


class OpenAIHttpProvider:
    """One session for all calls of a model. Made and used on one event loop."""

    def __init__(self, name: str, model: ModelConfig) -> None:
        self._name = name
        self._url = endpoint(model, "chat/completions")
        self._list_url = endpoint(model, "models")
        self._key_env = key_variable(model)
        self._max_bytes = int(model.max_reply_mb * 1e6)
        self._session: aiohttp.ClientSession | None = None

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        payload = orjson.dumps({**body, "model": self._name})
        timeout = aiohttp.ClientTimeout(total=attempt.timeout_s)
        try:
            async with self._open().post(
                self._url, data=payload, headers=self._headers(), timeout=timeout, allow_redirects=False
            ) as reply:
                content = await self._read(reply)
                if reply.status != 200:
                    refusal = http_error(reply.status, reply.headers, content)
                    if reply.status == 404:
                        refusal.message += await self._what_is_served()
                    raise refusal
        except TimeoutError:
            raise ProviderError("timeout", f"no answer within {attempt.timeout_s:g} s") from None
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            raise ProviderError("transport", f"cannot reach {self._url}: {error}", unsent=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise ProviderError("transport", f"{type(error).__name__}: {error}") from None
        return _parsed(content)

    async def _what_is_served(self) -> str:
        """For who asked for what is not there: the address, and the names that the server gives, the nearest first."""
        told = f" ({self._url})"
        try:
            timeout = aiohttp.ClientTimeout(total=_LIST_TIMEOUT_S)
            async with self._get(self._list_url, timeout) as reply:
                data = orjson.loads(await self._read(reply))
            names = [str(one["id"]) for one in data["data"]]
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, LookupError, TypeError, ProviderError):
            return told
        near = difflib.get_close_matches(self._name, names, n=_SHOWN_NAMES, cutoff=0.0)
        return f"{told}; the server has {', '.join(near)}" if near else told

    async def slots(self) -> int | None:
        """How many requests a llama.cpp on this machine works on at once; None of any other server."""
        if not is_loopback(self._url):
            return None
        at = urlsplit(self._url)
        url = urlunsplit(at._replace(path=f"{at.path.partition('/v1/')[0]}/props", query=""))
        try:
            timeout = aiohttp.ClientTimeout(total=_SLOTS_TIMEOUT_S)
            async with self._get(url, timeout) as reply:
                slots = orjson.loads(await self._read(reply))["total_slots"]
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, LookupError, TypeError, ProviderError):
            return None
        return slots if isinstance(slots, int) and slots > 0 else None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _get(self, url: str, timeout: aiohttp.ClientTimeout) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        # The key is for the address of the config, and for no other that it leads to.
        return self._open().get(url, headers=self._headers(), timeout=timeout, allow_redirects=False)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # The limiter bounds the calls in flight; a second bound here would only hide it.
            connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=_DNS_CACHE_S, keepalive_timeout=_KEEPALIVE_S)
            # A proxy from the environment cannot reach a server on this machine.
            self._session = aiohttp.ClientSession(connector=connector, trust_env=not is_loopback(self._url))
        return self._session

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        """The body, no further than a reply can be meant to go."""
        parts: list[bytes] = []
        size = 0
        async for part in reply.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > self._max_bytes:
                # Who asked leaves the reply, and the connection with what is still to come of it.
                raise too_long(self._max_bytes)
        return b"".join(parts)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        if key:
            headers |= {"api-key": key} if is_azure(self._url) else {"Authorization": f"Bearer {key}"}
        return headers


def endpoint(model: ModelConfig, path: str) -> str:
    """The address of an API call. A query of the base address (Azure's api-version) stays at the end."""
    base = urlsplit(model.api_base or DEFAULT_BASE)
    return urlunsplit(base._replace(path=f"{base.path.rstrip('/')}/{path}"))


def key_variable(model: ModelConfig) -> str | None:
    """The environment variable of the key. A server of one's own needs none unless the config names one."""
    return model.api_key_env or ("OPENAI_API_KEY" if model.api_base is None else None)


def is_azure(url: str) -> bool:
    """Whether the key goes into a header of its own, as Azure's OpenAI endpoints want it."""
    return (urlsplit(url).hostname or "").endswith((".azure.com", ".azure.us", ".azure.cn"))


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _parsed(content: bytes) -> JsonDict:
    try:
        data = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise ProviderError("malformed", "the response is not JSON") from None
    if not isinstance(data, dict):
        raise ProviderError("malformed", "the response is not a JSON object")
    return data


def http_error(status: int, headers: Mapping[str, str], content: bytes) -> ProviderError:
    """What an answer other than 200 means."""
    code, message = "", content[:_MAX_ERROR_BODY].decode("utf-8", "replace")
    try:
        detail = orjson.loads(content).get("error")
        if isinstance(detail, dict):
            code, message = str(detail.get("code") or detail.get("type") or ""), str(detail.get("message") or message)
        elif isinstance(detail, str):
            message = detail
    except (orjson.JSONDecodeError, AttributeError):
        pass
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status) or ("server" if status >= 500 else "invalid_request")
    if kind == "invalid_request" and _TOO_LONG.search(message):
        kind = "context_length"
    if 300 <= status < 400:
        message = f"redirected to {headers.get('Location', 'elsewhere')}; give that address as api_base"
    return ProviderError(
        kind, f"HTTP {status}: {redact(message)[:_MAX_ERROR_TEXT]}", status=status, retry_after=retry_after(headers)
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms`, or from `Retry-After` as a number or a date."""
    seconds = _number(headers.get("retry-after-ms"))
    if seconds is not None:
        seconds /= 1000
    elif (text := headers.get("Retry-After")) is not None and (seconds := _number(text)) is None:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return None if seconds is None else min(max(0.0, seconds), _MAX_RETRY_AFTER_S)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
