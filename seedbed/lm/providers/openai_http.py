"""Any endpoint that speaks the OpenAI chat dialect, over aiohttp: a fraction of the CPU of httpx-based clients."""

from __future__ import annotations

import asyncio
import email.utils
import os
import time
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import aiohttp
import orjson

from seedbed.config import ModelConfig
from seedbed.errors import ProviderError, ProviderErrorKind
from seedbed.lm.types import Attempt, JsonDict

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
_MAX_ERROR_TEXT = 300


class OpenAIHttpProvider:
    """One session for all calls of a model. Made and used on one event loop."""

    def __init__(self, name: str, model: ModelConfig) -> None:
        self._name = name
        self._url = f"{(model.api_base or DEFAULT_BASE).rstrip('/')}/chat/completions"
        self._key_env = model.api_key_env or ("OPENAI_API_KEY" if model.api_base is None else None)
        self._session: aiohttp.ClientSession | None = None

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        payload = orjson.dumps({**body, "model": self._name})
        timeout = aiohttp.ClientTimeout(total=attempt.timeout_s)
        try:
            async with self._open().post(self._url, data=payload, headers=self._headers(), timeout=timeout) as reply:
                content = await reply.read()
                if reply.status >= 400:
                    raise _error(reply.status, reply.headers, content)
        except (TimeoutError, asyncio.TimeoutError):
            raise ProviderError("timeout", f"no answer within {attempt.timeout_s:g} s") from None
        except aiohttp.ClientError as error:
            raise ProviderError("transport", f"{type(error).__name__}: {error}") from None
        return _parsed(content)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # The limiter bounds the calls in flight; a second bound here would only hide it.
            connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30)
            # A proxy from the environment cannot reach a server on this machine.
            self._session = aiohttp.ClientSession(connector=connector, trust_env=not is_loopback(self._url))
        return self._session

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self._key_env, "") if self._key_env else ""
        if key:
            headers["Authorization"] = f"Bearer {key}"
            # Azure's OpenAI endpoints read the key here and ignore the other header.
            headers["api-key"] = key
        return headers


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
    if not isinstance(data, dict) or not isinstance(data.get("choices"), list) or not data["choices"]:
        raise ProviderError("malformed", "the response has no choices")
    return data


def _error(status: int, headers: Mapping[str, str], content: bytes) -> ProviderError:
    code, message = "", content[:_MAX_ERROR_TEXT].decode("utf-8", "replace")
    try:
        detail = orjson.loads(content).get("error")
        if isinstance(detail, dict):
            code, message = str(detail.get("code") or detail.get("type") or ""), str(detail.get("message") or message)
    except (orjson.JSONDecodeError, AttributeError):
        pass
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status) or ("server" if status >= 500 else "invalid_request")
    return ProviderError(kind, f"HTTP {status}: {message[:_MAX_ERROR_TEXT]}", status=status, retry_after=_retry_after(headers))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms`, or from `Retry-After` as a number or a date."""
    if (text := headers.get("retry-after-ms")) and text.isdigit():
        return int(text) / 1000
    text = headers.get("Retry-After")
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        parsed = email.utils.parsedate_to_datetime(text) if "," in text else None
        return max(0.0, parsed.timestamp() - time.time()) if parsed else None
