"""Every provider that does not speak the OpenAI dialect, through litellm with its own retries and caches off."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from seedbed.config import ModelConfig
from seedbed.errors import ProviderError, ProviderErrorKind
from seedbed.lm.providers.openai_http import retry_after
from seedbed.lm.types import Attempt, JsonDict

# Without it the import waits for the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

_BY_NAME: dict[str, ProviderErrorKind] = {
    "RateLimitError": "rate_limit",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "BudgetExceededError": "billing",
    "ContextWindowExceededError": "context_length",
    "Timeout": "timeout",
    "APIConnectionError": "transport",
    "ServiceUnavailableError": "server",
    "InternalServerError": "server",
    "BadGatewayError": "server",
    "APIError": "server",
    "JSONSchemaValidationError": "malformed",
}


class LitellmProvider:
    """One engine call is one `litellm.acompletion`, which is one request."""

    def __init__(self, model: ModelConfig) -> None:
        self._model = model.model
        self._api_base = model.api_base
        self._key_env = model.api_key_env

    async def chat(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        litellm = await asyncio.to_thread(_import_litellm)
        key = os.environ.get(self._key_env) if self._key_env else None
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
        except TimeoutError:
            raise ProviderError("timeout", f"no answer within {attempt.timeout_s:g} s") from None
        except Exception as error:
            raise _translate(error) from None
        return response.model_dump(mode="json")

    async def aclose(self) -> None:
        return None


def _import_litellm() -> Any:
    import litellm as module

    litellm: Any = module
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


def _translate(error: Exception) -> ProviderError:
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_NAME:
            return ProviderError(
                _BY_NAME[kind.__name__],
                f"{type(error).__name__}: {error}",
                status=_status(error),
                retry_after=_retry_after(error),
            )
    return ProviderError("invalid_request", f"{type(error).__name__}: {error}", status=_status(error))


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return retry_after(headers) if headers is not None else None
