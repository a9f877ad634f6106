"""Between DSPy's requests and the JSON bodies that providers and the ledger share."""

from __future__ import annotations

import hashlib
import random
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.config import ModelConfig
from seedbed.errors import ProviderError
from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from dspy.lm15 import OpenAIChatLM, Request, Response

KEY_VERSION = 1
"""Raise when the recipe of a key changes: stored responses are then not found any more."""

_MAX_BACKOFF_S = 60.0


def encode(request: Request, model: ModelConfig) -> JsonDict:
    """The chat body of a request, with the model's own `extra` fields in it."""
    body: JsonDict = orjson.loads(_wire().build_request(request, False).body or b"{}")
    if model.api_base or not model.model.startswith("openai/"):
        # Only OpenAI itself renamed this field; other servers know the old name.
        limit = body.pop("max_completion_tokens", None)
        if limit is not None:
            body["max_tokens"] = limit
    return {**body, **model.extra}


def request_key(body: JsonDict, model: ModelConfig, seed: int | None, repeat: tuple[Any, ...]) -> str:
    """Equal for requests that may share one answer: same model, messages, sampling, seed scope and repeat."""
    identity = {
        "version": KEY_VERSION,
        "model": model.model,
        "api_base": model.api_base,
        "options": {k: v for k, v in model.options.items() if k not in ("latency_ms", "errors")},
        "body": body,
        "seed": seed,
        "repeat": repeat,
    }
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()


def decode(body: JsonDict, model: str) -> Response:
    """A chat completion as DSPy's response. A body it cannot read is a malformed answer, not a bug of ours."""
    from dspy.lm15 import response_from_openai_chat

    try:
        return response_from_openai_chat(body, model=model)
    except (TypeError, ValueError, KeyError) as error:
        raise ProviderError("malformed", f"the response cannot be read ({error})") from error


def is_empty(body: JsonDict) -> bool:
    """Whether a completion says nothing at all: paid, but not worth keeping as an answer."""
    for choice in body.get("choices") or []:
        message = choice.get("message") or {}
        if message.get("content") or message.get("tool_calls") or message.get("refusal"):
            return False
    return True


def to_dspy_error(error: ProviderError, model: ModelConfig, number: int) -> Exception:
    """The failure in DSPy's terms. DSPy makes the retries and takes `retry_after` as the delay, so the growing,
    jittered pause is decided here."""
    from dspy import lm15

    classes: dict[str, type[lm15.LM15Error]] = {
        "rate_limit": lm15.RateLimitError,
        "server": lm15.ServerError,
        "malformed": lm15.ServerError,
        "timeout": lm15.TimeoutError,
        "transport": lm15.TransportError,
        "auth": lm15.AuthError,
        "billing": lm15.BillingError,
        "context_length": lm15.ContextLengthError,
        "invalid_request": lm15.InvalidRequestError,
    }
    growing = min(_MAX_BACKOFF_S, model.backoff_s * 2 ** (number - 1))
    delay = max(error.retry_after or 0.0, growing * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
    return classes[error.kind](error.message, status=error.status, retry_after=delay)


@lru_cache(maxsize=1)
def _wire() -> OpenAIChatLM:
    from dspy.lm15 import OpenAIChatLM

    # Used as an encoder only: neither the key nor the address is ever sent anywhere.
    return OpenAIChatLM(api_key="unused", base_url="http://localhost/v1")
