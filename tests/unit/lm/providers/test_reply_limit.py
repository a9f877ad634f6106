"""Whatever library makes the call: a key goes to the address that the config names and to no other, and a reply is read
no further than allowed, however small it was made on its way."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.providers import make_provider
from seedbed.lm.providers.openai_embeddings import OpenAIEmbeddingProvider
from seedbed.lm.types import Attempt
from seedbed.sweep.model_config import ModelConfig

pytestmark = pytest.mark.slow

KEY = "a-key-of-the-lab-4711"
# Each by another client and with another header for its key.
NAMES = ["openai/x", "embeddings", "anthropic/x", "azure/x", "gemini/x", "deepseek/x", "custom_openai/x"]
BOMB = gzip.compress(b"[" + b" " * 30_000_000 + b"]")


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, data: bytes = b"", **headers: str) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serving(handler: type[_Quiet]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Another server's address, and what was asked of it."""
    asked: list[str] = []

    class Elsewhere(_Quiet):
        def do_POST(self) -> None:
            asked.append(f"{self.path} {self.headers}")
            self.reply(200, b'{"data": [{"id": "x"}]}')

        do_GET = do_POST  # noqa: N815 - the name is http.server's

    with serving(Elsewhere) as port:
        yield f"http://localhost:{port}", asked


def _ask(name: str, port: int) -> ProviderError:
    async def once() -> Any:
        settings = {"api_base": f"http://127.0.0.1:{port}/v1", "api_key_env": "LAB_KEY", "max_reply_mb": 1}
        attempt = Attempt("k", None, 0, 1, 60.0)
        if name == "embeddings":
            embeddings = OpenAIEmbeddingProvider(ModelConfig.model_validate({"model": "openai/x", **settings}))
            try:
                return await embeddings.embed({"input": ["hello"]}, attempt)
            finally:
                await embeddings.aclose()
        provider = make_provider(ModelConfig.model_validate({"model": name, **settings}))
        try:
            return await provider.chat({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 5}, attempt)
        finally:
            await provider.aclose()

    with pytest.raises(ProviderError) as caught:
        asyncio.run(once())
    return caught.value


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("name", NAMES)
def test_a_redirect_is_told_and_not_followed(name: str, status: int, elsewhere: tuple[str, list[str]]) -> None:
    address, asked = elsewhere

    class Leads(_Quiet):
        def do_POST(self) -> None:
            self.reply(status, location=f"{address}/stolen")

    with serving(Leads) as port:
        error = _ask(name, port)
    assert asked == []
    assert f"redirected to {address}/stolen; give that address as api_base" in error.message


def test_the_question_for_the_models_that_are_served_is_not_led_elsewhere(elsewhere: tuple[str, list[str]]) -> None:
    address, asked = elsewhere

    class Leads(_Quiet):
        def do_POST(self) -> None:
            self.reply(404, b"{}")

        def do_GET(self) -> None:
            self.reply(307, location=f"{address}/models")

    with serving(Leads) as port:
        assert _ask("openai/x", port).status == 404
    assert asked == []


@pytest.mark.parametrize("name", NAMES)
def test_a_packed_reply_counts_as_long_as_it_is(name: str) -> None:
    class Packed(_Quiet):
        def do_POST(self) -> None:
            self.reply(200, BOMB, content_encoding="gzip", content_type="application/json")

    assert len(BOMB) < 100_000
    with serving(Packed) as port:
        assert "the reply is longer than 1 MB" in _ask(name, port).message


@pytest.mark.parametrize("name", ["embeddings", "anthropic/x", "custom_openai/x"])
def test_a_packed_reply_that_is_broken_is_an_error_of_the_provider(name: str) -> None:
    class Broken(_Quiet):
        def do_POST(self) -> None:
            self.reply(200, b"no gzip at all", content_encoding="gzip", content_type="application/json")

    with serving(Broken) as port:
        assert _ask(name, port).maybe_billed
