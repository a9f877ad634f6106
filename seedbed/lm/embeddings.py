"""Embeddings by an OpenAI-compatible endpoint. A batch of texts is one request and one row of the ledger: looked up,
budgeted, limited, retried and recorded like a chat."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from functools import partial
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
from seedbed.lm.usage import token_count

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
        kind = self._kind(partial(_checked, count=len(inputs)))
        return await self._runtime.attempt(self._query(inputs, options, kind, 1, sample, 0.0))

    async def _batch(self, texts: list[str]) -> Vectors:
        model, sample = self._binding.model, CURRENT_SAMPLE.get()[0]
        number, pause_s = 1, 0.0
        while True:
            try:
                kind = self._kind(partial(_vectors, count=len(texts)))
                return await self._runtime.attempt(self._query(texts, {}, kind, number, sample, pause_s))
            except ProviderError as error:
                if not error.retryable or number > model.retries:
                    raise
                pause_s = codec.retry_delay(error, model, number)
                number += 1

    def _kind(self, read: Callable[[JsonDict], T]) -> Kind[T]:
        return Kind(self._provider.embed, read, _usage, lambda reply: bool(reply.get("data")), told=_told)

    def _query(
        self, inputs: list[Any], options: JsonDict, kind: Kind[T], number: int, sample: str | None, pause_s: float
    ) -> Query[T]:
        model = self._binding.model
        body: JsonDict = {"model": model.model, "input": inputs, "encoding_format": "base64", **options, **model.extra}
        key = codec.request_key(self._binding.normalise(body), model, None, ("embedding",))
        return Query(self._binding, kind, body, Attempt(key, None, 0, number, model.timeout_s), sample, pause_s)


def _checked(reply: JsonDict, count: int) -> JsonDict:
    _vectors(reply, count)
    return reply


def _vectors(reply: JsonDict, count: int) -> Vectors:
    """One row a text. Checked before the reply is kept: a useless one would answer every later run too."""
    try:
        rows = sorted(reply["data"], key=lambda row: row["index"])
        if [row["index"] for row in rows] != list(range(count)):
            raise ValueError(f"{count} texts were sent and {len(rows)} vectors came back, or not one for each")
        found = np.stack([_vector(row["embedding"]) for row in rows])
        if found.ndim != 2 or not found.size or not np.isfinite(found).all():
            raise ValueError("a vector is no list of numbers")
        return found
    except (KeyError, TypeError, ValueError) as error:
        raise ProviderError("malformed", f"the embeddings cannot be read ({error})") from error


def _vector(value: str | list[float]) -> Vectors:
    # Servers that do not know base64 answer with plain numbers.
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), dtype="<f4")
    return np.asarray(value, dtype=np.float32)


def _told(_body: JsonDict, reply: JsonDict) -> Usage | None:
    told = reply.get("usage")
    tokens = token_count(told.get("prompt_tokens")) if isinstance(told, dict) else None
    return None if tokens is None else Usage(input=tokens, output=0)


def _usage(body: JsonDict, reply: JsonDict) -> Usage:
    if (told := _told(body, reply)) is not None:
        return told
    counted = (len(text) if isinstance(text, list) else count_tokens(text) for text in body["input"])
    return Usage(input=sum(counted), output=0, estimated=True)
