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


@pytest.mark.parametrize(
    "body",
    [
        _completion({"content": "yes"}, choices=[{"message": {"content": "yes"}, "finish_reason": "length"}]),
        _completion({"content": "yes"}, choices=[{"message": {"content": "yes"}, "finish_reason": "content_filter"}]),
        _completion({"content": "yes"}, model=None),
        _completion({"content": "yes"}, usage={"prompt_tokens": 0, "completion_tokens": 0}),
        _completion({"content": "yes"}, usage={"input_tokens": 5, "output_tokens": 2}),
    ],
)
def test_unusual_responses_are_read_as_dspy_reads_them_too(body: dict[str, Any]) -> None:
    ours, theirs = codec.decode(body, "openai/x"), response_from_openai_chat(body, model="openai/x")
    assert (ours.message, ours.finish_reason, ours.model) == (theirs.message, theirs.finish_reason, theirs.model)
    assert ours.id == theirs.id
    if body["usage"].get("prompt_tokens") is not None:
        assert ours.usage == theirs.usage


def test_of_several_answers_the_first_is_read() -> None:
    both = _completion({}, choices=[{"message": {"content": c}, "finish_reason": "stop"} for c in "ab"])
    theirs = response_from_openai_chat(both, model="openai/x", choice=0)
    assert codec.decode(both, "openai/x").message == theirs.message


@pytest.mark.parametrize("choices", [None, [], "text", {}])
def test_a_response_without_choices_is_malformed(choices: Any) -> None:
    for read in (codec.decode, codec.decode_output):
        with pytest.raises(ProviderError, match="no choices"):
            read({"choices": choices}, "openai/x")


def test_a_text_alone_is_the_output_and_more_is_a_mapping() -> None:
    assert codec.decode_output(_completion({"content": "yes", "refusal": None}), "openai/x") == "yes"
    thought = codec.decode_output(_completion({"content": "yes", "reasoning_content": "hm"}), "openai/x")
    assert thought["text"] == "yes"
    assert thought["reasoning_content"] == "hm"


def test_an_answer_of_any_choice_is_no_empty_reply() -> None:
    def reply(*messages: Any) -> dict[str, Any]:
        return {"choices": [{"message": message} for message in messages]}

    assert codec.is_empty({}) is True
    assert codec.is_empty(reply({"content": ""}, None)) is True
    for said in ({"content": "a"}, {"tool_calls": [1]}, {"refusal": "no"}):
        assert codec.is_empty(reply({"content": None}, said)) is False


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ModelConfig(model="openai/x"), "max_completion_tokens"),
        (ModelConfig(model="openai/x", api_base="http://h/v1"), "max_tokens"),
        (ModelConfig(model="other/x"), "max_tokens"),
        (ModelConfig(model="other/o3-mini"), "max_completion_tokens"),
    ],
)
def test_a_request_without_a_limit_gets_one_in_the_words_of_its_server(model: ModelConfig, name: str) -> None:
    assert codec.limited({"messages": []}, model, 50) == {"messages": [], name: 50}
    for own in ("max_tokens", "max_completion_tokens"):
        assert codec.limited({own: 7}, model, 50) == {own: 7}
    for none in (None, 0, -1, True, "many", 1e999):
        assert codec.limited({"max_tokens": none}, model, 50) == {name: 50}
        assert codec.limited({"max_tokens": none, "max_completion_tokens": 7}, model, 50) == {
            "max_completion_tokens": 7
        }


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("openai/o3", True), ("openai/o1-mini-2024-09-12", True), ("o4-mini", True), ("openai/gpt-5", True),
        ("openai/gpt-5.1-codex", True), ("openai/gpt-5-chat", False), ("openai/gpt-4o", False), ("openai/o2", False),
        ("azure/eu/O3", True), ("openai/o3-preview", False),
    ],
)  # fmt: skip
def test_reasoning_models_are_known_by_their_names(name: str, reasons: bool) -> None:
    assert codec.is_reasoning_model(name) is reasons


def test_a_seed_is_sent_where_it_is_wanted_and_differs_by_request_seed_and_repeat() -> None:
    on, off = (ModelConfig(model="openai/x", send_seed=switch) for switch in ("on", "off"))
    body = {"messages": [{"role": "user", "content": "a"}]}
    seed = codec.seeded(body, on, 1, (0,))["seed"]
    assert 0 <= seed < 2**31
    assert codec.seeded(body, on, 1, (0,))["seed"] == seed
    others = [
        codec.seeded({**body, "n": 1}, on, 1, (0,)),
        codec.seeded(body, on, 2, (0,)),
        codec.seeded(body, on, 1, (1,)),
    ]
    assert len({seed, *(other["seed"] for other in others)}) == 4
    seeds = [codec.seeded(body, on, 1, (repeat,))["seed"] for repeat in range(40)]
    assert max(seeds) > 2**30, "all of the 31 bits are used"
    assert codec.seeded(body, off, 1, (0,)) == body
    assert codec.seeded({**body, "seed": 5}, on, 1, (0,))["seed"] == 5
    auto = {
        name: codec.seeded(body, ModelConfig(model=name), 1, (0,)) for name in ("openai/gpt-4o", "anthropic/claude-x")
    }
    assert ["seed" in found for found in auto.values()] == [True, False]


def test_extra_fields_of_a_model_are_sent_and_count_before_the_requests_own() -> None:
    model = ModelConfig(model="openai/x", extra={"top_k": 3, "temperature": 0.1})
    assert codec.adapt({"temperature": 0.9, "max_completion_tokens": 5}, model) == {
        "temperature": 0.1, "max_completion_tokens": 5, "top_k": 3,
    }  # fmt: skip
    other = ModelConfig(model="other/x")
    assert codec.adapt({"max_completion_tokens": 0}, other) == {"max_tokens": 0}
    assert codec.adapt({}, other) == {}


def test_a_retry_waits_the_longer_of_both() -> None:
    model = ModelConfig(model="openai/x", backoff_s=8.0)
    assert codec.retry_delay(ProviderError("server", "", retry_after=0.5), model, 2) >= 8.0
    assert codec.retry_delay(ProviderError("server", ""), ModelConfig(model="openai/x", backoff_s=0.0), 3) == 0.0


@pytest.mark.parametrize("kind", ["rate_limit", "server", "malformed", "timeout", "transport", "auth", "billing",
                                  "context_length", "invalid_request"])  # fmt: skip
def test_every_failure_has_its_error_in_dspys_terms_without_a_pause(kind: Any) -> None:
    error: Any = codec.to_dspy_error(ProviderError(kind, "why", status=418, retry_after=9.0))
    assert (error.status, error.retry_after) == (418, 0.0)
    assert "why" in str(error)
