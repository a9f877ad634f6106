"""A price with a rate of its own for everything: a usage costs the sum of its parts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from seedbed.lm.prices.off_peak import is_off_peak
from seedbed.lm.prices.price import ModelPrice
from seedbed.lm.prices.rates import batch_rates, standard_rates, suffix, thresholds
from seedbed.lm.types import Usage

ENTRY: dict[str, Any] = {
    "input_cost_per_token": 1.0,
    "output_cost_per_token": 2.0,
    "cache_read_input_token_cost": 0.25,
    "cache_creation_input_token_cost": 1.25,
    "cache_creation_input_token_cost_above_1hr": 1.75,
    "output_cost_per_reasoning_token": 3.0,
    "cache_read_input_audio_token_cost": 0.5,
    "input_cost_per_audio_token": 5.0,
    "input_cost_per_image_token": 6.0,
    "input_cost_per_video_token": 7.0,
    "output_cost_per_audio_token": 11.0,
    "output_cost_per_image_token": 12.0,
    "output_cost_per_video_token": 13.0,
}


def price(provider: str = "", factor: float = 1.0, **more: Any) -> ModelPrice:
    return ModelPrice({**ENTRY, **more}, "test", provider, factor)


def plain(**more: Any) -> ModelPrice:
    return ModelPrice({"input_cost_per_token": 1.0, "output_cost_per_token": 2.0, **more}, "test")


def test_text_alone() -> None:
    assert price().cost(Usage(100, 10)) == 100 + 20


def test_every_part_has_its_rate() -> None:
    usage = Usage(
        1000, 500, 100, 60, written=50, written_1h=20, cached_audio=30,
        audio_in=40, image_in=30, video_in=20, audio_out=7, image_out=5, video_out=3,
    )  # fmt: skip
    text = (1000 - 100 - 50 - 90) * 1.0 + (100 - 30) * 0.25 + (500 - 60 - 15) * 2.0 + 60 * 3.0
    written = 30 * 1.25 + 20 * 1.75
    media = 30 * 0.5 + 40 * 5.0 + 30 * 6.0 + 20 * 7.0 + 7 * 11.0 + 5 * 12.0 + 3 * 13.0
    assert price().cost(usage) == pytest.approx(text + written + media)


def test_what_has_no_rate_of_its_own_costs_what_text_does() -> None:
    usage = Usage(100, 50, 20, 10, written=10, written_1h=5, audio_in=5, image_in=5, audio_out=5, video_out=5)
    assert plain().cost(usage) == pytest.approx(100 * 1.0 + 50 * 2.0)


def test_cached_input_is_half_the_price_with_one_provider() -> None:
    fireworks = ModelPrice({"input_cost_per_token": 1.0}, "test", "fireworks_ai")
    assert fireworks.cost(Usage(100, 0, 40)) == 60 + 20


def test_fees_and_factors() -> None:
    fee = {"input_cost_per_request": 0.5, "search_context_cost_per_query": {"search_context_size_medium": 0.25}}
    found = price(factor=1.1, provider_specific_entry={"us": 1.5, "fast": 2.0}, **fee)
    assert found.cost(Usage(100, 0, surcharges=("us", "fast"), searches=3)) == pytest.approx(100 * 3 * 1.1 + 0.5 + 0.75)
    assert found.cost(Usage(100, 0, surcharges=("elsewhere",))) == pytest.approx(110.5)
    assert (found.fees(0), found.fees(2)) == (0.5, 1.0)
    assert [price(p).search_fee for p in ("gemini", "xai", "perplexity", "")] == [0.035, 0.005, 0.0, 0.0]
    low = {"search_context_size_low": 0.1, "search_context_size_medium": 0.2}
    assert price("perplexity", search_context_cost_per_query=low).search_fee == 0.1
    assert (price().image_fee, price(input_cost_per_image=0.3).image_fee) == (0.0, 0.3)


def test_a_provider_that_says_its_cost_is_believed_but_not_for_batches() -> None:
    told = Usage(100, 0, told_usd=0.7)
    assert price("openrouter").cost(told) == 0.7
    assert price("openai").cost(told) == 100.0
    assert price("xai").cost(told, batch=True) == 50.0


LONG = {"input_cost_per_token_above_128k_tokens": 4.0, "input_cost_per_token_above_200k_tokens": 9.0}


@pytest.mark.parametrize(
    ("tokens", "openai", "xai"),
    [(1, 1, 1), (127_999, 1, 1), (128_000, 1, 4), (128_001, 4, 4), (200_000, 4, 9), (200_001, 9, 9)],
)
def test_a_long_input_changes_its_rate_above_a_length_or_at_it(tokens: int, openai: float, xai: float) -> None:
    assert price(**LONG).rates(tokens).input == openai
    assert price("xai", **LONG).rates(tokens).input == xai
    assert price(**LONG).rates(tokens).output == 2.0
    assert price(**LONG).steps() == [128_000, 200_000]


def test_lengths_are_read_in_thousands_or_as_they_are_and_by_tier() -> None:
    entry = {
        "input_cost_per_token_above_1.5k_tokens": 1,
        "output_cost_per_token_above_272_tokens": 1,
        "input_cost_per_token_above_3k_tokens_priority": 1,
        "input_cost_per_token_above_4k_tokens_batches": 1,
        "input_cost_per_token_above_5k_tokens": None,
        "input_cost_per_image_above_6k_tokens": 1,
        "cache_creation_input_token_cost_above_1hr": 1,
    }
    assert thresholds(entry) == [(272, "272"), (1500, "1.5k")]
    assert thresholds(entry, "_priority") == [(272, "272"), (1500, "1.5k"), (3000, "3k")]
    assert thresholds(entry, batch=True) == [(4000, "4k")]


def test_a_tier_has_its_own_rates_and_else_the_standard_ones() -> None:
    found = price(input_cost_per_token_flex=0.5, output_cost_per_token_priority=4.0)
    assert (found.rates(1, "flex").input, found.rates(1, "flex").output) == (0.5, 2.0)
    assert (found.rates(1, "PRIORITY").input, found.rates(1, "priority").output) == (1.0, 4.0)
    assert found.rates(1, "fast").output == 4.0
    assert found.rates(1, "unheard").input == 1.0
    assert found.tiers == ["flex", "priority"]
    assert (suffix(None), suffix("default"), suffix("Flex")) == ("", "", "_flex")


def test_reasoning_costs_what_its_tier_says_else_what_the_answer_does() -> None:
    own = price(output_cost_per_reasoning_token_flex=0.75)
    assert (own.rates(1, "flex").reasoning, own.rates(1, "priority").reasoning) == (0.75, 3.0)
    dearer = price(output_cost_per_token_priority=4.0)
    assert dearer.rates(1, "priority").reasoning == 4.0
    assert plain().rates(1).reasoning == 2.0


BLOCKS = [
    {"range": [1000, 5000], "input_cost_per_token": 3.0, "output_cost_per_reasoning_token": 8.0},
    {"range": [0, 1000], "input_cost_per_token": 1.5, "output_cost_per_token": 2.5},
]


@pytest.mark.parametrize(
    ("tokens", "rates"), [(1, (1.5, 2.5, 2.5)), (1000, (1.5, 2.5, 2.5)), (1001, (3, 2, 8)), (9000, (3, 2, 8))]
)
def test_a_table_of_blocks_charges_the_whole_request_by_one(tokens: int, rates: tuple[float, ...]) -> None:
    found = plain(tiered_pricing=BLOCKS).rates(tokens)
    assert (found.input, found.output, found.reasoning) == rates
    assert plain(tiered_pricing=BLOCKS).rates(0).input == 1.0


def test_batches_cost_their_own_rates_or_half() -> None:
    half = batch_rates(ENTRY, 10, inclusive=False)
    assert (half.input, half.output, half.cached, half.written, half.audio_in) == (0.5, 1.0, 0.125, 0.625, 0.5)
    assert (half.image_out, half.audio_out, half.reasoning) == (6.0, 1.0, 1.0)
    own = {
        **ENTRY, "input_cost_per_token_batches": 0.4, "output_cost_per_token_batches": 0.9,
        "cache_read_input_token_cost_batches": 0.1, "input_cost_per_audio_token_batches": 4.0,
        "input_cost_per_token_above_1k_tokens_batches": 0.6, "output_cost_per_image_token_batches": 5.0,
    }  # fmt: skip
    found = batch_rates(own, 10, inclusive=False)
    assert (found.input, found.output, found.cached, found.written) == (0.4, 0.9, 0.1, 0.4)
    assert (found.audio_in, found.image_in, found.image_out) == (4.0, 0.4, 5.0)
    assert [batch_rates(own, n, inclusive=i).input for n, i in ((1000, False), (1000, True), (1001, False))] == [
        0.4, 0.6, 0.6,
    ]  # fmt: skip
    assert price(**own).cost(Usage(2000, 0), batch=True) == pytest.approx(1200.0)
    bare = batch_rates({"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}, 10, inclusive=False)
    assert (bare.cached, bare.written, bare.image_out) == (0.0, 0.5, 1.0)


def test_a_model_that_only_draws_is_charged_for_what_it_draws() -> None:
    entry = {"input_cost_per_token": 1.0, "output_cost_per_image_token": 4.0}
    assert standard_rates(entry, 10, "", inclusive=False, off_peak=None).output == 4.0


def test_a_night_has_its_own_rates_but_not_for_batches() -> None:
    rule = {
        "hours_utc": "16:30-00:30", "input_cost_per_token": 0.5, "output_cost_per_reasoning_token": 0.7,
    }  # fmt: skip
    found = price(off_peak_pricing=rule)
    night, day = (datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (20, 12))
    cheap = found.rates(10, at=night)
    assert (cheap.input, cheap.output, cheap.reasoning) == (0.5, 2.0, 0.7)
    assert found.rates(10, at=day).input == 1.0
    assert found.cost(Usage(10, 0), batch=True, at=night) == 5.0


@pytest.mark.parametrize(
    ("rule", "hour", "minute", "cheap"),
    [
        ({"hours_utc": "16:30-00:30"}, 16, 29, False),
        ({"hours_utc": "16:30-00:30"}, 16, 30, True),
        ({"hours_utc": "16:30-00:30"}, 0, 29, True),
        ({"hours_utc": "16:30-00:30"}, 0, 30, False),
        ({"hours_utc": ["01:00-02:00", "03:00-04:00"]}, 3, 0, True),
        ({"hours_utc": "03:00-04:00"}, 4, 0, False),
        ({"hours_utc": "05:00-05:00"}, 12, 0, True),
        # The first of January 2026 is a Thursday; in Shanghai the next day begins at 16:00.
        ({"windows": [{"weekdays": [4], "hours_utc": "10:00-20:00"}]}, 17, 0, True),
        ({"windows": [{"weekdays": [5], "hours_utc": "10:00-20:00"}]}, 17, 0, False),
        (
            {"windows": [{"weekdays": [5], "hours_utc": "10:00-20:00"}], "weekday_timezone": "Asia/Shanghai"},
            17,
            0,
            True,
        ),
        ({"windows": [{"weekdays": [4], "hours_utc": "10:00-20:00"}], "weekday_timezone": "no/where"}, 17, 0, True),
        ({"windows": [{"hours_utc": "10:00-20:00"}]}, 17, 0, True),
        ({"windows": [{"hours_utc": "10:00-20:00"}]}, 21, 0, False),
        ({}, 12, 0, False),
    ],
)
def test_hours_and_days_at_which_less_is_charged(rule: dict[str, Any], hour: int, minute: int, cheap: bool) -> None:
    assert is_off_peak(rule, datetime(2026, 1, 1, hour, minute, tzinfo=UTC)) is cheap


@pytest.mark.parametrize("tier", ["_flex", "_balanced", "_priority", "_ultrafast"])
def test_a_length_of_a_tier_is_of_that_tier_alone(tier: str) -> None:
    entry = {f"input_cost_per_token_above_7k_tokens{tier}": 1.0}
    others = {"", "_flex", "_balanced", "_priority", "_ultrafast"} - {tier}
    assert thresholds(entry, tier) == [(7000, "7k")]
    assert all(thresholds(entry, other) == [] for other in others)
    assert thresholds(entry, batch=True) == []


@pytest.mark.parametrize(
    ("tokens", "inclusive", "rate"),
    [(199_999, True, 1.0), (200_000, False, 1.0), (200_000, True, 9.0), (200_001, False, 9.0)],
)
def test_the_rates_of_a_length_hold_above_it_or_from_it_on(tokens: int, inclusive: bool, rate: float) -> None:
    entry = {"input_cost_per_token": 1.0, "input_cost_per_token_above_200k_tokens": 9.0}
    assert standard_rates(entry, tokens, "", inclusive=inclusive, off_peak=None).input == rate


def test_the_lengths_of_a_table_of_blocks_are_where_they_begin() -> None:
    assert plain(tiered_pricing=BLOCKS).steps() == [0, 1000]
    assert plain(tiered_pricing=BLOCKS).steps(batch=True) == []


@pytest.mark.parametrize(("tokens", "rate"), [(1000, 1.5), (5000, 3.0), (5001, 3.0)])
def test_beyond_the_last_block_its_rates_hold(tokens: int, rate: float) -> None:
    entry = {"input_cost_per_token": 1.0, "tiered_pricing": BLOCKS}
    assert standard_rates(entry, tokens, "", inclusive=False, off_peak=None).input == rate
