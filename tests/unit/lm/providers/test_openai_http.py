"""Addresses, keys and what an endpoint's refusals mean."""

from __future__ import annotations

import email.utils
import time
from pathlib import Path

import pytest

from seedbed.lm.providers.openai_http import endpoint, http_error, is_loopback, key_variable, retry_after
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import runtime, scope
from tests.support.loopback import Loopback


def test_addresses() -> None:
    def of(base: str | None) -> str:
        return endpoint(ModelConfig(model="openai/x", api_base=base), "chat/completions")

    assert of(None) == "https://api.openai.com/v1/chat/completions"
    assert of("http://localhost:8000/v1/") == "http://localhost:8000/v1/chat/completions"
    azure = "https://me.openai.azure.com/openai/deployments/d"
    assert of(f"{azure}?api-version=2024-10-21") == f"{azure}/chat/completions?api-version=2024-10-21"


def test_a_server_of_ones_own_is_not_sent_openais_key() -> None:
    assert key_variable(ModelConfig(model="openai/x")) == "OPENAI_API_KEY"
    assert key_variable(ModelConfig(model="openai/x", api_base="http://h/v1")) is None
    assert key_variable(ModelConfig(model="openai/x", api_base="http://h/v1", api_key_env="MINE")) == "MINE"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.2/v1", True),
        ("http://[::1]/v1", True),
        ("http://10.0.0.1", False),
    ],
)
def test_loopback_is_recognised(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_proxies_from_the_environment_do_not_get_in_the_way_of_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with Loopback() as server, runtime(tmp_path, server, retries=0) as made:
        assert made.lm(scope())("hello")[0]
        assert made.embedder(scope())(["hello"]).shape == (1, 8)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon, I think"}, None),
        ({"Retry-After": "99999999"}, 3600.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date() -> None:
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    found = retry_after({"Retry-After": date})
    assert found is not None
    assert 25 < found <= 30


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, b"", "auth"),
        (403, b"{}", "auth"),
        (402, b"", "billing"),
        (429, b'{"error": {"code": "insufficient_quota", "message": "pay"}}', "billing"),
        (429, b'{"error": {"message": "slow down"}}', "rate_limit"),
        (400, b'{"error": {"code": "context_length_exceeded"}}', "context_length"),
        (
            400,
            b'{"object": "error", "message": "This model\'s maximum context length is 4096 tokens"}',
            "context_length",
        ),
        (400, b'{"error": "the request exceeds the available context size"}', "context_length"),
        (400, b'{"error": {"message": "bad temperature"}}', "invalid_request"),
        (404, b'{"error": {"message": "no such model"}}', "invalid_request"),
        (307, b"", "invalid_request"),
        (500, b"<html>", "server"),
        (529, b"", "server"),
        (504, b"", "timeout"),
    ],
)
def test_refusals_are_typed(status: int, body: bytes, kind: str) -> None:
    assert http_error(status, {}, body).kind == kind
