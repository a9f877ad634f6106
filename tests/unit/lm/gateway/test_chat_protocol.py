"""OpenAI's chat completions and embeddings: what is refused, what is filled in, and a whole answer as a stream."""

from __future__ import annotations

import asyncio
import base64
import struct
from typing import Any

import pytest

from seedbed.lm.gateway.protocols import Refusal, items, openai_embeddings, stream, text, unsupported
from seedbed.lm.gateway.protocols.openai_chat import OpenAIChat, check, openai_error, with_defaults
from seedbed.lm.gateway.protocols.openai_embeddings import OpenAIEmbeddings
from tests.unit.lm.gateway.protocols import Line, completion, grant

ASK = [{"role": "user", "content": "Is 4 even?"}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": "{}"}}


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(OpenAIChat(), monkeypatch)


def message_of(refusing: Any) -> str:
    with pytest.raises(Refusal) as raised:
        refusing()
    assert raised.value.status == 400
    assert raised.value.message == str(raised.value)
    return raised.value.message


@pytest.mark.parametrize(
    "body",
    [
        {"messages": ASK},
        {"messages": [{"role": "assistant", "content": None}, {"role": "user", "content": [{"type": "text"}]}]},
        {"messages": [{"role": "user"}]},
        {"messages": ASK, "temperature": 0, "n": 1},
        {"messages": ASK, "temperature": 0.5, "n": 128, "tools": [{}]},
        {"messages": ASK, "temperature": None, "n": None, "tools": None},
    ],
)
def test_what_the_dialect_allows_is_let_through(body: dict[str, Any]) -> None:
    check(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "messages must be a list of at least one message"),
        ({"messages": []}, "messages must be a list of at least one message"),
        ({"messages": "hello"}, "messages must be a list of objects"),
        ({"messages": [*ASK, 5]}, "messages must be a list of objects"),
        ({"messages": [{"content": "x"}]}, "a message must have a role, and for content a text or a list of parts"),
        ({"messages": [{"role": 5}]}, "a message must have a role, and for content a text or a list of parts"),
        ({"messages": [{"role": "user", "content": 5}]},
         "a message must have a role, and for content a text or a list of parts"),
        ({"messages": [{"role": "user", "content": [{}, "x"]}]}, "the parts of a message's content must be objects"),
        ({"messages": ASK, "temperature": "hot"}, "temperature must be a number"),
        ({"messages": ASK, "n": 0}, "n must be a number from 1 to 128"),
        ({"messages": ASK, "n": 129}, "n must be a number from 1 to 128"),
        ({"messages": ASK, "n": "2"}, "n must be a number from 1 to 128"),
        ({"messages": ASK, "tools": {}}, "tools must be a list of objects"),
        ({"messages": ASK, "tools": [5]}, "tools must be a list of objects"),
    ],
)  # fmt: skip
def test_what_no_server_could_read_is_refused_in_a_sentence(line: Line, body: dict[str, Any], said: str) -> None:
    assert message_of(lambda: check(body)) == said
    assert message_of(lambda: line.ask(body)) == said
    assert not line.sent


def test_a_text_is_one_and_what_is_not_known_says_so() -> None:
    assert text("x", "role") == "x"
    assert message_of(lambda: text(5, "role")) == "role must be a text"
    assert items({}, "tools") == items({"tools": None}, "tools") == []
    assert items({"tools": [{"a": 1}]}, "tools") == [{"a": 1}]
    refusal = unsupported("the tool x")
    assert (refusal.status, refusal.message) == (
        400, "the tool x is not known to the gateway; it answers one request with one call of a chat model",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (403, "permission_error"),
     (404, "not_found_error"), (422, "invalid_request_error"), (429, "rate_limit_error"),
     (499, "invalid_request_error"), (500, "server_error"), (503, "server_error")],
)  # fmt: skip
def test_a_refusal_has_the_kind_of_its_status(status: int, kind: str) -> None:
    said = openai_error(Refusal(status, "no", "why"))
    assert said == {"error": {"message": "no", "type": kind, "param": None, "code": "why"}}
    assert OpenAIChat().error(Refusal(status, "no")) == OpenAIEmbeddings().error(Refusal(status, "no"))


def test_what_clients_count_on_is_filled_in_and_what_is_there_stays() -> None:
    assert with_defaults({"choices": [{"message": {}}, {"message": {"tool_calls": []}}]}) == {
        "id": "", "object": "chat.completion", "created": 0, "model": "",
        "choices": [
            {"index": at, "finish_reason": "stop", "logprobs": None,
             "message": {"role": "assistant", "content": None}}
            for at in (0, 1)
        ],
    }  # fmt: skip
    said = {"role": "tool", "content": "x", "refusal": "no", "tool_calls": [CALL]}
    choice = {"index": 3, "finish_reason": "length", "logprobs": {"content": []}, "message": said}
    full = {"id": "c", "object": "o", "created": 5, "model": "m", "usage": {"a": 1}, "choices": [choice]}
    assert with_defaults(full) == full


def test_an_answer_comes_whole_or_as_chunks_that_end(line: Line) -> None:
    plain = line.ask({"messages": ASK})
    assert plain["choices"][0]["message"] == {"role": "assistant", "content": "yes"}
    body = {"messages": ASK, "stream": True}
    *chunks, last = line.ask(body)
    assert last == (None, "[DONE]")
    assert all(name is None for name, _ in chunks)
    assert line.sent[1] == body


