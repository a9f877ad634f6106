"""What responses say they used, field by field, in the forms of the providers."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from seedbed.lm import types
from seedbed.lm.tokens import billed_usage, count_tokens, usage_of
from seedbed.lm.types import Answerer, Usage
from seedbed.lm.usage import rare_fields, read_usage, told_usage, who_answered, with_rare_fields


def openai(**more: Any) -> Usage:
    found = read_usage({"prompt_tokens": 100, "completion_tokens": 50, **more})
    assert found is not None
    return found


def test_a_plain_usage() -> None:
    assert openai(total_tokens=150) == Usage(100, 50)


@pytest.mark.parametrize("wrong", [None, -1, True, "7", 1.5, 100_000_001])
def test_a_number_that_cannot_be_meant_is_none(wrong: Any) -> None:
    assert read_usage({"prompt_tokens": wrong, "completion_tokens": 1}) is None
    assert read_usage({"prompt_tokens": 1, "completion_tokens": wrong}) is None
    assert read_usage({"input_tokens": wrong, "output_tokens": 1}) is None
    assert read_usage({"input_tokens": 1, "output_tokens": wrong}) is None
    assert openai(prompt_tokens_details={"cached_tokens": wrong}).cached == 0


@pytest.mark.parametrize("right", [0, 100_000_000])
def test_nothing_and_the_most_can_be_meant(right: int) -> None:
    assert read_usage({"prompt_tokens": right, "completion_tokens": 0}) == Usage(right, 0)


def test_cached_and_written_tokens_are_parts_of_the_input() -> None:
    assert openai(prompt_tokens_details={"cached_tokens": 40, "cache_write_tokens": 30}) == Usage(
        100, 50, 40, written=30
    )
    assert openai(prompt_cache_hit_tokens=40).cached == 40
    assert openai(cache_creation_input_tokens=30).written == 30
    full = openai(prompt_tokens_details={"cached_tokens": 90, "cache_creation_tokens": 30})
    assert (full.cached, full.written) == (90, 10)
    assert openai(prompt_tokens_details={"cached_tokens": 900}).cached == 100


def test_a_cache_kept_for_an_hour_is_a_part_of_what_was_written() -> None:
    durations = {"ephemeral_1h_input_tokens": 20}
    own = {"cache_write_tokens": 30, "cache_creation_token_details": durations}
    assert openai(prompt_tokens_details=own).written_1h == 20
    assert openai(prompt_tokens_details={**own, "cache_write_tokens": 5}).written_1h == 5


def test_anthropics_input_is_beside_its_caches() -> None:
    told = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30}
    assert read_usage({**told, "cache_creation": {"ephemeral_1h_input_tokens": 7}}) == Usage(
        60, 5, 20, written=30, written_1h=7
    )
    assert read_usage({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 20}) == Usage(30, 5, 20)
    assert read_usage({"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 4}) == Usage(
        14, 5, written=4
    )


def test_openais_other_names_hold_all_of_the_input() -> None:
    details = {"cached_tokens": 6, "cache_write_tokens": 3}
    assert read_usage({"input_tokens": 10, "output_tokens": 5, "input_tokens_details": details}) == Usage(
        10, 5, 6, written=3
    )


def test_reasoning_is_a_part_of_the_output_unless_the_total_says_it_is_beside_it() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 20}}
    assert (openai(**details).output, openai(**details).reasoning) == (50, 20)
    beside = openai(**details, total_tokens=170)
    assert (beside.output, beside.reasoning) == (70, 20)
    assert openai(**details, total_tokens=150).output == 50
    assert openai(reasoning_tokens=60).reasoning == 50, "no more than was answered"


def test_media_are_parts_of_what_no_cache_had_to_do_with() -> None:
    heard = {"audio_tokens": 10, "image_tokens": 5}
    found = openai(
        prompt_tokens_details={
            "cached_tokens": 30, "cache_write_tokens": 20, "cached_tokens_details": heard,
            "audio_tokens": 25, "image_tokens": 12, "video_tokens": 3,
        },
        completion_tokens_details={"reasoning_tokens": 10, "audio_tokens": 8, "image_tokens": 6, "video_tokens": 4},
    )  # fmt: skip
    assert (found.cached, found.written, found.cached_audio) == (30, 20, 10)
    assert (found.audio_in, found.image_in, found.video_in) == (15, 7, 3)
    assert (found.reasoning, found.audio_out, found.image_out, found.video_out) == (10, 8, 6, 4)


def test_parts_are_never_more_than_the_whole() -> None:
    many = {"audio_tokens": 60, "image_tokens": 60, "video_tokens": 60}
    found = openai(prompt_tokens_details=many, completion_tokens_details={**many, "reasoning_tokens": 5})
    assert (found.audio_in, found.image_in, found.video_in) == (60, 40, 0)
    assert (found.reasoning, found.audio_out, found.image_out, found.video_out) == (5, 45, 0, 0)
    rest = openai(
        prompt_tokens_details={"cached_tokens": 30, "cache_write_tokens": 20, **many},
        completion_tokens_details={"reasoning_tokens": 10, "audio_tokens": 15, "image_tokens": 20, "video_tokens": 60},
    )
    assert (rest.audio_in, rest.image_in, rest.video_in) == (50, 0, 0)
    assert (rest.audio_out, rest.image_out, rest.video_out) == (15, 20, 5)
    cached = openai(prompt_tokens_details={"cached_tokens": 10, "cached_tokens_details": many, "audio_tokens": 4})
    assert (cached.cached_audio, cached.audio_in) == (10, 0)
    mixed = {"audio_tokens": 4, "image_tokens": 60}
    pictures = openai(prompt_tokens_details={"cached_tokens": 10, "cached_tokens_details": mixed, "image_tokens": 9})
    assert (pictures.cached_audio, pictures.image_in) == (4, 3)


def test_searches_tiers_surcharges_and_told_dollars() -> None:
    found = openai(server_tool_use={"web_search_requests": 2}, service_tier="flex", inference_geo="US", speed="fast")
    assert (found.searches, found.tier, found.surcharges) == (2, "flex", ("us", "fast"))
    assert openai(inference_geo="global", speed="standard").surcharges == ()
    assert openai(server_side_tool_usage_details={"web_search_calls": 3}).searches == 3
    assert openai(prompt_tokens_details={"web_search_requests": 4}).searches == 4
    assert [openai(cost=cost).told_usd for cost in (0.5, 0, {"total_cost": 2}, -1, True, float("nan"), "1")] == [
        0.5, 0.0, 2.0, None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("told", [-0.1, 10_000.1, 1e300, 10**400, float("inf"), float("nan"), True, "1", [1], {"a": 1}])
def test_dollars_that_cannot_be_meant_are_none(told: Any) -> None:
    plain = {"prompt_tokens": 1, "completion_tokens": 1}
    for cost in (told, {"total_cost": told}):
        usage = read_usage({**plain, "cost": cost})
        assert usage is not None
        assert usage.told_usd is None
    usage = read_usage({**plain, "cost": 10_000})
    assert usage is not None
    assert usage.told_usd == 10_000.0


def test_the_tier_beside_a_usage_counts_before_its_own() -> None:
    told = {"prompt_tokens": 1, "completion_tokens": 1}
    assert told_usage({"usage": {**told, "service_tier": "flex"}, "service_tier": "priority"}) == Usage(
        1, 1, tier="priority"
    )
    assert told_usage({"usage": told, "service_tier": "flex"}) == Usage(1, 1, tier="flex")
    assert told_usage({"usage": None}) is None


def test_who_answered_is_kept_as_short_words() -> None:
    response = {"model": "m" * 201, "system_fingerprint": "f\0p", "usage": {"service_tier": "flex"}}
    assert who_answered(response, "host") == Answerer("m" * 200, "fp", "host", "flex")
    told = {"model": "", "provider": "another", "service_tier": "priority", "usage": {"service_tier": "flex"}}
    assert who_answered(told, "host") == Answerer(None, None, "another", "priority")
    assert who_answered({"model": 5, "usage": []}, "host") == Answerer(None, None, "host", None)
    assert who_answered({"model": "\0"}, "host").model is None


def test_rare_fields_come_back_as_they_were() -> None:
    usage = openai(service_tier="flex", inference_geo="us", server_tool_use={"web_search_requests": 2})
    kept = rare_fields(usage)
    assert kept is not None
    assert kept == {"searches": 2, "tier": "flex", "surcharges": ("us",)}
    assert with_rare_fields(Usage(100, 50), {**kept, "surcharges": ["us"], "unknown": 1}) == usage
    assert rare_fields(Usage(1, 1)) is None


def test_a_key_that_an_endpoint_quotes_as_its_name_is_masked_before_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "plain-looking-word-4711-that-goes-on"
    monkeypatch.setenv("LAB_API_KEY", key)
    response = {"model": f"{'m' * 180}{key}", "system_fingerprint": key, "provider": key, "service_tier": key}
    told = read_usage({"prompt_tokens": 1, "completion_tokens": 1, "inference_geo": key, "service_tier": key})
    said = f"{who_answered(response, 'host')} {told}"
    assert "[redacted]" in said
    assert key[:12] not in said


def chosen(*reasons: str) -> dict[str, Any]:
    """A completion with an answer for each reason to end."""
    return {"choices": [{"finish_reason": reason, "message": {"content": "yes"}} for reason in reasons]}


@pytest.mark.parametrize(
    ("response", "cut"),
    [
        ({}, False),
        (chosen("stop"), False),
        (chosen("length"), True),
        (chosen("max_tokens"), True),
        (chosen("stop", "length"), True),
        (chosen("stop", "stop"), False),
    ],
)
@pytest.mark.parametrize("usage", [{}, {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}])
def test_an_answer_is_cut_where_any_of_its_choices_had_no_more_tokens(
    response: dict[str, Any], cut: bool, usage: dict[str, Any]
) -> None:
    assert usage_of({}, {**response, **usage}).cut is cut


def test_the_tier_is_the_one_served_where_that_says_all_and_else_the_one_asked_for() -> None:
    cases: list[tuple[Any, str | None, str | None]] = [
        (None, None, None),
        (None, "flex", "flex"),
        ("auto", None, None),
        ("auto", "priority", "priority"),
        ("flex", None, "flex"),
        ("flex", "scale", "flex"),
        ("flex", "Default", "Default"),
        ("flex", "standard", "standard"),
        ("flex", "Priority", "Priority"),
        (5, None, None),
    ]
    for asked, served, billed in cases:
        told = {"usage": {"prompt_tokens": 3, "completion_tokens": 1}, "service_tier": served}
        assert billed_usage({"service_tier": asked}, told) == Usage(3, 1, tier=billed)
        assert billed_usage({"service_tier": asked}, {"service_tier": served}) is None


@pytest.mark.parametrize(("asked", "tier"), [("flex", "flex"), (None, None), (5, None)])
def test_a_counted_answer_has_the_tier_that_was_asked_for(asked: Any, tier: str | None) -> None:
    replies = [{"message": {"content": "yes"}}, {"message": None}, {"message": {"content": None}}]
    found = usage_of({"input": "a", "service_tier": asked}, {"choices": replies})
    assert found == Usage(1 + 4, count_tokens("yes"), estimated=True, tier=tier)


def test_pictures_are_counted_as_likely_where_nothing_is_told() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}]
    assert usage_of({"messages": [{"content": content}]}, {}).input == (1 + 4) + 4 + 1000


@pytest.mark.parametrize("model", ["openai/gpt-4-turbo", "openai/gpt-3.5-turbo"])
def test_older_models_have_the_older_tokenizer(model: str) -> None:
    text = "你好，世界"
    assert count_tokens(text, model) > count_tokens(text)
    assert count_tokens(text, "openai/gpt-4.1") == count_tokens(text, "openai/gpt-4o") == count_tokens(text)


def test_a_usage_has_nothing_beside_what_is_said() -> None:
    # The file itself, not what was made of it when the tests began.
    plain = runpy.run_path(str(types.__file__))["Usage"](3, 1)
    assert plain == Usage(3, 1)
    assert plain == Usage(
        input=3, output=1, cached=0, reasoning=0, estimated=False, written=0, written_1h=0, cached_audio=0, audio_in=0,
        image_in=0, video_in=0, audio_out=0, image_out=0, video_out=0, searches=0, tier=None, surcharges=(),
        told_usd=None, cut=False,
    )  # fmt: skip


def test_where_nothing_is_told_all_that_was_sent_is_counted() -> None:
    parts = [{"type": "text", "text": "one two"}, {"type": "text", "text": "three"}]
    bodies: list[Any] = [
        {"messages": [{"role": "user", "content": "one two"}, {"role": "user", "content": "three"}]},
        {"messages": [{"role": "user", "content": parts}]},
        {"input": ["one two", "three"]},
    ]
    each = 4
    words = count_tokens("one two") + count_tokens("three")
    assert [usage_of(body, {}) for body in bodies] == [Usage(words + 2 * each, 0, estimated=True)] * 3
    assert usage_of({"input": "one two"}, {}).input == count_tokens("one two") + each
