"""Single calls to an endpoint on loopback: what is sent, how far a reply is read, and what is said of a refusal."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.providers import make_provider, prefixes, provider
from seedbed.lm.providers.litellm import LitellmProvider
from seedbed.lm.providers.openai_http import OpenAIHttpProvider, http_error, is_azure, is_loopback, retry_after
from seedbed.lm.served.provider import ServedProvider
from seedbed.lm.types import Attempt
from seedbed.sweep.model_config import ModelConfig

ATTEMPT = Attempt("k", None, 0, 1, 20.0)
Asked = list[tuple[str, str, dict[str, str]]]
"""Method, path and headers."""


@contextmanager
def _serving(
    status: int, said: bytes, gets: dict[str, Any] | None = None, **headers: str
) -> Iterator[tuple[str, Asked]]:
    """An endpoint that replies to each POST the same and to a GET by its path."""
    asked: Asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._reply(status, said, headers)

        def do_GET(self) -> None:
            found = (gets or {}).get(self.path)
            self._reply(404 if found is None else 200, json.dumps(found).encode(), {})

        def _reply(self, status: int, data: bytes, more: dict[str, str]) -> None:
            asked.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(status)
            for name, value in {**more, "content-length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    server.server_close()


def _chat(url: str, **settings: Any) -> Any:
    async def once() -> Any:
        made = OpenAIHttpProvider("x", ModelConfig.model_validate({"model": "openai/x", "api_base": url, **settings}))
        try:
            return await made.chat({"messages": []}, ATTEMPT)
        finally:
            await made.aclose()
            assert made._session is not None  # type: ignore[attr-defined]
            assert made._session.closed  # type: ignore[attr-defined]

    return asyncio.run(once())


def test_a_provider_that_was_never_asked_is_closed_too() -> None:
    asyncio.run(OpenAIHttpProvider("x", ModelConfig(model="openai/x")).aclose())


def test_a_reply_is_read_to_its_allowed_length_and_no_further() -> None:
    with _serving(200, b'{"a": 1}' + b" " * 992) as (url, _):
        assert _chat(url, max_reply_mb=0.001) == {"a": 1}
    longer = pytest.raises(ProviderError, match=r"longer than 0\.001 MB")
    with _serving(200, b'{"a": 1}' + b" " * 993) as (url, _), longer as caught:
        _chat(url, max_reply_mb=0.001)
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize("said", [b"yes", b"[1]", b"5"])
def test_a_reply_that_is_no_object_is_malformed(said: bytes) -> None:
    with _serving(200, said) as (url, _), pytest.raises(ProviderError, match="the response is not") as caught:
        _chat(url)
    assert caught.value.kind == "malformed"


def test_the_key_is_sent_where_the_config_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "a-key")
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")
    with _serving(200, b"{}") as (url, asked):
        _chat(url, api_key_env="MINE")
        _chat(url)
    assert [headers.get("authorization") for _, _, headers in asked] == ["Bearer a-key", None]
    azure = ModelConfig(model="openai/x", api_base="https://me.openai.azure.com/d", api_key_env="MINE")
    assert OpenAIHttpProvider("x", azure)._headers() == {  # type: ignore[attr-defined]
        "Content-Type": "application/json", "api-key": "a-key",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "looked"), [(404, ["/v1/models"]), (400, []), (405, []), (500, [])]
)  # fmt: skip
def test_only_after_a_404_the_server_is_asked_what_it_has(status: int, looked: list[str]) -> None:
    serving, refused = _serving(status, b"{}", {"/v1/models": {"data": [{"id": "x2"}]}}), pytest.raises(ProviderError)
    with serving as (url, asked), refused as caught:
        _chat(url)
    assert [path for method, path, _ in asked if method == "GET"] == looked
    assert ("the server has x2" in caught.value.message) is bool(looked)
    assert caught.value.status == status


def test_a_redirect_is_told_and_not_followed() -> None:
    told = pytest.raises(ProviderError, match="redirected to /elsewhere; give that address as api_base")
    with _serving(307, b"", Location="/elsewhere") as (url, asked), told:
        _chat(url)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("told", "slots"),
    [(3, 3), (1, 1), (0, None), (-1, None), ("3", None), (1.5, None), (None, None)],
)
def test_slots_are_a_number_above_0(told: Any, slots: int | None) -> None:
    async def ask(url: str) -> int | None:
        made = OpenAIHttpProvider("x", ModelConfig(model="openai/x", api_base=url))
        try:
            return await made.slots()
        finally:
            await made.aclose()

    with _serving(200, b"{}", {"/props": {"total_slots": told}}) as (url, _):
        assert asyncio.run(ask(url)) == slots


def test_a_server_elsewhere_is_not_asked_for_its_slots() -> None:
    made = OpenAIHttpProvider("x", ModelConfig(model="openai/x", api_base="http://198.51.100.7/v1"))
    assert asyncio.run(made.slots()) is None
    assert made._session is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("url", "azure"),
    [
        ("https://me.openai.azure.com/d", True),
        ("https://me.azure.us/d", True),
        ("https://azure.com.example.org/d", False),
        ("https://api.openai.com/v1", False),
        ("nothing", False),
    ],
)
def test_azure_is_known_by_its_host(url: str, azure: bool) -> None:
    assert is_azure(url) is azure


@pytest.mark.parametrize("url", ["nothing", "http://example.org/localhost", "http://localhost.example.org"])
def test_another_host_is_not_this_machine(url: str) -> None:
    assert not is_loopback(url)


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (299, b"odd", "invalid_request", "HTTP 299: odd"),
        (300, b"odd", "invalid_request", "HTTP 300: redirected to elsewhere; give that address as api_base"),
        (399, b"odd", "invalid_request", "HTTP 399: redirected to elsewhere; give that address as api_base"),
        (400, b"odd", "invalid_request", "HTTP 400: odd"),
        (499, b"odd", "invalid_request", "HTTP 499: odd"),
        (500, b"odd", "server", "HTTP 500: odd"),
        (501, b"the context length is exceeded", "server", "HTTP 501: the context length is exceeded"),
        (400, b'{"error": "bad"}', "invalid_request", "HTTP 400: bad"),
        (400, b'{"error": 5}', "invalid_request", 'HTTP 400: {"error": 5}'),
        (400, b"[1]", "invalid_request", "HTTP 400: [1]"),
        (400, b'{"error": {"code": "c"}}', "invalid_request", 'HTTP 400: {"error": {"code": "c"}}'),
        (429, b'{"error": {"type": "insufficient_quota", "message": "pay"}}', "billing", "HTTP 429: pay"),
        (429, b'{"error": {"code": "c", "type": "insufficient_quota", "message": "m"}}', "rate_limit", "HTTP 429: m"),
        (400, b"x" * 301, "invalid_request", "HTTP 400: " + "x" * 300),
    ],
)
def test_a_refusal_is_told_in_the_endpoints_words(status: int, body: bytes, kind: str, message: str) -> None:
    found = http_error(status, {}, body)
    assert (found.kind, found.message, found.status, found.retry_after) == (kind, message, status, None)


def test_a_refusal_keeps_how_long_to_wait() -> None:
    assert http_error(429, {"Retry-After": "3"}, b"").retry_after == 3.0
    assert retry_after({"retry-after-ms": "", "Retry-After": "3"}) == 3.0
    assert retry_after({"retry-after-ms": "soon"}) is None


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"model": "openai/x"}, OpenAIHttpProvider),
        ({"model": "hosted_vllm/x", "api_base": "http://127.0.0.1:9/v1"}, OpenAIHttpProvider),
        ({"model": "groq/x"}, LitellmProvider),
        ({"model": "mistral/x", "api_base": "http://127.0.0.1:9/v1"}, LitellmProvider),
        ({"model": "openai/x", "serve": {"command": "serve"}}, ServedProvider),
        ({"model": "local/x"}, ServedProvider),
    ],
)
def test_a_model_is_reached_by_its_prefix_or_by_what_its_settings_say(settings: Any, made: type) -> None:
    assert type(make_provider(ModelConfig.model_validate(settings))) is made


def test_a_provider_of_ones_own_is_reached_by_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    from seedbed.lm import providers

    monkeypatch.setattr(providers, "_BY_PREFIX", dict(providers._BY_PREFIX))  # type: ignore[attr-defined]
    assert "mine" not in prefixes()

    @provider("mine")
    def mine(name: str, model: ModelConfig) -> Any:
        return name, model.model

    assert "mine" in prefixes()
    assert make_provider(ModelConfig(model="mine/a/b")) == ("a/b", "mine/a/b")
    assert mine("c", ModelConfig(model="mine/d")) == ("c", "mine/d")
