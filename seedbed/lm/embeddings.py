"""Embeddings by an OpenAI-compatible endpoint. A batch of texts is one request and one row of the ledger: looked up,
budgeted, limited, retried and recorded like a chat."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.attempts import Binding, Kind, Query
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.providers.openai_embeddings import OpenAIEmbeddingProvider
from seedbed.lm.tokens import count_tokens
from seedbed.lm.types import Attempt, JsonDict, Usage

if TYPE_CHECKING:
    from seedbed.lm.runtime import LMRuntime

Vectors = NDArray[np.float32]

T = TypeVar("T")

BATCH = 64


class Embedder:
    """Bound to a cell, a phase and a role, as an LM is."""

    def __init__(self, runtime: LMRuntime, binding: Binding) -> None:
        self._runtime = runtime
        self._binding = binding
        self._provider = runtime.keep(f"embed:{binding.scope.model}", lambda: OpenAIEmbeddingProvider(binding.model))
        self._kind = Kind(self._provider.embed, _vectors, _usage, lambda reply: bool(reply.get("data")))

    @property
    def model_name(self) -> str:
        return self._binding.model.model

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order. For callers outside the runtime's loop."""
        return self._runtime.run(self.embed(texts))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The same, on the runtime's loop; batches go out together, as many as the model's limits allow."""
        batches = [list(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        if not batches:
            return np.zeros((0, 0), dtype=np.float32)
        return np.concatenate(await asyncio.gather(*map(self._batch, batches)))

    async def reply(self, inputs: list[Any], options: JsonDict, sample: str | None) -> JsonDict:
        """One attempt at a batch, with further fields of the request; the reply as it was recorded."""
        own = self._kind
        kind = Kind(own.send, _checked, own.usage, own.worth_keeping)
        return await self._runtime.attempt(self._query(inputs, options, kind, 1, sample, 0.0))

    async def _batch(self, texts: list[str]) -> Vectors:
        model, sample = self._binding.model, CURRENT_SAMPLE.get()[0]
        number, pause_s = 1, 0.0
        while True:
            try:
                vectors = await self._runtime.attempt(self._query(texts, {}, self._kind, number, sample, pause_s))
            except ProviderError as error:
                if not error.retryable or number > model.retries:
                    raise
                pause_s = codec.retry_delay(error, model, number)
                number += 1
                continue
            if len(vectors) != len(texts):
                raise ProviderError("malformed", f"{len(texts)} texts were sent and {len(vectors)} vectors came back")
            return vectors

    def _query(
        self, inputs: list[Any], options: JsonDict, kind: Kind[T], number: int, sample: str | None, pause_s: float
    ) -> Query[T]:
        model = self._binding.model
        body: JsonDict = {"model": model.model, "input": inputs, "encoding_format": "base64", **options, **model.extra}
        key = codec.request_key(self._binding.normalise(body), model, None, ("embedding",))
        return Query(self._binding, kind, body, Attempt(key, None, 0, number, model.timeout_s), sample, pause_s)


def _checked(reply: JsonDict) -> JsonDict:
    _vectors(reply)
    return reply


def _vectors(reply: JsonDict) -> Vectors:
    try:
        rows = sorted(reply["data"], key=lambda row: row["index"])
        return np.stack([_vector(row["embedding"]) for row in rows])
    except (KeyError, TypeError, ValueError) as error:
        raise ProviderError("malformed", f"the embeddings cannot be read ({error})") from error


def _vector(value: str | list[float]) -> Vectors:
    # Servers that do not know base64 answer with plain numbers.
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), dtype="<f4")
    return np.asarray(value, dtype=np.float32)


def _usage(body: JsonDict, reply: JsonDict) -> Usage:
    told = reply.get("usage")
    tokens = told.get("prompt_tokens") if isinstance(told, dict) else None
    if isinstance(tokens, int):
        return Usage(input=tokens, output=0)
    counted = (len(text) if isinstance(text, list) else count_tokens(text) for text in body["input"])
    return Usage(input=sum(counted), output=0, estimated=True)
