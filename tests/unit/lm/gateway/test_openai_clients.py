"""OpenAI's own client, over the socket: what it makes of the answers, and what the ledger makes of its calls."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from seedbed.lm.gateway.protocols.openai_responses import chat_body
from tests.support import lm
from tests.unit.lm.gateway.conftest import Place

ASK: Any = [{"role": "user", "content": "Is 4 even?"}]
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        },
    }
    for name in ("look_up", "count")
]
RESPONSE_TOOLS: Any = [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]
IMAGE = "data:image/png;base64,iVBORw0KGgo="


class Verdict(BaseModel):
    even: bool
    reason: str


@pytest.fixture
def client(place: Place) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{place.root}/v1", api_key=place.grant().key, max_retries=0)


def test_a_plain_chat_is_answered_and_counted(place: Place, client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="whatever", messages=ASK)
    assert reply.choices[0].message.content
    assert reply.usage
    sums = place.books_agree()
    assert (sums.calls, sums.tokens_out) == (1, reply.usage.completion_tokens)
    [row] = _rows(place)
    assert (row["sweep"], row["cell"], row["phase"], row["role"], row["sample"]) == ("s", "c", "generate", "task", "q1")
    assert json.loads(row["request"])["temperature"] == 0.7, "what the client leaves open is as the config says"


def test_a_streamed_chat_says_the_same_as_a_plain_one(place: Place, client: openai.OpenAI) -> None:
    plain = client.chat.completions.create(model="m", messages=ASK, temperature=0)
    streamed = client.chat.completions.create(
        model="m", messages=ASK, temperature=0, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(streamed)
    said = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert said == plain.choices[0].message.content
    assert chunks[-1].usage == plain.usage
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert place.server.books.requests == 1, "at temperature 0 the second is the first's answer"


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_in_two_rounds(place: Place, client: openai.OpenAI, streamed: bool) -> None:
    messages: list[Any] = [*ASK]
    for tool in ("look_up", "count"):
        if streamed:
            with client.chat.completions.stream(model="m", messages=messages, tools=TOOLS) as stream:
                message: Any = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
        [call] = message.tool_calls
        assert call.function.name == tool
        assert set(json.loads(call.function.arguments)) == {"word"}
        messages += [
            {"role": "assistant", "tool_calls": [call.model_dump(include={"id", "type", "function"})]},
            {"role": "tool", "tool_call_id": call.id, "content": f"{tool} done"},
        ]
    last = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    assert last.choices[0].message.tool_calls is None
    assert "look_up done count done" in (last.choices[0].message.content or "")
    assert place.books_agree().calls == 3


def test_structured_output_images_and_logprobs(place: Place, client: openai.OpenAI) -> None:
    parsed = client.chat.completions.parse(model="m", messages=ASK, response_format=Verdict)
    assert parsed.choices[0].message.parsed == Verdict.model_validate_json(parsed.choices[0].message.content or "")
    seen: Any = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    told = client.chat.completions.create(model="m", messages=[{"role": "user", "content": seen}], logprobs=True)
    assert told.choices[0].logprobs
    assert IMAGE in _rows(place)[-1]["request"]


def test_n_answers_are_n_draws_and_asking_again_draws_again(place: Place, client: openai.OpenAI) -> None:
    first = client.chat.completions.create(model="m", messages=ASK, n=3)
    assert [choice.index for choice in first.choices] == [0, 1, 2]
    client.chat.completions.create(model="m", messages=ASK)
    assert place.books_agree().calls == 4
    assert len({row["key"] for row in _rows(place)}) == 4
    # Another run of the sample, by a new key, asks the same in the same order and pays nothing.
    assert place.gateway.end("nobody's key") is None
    place.gateway.end(place.grant().key)
    again = openai.OpenAI(base_url=f"{place.root}/v1", api_key=place.grant().key, max_retries=0)
    assert again.chat.completions.create(model="m", messages=ASK, n=3) == first
    assert place.books_agree().outcomes == {"paid": 4, "reused": 3}


def test_responses_plain_streamed_with_tools_and_going_on_by_id(place: Place, client: openai.OpenAI) -> None:
    plain = client.responses.create(model="m", input="Is 4 even?", instructions="Be brief.", temperature=0)
    assert plain.output_text
    with client.responses.stream(model="m", input="Is 4 even?", instructions="Be brief.", temperature=0) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_response().output_text == plain.output_text
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    asked: Any = client.responses.create(model="m", input="Is 4 even?", tools=RESPONSE_TOOLS)
    for tool in ("look_up", "count"):
        [call] = asked.output
        assert (call.type, call.name) == ("function_call", tool)
        result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": f"{tool} done"}]
        asked = client.responses.create(
            model="m", input=result, tools=RESPONSE_TOOLS, previous_response_id=asked.id, stream=False
        )
    assert "look_up done count done" in asked.output_text
    parsed = client.responses.parse(model="m", input="Is 4 even?", text_format=Verdict)
    assert isinstance(parsed.output_parsed, Verdict)
    assert place.books_agree().calls == 5


def test_embeddings_in_both_forms_are_one_call(place: Place, client: openai.OpenAI) -> None:
    as_bytes = client.embeddings.create(model="m", input=["one two", "three"])
    as_numbers = client.embeddings.create(model="m", input=["one two", "three"], encoding_format="float")
    assert as_bytes.data == as_numbers.data
    assert [row.index for row in as_bytes.data] == [0, 1]
    assert place.server.books.requests == 1
    assert place.books_agree().outcomes == {"paid": 1, "reused": 1}


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ({"faults": {"context_length": 1.0}, "max_faults": 1}, openai.BadRequestError),
        ({"faults": {"rate_limit": 1.0}, "max_faults": 1}, openai.RateLimitError),
        ({"faults": {"server": 1.0}, "max_faults": 1}, openai.InternalServerError),
    ],
    indirect=["place"],
)
def test_an_error_is_said_as_openai_says_it_and_the_clients_retry_is_an_attempt(
    place: Place, error: type[openai.APIStatusError], client: openai.OpenAI
) -> None:
    with pytest.raises(error) as raised:
        client.chat.completions.create(model="m", messages=ASK)
    if error is openai.RateLimitError:
        assert float(raised.value.response.headers["retry-after"]) == 0.02
    if error is openai.BadRequestError:
        assert raised.value.code == "context_length_exceeded"
    assert client.with_options(max_retries=2).chat.completions.create(model="m", messages=ASK).choices
    assert place.books_agree().outcomes == {"failed": 1, "paid": 1}
    assert [(row["number"], row["outcome"]) for row in _rows(place)] == [(1, "failed"), (2, "paid")]


@pytest.mark.parametrize(
    "body",
    [{}, {"messages": "hello"}, {"messages": [{"role": "user", "content": [1]}]}, {"messages": ASK, "n": 0},
     {"messages": ASK, "temperature": "hot"}, {"messages": [{"content": "no role"}]},
     {"messages": [{"role": "user", "content": 5}]}],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_sent_nowhere(place: Place, client: openai.OpenAI, body: Any) -> None:
    with pytest.raises(openai.BadRequestError):
        client.post("/chat/completions", body=body, cast_to=object)
    assert place.server.books.requests == 0


def _rows(place: Place) -> list[dict[str, Any]]:
    from sqlalchemy import text

    from seedbed.lm.ledger.database import open_database, reading

    engine = open_database(lm.ledger_url(place.folder))
    with reading(engine) as connection:
        found = connection.execute(text("SELECT a.*, r.body FROM attempts a JOIN requests r USING (key) ORDER BY a.id"))
        rows = [dict(row) for row in found.mappings()]
    engine.dispose()
    import zlib

    return [{**row, "request": zlib.decompress(row["body"]).decode()} for row in rows]


def test_what_a_response_leaves_open_of_a_tool_or_a_form_is_not_sent_on() -> None:
    tool = {"type": "function", "name": "count", "parameters": {}, "strict": None}
    form = {"type": "json_schema", "name": "verdict", "schema": {}, "description": None}
    asked = chat_body({"input": "Is 4 even?", "tools": [tool], "text": {"format": form}}, [])
    assert asked["tools"] == [{"type": "function", "function": {"name": "count", "parameters": {}}}]
    assert asked["response_format"] == {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {}}}
