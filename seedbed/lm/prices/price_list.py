"""Where prices come from: the config, or the list bundled with litellm. It is read as a file: importing litellm takes
seconds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import orjson

from seedbed.lm.compat.litellm import PRICE_LIST
from seedbed.lm.prices.price import ModelPrice
from seedbed.lm.prices.rates import Entry
from seedbed.sweep.model_config import ModelConfig
from seedbed.sweep.price_config import Price, TokenRates

DEFAULT_MAX_TOKENS = 4096

# Nominal: shows how costs are reported, charges nobody.
OFFLINE_PRICE = ModelPrice(
    {"input_cost_per_token": 1e-7, "output_cost_per_token": 4e-7}, source="nominal price of the offline model"
)
_NAMES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
    "reasoning": "output_cost_per_reasoning_token",
    "audio_input": "input_cost_per_audio_token",
    "audio_output": "output_cost_per_audio_token",
    "image_input": "input_cost_per_image_token",
    "image_output": "output_cost_per_image_token",
}


def price_of(model: ModelConfig) -> ModelPrice | None:
    """The price of a model, or None where nobody told us: an unknown price is not 0."""
    if model.price is not None:
        return ModelPrice(_entry_of(model.price), source="config", provider=model.model.partition("/")[0])
    if model.simulated:
        return OFFLINE_PRICE
    found = bundled_price(model.model)
    factor = _factor(found.entry, model) if found else 1.0
    return found if found is None or factor == 1.0 else ModelPrice(found.entry, found.source, found.provider, factor)


@lru_cache(maxsize=4096)
def bundled_price(name: str) -> ModelPrice | None:
    """The price of a litellm name from the bundled list."""
    entry = list_entry(name)
    if not entry or (
        entry.get("tiered_pricing") is None
        and (entry.get("input_cost_per_token") is None or entry.get("output_cost_per_token") is None)
    ):
        return None
    provider = str(entry.get("litellm_provider", ""))
    return ModelPrice(entry, "litellm's bundled list", provider)


def list_entry(name: str) -> Entry | None:
    """What the list has under a name, or under the name behind the provider's."""
    prices = _price_list()
    if name in prices:
        return prices[name]
    return prices.get(name.partition("/")[2])


def output_limit(name: str) -> int:
    """The longest answer a model gives; where nobody says, the longest it is to be asked for."""
    limit = (list_entry(name) or {}).get("max_output_tokens")
    return int(limit) if isinstance(limit, int | float) else DEFAULT_MAX_TOKENS


def context_limit(name: str) -> int | None:
    """The longest input a model takes, where the list says so."""
    limit = (list_entry(name) or {}).get("max_input_tokens")
    return int(limit) if isinstance(limit, int | float) else None


def chat_models() -> list[str]:
    """Names of all chat models of the list."""
    return [name for name, entry in _price_list().items() if entry.get("mode") == "chat" and name != "sample_spec"]


@lru_cache(maxsize=1)
def models_by_provider() -> Mapping[str, list[str]]:
    """Names of the list by provider, without the provider's name in front."""
    found: dict[str, list[str]] = {}
    for name, entry in _price_list().items():
        provider = str(entry.get("litellm_provider") or "")
        prefix, slash, rest = name.partition("/")
        found.setdefault(prefix if slash else provider, []).append(rest if slash else name)
        found.setdefault(provider, [])
    return found


def _entry_of(price: Price) -> Entry:
    """A config's price, which is in dollars per million tokens, in the words of the list."""
    found = _named(price, "")
    for step in price.long_context:
        found |= _named(step, f"_above_{step.above_tokens}_tokens")
    for tier, rates in price.service_tiers.items():
        found |= _named(rates, f"_{tier}")
        for step in rates.long_context:
            found |= _named(step, f"_above_{step.above_tokens}_tokens_{tier}")
    if price.batch is not None:
        found |= _named(price.batch, "_batches")
    if price.per_request is not None:
        found["input_cost_per_request"] = price.per_request
    if price.per_search is not None:
        found["search_context_cost_per_query"] = {
            f"search_context_size_{size}": price.per_search for size in ("low", "medium", "high")
        }
    return found


def _named(rates: TokenRates | Price, end: str) -> dict[str, Any]:
    told = {name: getattr(rates, name) for name in _NAMES}
    return {f"{_NAMES[name]}{end}": value / 1e6 for name, value in told.items() if value is not None}


def _factor(entry: Entry, model: ModelConfig) -> float:
    """For data that stays in a region: OpenAI's regional hosts, and Vertex AI outside its worldwide endpoint."""
    host = urlsplit(model.api_base or "").hostname or ""
    if host in ("eu.api.openai.com", "us.api.openai.com"):
        return float(entry.get(f"regional_processing_uplift_multiplier_{host[:2]}") or 1.0)
    place = model.extra.get("vertex_location")
    if isinstance(place, str) and place.lower() != "global":
        return float(entry.get("regional_endpoint_uplift_multiplier") or 1.0)
    return 1.0


@lru_cache(maxsize=1)
def _price_list() -> Mapping[str, dict[str, Any]]:
    return orjson.loads(PRICE_LIST.find().read_bytes())
