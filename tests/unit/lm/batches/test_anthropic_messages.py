"""Chat bodies as Anthropic's messages and back, as calls through litellm have them; nothing is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.batches.anthropic_messages import MessagesCodec
from tests.unit.lm.batches.serving import failing

pytestmark = pytest.mark.slow  # litellm's import

ASK = {"role": "user", "content": "Is 4 even?"}
CODEC = MessagesCodec("anthropic/claude-sonnet-4-5")


def test_a_body_becomes_the_parameters_of_a_message() -> None:
    body = {"model": "openai/another", "messages": [ASK], "max_tokens": 50, "temperature": 0.5}
    params, features = asyncio.run(CODEC.encode(body))
    assert params == {
        "model": "claude-sonnet-4-5", "max_tokens": 50, "temperature": 0.5,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Is 4 even?"}]}],
    }  # fmt: skip
    assert features == ""


def test_the_features_that_a_body_needs_are_told_beside_it() -> None:
    body = {"messages": [ASK], "max_tokens": 50, "extra_headers": {"anthropic-beta": "files-api-2025-04-14"}}
    params, features = asyncio.run(CODEC.encode(body))
    assert "files-api-2025-04-14" in features
    assert "extra_headers" not in params


def test_what_cannot_be_put_is_an_invalid_request() -> None:
    body: dict[str, Any] = {"messages": [ASK], "max_tokens": 50, "tools": [{"type": "function"}]}
    error = asyncio.run(failing(CODEC.encode(body)))
    assert error.kind == "invalid_request"
    assert error.message.startswith("litellm cannot put the request: ")


def test_a_message_becomes_the_completion_that_a_call_would_have_brought() -> None:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "max_tokens",
        "content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 10, "output_tokens": 2},
    }  # fmt: skip
    completion = asyncio.run(CODEC.decode(message, {"messages": [ASK], "max_tokens": 50}))
    [choice] = completion["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("yes", "length")
    assert (completion["usage"]["prompt_tokens"], completion["usage"]["completion_tokens"]) == (10, 2)


@pytest.mark.parametrize("message", [{}, {"content": "x"}])
def test_what_is_no_message_is_a_malformed_answer(message: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match="the message cannot be read") as raised:
        asyncio.run(CODEC.decode(message, {"messages": [ASK], "max_tokens": 50}))
    assert raised.value.kind == "malformed"
