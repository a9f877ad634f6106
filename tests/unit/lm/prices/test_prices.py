"""What calls cost, by all that providers charge for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.lm.prices import bundled_price, cost_of, price_of
from seedbed.lm.tokens import billed_usage
from seedbed.lm.types import Answerer, Usage
from seedbed.lm.usage import read_usage, who_answered
from seedbed.sweep.model_config import ModelConfig

PLAIN = {"prompt_tokens": 1_000_000, "completion_tokens": 0}


def config(**price: Any) -> ModelConfig:
    return ModelConfig.model_validate({"model": "openai/own", "price": {"input": 1.0, "output": 4.0, **price}})


def dollars(model: str | ModelConfig, usage: dict[str, Any], **more: Any) -> float:
    found = cost_of(model, usage, **more)
    assert found is not None
    return found


def test_service_tiers_have_their_own_prices() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 500}
    standard = dollars("openai/gpt-5-mini", usage)
    assert dollars("openai/gpt-5-mini", usage, service_tier="priority") == pytest.approx(1.8 * standard)
    assert dollars("openai/gpt-5-mini", usage, service_tier="flex") == pytest.approx(0.5 * standard)
    assert dollars("openai/gpt-5-mini", {**usage, "service_tier": "priority"}) == pytest.approx(1.8 * standard)


def test_a_long_input_changes_the_price_of_the_whole_request() -> None:
    short, long = ({"prompt_tokens": n, "completion_tokens": 0} for n in (200_000, 300_000))
    assert dollars("gpt-5.5", long) / 3 == pytest.approx(2 * dollars("gpt-5.5", short) / 2)


def test_what_is_written_to_a_cache_costs_more_and_for_an_hour_more_still() -> None:
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1_000_000}
    hour = {**usage, "cache_creation": {"ephemeral_1h_input_tokens": 1_000_000}}
    price = bundled_price("claude-haiku-4-5")
    assert price is not None
    assert dollars("claude-haiku-4-5", usage) == pytest.approx(1.25e6 * price.rates(1).input)
    assert dollars("claude-haiku-4-5", hour) == pytest.approx(2e6 * price.rates(1).input)


def test_a_price_nobody_knows_is_none_and_not_0() -> None:
    assert cost_of("openai/nobody-knows-this", PLAIN) is None


def test_a_usage_without_tokens_is_refused_in_a_sentence() -> None:
    with pytest.raises(UserError, match="needs prompt_tokens and completion_tokens"):
        cost_of("openai/gpt-5-mini", {"tokens": 3})


def test_a_night_that_is_cheaper_is_charged_as_one() -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    friday_noon, saturday = datetime(2026, 11, 20, 2, 0, tzinfo=UTC), datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
    day, night = (dollars("deepseek-v4-flash", usage, at=at) for at in (friday_noon, saturday))
    assert night == pytest.approx(0.15)
    assert day > night


def test_a_config_can_name_every_dimension() -> None:
    model = config(
        cached_input=0.1, cache_write=1.25, cache_write_1h=2.0, reasoning=5.0, audio_input=10.0, image_input=3.0,
        long_context=[{"above_tokens": 200_000, "input": 2.0}],
        service_tiers={"priority": {"input": 1.8, "long_context": [{"above_tokens": 200_000, "input": 3.6}]}},
        batch={"input": 0.5, "output": 2.0}, per_request=0.01, per_search=0.02,
    )  # fmt: skip
    price = price_of(model)
    assert price is not None

    def cost(*, batch: bool = False, **usage: Any) -> float:
        return round(price.cost(Usage(**{"input": 100_000, "output": 0, **usage}), batch=batch), 9)

    assert cost() == 0.11
    assert cost(cached=100_000) == 0.02
    assert cost(written=100_000, written_1h=50_000) == 0.1725
    assert cost(input=0, output=100_000, reasoning=100_000) == 0.51
    assert cost(audio_in=100_000) == 1.01
    assert cost(image_in=100_000) == 0.31
    assert cost(input=300_000) == 0.61
    assert cost(tier="priority") == 0.19
    assert cost(input=300_000, tier="priority") == 1.09
    assert cost(batch=True) == 0.06
    assert cost(searches=2) == 0.15


def test_fields_of_a_price_are_checked() -> None:
    with pytest.raises(ValueError, match="above_tokens"):
        config(long_context=[{"input": 2.0}])


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(10, 2)),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4},
             "completion_tokens_details": {"reasoning_tokens": 1}},
            Usage(10, 2, cached=4, reasoning=1),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}, Usage(10, 2, cached=4)),
        (
            {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3,
             "cache_creation": {"ephemeral_1h_input_tokens": 1}, "service_tier": "standard", "inference_geo": "us",
             "server_tool_use": {"web_search_requests": 2}},
            Usage(17, 2, cached=4, written=3, written_1h=1, searches=2, tier="standard", surcharges=("us",)),
        ),
        (
            {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
             "output_tokens_details": {"reasoning_tokens": 3}},
            Usage(10, 5, cached=4, reasoning=3),
        ),
        # xAI's reasoning stands beside the answer's tokens.
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 19,
             "completion_tokens_details": {"reasoning_tokens": 7}},
            Usage(10, 9, reasoning=7),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 9,
             "prompt_tokens_details": {"audio_tokens": 5, "image_tokens": 2, "cached_tokens": 4,
                                       "cached_tokens_details": {"audio_tokens": 3}},
             "completion_tokens_details": {"audio_tokens": 8}},
            Usage(10, 9, cached=4, cached_audio=3, audio_in=2, image_in=2, audio_out=8),
        ),
        # More cached than sent, and more than all that is left: nonsense must not make a negative price.
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 40,
             "cache_write_tokens": 9, "audio_tokens": 9}},
            Usage(10, 2, cached=10),
        ),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": True, "completion_tokens": 2}, None),
    ],
)  # fmt: skip
def test_every_form_of_usage_is_read_whole(told: dict[str, Any], expected: Usage | None) -> None:
    assert read_usage(told) == expected


@pytest.mark.parametrize(
    ("asked", "served", "billed"),
    [(None, None, None), ("flex", None, "flex"), ("priority", "default", "default"), (None, "priority", "priority"),
     ("auto", None, None), ("priority", "scale", "priority")],
)  # fmt: skip
def test_the_tier_that_served_is_billed_else_the_one_that_was_asked(
    asked: str | None, served: str | None, billed: str | None
) -> None:
    reply = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}, "service_tier": served}
    usage = billed_usage({"service_tier": asked} if asked else {}, reply)
    assert usage is not None
    assert usage.tier == billed


def test_a_response_says_who_answered() -> None:
    reply = {"model": "gpt-5-mini-2025-08-07", "system_fingerprint": "fp_1", "usage": {"service_tier": "flex"}}
    assert who_answered(reply, "openai") == Answerer("gpt-5-mini-2025-08-07", "fp_1", "openai", "flex")
    assert who_answered({"model": 7, "provider": "Azure"}, "openrouter") == Answerer(None, None, "Azure", None)


def test_data_that_stays_in_a_region_costs_more() -> None:
    own = {"model": "openai/gpt-5.6"}
    at_home = ModelConfig.model_validate({**own, "api_base": "https://eu.api.openai.com/v1"})
    assert dollars(at_home, PLAIN) == pytest.approx(1.1 * dollars(ModelConfig.model_validate(own), PLAIN))
