"""Sizes of requests, part by part: what is likely, and what they can at most be billed for."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.lm.request_size import RequestSize, likely_media_tokens, most_output, request_size


def message(content: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": content, **more}]}


def test_a_text_is_a_third_of_its_letters_and_at_most_a_token_a_byte() -> None:
    assert request_size(message("abcdef")) == RequestSize(6 // 3 + 4, 16 + 6 + 12)
    assert request_size(message("漢字")) == RequestSize(6 // 3 + 4, 16 + 6 + 12), "bytes of another script"
    assert request_size(message("\ud800")).most == 16 + 1 + 12
    assert request_size({"messages": []}) == RequestSize(0, 16)


def test_all_texts_of_all_messages_count() -> None:
    body = {"messages": [{"content": "abc"}, {"content": ["def", {"type": "text", "text": "ghi"}]}, {"content": None}]}
    assert request_size(body) == RequestSize(3 * 5, 16 + 3 * 15)


@pytest.mark.parametrize("name", ["tool_calls", "function_call", "reasoning_content", "refusal", "name"])
def test_what_a_message_has_beside_its_content_counts(name: str) -> None:
    assert request_size(message("abc", **{name: "12345"})).most == 16 + 15 + 7 + 12
    assert request_size(message("abc", **{name: None})).most == 16 + 15


def test_inputs_of_embeddings_count_like_texts() -> None:
    assert request_size({"input": "abc"}) == RequestSize(5, 16 + 15)
    assert request_size({"input": ["abc", "def"]}) == RequestSize(10, 16 + 30)


def test_pictures_have_a_price_of_their_own() -> None:
    part = {"type": "image_url", "image_url": {"url": "x"}}
    assert request_size(message([part, part])) == RequestSize(2000, 16 + 2 * 16_384, images=2)
    small = {**message([part]), "model": "openai/gpt-4o-mini"}
    assert request_size(small).most == 16 + 49_152


def test_sounds_are_counted_by_their_bytes() -> None:
    part = {"type": "input_audio", "input_audio": {"data": "x" * 4000}}
    assert request_size(message([part])) == RequestSize(10, 16 + 400, audio=True)
    assert request_size(message([{"type": "input_audio", "input_audio": {"data": "x"}}])) == RequestSize(
        0, 16, audio=True
    )
    assert not request_size(message([{"type": "image"}])).audio
    assert request_size(message([{"type": "input_audio"}])).files, "a sound that is only named"


def test_documents_have_no_bound_here() -> None:
    assert request_size(message([{"type": "file", "file": {"file_id": "f"}}])) == RequestSize(10_000, 16, files=True)
    assert request_size(message("abc", audio={"id": "a"})).files
    assert not request_size(message("abc")).files


@pytest.mark.parametrize("kind", ["tool_use", "tool_result", "thinking", "refusal"])
def test_parts_of_earlier_turns_count_by_their_bytes(kind: str) -> None:
    part = {"type": kind}
    assert request_size(message([part])) == RequestSize(0, 16 + len(f'{{"type":"{kind}"}}'))


def test_tools_and_formats_count_and_bring_what_providers_write_of_their_own() -> None:
    tools = [{"a": "12345678"}]
    length = len('[{"a":"12345678"}]')
    assert request_size({"messages": [], "tools": tools}) == RequestSize(length // 3, 16 + 1024 + length)
    assert request_size({"messages": [], "thinking": {}}).most == 16 + 1024
    assert request_size({"messages": [], "temperature": 0, "max_tokens": 5}).most == 16


def test_settings_of_a_request_of_texts_bring_nothing_however_many_there_are() -> None:
    body: dict[str, Any] = {
        "model": "m", "messages": [], "input": [], "encoding_format": "base64", "temperature": 1, "top_p": 1, "seed": 1,
        "stop": ["x"], "n": 1, "max_tokens": 5, "max_completion_tokens": 5, "presence_penalty": 1,
        "frequency_penalty": 1, "service_tier": "flex",
    }  # fmt: skip
    assert request_size(body) == RequestSize(0, 16)
    assert request_size({**body, "another": 1}) == RequestSize(0, 16 + 1024)


@pytest.mark.parametrize(
    ("tools", "options", "searches"),
    [
        ([{"type": "web_search", "max_uses": 3}], None, 3),
        ([{"type": "web_search", "max_uses": 0}], None, 0),
        ([{"type": "web_search"}], None, 10),
        ([{"type": "web_search", "max_uses": -1}], None, 10),
        ([{"type": "web_search", "max_uses": "many"}], None, 10),
        ([{"google_search": {}}], None, 10),
        ([{"type": "function"}], None, 0),
        (["search"], None, 0),
        ([{"type": "web_search", "max_uses": 3}, {"type": "web_search", "max_uses": 4}], {}, 17),
        (None, {"search_context_size": "low"}, 10),
    ],
)
def test_searches_are_those_a_request_allows(tools: Any, options: Any, searches: int) -> None:
    assert request_size({"messages": [], "tools": tools, "web_search_options": options}).searches == searches


def test_media_are_counted_without_the_texts_beside_them() -> None:
    assert likely_media_tokens(message(["a long text", {"type": "image"}])) == 1000
    assert likely_media_tokens(message("a long text")) == 0


@pytest.mark.parametrize(
    ("asked", "most"),
    [
        ({}, 500),
        ({"max_tokens": 20}, 20),
        ({"max_tokens": 1}, 1),
        ({"max_tokens": 20, "max_completion_tokens": 30}, 30),
        ({"max_tokens": "20"}, 20),
        ({"max_tokens": 9000.0}, 9000),
        ({"max_tokens": " 9_000 "}, 9000),
        ({"max_tokens": -1}, 500),
        ({"max_tokens": 0}, 500),
        ({"max_tokens": True}, 500),
        ({"max_tokens": "many"}, 500),
        ({"max_tokens": "inf"}, 500),
        ({"max_tokens": "nan"}, 500),
        ({"max_tokens": 10**400}, 500),
        ({"max_tokens": [20]}, 500),
        ({"max_tokens": -1, "max_completion_tokens": 30}, 30),
        ({"n": 3}, 1500),
        ({"n": 2}, 1000),
        ({"n": 1}, 500),
        ({"n": 0}, 500),
        ({"n": "3"}, 1500),
        ({"n": 3.0}, 1500),
        ({"n": -3}, 500),
        ({"prediction": "123"}, 505),
        ({"prediction": "123", "n": 2, "max_tokens": 20}, 50),
    ],
)
def test_the_most_that_can_be_answered(asked: dict[str, Any], most: int) -> None:
    assert most_output({"messages": [], **asked}, 500) == most
