"""Texts alone take the short ways of the codec, whose results are those of the long ones; all else takes the long."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from dspy.lm15 import Usage, request_from_openai_chat, response_from_openai_chat

from seedbed.errors import ProviderError
from seedbed.lm import codec
from seedbed.lm.compat.dspy import chat_output
from seedbed.sweep.model_config import ModelConfig

MODEL = ModelConfig(model="openai/x")
ASKED = {"role": "user", "content": "And now?"}


def _request(**changes: Any) -> Any:
    return request_from_openai_chat({"model": "openai/x", "messages": [ASKED], **changes})


def _reply(choice: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A completion whose first choice has these fields beside its text."""
    first = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop", **(choice or {})}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return {"id": "1", "model": "x", "choices": [first], "usage": usage, **changes}


def _said(**message: Any) -> dict[str, Any]:
    return _reply({"message": {"role": "assistant", **message}})


@pytest.fixture
def only_short_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    def long_way(*_: Any, **__: Any) -> Any:
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(codec, "_wire", long_way)
    monkeypatch.setattr("dspy.lm15.response_from_openai_chat", long_way)
    monkeypatch.setattr("seedbed.lm.compat.dspy.chat_output", long_way)


@pytest.mark.usefixtures("only_short_ways")
def test_a_request_of_texts_takes_the_short_way() -> None:
    asked = [{"role": "system", "content": "Be brief."}, ASKED, {"role": "assistant", "content": "Yes."}, ASKED]
    settings = {"temperature": 0.5, "top_p": 0.5, "seed": 3, "frequency_penalty": 0.1, "presence_penalty": 0.2}
    body = codec.encode(_request(messages=asked, max_tokens=10, stop=["a"], **settings), MODEL)
    assert body == {"model": "openai/x", "messages": asked, "max_completion_tokens": 10, "stop": ["a"], **settings}
    assert codec.encode(_request(), MODEL) == {"model": "openai/x", "messages": [ASKED]}


@pytest.mark.usefixtures("only_short_ways")
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_reply_of_text_takes_the_short_way(reason: str) -> None:
    body = _reply({"finish_reason": reason, "message": {"role": "assistant", "content": "yes", "refusal": None}})
    found = codec.decode(body, "openai/x")
    assert (found.text, found.finish_reason, found.model, found.id) == ("yes", reason, "x", "1")
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 3)
    assert codec.decode({**body, "usage": None, "model": None}, "openai/x").model == "openai/x"
    assert codec.decode_output(body, "openai/x") == "yes"


@pytest.mark.usefixtures("only_short_ways")
@pytest.mark.parametrize("usage", [None, {"prompt_tokens": "many"}, {"prompt_tokens": -1, "completion_tokens": 2}])
def test_a_usage_that_cannot_be_meant_says_nothing_against_the_answer(usage: Any) -> None:
    found = codec.decode(_reply(usage=usage), "openai/x")
    assert (found.text, found.usage) == ("yes", Usage())


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
PARTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"tools": [TOOL]},
        {"messages": [{"role": "system", "content": PARTS}, ASKED]},
        {"messages": [ASKED, {"role": "developer", "content": "Be brief."}]},
        {
            "messages": [
                ASKED,
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "t", "content": "x"},
            ]
        },
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://h/a.png"}}]}]},
    ],
    ids=["tools", "a system in parts", "a developer", "tool calls", "a picture"],
)  # fmt: skip
def test_a_request_of_more_than_texts_is_dspys(changes: dict[str, Any]) -> None:
    request = _request(**changes)
    assert codec.encode(request, MODEL) == orjson.loads(
        codec._wire().build_request(request, False).body or b""  # type: ignore[attr-defined]
    )


TOKEN = {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": []}]}
ODD = [
    _reply({"logprobs": TOKEN}),
    _reply({"finish_reason": None}),
    _reply({"finish_reason": "tool_calls"}),
    _reply({"finish_reason": "content_filter"}),
    _reply(usage={"prompt_tokens": 5, "input_tokens": 5, "output_tokens": 2}),
    _reply(usage={"completion_tokens": 5, "input_tokens": 5, "output_tokens": 2}),
    _reply(usage={"prompt_tokens": 5, "completion_tokens": 2.0, "input_tokens": 5, "output_tokens": 2}),
    _reply(usage={"input_tokens": 5, "output_tokens": 2}),
    _said(content=""),
    _said(content=["a"]),
    _said(content="yes", reasoning_content="hm", refusal=None),
    {**_reply(), "choices": [_reply()["choices"][0], {"message": {"content": "no"}, "finish_reason": "stop"}]},
]


@pytest.mark.parametrize("body", ODD)
def test_an_odd_reply_is_read_as_dspy_reads_it(body: dict[str, Any]) -> None:
    ours, theirs = codec.decode(body, "openai/x"), response_from_openai_chat(body, model="openai/x", choice=0)
    assert (ours.message, ours.finish_reason, ours.usage) == (theirs.message, theirs.finish_reason, theirs.usage)
    assert ours.logprobs == theirs.logprobs
    assert codec.decode_output(body, "openai/x") == chat_output(theirs)


@pytest.mark.parametrize(
    "body",
    [_reply(error={"message": "overloaded"}), {**_reply(), "choices": [_reply()["choices"][0], {"message": None}]}],
    ids=["an error beside it", "a second choice that is none"],
)
def test_a_text_in_a_reply_that_is_broken_is_no_answer(body: dict[str, Any]) -> None:
    for read in (codec.decode, codec.decode_output):
        with pytest.raises(ProviderError) as caught:
            read(body, "openai/x")
        assert caught.value.kind == "malformed"


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ({"model": "openai/x"}, {"temperature": 0.0}),
        ({"model": "openai/x", "temperature": 1.0, "top_p": 0.5, "max_tokens": 9},
         {"temperature": 1.0, "top_p": 0.5, "max_completion_tokens": 9}),
        ({"model": "openai/o3"}, {}),
        ({"model": "openai/o3", "temperature": 1.0}, {"temperature": 1.0}),
    ],
)  # fmt: skip
def test_a_temperature_of_0_is_no_wish_where_a_model_has_its_own(model: dict[str, Any], sent: dict[str, Any]) -> None:
    assert codec.sampling(ModelConfig.model_validate(model)) == sent


def test_a_pause_doubles_sixteen_times_at_most() -> None:
    model = ModelConfig(model="openai/x", backoff_s=1 / 4096)
    delays = [
        codec.retry_delay(ProviderError("server", ""), model, number) for number in (17, 18, 100) for _ in range(20)
    ]
    assert all(8.0 <= delay <= 16.0 for delay in delays)
