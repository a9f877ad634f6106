"""Where a price comes from: the config, else the bundled list, by the name as it is or without its prefix."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.prices import OFFLINE_PRICE, bundled_price, chat_models, cost_of, output_limit, price_of, token_cost
from seedbed.lm.prices.price_list import DEFAULT_MAX_TOKENS, context_limit, list_entry, models_by_provider
from seedbed.lm.types import Usage
from seedbed.sweep.model_config import ModelConfig

EU, US = "https://eu.api.openai.com/v1", "https://us.api.openai.com/v1"


def config(model: str, **more: Any) -> ModelConfig:
    return ModelConfig.model_validate({"model": model, **more})


def priced(**price: Any) -> ModelConfig:
    return config("fireworks_ai/own", price={"input": 1.0, "output": 4.0, **price})


def test_a_price_of_the_config_is_the_models_whatever_the_list_says() -> None:
    own = price_of(config("openai/gpt-5-mini", price={"input": 1.0, "output": 4.0}))
    assert own is not None
    assert (own.source, own.provider, own.factor) == ("config", "openai", 1.0)
    assert dict(own.entry) == {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}


def test_a_config_says_dollars_a_million_and_what_it_leaves_out_is_not_there() -> None:
    given = price_of(priced(cached_input=0.1, cache_write_1h=2.0, audio_output=10.0, image_output=8.0, per_request=0.5))
    assert given is not None
    assert dict(given.entry) == {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        "cache_read_input_token_cost": pytest.approx(1e-7),
        "cache_creation_input_token_cost_above_1hr": 2e-6,
        "output_cost_per_audio_token": 1e-5,
        "output_cost_per_image_token": 8e-6,
        "input_cost_per_request": 0.5,
    }


def test_steps_tiers_and_batches_of_a_config_have_the_names_of_the_list() -> None:
    tier = {"input": 3.0, "long_context": [{"above_tokens": 200, "output": 5.0}]}
    given = price_of(
        priced(
            long_context=[{"above_tokens": 100, "input": 2.0}, {"above_tokens": 300, "input": 6.0}],
            service_tiers={"flex": tier},
            batch={"output": 2.0},
            per_search=0.25,
        )
    )
    assert given is not None
    assert dict(given.entry) == {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 4e-6,
        "input_cost_per_token_above_100_tokens": 2e-6,
        "input_cost_per_token_above_300_tokens": 6e-6,
        "input_cost_per_token_flex": 3e-6,
        "output_cost_per_token_above_200_tokens_flex": 5e-6,
        "output_cost_per_token_batches": 2e-6,
        "search_context_cost_per_query": {
            "search_context_size_low": 0.25, "search_context_size_medium": 0.25, "search_context_size_high": 0.25,
        },
    }  # fmt: skip


def test_a_provider_that_caches_at_half_price_does_so_with_a_price_of_the_config() -> None:
    price = price_of(priced())
    assert price is not None
    assert price.cost(Usage(1_000_000, 0, cached=1_000_000)) == pytest.approx(0.5)


def test_the_offline_model_has_a_nominal_price() -> None:
    assert price_of(config("offline/reader")) is OFFLINE_PRICE
    assert token_cost(config("offline/reader"), 10_000_000, 0) == pytest.approx(1.0)
    assert cost_of("offline/reader", {"prompt_tokens": 0, "completion_tokens": 10_000_000}) == pytest.approx(4.0)


def test_tokens_of_a_batch_cost_half_and_those_of_a_model_without_a_price_nobody_knows_what() -> None:
    assert token_cost(priced(), 1_000_000, 1_000_000) == pytest.approx(5.0)
    assert token_cost(priced(), 1_000_000, 1_000_000, batch=True) == pytest.approx(2.5)
    assert token_cost(config("openai/nobody-knows-this"), 1, 1) is None


def test_a_cost_is_that_of_a_normal_call_unless_a_batch_is_meant() -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    assert cost_of(priced(), usage) == pytest.approx(1.0)
    assert cost_of(priced(), usage, batch=True) == pytest.approx(0.5)


def test_a_name_is_looked_up_whole_before_its_prefix_is_left_out() -> None:
    assert list_entry("gemini/gemini-2.5-pro") != list_entry("gemini-2.5-pro")
    assert list_entry("openai/gpt-5-mini") == list_entry("gpt-5-mini")
    assert list_entry("openai/nobody-knows-this") is None
    found = bundled_price("openai/gpt-5-mini")
    assert found == bundled_price("gpt-5-mini")
    assert found is not None
    assert (found.source, found.provider) == ("litellm's bundled list", "openai")


@pytest.mark.parametrize("name", ["azure/gpt-image-1", "twelvelabs.marengo-embed-2-7-v1:0", "openai/nobody", ""])
def test_half_a_price_is_none(name: str) -> None:
    assert bundled_price(name) is None


def test_a_table_of_blocks_is_a_price_by_itself() -> None:
    entry = list_entry("dashscope/qwen-flash")
    assert entry is not None
    assert entry.get("input_cost_per_token") is None
    found = bundled_price("dashscope/qwen-flash")
    assert found is not None
    assert found.rates(1).input == entry["tiered_pricing"][0]["input_cost_per_token"]


@pytest.mark.parametrize(
    ("model", "more", "factor"),
    [
        ("openai/gpt-5.6", {}, 1.0),
        ("openai/gpt-5.6", {"api_base": EU}, 1.1),
        ("openai/gpt-5.6", {"api_base": US}, 1.1),
        ("openai/gpt-5.6", {"api_base": "https://de.api.openai.com/v1"}, 1.0),
        ("openai/gpt-4o-mini", {"api_base": EU}, 1.0),
        ("vertex_ai/gemini-3.5-flash", {}, 1.0),
        ("vertex_ai/gemini-3.5-flash", {"extra": {"vertex_location": "europe-west1"}}, 1.1),
        ("vertex_ai/gemini-3.5-flash", {"extra": {"vertex_location": "Global"}}, 1.0),
        ("vertex_ai/gemini-3.5-flash", {"extra": {"vertex_location": 7}}, 1.0),
        ("openai/gpt-4o-mini", {"extra": {"vertex_location": "europe-west1"}}, 1.0),
    ],
)
def test_data_that_stays_in_a_region_costs_what_the_list_says(model: str, more: dict[str, Any], factor: float) -> None:
    found = price_of(config(model, **more))
    listed = bundled_price(model)
    assert found is not None
    assert listed is not None
    assert (found.factor, found.entry, found.provider) == (factor, listed.entry, listed.provider)
    # A price that is not changed is shared, with all the rates that were worked out.
    assert (found is listed) == (factor == 1.0)


def test_the_longest_answer_and_the_longest_input_are_the_lists() -> None:
    entry = list_entry("gpt-5-mini")
    assert entry is not None
    assert output_limit("openai/gpt-5-mini") == entry["max_output_tokens"]
    assert context_limit("openai/gpt-5-mini") == entry["max_input_tokens"]


def test_a_length_that_nobody_says_is_4096_for_an_answer_and_unknown_for_the_input() -> None:
    assert output_limit("openai/nobody-knows-this") == DEFAULT_MAX_TOKENS == 4096
    assert context_limit("openai/nobody-knows-this") is None


def test_chat_models_are_those_that_chat() -> None:
    found = chat_models()
    assert "gpt-5-mini" in found
    assert not {"sample_spec", "text-embedding-3-small", "azure/gpt-image-1"} & set(found)


def test_names_stand_under_their_provider_with_or_without_its_prefix() -> None:
    found = models_by_provider()
    assert {"gpt-5-mini", "text-embedding-3-small"} <= set(found["openai"])
    assert "gemini-2.5-pro" in found["gemini"]
    assert not any(name.startswith("gemini/") for name in found["gemini"])
    assert found["amazon_nova"] == [], "a provider is known though its names begin with another word"
