"""A lane: what may share a batch. An endpoint, a key, a model and its price."""

from __future__ import annotations

from functools import cached_property

import orjson

from seedbed.lm.batches.protocol import BatchApi
from seedbed.lm.prices import ModelPrice, price_of
from seedbed.storage.hashing import hash_json
from seedbed.sweep.model_config import ModelConfig

_SPEC = ("model", "api_base", "api_key_env", "price", "max_reply_mb", "batch")
_SHARED = ("model", "api_base", "api_key_env", "price")
MAX_BYTES = 90_000_000
"""Of a batch; providers take 200 million and more."""


class Lane:
    """How to reach the batches of a model, and how it is paid. Made from a model's config, or from what a batch on
    record says of it."""

    def __init__(self, model: ModelConfig) -> None:
        self.model = model
        dumped = model.model_dump(mode="json", include=set(_SPEC))
        self.id = hash_json({name: dumped[name] for name in _SHARED})[:16]
        self.spec = orjson.dumps(dumped).decode()
        self.price: ModelPrice | None = price_of(model)
        self.answered = False
        """Whether the provider has said anything sensible: the address is right."""

    @classmethod
    def of_record(cls, spec: str) -> Lane:
        return cls(ModelConfig.model_validate(orjson.loads(spec)))

    @cached_property
    def api(self) -> BatchApi:
        if self.model.batch_protocol == "anthropic":
            from seedbed.lm.batches.anthropic_api import AnthropicBatches

            return AnthropicBatches(self.model)
        from seedbed.lm.batches.openai_api import OpenAIBatches

        return OpenAIBatches(self.model)

    async def aclose(self) -> None:
        if "api" in self.__dict__:
            await self.api.aclose()
