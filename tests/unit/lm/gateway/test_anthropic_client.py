"""Anthropic's own client against the gateway, over the socket."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.gateway.protocols.anthropic_messages import chat_body, unmarked
from tests.unit.lm.gateway.conftest import Place

anthropic = pytest.importorskip("anthropic")

ASK: Any = [{"role": "user", "content": "Is 4 even?"}]
TOOLS: Any = [
    {
        "name": name,
        "description": f"to {name}",
        "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    }
    for name in ("look_up", "count")
]
IMAGE: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


@pytest.fixture
def client(place: Place) -> Any:
    return anthropic.Anthropic(base_url=place.root, api_key=place.grant().key, max_retries=0)


def test_plain_and_streamed_say_the_same(place: Place, client: Any) -> None:
    asked: Any = {
        "model": "m",
        "max_tokens": 50,
        "messages": ASK,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "extra_body": {"temperature": 0},
    }
    plain = client.messages.create(**asked)
    assert (plain.stop_reason, plain.content[0].type) == ("end_turn", "text")
    with client.messages.stream(**asked) as stream:
        assert "".join(stream.text_stream) == plain.content[0].text
        final = stream.get_final_message()
    assert final.stop_reason == plain.stop_reason
    assert final.usage.output_tokens == plain.usage.output_tokens == place.server.books.tokens_out
    assert place.books_agree().outcomes == {"paid": 1, "reused": 1}


def test_marks_of_anthropic_reach_its_own_models_only(place: Place) -> None:
    said = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    thought = {"type": "thinking", "thinking": "so", "signature": "s"}
    spoken = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]}
    body = chat_body({"system": [said], "messages": [*ASK, spoken, {"role": "user", "content": [said]}]})
    assert body["messages"][0]["content"] == [said]
    assert body["messages"][2]["thinking_blocks"] == [thought]
    others = [unmarked(message) for message in body["messages"]]
    assert [message["content"] for message in others] == ["Be brief.", "Is 4 even?", "Yes.", "Be brief."]
    assert all(message.keys() == {"role", "content"} for message in others)


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_in_two_rounds_with_a_picture(place: Place, client: Any, streamed: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, IMAGE]}]
    for tool in ("look_up", "count"):
        asked: Any = {"model": "m", "max_tokens": 50, "messages": messages, "tools": TOOLS}
        if streamed:
            with client.messages.stream(**asked) as stream:
                reply = stream.get_final_message()
        else:
            reply = client.messages.create(**asked)
        assert reply.stop_reason == "tool_use"
        [call] = reply.content
        assert (call.type, call.name, set(call.input)) == ("tool_use", tool, {"word"})
        result = {"type": "tool_result", "tool_use_id": call.id, "content": f"{tool} done"}
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
    last = client.messages.create(model="m", max_tokens=50, messages=messages, tools=TOOLS)
    assert "look_up done count done" in last.content[0].text
    assert place.books_agree().calls == 3


def test_structured_output(place: Place, client: Any) -> None:
    schema = {"type": "object", "properties": {"even": {"type": "boolean"}}, "required": ["even"]}
    reply = client.messages.create(
        model="m",
        max_tokens=50,
        messages=ASK,
        extra_body={"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    )
    assert reply.content[0].text == '{"even": true}'


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ({"faults": {"context_length": 1.0}}, 400),
        ({"faults": {"rate_limit": 1.0}}, 429),
        ({"faults": {"server": 1.0}}, 500),
    ],
    indirect=["place"],
)
def test_an_error_is_said_as_anthropic_says_it(place: Place, status: int, client: Any) -> None:
    with pytest.raises(anthropic.APIStatusError) as raised:
        client.messages.create(model="m", max_tokens=50, messages=ASK)
    assert raised.value.status_code == status
    assert raised.value.body["type"] == "error"
    assert place.books_agree().outcomes == {"failed": 1}


def test_a_wrong_key_is_401_in_its_form(place: Place) -> None:
    stranger = anthropic.Anthropic(base_url=place.root, api_key="sk-none", max_retries=0)
    with pytest.raises(anthropic.AuthenticationError) as raised:
        stranger.messages.create(model="m", max_tokens=50, messages=ASK)
    assert raised.value.body["error"]["type"] == "authentication_error"
    assert place.server.books.requests == 0
