"""Anthropic's messages: blocks as chat messages, a completion as blocks and as the events of a stream."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.gateway.protocols import Refusal
from seedbed.lm.gateway.protocols.anthropic_messages import AnthropicMessages, chat_body, unmarked
from tests.unit.lm.gateway.protocols import Line, completion

ASK = {"role": "user", "content": "Is 4 even?"}
MARK = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "so", "signature": "s"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": '{"word": "a"}'}}
USE = {"type": "tool_use", "id": "call_1", "name": "count", "input": {"word": "a"}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(AnthropicMessages(), monkeypatch)


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def asked(**body: Any) -> dict[str, Any]:
    """The chat body of a plain question, without its messages."""
    made = chat_body({"messages": [ASK], **body})
    assert made.pop("messages")[-1] == ASK
    return made


def messages(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return chat_body({"messages": list(given)})["messages"]


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def refused(body: dict[str, Any]) -> str:
    with pytest.raises(Refusal) as raised:
        chat_body(body)
    assert raised.value.status == 400
    return raised.value.message.partition(" is not known")[0]


SCHEMA = {"type": "object", "properties": {}}
FORM = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}


@pytest.mark.parametrize(
    ("body", "chat"),
    [
        ({}, {}),
        ({"max_tokens": 5, "temperature": 0, "top_p": 0.5, "top_k": 3},
         {"max_tokens": 5, "temperature": 0, "top_p": 0.5, "top_k": 3}),
        ({"speed": "fast", "thinking": {"type": "enabled"}, "service_tier": "auto"},
         {"speed": "fast", "thinking": {"type": "enabled"}, "service_tier": "auto"}),
        ({"temperature": None, "metadata": {"user_id": "u"}, "stream": True, "model": "m"}, {}),
        ({"stop_sequences": ["x"]}, {"stop": ["x"]}),
        ({"stop_sequences": []}, {}),
        ({"tools": [{"name": "f", "description": "to f", "input_schema": SCHEMA}]},
         {"tools": [{"type": "function", "function": {"name": "f", "description": "to f", "parameters": SCHEMA}}]}),
        ({"tools": [{"type": "custom", "name": "f"}]},
         {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}),
        ({"tool_choice": {"type": "auto"}}, {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
         {"tool_choice": "required", "parallel_tool_calls": False}),
        ({"tool_choice": {"type": "none", "disable_parallel_tool_use": False}}, {"tool_choice": "none"}),
        ({"tool_choice": {"type": "odd"}}, {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True}},
         {"tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": False}),
        ({"output_format": {"type": "json_schema", "schema": SCHEMA}}, {"response_format": FORM}),
        ({"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}, {"response_format": FORM}),
        ({"output_config": {"effort": "low"}}, {}),
    ],
)  # fmt: skip
def test_fields_are_said_in_the_words_of_a_chat(body: dict[str, Any], chat: dict[str, Any]) -> None:
    assert asked(**body) == chat


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"container": "c"}, "container"),
        ({"mcp_servers": [{}]}, "mcp_servers"),
        ({"context_management": {"edits": []}}, "context_management"),
        ({"tools": [{"type": "web_search_20250305"}]}, "the tool web_search_20250305"),
        ({"messages": [user({"type": "document"})]}, "a block of type document"),
        ({"messages": [user({"type": "text"})]}, "text must be a text"),
        ({"messages": [{"content": "x"}]}, "role must be a text"),
        ({"messages": [{"role": "user", "content": 5}]}, "content must be a list of objects"),
        ({"messages": "x"}, "messages must be a list of objects"),
        ({"messages": [ASK], "system": [5]}, "system must be a list of objects"),
    ],
)
def test_what_a_call_of_a_chat_model_does_not_have_is_refused(body: dict[str, Any], what: str) -> None:
    assert refused(body) == what


@pytest.mark.parametrize(
    ("system", "content"),
    [
        ("Be brief.", "Be brief."),
        ([say("Be brief."), say("Be kind.")], "Be brief.\nBe kind."),
        ([say("Be brief."), say("Be kind.", **MARK)], [say("Be brief."), say("Be kind.", **MARK)]),
    ],
)
def test_a_system_prompt_is_the_first_message_and_a_text_where_it_is_no_more(system: Any, content: Any) -> None:
    made = chat_body({"messages": [ASK], "system": system})
    assert made["messages"] == [{"role": "system", "content": content}, ASK]


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([say("a")], "a"),
        ([say("a"), say("b")], [say("a"), say("b")]),
        ([say("a", **MARK)], [say("a", **MARK)]),
        ([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}], [PICTURE]),
        ([say("a"), {"type": "image", "source": {"type": "url", "url": "http://x/y.png"}}],
         [say("a"), {"type": "image_url", "image_url": {"url": "http://x/y.png"}}]),
    ],
)  # fmt: skip
def test_the_content_of_a_message_is_a_text_where_it_is_one(blocks: list[Any], content: Any) -> None:
    assert messages(user(*blocks)) == [{"role": "user", "content": content}]


def test_results_of_tools_are_messages_of_their_own_before_what_is_said_beside_them() -> None:
    first = {"type": "tool_result", "tool_use_id": "call_1", "content": "one"}
    second = {"type": "tool_result", "tool_use_id": "call_2"}
    third = {"type": "tool_result", "tool_use_id": "call_3", "content": [say("a"), say("b")]}
    assert messages(user(say("And?"), first, second, third)) == [
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2", "content": ""},
        {"role": "tool", "tool_call_id": "call_3", "content": "a\nb"},
        {"role": "user", "content": "And?"},
    ]
    assert len(messages(user(first))) == 1, "nothing was said beside it"


def test_calls_of_tools_and_thoughts_belong_to_what_was_said_with_them() -> None:
    hidden = {"type": "redacted_thinking", "data": "x"}
    use = {"type": "tool_use", "id": "call_2", "name": "count"}
    [said] = messages({"role": "assistant", "content": [THOUGHT, hidden, say("Let me count."), USE, use]})
    assert said == {
        "role": "assistant",
        "content": "Let me count.",
        "tool_calls": [
            {**CALL, "function": {"name": "count", "arguments": '{"word":"a"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "count", "arguments": "{}"}},
        ],
        "thinking_blocks": [THOUGHT, hidden],
    }
    [called] = messages({"role": "assistant", "content": [USE]})
    assert (called["content"], "thinking_blocks" in called, len(called["tool_calls"])) == (None, False, 1)
    assert messages({"role": "assistant", "content": [say("no")]}) == [{"role": "assistant", "content": "no"}]
    assert messages({"role": "assistant", "content": [THOUGHT]}) == []


@pytest.mark.parametrize(
    ("role", "content", "plain"),
    [
        ("system", [say("a", **MARK), say("b")], "a\nb"),
        ("tool", [say("a", **MARK), say("b")], "a\nb"),
        ("user", [say("a", **MARK)], "a"),
        ("user", [say("a", **MARK), say("b")], [say("a"), say("b")]),
        ("tool", [say("a", **MARK), PICTURE], [say("a"), PICTURE]),
        ("user", [PICTURE], [PICTURE]),
        ("user", "a", "a"),
    ],
)
def test_a_model_of_another_maker_gets_no_marks(role: str, content: Any, plain: Any) -> None:
    message = {"role": role, "content": content, "thinking_blocks": [THOUGHT], "tool_calls": [CALL]}
    assert unmarked(message) == {"role": role, "content": plain, "tool_calls": [CALL]}


@pytest.mark.parametrize(("model", "marked"), [("openai/loop", False), ("anthropic/claude-x", True)])
def test_marks_reach_models_of_anthropics_only(monkeypatch: pytest.MonkeyPatch, model: str, marked: bool) -> None:
    line = Line(AnthropicMessages(), monkeypatch, model)
    line.ask({"messages": [user(say("a", **MARK))]})
    assert line.sent[0]["messages"] == [{"role": "user", "content": [say("a", **MARK)] if marked else "a"}]


def test_nothing_to_answer_is_refused_before_it_is_sent(line: Line) -> None:
    with pytest.raises(Refusal, match="at least one message"):
        line.ask({"messages": []})
    assert not line.sent


def test_a_plain_answer_is_a_message_of_one_block(line: Line) -> None:
    usage = {
        "prompt_tokens": 30, "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4},
    }  # fmt: skip
    assert line.ask({"messages": [ASK]}, completion(usage=usage)) == {
        "id": "c1", "type": "message", "role": "assistant", "model": "loop-1",
        "content": [{"type": "text", "text": "yes", "citations": None}],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 6, "output_tokens": 7, "cache_read_input_tokens": 20,
                  "cache_creation_input_tokens": 4},
    }  # fmt: skip


def test_what_a_server_leaves_out_is_nothing(line: Line) -> None:
    made = line.ask({"messages": [ASK]}, {"choices": [{"message": {"content": None}}]})
    assert (made["id"], made["model"], made["content"], made["stop_reason"]) == ("", "", [], "end_turn")
    assert set(made["usage"].values()) == {0}


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("tool_calls", "tool_use"), ("content_filter", "refusal"),
     ("odd", "end_turn"), (None, "end_turn")],
)  # fmt: skip
def test_why_it_ended_is_said_in_anthropics_words(line: Line, finish: str | None, reason: str) -> None:
    assert line.ask({"messages": [ASK]}, completion(finish_reason=finish))["stop_reason"] == reason
    called = completion({"tool_calls": [CALL]}, finish_reason=finish)
    assert line.ask({"messages": [ASK]}, called)["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("said", "blocks"),
    [
        ({"reasoning_content": "so"},
         [{"type": "thinking", "thinking": "so", "signature": ""}, {"type": "text", "text": "yes", "citations": None}]),
        ({"reasoning_content": "so", "thinking_blocks": [THOUGHT], "content": None}, [THOUGHT]),
        ({"content": None, "refusal": "no"}, [{"type": "text", "text": "no", "citations": None}]),
        ({"content": "", "tool_calls": [CALL]}, [USE]),
        ({"content": None, "tool_calls": [{"id": "c"}]}, [{"type": "tool_use", "id": "c", "name": None, "input": {}}]),
        ({"content": None, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": "{cut"}}]},
         [{"type": "tool_use", "id": "call_1", "name": "f", "input": {"arguments": "{cut"}}]),
        ({"content": None, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": "[1]"}}]},
         [{"type": "tool_use", "id": "call_1", "name": "f", "input": {"arguments": "[1]"}}]),
    ],
)  # fmt: skip
def test_thoughts_texts_and_calls_are_blocks(line: Line, said: dict[str, Any], blocks: list[Any]) -> None:
    assert line.ask({"messages": [ASK]}, completion(said))["content"] == blocks


def test_a_stream_ends_in_the_message_that_it_tells_in_steps(line: Line) -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 7}
    unsigned = {"type": "thinking", "thinking": "hm"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    said = completion({"thinking_blocks": [THOUGHT, unsigned, hidden], "tool_calls": [CALL]}, usage)
    whole = line.ask({"messages": [ASK]}, said)
    events = line.ask({"messages": [ASK], "stream": True}, said)
    assert [name for name, _ in events] == [event["type"] for _, event in events]
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 0}}

    def block(at: int, empty: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"type": "content_block_start", "index": at, "content_block": empty},
            *({"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": at},
        ]

    empty_thought = {"type": "thinking", "thinking": "", "signature": ""}
    assert [event for _, event in events] == [
        {"type": "message_start", "message": begun},
        *block(0, empty_thought, {"type": "thinking_delta", "thinking": "so"},
               {"type": "signature_delta", "signature": "s"}),
        *block(1, empty_thought, {"type": "thinking_delta", "thinking": "hm"},
               {"type": "signature_delta", "signature": ""}),
        *block(2, hidden),
        *block(3, {"type": "text", "text": "", "citations": None}, {"type": "text_delta", "text": "yes"}),
        *block(4, {**USE, "input": {}}, {"type": "input_json_delta", "partial_json": '{"word":"a"}'}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
         "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (402, "billing_error"), (403, "permission_error"),
     (404, "not_found_error"), (413, "request_too_large"), (422, "invalid_request_error"), (429, "rate_limit_error"),
     (499, "invalid_request_error"), (500, "api_error"), (503, "api_error"), (504, "timeout_error"),
     (529, "overloaded_error")],
)  # fmt: skip
def test_a_refusal_has_the_kind_of_its_status(status: int, kind: str) -> None:
    assert AnthropicMessages().error(Refusal(status, "no")) == {
        "type": "error", "error": {"type": kind, "message": "no"},
    }  # fmt: skip