def test_chunks_give_the_role_then_what_is_said_then_calls_then_the_end(line: Line) -> None:
    said = {
        "role": "assistant",
        "content": "yes",
        "reasoning_content": "so",
        "refusal": None,
        "tool_calls": [CALL, CALL],
    }
    logprobs = {"content": [{"token": "yes"}]}
    chunks = [c for _, c in line.ask({"messages": ASK, "stream": True}, completion(said, logprobs=logprobs))[:-1]]
    shared = {"id": "c1", "model": "loop-1", "created": 77, "object": "chat.completion.chunk"}
    assert all({name: chunk[name] for name in shared} == shared for chunk in chunks)
    assert not any("usage" in chunk for chunk in chunks)
    first = [chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["index"] == 0]
    assert [(choice["delta"], choice["finish_reason"], choice["logprobs"]) for choice in first] == [
        ({"role": "assistant"}, None, None),
        ({"content": "yes"}, None, logprobs),
        ({"reasoning_content": "so"}, None, None),
        ({"tool_calls": [{"index": 0, **CALL}]}, None, None),
        ({"tool_calls": [{"index": 1, **CALL}]}, None, None),
        ({}, "stop", None),
    ]
    second = [chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["index"] == 1]
    assert [choice["delta"] for choice in second] == [{"role": "assistant"}, {"content": "unread"}, {}]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [({"include_usage": True}, True), ({"include_usage": False}, False), ({}, False), (None, False), ("x", False)],
)
def test_the_usage_comes_last_where_it_is_wanted(line: Line, options: Any, wanted: bool) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    body = {"messages": ASK, "stream": True, "stream_options": options}
    *chunks, last = (chunk for _, chunk in line.ask(body, completion(usage=usage))[:-1])
    assert ("usage" in last, last["choices"] == []) == (wanted, wanted)
    assert all(("usage" in chunk) is wanted and chunk.get("usage") is None for chunk in chunks)
    if wanted:
        assert last["usage"] == usage


def test_events_bear_their_type_where_they_are_named() -> None:
    assert stream([{"type": "a"}, {"type": "b"}], named=True) == (
        b'event: a\ndata: {"type":"a"}\n\nevent: b\ndata: {"type":"b"}\n\n'
    )
    assert stream([{"type": "a"}], named=False) == b'data: {"type":"a"}\n\n'


# -- embeddings -------------------------------------------------------------------------------------------------------

NUMBERS = [0.5, -1.25]
PACKED = base64.b64encode(struct.pack("<2f", *NUMBERS)).decode()


def embedded(monkeypatch: pytest.MonkeyPatch, body: dict[str, Any], reply: dict[str, Any]) -> tuple[Any, Any]:
    """The reply, and what was asked: inputs and options."""
    asked: list[Any] = []
    runtime: Any = None

    async def embed(_: Any, grant: Any, inputs: list[Any], options: dict[str, Any]) -> dict[str, Any]:
        asked.append((inputs, options))
        return reply

    monkeypatch.setattr(openai_embeddings, "embed", embed)
    return asyncio.run(OpenAIEmbeddings().answer(runtime, grant(), body, lambda: False)), asked[0]


@pytest.mark.parametrize("kept", [NUMBERS, PACKED])
@pytest.mark.parametrize(("form", "given"), [(None, NUMBERS), ("float", NUMBERS), ("base64", PACKED)])
def test_embeddings_come_in_the_form_that_is_asked_for_however_they_are_kept(
    monkeypatch: pytest.MonkeyPatch, kept: Any, form: str | None, given: Any
) -> None:
    rows = [{"index": 1, "embedding": kept}, {"index": 0, "embedding": kept}]
    body = {"model": "m", "input": ["a", "b"], "encoding_format": form, "user": "u", "dimensions": 2, "extra": None}
    reply, asked = embedded(monkeypatch, body, {"data": rows, "model": "e1", "usage": {"prompt_tokens": 3}})
    assert asked == (["a", "b"], {"dimensions": 2})
    assert reply == {
        "object": "list", "model": "e1", "usage": {"prompt_tokens": 3},
        "data": [{"object": "embedding", "index": at, "embedding": given} for at in (0, 1)],
    }  # fmt: skip


def test_what_a_server_leaves_out_beside_its_embeddings_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    reply, _ = embedded(monkeypatch, {"input": "a"}, {"data": []})
    assert reply == {"object": "list", "data": [], "model": "", "usage": {"prompt_tokens": 0, "total_tokens": 0}}


@pytest.mark.parametrize(
    ("given", "inputs"),
    [("one", ["one"]), (["one", "two"], ["one", "two"]), ([1, 2], [[1, 2]]), ([[1], [2, 3]], [[1], [2, 3]]),
     ([[1], "two"], [[1], "two"])],
)  # fmt: skip
def test_texts_and_tokens_are_a_batch(monkeypatch: pytest.MonkeyPatch, given: Any, inputs: Any) -> None:
    assert embedded(monkeypatch, {"input": given}, {"data": []})[1] == (inputs, {})


@pytest.mark.parametrize("given", [None, [], 5, {"a": 1}, [1, "two"], ["one", 2], ["one", None]])
def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, given: Any) -> None:
    said = message_of(lambda: embedded(monkeypatch, {"input": given}, {"data": []}))
    assert said == "input must be a text, a list of texts, or lists of tokens"


def test_another_form_of_embeddings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    said = message_of(lambda: embedded(monkeypatch, {"input": "a", "encoding_format": "hex"}, {"data": []}))
    assert said == "encoding_format must be float or base64"
