"""A model that is set up wrong is found by its first request, and no other is sent."""

from __future__ import annotations

import asyncio
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from seedbed.errors import Unreachable
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import PRICE, ledger_url, scope, sums
from tests.support.loopback import Loopback
from tests.unit.lm.test_odd_replies import CHOICE, USAGE, endpoint


def _ask_many(folder: Path, **settings: Any) -> str:
    """Ask thirty questions at once; the reason why everything was stopped."""
    known = {"model": "openai/own", "price": PRICE, "backoff_s": 0.0, "temperature": 0.0, **settings}
    made = LMRuntime(ledger_url(folder), {"m": ModelConfig.model_validate(known)})
    lm = made.lm(scope())

    async def ask() -> None:
        await asyncio.gather(*(lm.acall(f"question {n}") for n in range(30)), return_exceptions=True)

    try:
        made.run(ask())
        assert isinstance(made.stop_reason, Unreachable)
        return str(made.stop_reason)
    finally:
        made.close()


def _nobody() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def library() -> Iterator[tuple[str, list[str]]]:
    """An endpoint that serves two models at /v1, and the paths it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            asked.append(self.path)
            self._answer(404, {"error": {"message": "no such thing here"}})

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._answer(200, {"data": [{"id": "qwen-7b-instruct"}, {"id": "gemma-2b"}]})
            else:
                self._answer(404, {})

        def _answer(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}", asked
    serving.shutdown()
    serving.server_close()


def test_a_model_that_is_not_there_is_one_request_and_the_names_that_are(
    tmp_path: Path, library: tuple[str, list[str]]
) -> None:
    url, asked = library
    told = _ask_many(tmp_path, model="openai/qwen-7b-instrukt", api_base=f"{url}/v1")
    assert "openai/qwen-7b-instrukt" in told
    assert "the server has qwen-7b-instruct" in told
    assert asked == ["/v1/chat/completions"]
    assert sums(tmp_path).at_risk_usd == 0.0


def test_a_wrong_path_is_one_request_and_names_the_address(tmp_path: Path, library: tuple[str, list[str]]) -> None:
    url, asked = library
    told = _ask_many(tmp_path, api_base=f"{url}/api/v2")
    assert f"{url}/api/v2/chat/completions" in told
    assert "api_base" in told
    assert asked == ["/api/v2/chat/completions"]


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_where_nobody_listens_nothing_may_be_billed(tmp_path: Path, host: str) -> None:
    told = _ask_many(tmp_path, api_base=f"http://{host}:{_nobody()}/v1")
    assert f"cannot reach http://{host}" in told
    assert "Start the server there" in told
    assert sums(tmp_path, "error_class != 'NotSent'").outcomes == {"failed": 1}
    assert sums(tmp_path).at_risk_usd == 0.0


def test_a_refused_key_is_one_request(tmp_path: Path) -> None:
    with Loopback(faults={"auth": 1.0}, max_faults=100) as server:
        told = _ask_many(tmp_path, api_base=server.url)
    assert "key" in told
    assert server.books.requests == 1


def test_tls_where_there_is_none_is_said(tmp_path: Path) -> None:
    with Loopback() as server:
        told = _ask_many(tmp_path, api_base=server.url.replace("http://", "https://"))
    assert "cannot reach https://" in told
    assert server.books.answered == 0
    assert sums(tmp_path, "error_class != 'NotSent'").outcomes == {"failed": 1}


def test_a_server_that_answered_before_may_come_back(tmp_path: Path) -> None:
    """It is restarted in the middle of a sweep: that is a failure that may pass, not a wrong address."""
    with endpoint({"choices": [CHOICE], "usage": USAGE}) as (url, _):
        settings = {"model": "openai/own", "api_base": url, "price": PRICE, "backoff_s": 0.0, "retries": 1}
        made = LMRuntime(ledger_url(tmp_path), {"m": ModelConfig.model_validate(settings)})
        made.lm(scope())("hello")
    try:
        with pytest.raises(Exception, match="cannot reach"):
            made.lm(scope())("are you still there?")
        assert made.stop_reason is None
    finally:
        made.close()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "openai/x", "api_base": "127.0.0.1:8080/v1"}, "http:// or https://"),
        ({"model": "llamacpp/x"}, "needs the address of its server"),
        ({"model": "hosted_vllm/x"}, "needs the address of its server"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_with_the_config(settings: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ModelConfig.model_validate(settings)


def test_a_server_that_answered_once_if_only_with_an_error_may_come_back(tmp_path: Path) -> None:
    with endpoint({}, 500) as (url, _):
        settings = {"model": "openai/own", "api_base": url, "price": PRICE, "retries": 0}
        made = LMRuntime(ledger_url(tmp_path), {"m": ModelConfig.model_validate(settings)})
        with pytest.raises(Exception, match="500"):
            made.run(made.lm(scope()).acall("are you there?"))
    try:
        with pytest.raises(Exception, match=r"(?i)connect"):
            made.run(made.lm(scope()).acall("and now?"))
        assert made.stop_reason is None
    finally:
        made.close()
