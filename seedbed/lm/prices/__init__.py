"""What calls cost: all the dimensions that providers charge by, from the config or litellm's bundled list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from seedbed.errors import UserError
from seedbed.lm.prices.price import ModelPrice
from seedbed.lm.prices.price_list import OFFLINE_PRICE, bundled_price, chat_models, output_limit, price_of
from seedbed.lm.prices.worst_case import WorstCase
from seedbed.lm.types import Usage
from seedbed.lm.usage import read_usage
from seedbed.sweep.model_config import ModelConfig

__all__ = [
    "OFFLINE_PRICE",
    "ModelPrice",
    "WorstCase",
    "bundled_price",
    "chat_models",
    "cost_of",
    "output_limit",
    "price_of",
    "token_cost",
]


def cost_of(
    model: str | ModelConfig,
    usage: Mapping[str, Any],
    *,
    service_tier: str | None = None,
    batch: bool = False,
    at: datetime | None = None,
) -> float | None:
    """What a call cost, in US dollars; None where the price is not known.

    `usage` is what the provider said, in OpenAI's or Anthropic's form. A service tier that it names holds unless one is
    given here. `at` is for providers that charge less at night; now, if left out.
    """
    price = price_of(model) if isinstance(model, ModelConfig) else _price_by_name(model)
    told = read_usage(usage)
    if told is None:
        raise UserError(
            "the usage names no tokens; it needs prompt_tokens and completion_tokens (or input_tokens, output_tokens)."
        )
    if price is None:
        return None
    return price.cost(told._replace(tier=service_tier) if service_tier else told, batch=batch, at=at)


def token_cost(model: ModelConfig, tokens_in: int, tokens_out: int, *, batch: bool = False) -> float | None:
    """What so many tokens of a model cost, none of them cached; None where its price is unknown."""
    price = price_of(model)
    return price.cost(Usage(tokens_in, tokens_out), batch=batch) if price else None


def _price_by_name(name: str) -> ModelPrice | None:
    return OFFLINE_PRICE if name.startswith("offline/") else bundled_price(name)
