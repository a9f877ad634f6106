"""What a request can cost at most: each of its tokens at the dearest rate that may hold for it, and every fee."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.prices import WorstCase, output_limit
from seedbed.lm.prices.price import ModelPrice
from seedbed.lm.prices.price_list import context_limit
from seedbed.lm.request_size import RequestSize
from seedbed.sweep.model_config import ModelConfig

ENTRY: dict[str, Any] = {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}
UNKNOWN_CONTEXT = 1_000_000


def usd(
    body: dict[str, Any] | None = None,
    *,
    most: int = 10,
    size: dict[str, Any] | None = None,
    batch: bool = False,
    model: str = "openai/nobody",
    max_tokens: int | None = 5,
    **entry: Any,
) -> float:
    """Dollars reserved for 10 tokens of input and 5 of output, unless told otherwise."""
    config = ModelConfig.model_validate({"model": model, "max_tokens": max_tokens})
    price = ModelPrice({**ENTRY, **entry}, "test")
    return WorstCase.of(config, price, batch=batch).usd(body or {}, RequestSize(1, most, **(size or {})))


def test_a_request_of_text_is_its_tokens_at_their_rates() -> None:
    assert usd() == 10 * 1.0 + 5 * 2.0


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"cache_creation_input_token_cost": 1.25}, 12.5 + 10),
        ({"cache_creation_input_token_cost_above_1hr": 1.75}, 17.5 + 10),
        ({"cache_read_input_token_cost": 3.0}, 30 + 10),
        ({"cache_read_input_token_cost": 0.25}, 10 + 10),
        ({"output_cost_per_reasoning_token": 3.0}, 10 + 15),
        ({"output_cost_per_image_token": 12.0}, 10 + 60),
        ({"output_cost_per_video_token": 13.0}, 10 + 65),
        ({"output_cost_per_reasoning_token": 0.5}, 10 + 10),
    ],
    ids=str,
)
def test_the_dearest_kind_that_a_token_may_be_is_reserved(rate: dict[str, Any], expected: float) -> None:
    assert usd(**rate) == expected


@pytest.mark.parametrize(
    ("rate", "size", "expected"),
    [
        ({"input_cost_per_audio_token": 5.0}, {}, 20),
        ({"input_cost_per_audio_token": 5.0}, {"images": 1}, 20),
        ({"input_cost_per_audio_token": 5.0}, {"audio": True}, 60),
        ({"cache_read_input_audio_token_cost": 7.0}, {}, 20),
        ({"cache_read_input_audio_token_cost": 7.0}, {"audio": True}, 80),
        ({"input_cost_per_video_token": 8.0}, {"audio": True}, 90),
        ({"input_cost_per_image_token": 6.0}, {}, 20),
        ({"input_cost_per_image_token": 6.0}, {"audio": True}, 20),
        ({"input_cost_per_image_token": 6.0}, {"images": 1}, 70),
        ({"input_cost_per_audio_token": 5.0}, {"files": True}, 5 * (10 + UNKNOWN_CONTEXT) + 10),
        ({"input_cost_per_image_token": 6.0}, {"files": True}, 6 * (10 + UNKNOWN_CONTEXT) + 10),
    ],
    ids=str,
)
def test_the_rates_of_sounds_and_pictures_count_where_there_may_be_some(
    rate: dict[str, Any], size: dict[str, Any], expected: float
) -> None:
    assert usd(size=size, **rate) == expected


@pytest.mark.parametrize(
    ("body", "rate"), [({}, 2.0), ({"modalities": ["text", "audio"]}, 11.0), ({"audio": {"voice": "alloy"}}, 11.0)]
)
def test_an_answer_may_be_spoken_where_the_request_asks_for_a_voice(body: dict[str, Any], rate: float) -> None:
    assert usd(body, output_cost_per_audio_token=11.0) == 10 + 5 * rate


@pytest.mark.parametrize(
    ("size", "contexts"), [({"files": True}, 1), ({"searches": 2}, 3), ({"files": True, "searches": 1}, 2)]
)
def test_what_is_looked_up_may_fill_the_context_once_and_again_with_each_search(
    size: dict[str, Any], contexts: int
) -> None:
    assert usd(size=size) == 10 + contexts * UNKNOWN_CONTEXT + 10
    known = context_limit("gpt-5-mini")
    assert known is not None
    assert usd(size=size, model="openai/gpt-5-mini") == 10 + contexts * known + 10


def test_an_answer_is_as_long_as_the_request_allows_else_the_config_else_the_model() -> None:
    assert usd({"max_tokens": 7}) == 10 + 14
    assert usd(max_tokens=3) == 10 + 6
    assert usd(max_tokens=None) == 10 + 2 * 4096
    limit = output_limit("gpt-5-mini")
    assert limit > 4096
    assert usd(max_tokens=None, model="openai/gpt-5-mini") == 10 + 2 * limit
    assert usd({"n": 3}) == 10 + 3 * 10


def test_fees_for_the_request_its_pictures_and_its_searches_come_on_top() -> None:
    fees: dict[str, Any] = {
        "input_cost_per_request": 0.5,
        "input_cost_per_image": 0.25,
        "search_context_cost_per_query": {"search_context_size_medium": 0.125},
    }
    assert usd(**fees) == 20.5
    assert usd(size={"images": 2}, **fees) == 21.0
    assert usd(size={"searches": 2}, **fees) == 20.5 + 3 * UNKNOWN_CONTEXT + 0.25


@pytest.mark.parametrize(
    ("body", "factors", "factor"),
    [
        ({}, {"us": 1.5}, 1.5),
        ({}, {"us": 0.5}, 1.0),
        ({}, {"us": 1.5, "eu": 2.0}, 3.0),
        ({}, {"fast": 6.0}, 1.0),
        ({"speed": "standard"}, {"fast": 6.0}, 1.0),
        ({"speed": "fast"}, {"fast": 6.0}, 6.0),
        ({"speed": "fast"}, {"fast": 6.0, "us": 1.5}, 9.0),
    ],
    ids=str,
)
def test_a_place_may_always_cost_more_and_speed_where_it_was_asked_for(
    body: dict[str, Any], factors: dict[str, Any], factor: float
) -> None:
    assert usd(body, provider_specific_entry=factors) == 20 * factor


@pytest.mark.parametrize(("most", "rate"), [(199, 1.0), (200, 4.0), (201, 4.0), (400, 9.0)])
def test_a_length_that_may_be_reached_is_reserved_at_its_rate(most: int, rate: float) -> None:
    steps: dict[str, Any] = {"input_cost_per_token_above_200_tokens": 4.0, "input_cost_per_token_above_400_tokens": 9.0}
    assert usd(most=most, **steps) == most * rate + 10


def test_a_shorter_input_at_a_dearer_rate_is_the_bound_of_a_longer_one() -> None:
    assert usd(most=300, input_cost_per_token_above_200_tokens=0.5) == 300 * 1.0 + 10
    assert usd(input_cost_per_token_above_1_tokens=0.5) == 10 * 1.0 + 10
    close: dict[str, Any] = {"input_cost_per_token_above_200_tokens": 4.0, "input_cost_per_token_above_201_tokens": 2.0}
    assert usd(most=200, **close) == 200 * 4.0 + 10


TIERS: dict[str, Any] = {"input_cost_per_token_priority": 3.0, "output_cost_per_token_flex": 8.0}


@pytest.mark.parametrize(
    ("tier", "rate_in", "rate_out"),
    [
        ("default", 1.0, 2.0),
        ("standard", 1.0, 2.0),
        ("priority", 3.0, 2.0),
        ("PRIORITY", 3.0, 2.0),
        ("flex", 1.0, 8.0),
        ("auto", 3.0, 8.0),
        ("scale", 3.0, 8.0),
        (None, 3.0, 8.0),
        (7, 3.0, 8.0),
    ],
)
def test_a_tier_that_is_named_may_serve_or_the_standard_one_and_else_any(
    tier: Any, rate_in: float, rate_out: float
) -> None:
    assert usd({"service_tier": tier}, **TIERS) == 10 * rate_in + 5 * rate_out


def test_the_lengths_of_every_tier_count() -> None:
    steps: dict[str, Any] = {"input_cost_per_token_above_200_tokens_priority": 4.0}
    assert usd({"service_tier": "default"}, most=300, **steps) == 300 * 1.0 + 10
    assert usd({"service_tier": "priority"}, most=300, **steps) == 300 * 4.0 + 10
    assert usd({"service_tier": "priority"}, most=199, **steps) == 199 * 1.0 + 10


def test_a_batch_is_reserved_at_its_own_price_whatever_the_tiers_cost() -> None:
    assert usd(batch=True, **TIERS) == 5 + 5
    assert usd(batch=True, input_cost_per_token_batches=0.75, **TIERS) == 7.5 + 5
    step = "input_cost_per_token_above_200_tokens_batches"
    longer: dict[str, Any] = {"input_cost_per_token_batches": 0.75, step: 4.0}
    assert usd(batch=True, most=300, **longer) == 1200 + 5
    assert usd(most=300, **longer) == 300 + 10


def test_a_cheaper_hour_is_no_bound() -> None:
    night: dict[str, Any] = {"hours_utc": "16:30-00:30", "input_cost_per_token": 0.5, "output_cost_per_token": 0.5}
    assert usd(off_peak_pricing=night) == 20
    assert usd(off_peak_pricing={"hours_utc": "16:30-00:30", "input_cost_per_token": 3.0}) == 30 + 10


def test_what_is_asked_the_other_way_round_is_another_bound() -> None:
    """The rates found for one kind of request do not stay for the next."""
    config = ModelConfig.model_validate({"model": "openai/nobody", "max_tokens": 5})
    worst = WorstCase.of(config, ModelPrice({**ENTRY, "input_cost_per_image_token": 6.0, **TIERS}, "test"))
    shown, read = RequestSize(1, 10, images=1), RequestSize(1, 10)
    asked = {"service_tier": "default"}
    assert [worst.usd(asked, size) for size in (read, shown, read)] == [20, 70, 20]
    assert worst.usd({}, read) == 30 + 40
