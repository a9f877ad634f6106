"""What a token costs. Prices come from the config or from the list bundled with litellm, which is read as a file:
importing litellm takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from seedbed.lm.compat.litellm import PRICE_LIST
from seedbed.lm.types import Usage
from seedbed.sweep.config import ModelConfig

_DEFAULT_MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars a token."""

    input: float
    output: float
    cached: float
    source: str

    def cost(self, usage: Usage) -> float:
        fresh = usage.input - usage.cached
        return fresh * self.input + usage.cached * self.cached + usage.output * self.output


# Nominal: shows how costs are reported, charges nobody.
OFFLINE_PRICE = TokenPrice(input=1e-7, output=4e-7, cached=1e-7, source="nominal price of the offline model")


def price_of(model: ModelConfig) -> TokenPrice | None:
    """The price of a model, or None where nobody told us: an unknown price is not 0."""
    if model.price is not None:
        cached = model.price.input if model.price.cached_input is None else model.price.cached_input
        return TokenPrice(model.price.input / 1e6, model.price.output / 1e6, cached / 1e6, source="config")
    if model.simulated:
        return OFFLINE_PRICE
    return bundled_price(model.model)


def token_cost(model: ModelConfig, tokens_in: int, tokens_out: int) -> float | None:
    """What so many tokens of a model cost, none of them cached; None where its price is unknown."""
    price = price_of(model)
    return price.cost(Usage(tokens_in, tokens_out)) if price else None


def bundled_price(name: str) -> TokenPrice | None:
    """The price of a litellm name from the bundled list."""
    prices = _price_list()
    entry = prices.get(name) or prices.get(name.partition("/")[2])
    if not entry or entry.get("input_cost_per_token") is None or entry.get("output_cost_per_token") is None:
        return None
    paid_in = float(entry["input_cost_per_token"])
    cached = entry.get("cache_read_input_token_cost")
    return TokenPrice(
        paid_in,
        float(entry["output_cost_per_token"]),
        paid_in if cached is None else float(cached),
        source="litellm's bundled list",
    )


def worst_case(
    model: ModelConfig, price: TokenPrice | None, input_tokens: int, asked_max: int | None, answers: int = 1
) -> float | None:
    """The most one call can cost: its input at full price and as much output as it may give, in each of its answers."""
    if price is None:
        return None
    output = asked_max or model.max_tokens or output_limit(model.model)
    return input_tokens * max(price.input, price.cached) + answers * output * price.output


def output_limit(name: str) -> int:
    """The longest answer a model gives; where nobody says, the longest it is to be asked for."""
    entry = _price_list().get(name) or _price_list().get(name.partition("/")[2]) or {}
    limit = entry.get("max_output_tokens")
    return int(limit) if isinstance(limit, int | float) else _DEFAULT_MAX_TOKENS


@lru_cache(maxsize=1)
def _price_list() -> dict[str, dict[str, Any]]:
    return orjson.loads(PRICE_LIST.find().read_bytes())
