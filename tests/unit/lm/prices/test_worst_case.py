"""What is reserved is never less than what is billed."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.lm.prices import WorstCase, bundled_price
from seedbed.lm.prices.price_list import context_limit
from seedbed.lm.request_size import request_size
from seedbed.lm.tokens import count_tokens
from seedbed.lm.types import JsonDict, Usage
from seedbed.sweep.model_config import ModelConfig

MODELS = (
    *("gpt-5-mini", "gpt-5.5", "gpt-5.6", "gemini/gemini-2.5-pro", "gemini/gemini-2.5-flash", "claude-sonnet-4-5"),
    *(
        "gpt-audio",
        "gpt-4o-mini",
        "xai/grok-4.20-multi-agent-beta-0309",
        "deepseek-v4-flash",
        "dashscope/qwen-plus-2025-07-28",
    ),
    *("perplexity/sonar-medium-online", "claude-opus-4-6"),
)
TIERS = (None, "auto", "default", "flex", "priority")
SERVED = {"default": ("default",), "flex": ("flex", "default"), "priority": ("priority", "default")}
IMAGE_TOKENS = {"gpt-4o-mini": 48_169}


def reserved(name: str, body: JsonDict, **more: Any) -> float:
    model = ModelConfig.model_validate({"model": name if "/" in name else f"openai/{name}", **more})
    price = bundled_price(name)
    assert price is not None
    return WorstCase.of(model, price).usd(body, request_size(body))


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, JsonDict, int, int]:
    """A model, a request, and the tokens of its texts and of its pictures and sounds as a provider may count them."""
    name = draw(st.sampled_from(MODELS))
    texts = draw(st.lists(st.text(max_size=60), min_size=1, max_size=3))
    long = draw(st.sampled_from((0, 0, 0, 210_000, 300_000)))
    parts: list[JsonDict] = [{"type": "text", "text": text} for text in texts]
    counted = sum(count_tokens(text) + 8 for text in texts) + long
    parts += [{"type": "text", "text": "a" * long}] if long else []
    heard = 0
    for _ in range(draw(st.integers(0, 2))):
        parts.append({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})
        heard += draw(st.integers(0, IMAGE_TOKENS.get(name, 6_000)))
    if draw(st.booleans()):
        seconds = draw(st.integers(1, 30))
        data = base64.b64encode(bytes(750 * seconds)).decode()
        parts.append({"type": "input_audio", "input_audio": {"data": data, "format": "opus"}})
        heard += 32 * seconds
    body: JsonDict = {"model": name, "messages": [{"role": "user", "content": parts}]}
    if draw(st.booleans()):
        body["tools"] = [{"type": "function", "function": {"name": "f", "description": draw(st.text(max_size=80))}}]
        counted += count_tokens(str(body["tools"][0]["function"]["description"])) + 346
    if draw(st.booleans()):
        body["messages"][0]["content"].append({"type": "file", "file": {"file_id": "f-1"}})
        counted += draw(st.integers(0, context_limit(name) or 100_000))
    return name, body, counted, heard


@settings(max_examples=150, deadline=None)
@given(requests(), st.data())
def test_no_request_is_billed_more_than_was_reserved(
    asked: tuple[str, JsonDict, int, int], data: st.DataObject
) -> None:
    name, body, counted, heard = asked
    body["max_tokens"] = data.draw(st.integers(1, 5_000))
    answers = data.draw(st.integers(1, 4))
    tier = data.draw(st.sampled_from(TIERS))
    body |= ({"n": answers} if answers > 1 else {}) | ({"service_tier": tier} if tier else {})
    body |= {"modalities": ["text", "audio"]} if data.draw(st.booleans()) else {}
    served = data.draw(st.sampled_from(SERVED.get(tier or "", (None, "default", "flex", "priority"))))
    usage = data.draw(usages(counted, heard, answers * body["max_tokens"], body, served))
    price = bundled_price(name)
    assert price is not None
    assert price.cost(usage) <= reserved(name, body) * (1 + 1e-9)


@st.composite
def usages(draw: st.DrawFn, counted: int, heard: int, most_out: int, body: JsonDict, tier: str | None) -> Usage:
    """Any way in which a provider may bill it: each token once, in any of its kinds."""
    total = counted + heard
    cached = draw(st.integers(0, total))
    written = draw(st.integers(0, total - cached))
    fresh = total - cached - written
    kinds = {part["type"] for message in body["messages"] for part in message["content"]}
    audio = draw(st.integers(0, fresh)) if kinds & {"input_audio", "file"} else 0
    image = draw(st.integers(0, fresh - audio)) if kinds & {"image_url", "file"} else 0
    output = draw(st.integers(0, most_out))
    reasoning = draw(st.integers(0, output))
    return Usage(
        total,
        output,
        cached=cached,
        reasoning=reasoning,
        written=written,
        written_1h=draw(st.integers(0, written)),
        audio_in=audio,
        image_in=image,
        audio_out=draw(st.integers(0, output - reasoning)) if "modalities" in body else 0,
        tier=tier,
        surcharges=draw(st.sampled_from(((), ("us",)))),
    )


def test_a_picture_is_not_counted_by_its_letters() -> None:
    picture = "data:image/png;base64," + "A" * 400_000
    body: JsonDict = {
        "model": "gpt-5-mini",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}],
    }
    size = request_size(body)
    assert size.images == 1
    assert 1_445 < size.most < 20_000  # the most tiles of the family; not the characters
    assert size.likely == 1_000


@pytest.mark.parametrize("content", ["ascii " * 20, "中文字符" * 20, "🙂" * 30, "\ud800broken"])
def test_no_text_has_more_tokens_than_are_reserved(content: str) -> None:
    size = request_size({"messages": [{"role": "user", "content": content}]})
    assert size.most >= count_tokens(content.encode("utf-8", "replace").decode()) + 8


def test_a_cheaper_tier_that_is_asked_for_is_not_reserved_at_the_price_of_another() -> None:
    body: JsonDict = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1000}
    standard = reserved("gpt-5-mini", {**body, "service_tier": "default"})
    assert reserved("gpt-5-mini", {**body, "service_tier": "priority"}) == pytest.approx(1.8 * standard)
    # Whoever asks for none may be served at whatever the provider's settings say.
    assert reserved("gpt-5-mini", body) == pytest.approx(1.8 * standard)


def test_searches_and_their_findings_are_reserved() -> None:
    body: JsonDict = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 10}
    tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    plain = reserved("claude-sonnet-4-5", body)
    assert reserved("claude-sonnet-4-5", {**body, "tools": [tool]}) > plain + 3 * 0.01
