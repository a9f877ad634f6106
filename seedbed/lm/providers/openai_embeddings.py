"""Embeddings from any endpoint that speaks the OpenAI dialect: the openai client on its aiohttp transport."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import orjson

from seedbed.errors import ProviderError
from seedbed.lm.providers.openai_http import DEFAULT_BASE, http_error, is_azure, is_loopback, key_variable
from seedbed.lm.providers.reply_limit import is_too_long, limited_replies, too_long
from seedbed.lm.types import Attempt, JsonDict
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIEmbeddingProvider:
    """One client for all calls of a model. Its own retries are off: one call is one request."""

    def __init__(self, model: ModelConfig) -> None:
        self._name = model.model.partition("/")[2]
        self._base = model.api_base or DEFAULT_BASE
        self._key_env = key_variable(model)
        self._max_bytes = int(model.max_reply_mb * 1e6)
        self._client: AsyncOpenAI | None = None

    async def embed(self, body: JsonDict, attempt: Attempt) -> JsonDict:
        import openai

        request: dict[str, Any] = {**body, "model": self._name, "timeout": attempt.timeout_s}
        if is_azure(self._base):
            request["extra_headers"] = {"api-key": self._key(), "Authorization": openai.Omit()}
        try:
            with limited_replies(self._max_bytes):
                raw = await self._open().embeddings.with_raw_response.create(**request)
            reply = orjson.loads(raw.content)
        except openai.APITimeoutError:
            raise ProviderError("timeout", f"no answer within {attempt.timeout_s:g} s") from None
        except openai.APIConnectionError as error:
            if is_too_long(error):
                raise too_long(self._max_bytes) from None
            raise ProviderError("transport", f"{type(error.__cause__ or error).__name__}: {error}") from None
        except openai.APIStatusError as error:
            raise http_error(error.status_code, error.response.headers, error.response.content) from None
        except orjson.JSONDecodeError:
            raise ProviderError("malformed", "the response is not JSON") from None
        if not isinstance(reply, dict):
            raise ProviderError("malformed", "the response is not a JSON object")
        return reply

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _key(self) -> str:
        return (os.environ.get(self._key_env) if self._key_env else None) or "none"

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            from openai import AsyncOpenAI, DefaultAioHttpClient

            base = urlsplit(self._base)
            self._client = AsyncOpenAI(
                api_key=self._key(),
                # The client would put its path behind the query of an address (Azure's api-version).
                base_url=urlunsplit(base._replace(query="")),
                default_query=dict(parse_qsl(base.query)),
                max_retries=0,
                # A proxy from the environment cannot reach a server on this machine.
                http_client=DefaultAioHttpClient(trust_env=not is_loopback(self._base)),
            )
        return self._client
