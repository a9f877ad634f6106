"""OpenAI's responses: items as chat messages, a completion as items and as the events of a stream."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.gateway.protocols import Refusal
from seedbed.lm.gateway.protocols.openai_responses import OpenAIResponses, chat_body
from tests.unit.lm.gateway.protocols import Line, completion

ASK = {"role": "user", "content": "Is 4 even?"}
FUNCTION = {"name": "count", "arguments": '{"word": "a"}'}
CALL = {"id": "call_1", "type": "function", "function": FUNCTION}


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(OpenAIResponses(), monkeypatch)


def asked(*before: dict[str, Any], **body: Any) -> dict[str, Any]:
    """The chat body, without the messages of a plain question."""
    made = chat_body({"input": "Is 4 even?", **body}, list(before))
    if "input" not in body and not before:
        assert made.pop("messages")[-1] == ASK
    return made


def messages(*given: Any) -> list[dict[str, Any]]:
    return chat_body({"input": list(given)}, [])["messages"]


def refused(**body: Any) -> str:
    with pytest.raises(Refusal) as raised:
        asked(**body)
    assert raised.value.status == 400
    return raised.value.message.partition(" is not known")[0]


@pytest.mark.parametrize(
    ("body", "chat"),
    [
        ({}, {}),
        ({"temperature": 0, "top_p": 0.5, "parallel_tool_calls": False, "user": "u", "service_tier": "flex"},
         {"temperature": 0, "top_p": 0.5, "parallel_tool_calls": False, "user": "u", "service_tier": "flex"}),
        ({"temperature": None, "store": True, "model": "m", "stream": True}, {}),
        ({"max_output_tokens": 50}, {"max_completion_tokens": 50}),
        ({"top_logprobs": 3}, {"top_logprobs": 3, "logprobs": True}),
        ({"include": ["message.output_text.logprobs"]}, {"logprobs": True}),
        ({"include": ["reasoning.encrypted_content"]}, {}),
        ({"reasoning": {"effort": "low", "summary": "auto"}}, {"reasoning_effort": "low"}),
        ({"reasoning": {"effort": None}, "text": {"verbosity": None, "format": None}}, {}),
        ({"text": {"verbosity": "low"}}, {"verbosity": "low"}),
        ({"text": {"format": {"type": "text"}}}, {}),
        ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
        ({"text": {"format": {"type": "json_schema", "name": "v", "schema": {}, "strict": True, "description": None}}},
         {"response_format": {"type": "json_schema", "json_schema": {"name": "v", "schema": {}, "strict": True}}}),
        ({"tools": [{"type": "function", "name": "f", "parameters": {}, "strict": None}]},
         {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}),
        ({"tools": []}, {}),
        ({"tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tool_choice": {"type": "function", "name": "f"}},
         {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
    ],
)  # fmt: skip
def test_fields_are_said_in_the_words_of_a_chat(body: dict[str, Any], chat: dict[str, Any]) -> None:
    assert asked(**body) == chat


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"background": True}, "background"),
        ({"conversation": "c"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"tools": [{"type": "web_search"}]}, "the tool web_search"),
        ({"input": [{"type": "item_reference"}]}, "an input of type item_reference"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "a part of type input_file"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "a part of type input_image"),
        ({"input": [{"content": "x"}]}, "role must be a text"),
        ({"input": 5}, "input must be a list of objects"),
        ({"tools": "f"}, "tools must be a list of objects"),
    ],
)
def test_what_a_call_of_a_chat_model_does_not_have_is_refused(body: dict[str, Any], what: str) -> None:
    assert refused(**body) == what


def test_instructions_stand_first_then_what_was_said_before() -> None:
    said = {"role": "assistant", "content": "yes"}
    made = chat_body({"input": "Sure?", "instructions": "Be brief."}, [ASK, said])
    assert made["messages"] == [
        {"role": "system", "content": "Be brief."}, ASK, said, {"role": "user", "content": "Sure?"},
    ]  # fmt: skip


IMAGE = {"type": "input_image", "image_url": "data:x"}


@pytest.mark.parametrize(
    ("content", "chat"),
    [
        ("hi", "hi"),
        (None, ""),
        ([{"type": "input_text", "text": "hi"}], "hi"),
        ([{"type": "output_text", "text": "hi"}], "hi"),
        ([{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
         [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ([IMAGE], [{"type": "image_url", "image_url": {"url": "data:x"}}]),
        ([{**IMAGE, "detail": "low"}, {"type": "input_text", "text": "?"}],
         [{"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}, {"type": "text", "text": "?"}]),
        ([], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [{}, {"type": "message"}])
def test_the_content_of_a_message_is_a_text_where_it_is_one(kind: dict[str, str], content: Any, chat: Any) -> None:
    assert messages({"role": "user", "content": content, **kind}) == [{"role": "user", "content": chat}]


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": name, "name": "count", **more}


def chat_call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "count", "arguments": arguments}}


def test_calls_of_tools_that_stand_together_are_one_message() -> None:
    result = {"type": "function_call_output", "call_id": "a", "output": "one"}
    said = {"role": "assistant", "content": "Let me count."}
    thought = {"type": "reasoning", "summary": []}
    found = messages(ASK, said, call("a", arguments='{"n": 1}'), call("b"), thought, call("c"), result, call("d"), said)
    assert found == [
        ASK,
        {**said, "tool_calls": [chat_call("a", '{"n": 1}'), chat_call("b"), chat_call("c")]},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "assistant", "content": None, "tool_calls": [chat_call("d")]},
        said,
    ]


def test_what_is_said_twice_stays_two_messages() -> None:
    said = {"role": "assistant", "content": "yes"}
    assert messages(said, said) == [said, said]
    assert messages(call("a"))[0]["tool_calls"] == [chat_call("a")]


def test_a_conversation_goes_on_by_the_id_of_its_last_response(line: Line) -> None:
    first = line.ask({"input": "Is 4 even?", "instructions": "Be brief."})
    second = line.ask({"input": "Sure?", "previous_response_id": first["id"], "instructions": "Be long."})
    said = {"role": "assistant", "content": "yes"}
    assert line.sent[1]["messages"] == [
        {"role": "system", "content": "Be long."}, ASK, said, {"role": "user", "content": "Sure?"},
    ]  # fmt: skip
    assert second["previous_response_id"] == first["id"] != second["id"]
    assert line.ask({"input": "Is 4 even?", "instructions": "Be brief."})["id"] == first["id"]
    assert len(first["id"]) == len("resp_") + 32


def test_a_response_that_was_not_given_here_is_not_gone_on_with(line: Line) -> None:
    with pytest.raises(Refusal) as raised:
        line.ask({"input": "x", "previous_response_id": "resp_x"})
    assert (raised.value.status, raised.value.code) == (404, "previous_response_not_found")
    assert raised.value.message == "no response 'resp_x' was given under this key"


def test_nothing_to_answer_is_refused_before_it_is_sent(line: Line) -> None:
    with pytest.raises(Refusal, match="at least one message"):
        line.ask({"input": []})
    assert not line.sent


def test_a_plain_answer_has_all_that_clients_count_on(line: Line) -> None:
    usage = {
        "prompt_tokens": 30, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }  # fmt: skip
    made = line.ask({"input": "Is 4 even?"}, completion(usage=usage))
    mark = made["id"].removeprefix("resp_")
    part = {"type": "output_text", "text": "yes", "annotations": [], "logprobs": []}
    assert made == {
        "id": made["id"], "object": "response", "created_at": 77, "status": "completed", "error": None,
        "incomplete_details": None, "model": "loop-1", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "text": {"format": {"type": "text"}}, "metadata": {},
        "output": [{"type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed",
                    "content": [part]}],
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 7,
                  "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 37},
        "instructions": None, "max_output_tokens": None, "previous_response_id": None, "temperature": None,
        "top_p": None, "reasoning": None, "user": None,
    }  # fmt: skip


def test_what_was_asked_is_told_back_and_what_is_not_known_is_nothing(line: Line) -> None:
    body = {
        "input": "x", "parallel_tool_calls": False, "tool_choice": "none", "metadata": {"a": "b"}, "temperature": 0.5,
        "tools": [{"type": "function", "name": "f"}], "text": {"verbosity": "low"}, "user": "u", "instructions": "i",
    }  # fmt: skip
    bare = {"choices": [{"message": {"content": "yes"}}]}
    made = line.ask(body, bare)
    assert {name: made[name] for name in body if name != "input"} == {
        name: value for name, value in body.items() if name != "input"
    }
    assert (made["created_at"], made["model"], made["usage"], made["status"]) == (0, "", None, "completed")


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", None), ("tool_calls", None), ("length", "max_output_tokens"), ("content_filter", "content_filter")],
)
def test_an_answer_that_was_cut_is_incomplete(line: Line, finish: str, reason: str | None) -> None:
    made = line.ask({"input": "x"}, completion(finish_reason=finish))
    assert made["status"] == ("incomplete" if reason else "completed")
    assert made["incomplete_details"] == ({"reason": reason} if reason else None)
    kinds = [name for name, _ in line.ask({"input": "x", "stream": True}, completion(finish_reason=finish))]
    assert kinds[-1] == f"response.{made['status']}"


def test_thoughts_texts_and_calls_are_items_of_their_own(line: Line) -> None:
    said = {"reasoning_content": "so", "tool_calls": [CALL, {"id": "call_2"}]}
    logprobs = {"content": [{"token": "yes"}]}
    made = line.ask({"input": "x"}, completion(said, logprobs=logprobs))
    mark = made["id"].removeprefix("resp_")
    thought, text, first, second = made["output"]
    assert thought == {"type": "reasoning", "id": f"rs_{mark}", "summary": [{"type": "summary_text", "text": "so"}]}
    assert text["content"][0]["logprobs"] == logprobs["content"]
    assert first == {
        "type": "function_call", "id": f"fc_{mark}_0", "call_id": "call_1", "status": "completed", **FUNCTION,
    }  # fmt: skip
    assert second == {
        "type": "function_call", "id": f"fc_{mark}_1", "call_id": "call_2", "status": "completed",
        "name": None, "arguments": "{}",
    }  # fmt: skip


def test_a_refusal_is_said_as_one_and_an_empty_answer_as_nothing(line: Line) -> None:
    [item] = line.ask({"input": "x"}, completion({"content": None, "refusal": "no"}))["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "no"}]
    assert line.ask({"input": "x"}, completion({"content": None}))["output"] == []


def test_a_stream_ends_in_the_response_that_it_tells_in_steps(line: Line) -> None:
    said = {"reasoning_content": "so", "tool_calls": [CALL]}
    whole = line.ask({"input": "x"}, completion(said))
    events = line.ask({"input": "x", "stream": True}, completion(said))
    assert [name for name, _ in events] == [event["type"] for _, event in events]
    assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    thought, text, call = whole["output"]
    part = text["content"][0]
    at = {"item_id": text["id"], "output_index": 1, "content_index": 0}
    of_call = {"item_id": call["id"], "output_index": 2}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("created", {"response": begun}),
        ("in_progress", {"response": begun}),
        ("output_item.added", {"output_index": 0, "item": thought}),
        ("output_item.done", {"output_index": 0, "item": thought}),
        ("output_item.added", {"output_index": 1, "item": {**text, "status": "in_progress", "content": []}}),
        ("content_part.added", {**at, "part": {**part, "text": ""}}),
        ("output_text.delta", {**at, "logprobs": [], "delta": "yes"}),
        ("output_text.done", {**at, "logprobs": [], "text": "yes"}),
        ("content_part.done", {**at, "part": part}),
        ("output_item.done", {"output_index": 1, "item": text}),
        ("output_item.added", {"output_index": 2, "item": {**call, "status": "in_progress", "arguments": ""}}),
        ("function_call_arguments.delta", {**of_call, "delta": FUNCTION["arguments"]}),
        ("function_call_arguments.done", {**of_call, **FUNCTION}),
        ("output_item.done", {"output_index": 2, "item": call}),
        ("completed", {"response": whole}),
    ]
    assert [event for _, event in events] == [
        {"type": f"response.{name}", **told, "sequence_number": number} for number, (name, told) in enumerate(steps)
    ]


def test_a_refusal_is_streamed_as_one(line: Line) -> None:
    events = dict(line.ask({"input": "x", "stream": True}, completion({"content": None, "refusal": "no"})))
    assert events["response.content_part.added"]["part"] == {"type": "refusal", "refusal": ""}
    assert events["response.refusal.delta"]["delta"] == events["response.refusal.done"]["refusal"] == "no"
    assert "logprobs" not in events["response.refusal.delta"]
