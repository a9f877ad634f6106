"""Requests and responses: the short ways give what the long ones give, and keys tell apart what must be."""

from __future__ import annotations

from typing import Any

import dspy
import orjson
import pytest
from dspy.lm15 import request_from_openai_chat, response_from_openai_chat

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.adapter import QuickChatAdapter
from seedbed.sweep.model_config import ModelConfig

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are brief."},
    {"role": "user", "content": "日本語?"},
    {"role": "assistant", "content": "はい"},
    {"role": "user", "content": "And now?"},
]
MODEL = ModelConfig(model="openai/x")


def _request(**changes: Any) -> Any:
    return request_from_openai_chat({"model": "openai/x", "messages": CHAT, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 0.0, "max_tokens": 10},
        {"temperature": 1.0, "top_p": 0.5, "stop": ["a", "b"], "seed": 3, "presence_penalty": 0.1},
        {"frequency_penalty": 0.2, "response_format": {"type": "json_object"}},
        {"reasoning_effort": "low"},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]},
    ],
)
def test_bodies_are_those_of_dspys_own_encoder(changes: dict[str, Any]) -> None:
    request = _request(**changes)
    wire = orjson.loads(codec._wire().build_request(request, False).body)
    assert codec.encode(request, MODEL) == wire


def _completion(message: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "model": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        **changes,
    }


@pytest.mark.parametrize(
    "body",
    [
        _completion({"content": "yes", "refusal": None}),
        _completion({"content": "yes", "reasoning_content": "thinking"}),
        _completion({"content": None, "refusal": "no"}),
        _completion({"content": "yes"}, usage=None),
        _completion(
            {
                "content": None,
                "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            }
        ),
    ],
)
def test_responses_are_read_as_dspy_reads_them(body: dict[str, Any]) -> None:
    ours, theirs = codec.decode(body, "openai/x"), response_from_openai_chat(body, model="openai/x")
    assert ours.message == theirs.message
    assert ours.finish_reason == theirs.finish_reason
    assert ours.usage == theirs.usage


@pytest.mark.parametrize("choice", ["text", {"message": None}, {"message": "text"}, None])
def test_a_choice_without_a_message_is_malformed(choice: Any) -> None:
    with pytest.raises(ProviderError) as caught:
        codec.decode({"choices": [choice]}, "openai/x")
    assert caught.value.kind == "malformed"


def test_only_openai_itself_gets_the_new_name_of_the_token_limit() -> None:
    request = _request(max_tokens=10)
    assert codec.encode(request, MODEL)["max_completion_tokens"] == 10
    assert codec.encode(request, ModelConfig(model="openai/x", api_base="http://h/v1"))["max_tokens"] == 10
    assert codec.encode(request, ModelConfig(model="openai/o3", api_base="http://h/v1"))["max_completion_tokens"] == 10


def test_keys_tell_apart_seed_repeat_draws_model_and_address_and_nothing_else() -> None:
    body = codec.encode(_request(temperature=1.0), MODEL)
    same = codec.request_key(body, MODEL, 0, (None, 0, 0))
    slower = MODEL.model_copy(update={"timeout_s": 3.0, "retries": 1, "backoff_s": 9.0})
    assert codec.request_key(dict(reversed(body.items())), slower, 0, (None, 0, 0)) == same
    others = [
        codec.request_key(body, MODEL, 1, (None, 0, 0)),
        codec.request_key(body, MODEL, 0, (5, 0, 0)),
        codec.request_key(body, MODEL, 0, (None, 1, 0)),
        codec.request_key(body, MODEL, 0, (None, 0, 1)),
        codec.request_key(body, MODEL, 0, (None, 0, 0), "GEPA"),
        codec.request_key({**body, "temperature": 0.5}, MODEL, 0, (None, 0, 0)),
        codec.request_key(body, MODEL.model_copy(update={"api_base": "http://h/v1"}), 0, (None, 0, 0)),
        codec.request_key(body, MODEL.model_copy(update={"model": "openai/y"}), 0, (None, 0, 0)),
    ]
    assert len({same, *others}) == len(others) + 1


def test_retry_delays_grow_with_jitter_and_honour_retry_after() -> None:
    model = ModelConfig(model="openai/x", backoff_s=1.0)
    for number, most in ((1, 1.0), (3, 4.0), (30, 60.0)):
        delays = {codec.retry_delay(ProviderError("server", ""), model, number) for _ in range(50)}
        assert len(delays) > 10
        assert most / 2 <= min(delays)
        assert max(delays) <= most
    assert codec.retry_delay(ProviderError("rate_limit", "", retry_after=17.0), model, 1) == 17.0


@pytest.mark.parametrize(
    "demos", [[], [{"question": "x", "context": ["1"], "answer": "y", "score": 1.0}], [{"question": "x"}]]
)
@pytest.mark.parametrize("inputs", [{"question": "q", "context": ["a", "b"]}, {"question": "q"}])
def test_the_quick_adapter_says_what_dspys_says(demos: list[dict[str, Any]], inputs: dict[str, Any]) -> None:
    signature = dspy.ChainOfThought("question, context: list[str] -> answer, score: float").predict.signature
    quick, plain = QuickChatAdapter(), dspy.ChatAdapter()
    for _ in range(2):
        assert quick.format(signature, demos, inputs) == plain.format(signature, demos, inputs)


def test_the_quick_adapter_follows_a_signature_that_is_changed_in_place() -> None:
    signature = dspy.Signature("question -> answer", "Be brief.")
    quick, plain = QuickChatAdapter(), dspy.ChatAdapter()
    quick.format(signature, [], {"question": "q"})
    signature.instructions = "Be long."
    signature.fields["answer"].json_schema_extra["desc"] = "a number"
    assert quick.format(signature, [], {"question": "q"}) == plain.format(signature, [], {"question": "q"})
    changed = signature.with_instructions("Be kind.")
    assert quick.format(changed, [], {"question": "q"}) == plain.format(changed, [], {"question": "q"})


@pytest.mark.parametrize(
    "completion", ["nothing", "[[ ## answer ## ]]\nyes", "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\nhigh"]
)
def test_the_quick_adapter_refuses_what_dspys_refuses(completion: str) -> None:
    signature = dspy.Signature("question -> answer, score: float")
    errors = []
    for adapter in (QuickChatAdapter(), dspy.ChatAdapter()):
        with pytest.raises(dspy.utils.exceptions.AdapterParseError) as caught:
            adapter.parse(signature, completion)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
