"""Every provider that does not speak the OpenAI dialect, through litellm with its own retries and caches off."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlsplit

import orjson

from seedbed.errors import ProviderError, ProviderErrorKind, causes
from seedbed.lm.providers.openai_http import http_error, is_loopback, retry_after
from seedbed.lm.providers.reply_limit import is_too_long, limited_replies, too_long
from seedbed.lm.types import Attempt, JsonDict
from seedbed.storage.redact import redact
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    import httpx

# Without it the import waits for the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# For providers that litellm reaches by a library of their own, without an HTTP response to look at.
_BY_NAME: dict[str, ProviderErrorKind] = {
    "RateLimitError": "rate_limit",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "BudgetExceededError": "billing",
    "Timeout": "timeout",
    "APIConnectionError": "transport",
    "ServiceUnavailableError": "server",
    "InternalServerError": "server",
    "BadGatewayError": "server",
    "APIError": "server",
    "JSONSchemaValidationError": "malformed",
}
_MAX_ERROR_TEXT = 300


class LitellmProvider:
    """One engine call is one `litellm.acompletion`, which is one request."""

    def __init__(self, _name: str, model: ModelConfig) -> None:
        self._model = model.model
        self._api_base = model.api_base
        self._key_env = model.api_key_env
        self._max_bytes = int(model.max_reply_mb * 1e6)
        if model.api_base and is_loopback(model.api_base):
            _keep_off_proxies(urlsplit(model.api_base).hostname or "")

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        litellm = await asyncio.to_thread(import_litellm)
        key = os.environ.get(self._key_env) if self._key_env else None
        with limited_replies(self._max_bytes) as replies:
            try:
                async with asyncio.timeout(attempt.timeout_s):
                    response: Any = await litellm.acompletion(
                        **{**body, "model": self._model},
                        api_base=self._api_base,
                        api_key=key,
                        timeout=attempt.timeout_s,
                        num_retries=0,
                        max_retries=0,
                        caching=False,
                    )
                answer = as_body(response)
                orjson.dumps(answer)  # numbers and letters that no JSON of ours can hold
            except TimeoutError:
                raise ProviderError("timeout", f"no answer within {attempt.timeout_s:g} s") from None
            except Exception as error:
                if is_too_long(error):
                    raise too_long(self._max_bytes) from None
                if _has_come(replies.last, error):
                    return _as_it_came(replies.last, error)
                raise _translate(error) from None
        return answer

    async def aclose(self) -> None:
        return None


def _keep_off_proxies(host: str) -> None:
    """A proxy from the environment cannot reach a server on this machine, and litellm takes no other word for it."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [part for part in os.environ.get(name, "").split(",") if part]
        if host not in hosts:
            os.environ[name] = ",".join([*hosts, host])


def as_body(response: Any) -> JsonDict:
    """What litellm made of a reply, as the body of a chat completion."""
    return _without_invented_usage(response.model_dump(mode="json"))


def _has_come(reply: httpx.Response | None, error: Exception) -> TypeGuard[httpx.Response]:
    """Whether the provider answered, to its end: it will charge for what litellm could not read."""
    import httpx

    broken = any(isinstance(cause, httpx.TransportError) for cause in causes(error))
    return reply is not None and reply.is_success and not broken


def _as_it_came(reply: httpx.Response, error: Exception) -> JsonDict:
    """For who reads replies here: to refuse it, and to see what it tells of its tokens."""
    try:
        body = orjson.loads(_content(reply))
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise ProviderError("malformed", _said(error)) from None
    return body


def import_litellm() -> Any:
    import litellm as module

    litellm: Any = module
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


def _without_invented_usage(reply: JsonDict) -> JsonDict:
    """litellm writes zeros where the provider told no tokens; those have to be counted here, not taken for free."""
    usage = reply.get("usage") or {}
    if not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        reply.pop("usage", None)
    return reply


def _translate(error: Exception) -> ProviderError:
    """What happened, by the error beneath litellm's own: its class calls a broken connection a server's error."""
    import httpx

    said, status = _said(error), _status(error)
    if type(error).__name__ == "ContextWindowExceededError":
        return ProviderError("context_length", said, status=status)
    for cause in causes(error):
        match cause:
            case httpx.HTTPStatusError():
                return http_error(cause.response.status_code, _headers(error, cause.response), _content(cause.response))
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.PoolTimeout():
                return ProviderError("transport", said, unsent=True)
            case httpx.TimeoutException():
                return ProviderError("timeout", said)
            case httpx.RequestError():
                return ProviderError("transport", said)
            case JSONDecodeError():
                return ProviderError("malformed", said)
            case _:
                continue
    kind = _BY_NAME.get(type(error).__name__)
    if kind is None and status is not None:
        return http_error(status, _headers(error, None), str(error).encode())
    return ProviderError(
        kind or "invalid_request", said, status=status, retry_after=retry_after(_headers(error, None))
    )  # fmt: skip


def _said(error: Exception) -> str:
    # litellm puts its own traceback into what it says.
    return redact(f"{type(error).__name__}: {error}".partition("\nTraceback")[0])[:_MAX_ERROR_TEXT]


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _headers(error: Exception, response: httpx.Response | None) -> Mapping[str, str]:
    """litellm keeps the provider's headers beside a response that it makes up."""
    import httpx

    found = getattr(error, "litellm_response_headers", None) or (response.headers if response is not None else {})
    return httpx.Headers(found)


def _content(response: httpx.Response) -> bytes:
    import httpx

    try:
        return response.content
    except httpx.ResponseNotRead:
        return b""
