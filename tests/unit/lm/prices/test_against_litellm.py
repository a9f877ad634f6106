"""Dollars against litellm's own calculator: here for a sample of its list, `python -m bench.price_check` for all."""

from __future__ import annotations

import pytest

from bench.price_check import SHAPES, compare, excused, reference
from seedbed.lm.prices import chat_models, cost_of

pytestmark = pytest.mark.slow  # litellm's import

TELLING = (
    *("gpt-5-mini", "gpt-5.5", "gpt-5.6", "gemini/gemini-2.5-pro", "claude-sonnet-4-5", "o3", "gpt-audio"),
    *(
        "xai/grok-4.20-multi-agent-beta-0309",
        "deepseek/deepseek-reasoner",
        "dashscope/qwen-plus-2025-07-28",
        "fireworks_ai/glm-5p2",
    ),
    *(
        "bedrock/us-gov-west-1/anthropic.claude-3-haiku-20240307-v1:0",
        "perplexity/sonar-pro",
        "groq/openai/gpt-oss-120b",
    ),
)
"""One for each way of charging."""


def test_a_sample_of_the_list_costs_what_litellm_says_or_has_a_reason() -> None:
    models = sorted({*chat_models()[::75], *(name for name in TELLING if name in chat_models())})
    found = compare(models)
    assert found.same > 15 * len(models)
    wrong = {(m, s): both for m, shapes in found.differ.items() for s, both in shapes.items() if excused(m, s) is None}
    assert wrong == {}


def test_there_are_twenty_shapes_and_each_is_charged_in_a_way_of_its_own() -> None:
    assert len(SHAPES) == 20
    assert len({shape.name for shape in SHAPES}) == 20


def test_an_exception_is_one_only_as_long_as_it_differs() -> None:
    """A reason that no longer holds is to go from the list."""
    plain = SHAPES[0]
    fee = "perplexity/sonar-medium-online"
    ours = cost_of(fee, plain.usage)
    theirs = reference(fee, plain)
    assert ours is not None
    assert theirs is not None
    assert ours - theirs == pytest.approx(0.005)
