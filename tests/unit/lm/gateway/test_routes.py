"""Paths, keys and refusals: who is answered in which protocol, and with which status."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from seedbed.errors import BudgetReached, Interrupted, ProviderError, SeedbedError, UserError
from seedbed.lm.gateway import Reply, routes
from seedbed.lm.gateway.protocols import Refusal
from seedbed.lm.gateway.protocols.anthropic_messages import AnthropicMessages
from seedbed.lm.gateway.protocols.openai_chat import OpenAIChat
from seedbed.lm.gateway.protocols.openai_embeddings import OpenAIEmbeddings
from seedbed.lm.gateway.protocols.openai_responses import OpenAIResponses
from seedbed.lm.gateway.routes import key_of, protocol_of, refused
from tests.unit.lm.gateway.protocols import completion, grant

CHAT = "/v1/chat/completions"
BODY = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()


def answered(path: str, content: bytes = BODY) -> Reply:
    runtime: Any = None
    return asyncio.run(routes.answer(runtime, grant(), path, content, lambda: False))


@pytest.mark.parametrize(
    ("path", "headers", "protocol"),
    [
        (CHAT, {}, OpenAIChat),
        (CHAT, {"anthropic-version": "x"}, OpenAIChat),
        ("/v1/embeddings", {}, OpenAIEmbeddings),
        ("/v1/responses", {}, OpenAIResponses),
        ("/v1/messages", {}, AnthropicMessages),
        ("/v1/messages/count_tokens", {}, AnthropicMessages),
        ("/v1/models", {"anthropic-version": "x"}, AnthropicMessages),
        ("/v1/models", {}, OpenAIChat),
        ("/v1/audio/speech", {}, OpenAIChat),
    ],
)
def test_who_asks_is_answered_in_his_own_protocol(path: str, headers: dict[str, str], protocol: type) -> None:
    assert type(protocol_of(path, headers)) is protocol


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": "Bearer sk-1"}, "sk-1"),
        ({"authorization": "bearer  sk-1 "}, "sk-1"),
        ({"authorization": "Bearer sk-1", "x-api-key": "sk-2"}, "sk-1"),
        ({"x-api-key": "sk-2"}, "sk-2"),
        ({"authorization": "Basic eA==", "x-api-key": "sk-2"}, "sk-2"),
        ({"authorization": "Basic eA=="}, ""),
        ({}, ""),
    ],
)
def test_a_key_is_sent_in_the_way_of_either_library(headers: dict[str, str], key: str) -> None:
    assert key_of(headers) == key


@pytest.mark.parametrize(
    ("content", "kind"), [(BODY, "application/json"), (BODY[:-1] + b', "stream": true}', "text/event-stream")]
)
def test_an_answer_is_an_object_or_a_stream(monkeypatch: pytest.MonkeyPatch, content: bytes, kind: str) -> None:
    async def complete(*_: Any) -> dict[str, Any]:
        return completion()

    monkeypatch.setattr("seedbed.lm.gateway.protocols.openai_chat.complete", complete)
    reply = answered(CHAT, content)
    assert (reply.status, reply.headers) == (200, {"Content-Type": kind})
    assert b'"yes"' in reply.content


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-x"])
def test_the_model_of_the_role_is_the_one_that_is_listed(path: str) -> None:
    reply = answered(path)
    assert (reply.status, reply.headers) == (200, {"Content-Type": "application/json"})
    [model] = json.loads(reply.content)["data"]
    assert (model["id"], model["object"], model["owned_by"]) == ("openai/loop", "model", "seedbed")


def test_an_unknown_path_names_those_that_there_are() -> None:
    reply = answered("/v1/audio/speech")
    assert reply.status == 404
    known = "/v1/chat/completions, /v1/embeddings, /v1/responses, /v1/messages"
    assert json.loads(reply.content)["error"]["message"] == f"the gateway has no /v1/audio/speech; it knows {known}"


@pytest.mark.parametrize(
    ("content", "said"), [(b"{cut", "the request is not JSON"), (b"[1]", "the request is not a JSON object")]
)
def test_what_is_no_object_is_refused(content: bytes, said: str) -> None:
    reply = answered(CHAT, content)
    assert reply.status == 400
    assert json.loads(reply.content)["error"]["message"].startswith(said)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Refusal(418, "no", "why"), 418, "why"),
        (BudgetReached("no money"), 402, "stopped"),
        (Interrupted("stopped"), 403, "stopped"),
        (SeedbedError("odd"), 400, None),
        (UserError("odd"), 400, None),
        (ProviderError("rate_limit", "x"), 429, "rate_limit"),
        (ProviderError("rate_limit", "x", status=503), 429, "rate_limit"),
        (ProviderError("malformed", "x", status=200), 502, "malformed"),
        (ProviderError("transport", "x"), 503, "transport"),
        (ProviderError("timeout", "x", status=408), 504, "timeout"),
        (ProviderError("auth", "x", status=403), 401, "auth"),
        (ProviderError("billing", "x"), 402, "billing"),
        (ProviderError("context_length", "x", status=413), 400, "context_length_exceeded"),
        (ProviderError("invalid_request", "x"), 400, "invalid_request"),
        (ProviderError("invalid_request", "x", status=400), 400, "invalid_request"),
        (ProviderError("invalid_request", "x", status=422), 422, "invalid_request"),
        (ProviderError("invalid_request", "x", status=302), 400, "invalid_request"),
        (ProviderError("invalid_request", "x", status=399), 400, "invalid_request"),
        (ProviderError("server", "x"), 500, "server"),
        (ProviderError("server", "x", status=503), 503, "server"),
        (ProviderError("server", "x", status=400), 400, "server"),
        (ProviderError("server", "x", status=599), 599, "server"),
        (ProviderError("server", "x", status=600), 500, "server"),
    ],
    ids=repr,
)
def test_what_goes_wrong_has_its_status_and_code(
    monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str | None
) -> None:
    reply = failed(monkeypatch, error)
    told = json.loads(reply.content)["error"]
    assert (reply.status, told["code"], told["message"]) == (status, code, str(error))
    assert reply.headers == {"Content-Type": "application/json"}


def failed(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Reply:
    async def complete(*_: Any) -> dict[str, Any]:
        raise error

    monkeypatch.setattr("seedbed.lm.gateway.protocols.openai_chat.complete", complete)
    return answered(CHAT)


def test_a_bug_is_a_500_and_in_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        reply = failed(monkeypatch, ZeroDivisionError("by zero"))
    assert (reply.status, json.loads(reply.content)["error"]["message"]) == (500, "ZeroDivisionError: by zero")
    assert "the gateway failed at /v1/chat/completions" in caplog.text


@pytest.mark.parametrize(("seconds", "said"), [(None, None), (0.0, "0"), (2.5, "2.5"), (30.0, "30")])
def test_a_pause_that_a_provider_asks_for_is_passed_on(seconds: float | None, said: str | None) -> None:
    reply = refused(OpenAIChat(), Refusal(429, "later", retry_after=seconds))
    assert (reply.status, reply.headers.get("Retry-After")) == (429, said)


def test_the_pause_of_a_provider_reaches_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = failed(monkeypatch, ProviderError("rate_limit", "later", status=429, retry_after=7.0))
    assert reply.headers["Retry-After"] == "7"


def test_a_key_that_an_error_quotes_is_masked() -> None:
    reply = refused(AnthropicMessages(), Refusal(400, "Bearer sk-proj-0123456789abcdefghijklmnop was refused"))
    assert b"0123456789abcdef" not in reply.content
    assert b"was refused" in reply.content
