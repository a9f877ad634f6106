"""A lane is what may share a batch, and knows how to reach it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from seedbed.lm.batches.anthropic_api import AnthropicBatches
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.openai_api import OpenAIBatches
from seedbed.sweep.model_config import ModelConfig

PLAIN = {"model": "openai/loop", "api_base": "http://127.0.0.1:9/v1", "price": {"input": 1.0, "output": 2.0}}


def lane(**changes: Any) -> Lane:
    return Lane(ModelConfig.model_validate({**PLAIN, **changes}))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"model": "openai/other"}, False),
        ({"api_base": "http://127.0.0.1:8/v1"}, False),
        ({"api_key_env": "KEY"}, False),
        ({"price": {"input": 1.0, "output": 3.0}}, False),
        ({"temperature": 1.0, "timeout_s": 5.0, "max_reply_mb": 1.0, "batch": {"size": 3}}, True),
    ],
)
def test_an_endpoint_a_key_a_model_and_a_price_make_a_lane(changes: dict[str, Any], same: bool) -> None:
    assert (lane(**changes).id == lane().id) is same
    assert len(lane().id) == 16


def test_a_lane_on_record_is_reached_and_paid_as_it_was() -> None:
    first = lane(batch={"size": 3, "poll_s": 5.0}, max_reply_mb=2.0, api_key_env="KEY")
    again = Lane.of_record(first.spec)
    assert (again.id, again.price, again.spec) == (first.id, first.price, first.spec)
    assert (again.model.batch, again.model.max_reply_mb) == (first.model.batch, 2.0)
    assert not again.answered


@pytest.mark.parametrize(("model", "api"), [("openai/loop", OpenAIBatches), ("anthropic/claude", AnthropicBatches)])
def test_its_api_is_that_of_the_model_and_closed_with_it_if_it_was_used(model: str, api: type) -> None:
    closed: list[str] = []

    async def go() -> None:
        unused, used = lane(model=model), lane(model=model)

        async def aclose() -> None:
            closed.append(used.id)

        assert isinstance(used.api, api)
        assert used.api is used.api
        used.api.aclose = aclose  # type: ignore[method-assign]
        await unused.aclose()
        await used.aclose()
        assert "api" not in vars(unused)

    asyncio.run(go())
    assert len(closed) == 1
