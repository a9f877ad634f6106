"""Models that are reached through litellm: exact like the others, one call one request, and errors by their kind.

`deepseek/` and `together_ai/` go by litellm's own HTTP client, `custom_openai/` by the openai package inside it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.errors import ProviderError
from seedbed.lm.providers import make_provider
from seedbed.lm.providers.litellm import LitellmProvider
from seedbed.lm.types import Attempt
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import assert_books_agree, caps, dollars, runtime, scope, sums
from tests.support.loopback import Loopback

pytestmark = pytest.mark.slow

NAMES = ["deepseek/x", "custom_openai/x"]
BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Is water wet, as they say?"}]}
FAULTS = {
    "rate_limit": 0.03,
    "server": 0.03,
    "gateway": 0.03,
    "reset": 0.03,
    "malformed": 0.03,
    "no_usage": 0.03,
    "bad_shape": 0.03,
    "mid_body": 0.03,
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_KEY", "a-key-for-the-loopback")


def _chat(name: str, server: Loopback, body: dict[str, Any] | None = None, timeout_s: float = 20.0) -> dict[str, Any]:
    config = ModelConfig(model=name, api_base=server.url, api_key_env="LOOP_KEY")
    provider = make_provider(config)
    assert isinstance(provider, LitellmProvider)
    return asyncio.run(provider.chat(body or BODY, Attempt("k", None, 0, 1, timeout_s)))


def _refused(name: str, server: Loopback, timeout_s: float = 20.0) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        _chat(name, server, timeout_s=timeout_s)
    return caught.value


@pytest.mark.parametrize("name", [*NAMES, "together_ai/x"])
def test_a_fifth_of_faults_is_accounted_for(tmp_path: Path, name: str) -> None:
    settings = {"model": name, "api_key_env": "LOOP_KEY", "timeout_s": 60.0}
    with Loopback(faults=FAULTS, seed=5) as server, runtime(tmp_path, server, **settings) as made:
        program = dspy.ChainOfThought("question -> answer")

        async def ask_all() -> list[Any]:
            with dspy.context(lm=made.lm(scope()), disable_history=True):
                return await asyncio.gather(*(program.acall(question=f"Is {n} even?") for n in range(120)))

        answers = made.run(ask_all())
        again = made.run(ask_all())
        found = assert_books_agree(tmp_path, server)
    assert [answer.answer for answer in answers] == [answer.answer for answer in again]
    faults = server.books.faults
    assert all(faults[kind] for kind in FAULTS), faults
    broken = faults.total() - faults["no_usage"]
    assert found.outcomes == {"paid": 120, "failed": broken, "reused": 120}
    assert found.estimated == faults["no_usage"]
    # Each attempt on record was one request: litellm tried nothing again by itself.
    assert server.books.requests == 120 + broken
    assert found.at_risk_usd >= dollars(server.books.unseen_in, server.books.unseen_out) > 0


@pytest.mark.parametrize("name", NAMES)
def test_cached_tokens_are_charged_as_such(tmp_path: Path, name: str) -> None:
    settings = {"model": name, "api_key_env": "LOOP_KEY"}
    with Loopback(cached_share=0.25) as server, runtime(tmp_path, server, **settings) as made:
        assert made.lm(scope())("Is water wet, as they say?")[0]
        assert assert_books_agree(tmp_path, server).tokens_cached > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("rate_limit", "rate_limit", 429),
        ("billing", "billing", 429),
        ("auth", "auth", 401),
        ("context_length", "context_length", 400),
        ("server", "server", 500),
        ("reset", "transport", None),
        ("mid_body", "transport", None),
        ("malformed", "malformed", None),
    ],
)
def test_refusals_and_accidents_are_typed(name: str, fault: str, kind: str, status: int | None) -> None:
    with Loopback(faults={fault: 1.0}, max_faults=99, retry_after="7") as server:
        error = _refused(name, server)
    assert (error.kind, error.status) == (kind, status)
    assert error.retry_after == (7.0 if fault == "rate_limit" else None)
    assert server.books.requests == 1
    # Where the answer was under way when the connection broke, it may be on the bill.
    assert error.maybe_billed is (fault in ("reset", "mid_body", "malformed"))


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_does_not_answer_is_a_timeout(name: str) -> None:
    with Loopback(faults={"timeout": 1.0}, max_faults=99) as server:
        error = _refused(name, server, timeout_s=3.0)
    assert error.kind == "timeout"
    assert server.books.requests == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_cannot_be_reached_charges_nothing(name: str) -> None:
    error = _refused(name, Loopback(port=9))
    assert error.kind == "transport"
    assert not error.maybe_billed


@pytest.mark.parametrize("name", NAMES)
def test_parameters_pass_through(name: str) -> None:
    asked = {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "n": 2,
        "stop": ["END"],
        "seed": 3,
        "response_format": {"type": "json_object"},
    }
    seen: list[dict[str, Any]] = []
    with Loopback(watch=lambda _, raw: seen.append(json.loads(raw))) as server:
        _chat(name, server, BODY | asked)
    assert len(seen) == 1
    assert {key: seen[0].get(key) for key in asked} == asked
    assert seen[0]["messages"] == BODY["messages"]
    assert seen[0]["model"] == "x"


def test_the_key_is_sent_and_proxies_do_not_get_in_the_way_of_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "example.org")
    seen: list[str | None] = []
    with Loopback(watch=lambda request, _: seen.append(request.headers.get("Authorization"))) as server:
        for name in NAMES:
            _chat(name, server)
    assert seen == ["Bearer a-key-for-the-loopback"] * 2


def test_a_name_that_litellm_does_not_know_is_not_tried_again() -> None:
    with Loopback() as server:
        error = _refused("no_such_provider/x", server)
    assert error.kind == "invalid_request"
    assert not error.retryable


@pytest.mark.parametrize("name", [*NAMES, "together_ai/x", "anthropic/x", "gemini/x"])
def test_a_reply_without_an_end_is_left_soon(name: str) -> None:
    with Loopback(faults={"endless": 1.0}) as server:
        config = ModelConfig(model=name, api_base=server.url, api_key_env="LOOP_KEY", max_reply_mb=1)
        with pytest.raises(ProviderError, match="longer than 1 MB; raise max_reply_mb") as caught:
            asyncio.run(make_provider(config).chat(BODY, Attempt("k", None, 0, 1, 20.0)))
    assert caught.value.kind == "malformed"
    # What is under way in sockets' buffers is taken too.
    assert server.books.endless_bytes < 20e6


_CHOICE = '{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}'
_USAGE = '{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}'


@pytest.mark.parametrize("name", [*NAMES, "anthropic/x"])
@pytest.mark.parametrize(
    ("choices", "usage", "outcome", "spent"),
    [
        ("[]", _USAGE, "failed", True),
        ("null", _USAGE, "failed", True),
        ('["yes"]', _USAGE, "failed", True),
        ('[{"message": null}]', _USAGE, "failed", True),
        ("[NaN]", _USAGE, "failed", False),
        ("[" * 2000 + "]" * 2000, _USAGE, "failed", False),
        (f"[{_CHOICE.replace('yes', 'y' + chr(92) + 'ud800')}]", _USAGE, "failed", False),
        (f"[{_CHOICE}]", _USAGE.replace("100", "1" + "0" * 30), "paid", True),
        (f"[{_CHOICE}]", '{"prompt_tokens": {"a": 1}, "completion_tokens": [5]}', "paid", True),
    ],
)
def test_what_litellm_cannot_read_is_booked_too(
    tmp_path: Path, name: str, choices: str, usage: str, outcome: str, spent: bool
) -> None:
    """A reply with status 200 is billed, whatever litellm says of it: by the tokens that it tells, or at risk."""
    reply = f'{{"id": "1", "object": "chat.completion", "choices": {choices}, "usage": {usage}}}'.encode()
    with replying(reply) as url, Loopback() as unused:
        settings = {"model": name, "api_base": url, "api_key_env": "LOOP_KEY", "retries": 0}
        with runtime(tmp_path, unused, **settings) as made, suppress(dspy.LMError):
            made.lm(scope(), caps(1.0))("Is water wet, as they say?")
    found = sums(tmp_path)
    assert found.outcomes == {outcome: 1}
    assert (found.spent_usd > 0, found.at_risk_usd > 0) == (spent, not spent)
    if outcome == "failed" and spent:
        assert found.spent_usd == pytest.approx(dollars(100, 50))


@pytest.mark.parametrize("name", [*NAMES, "anthropic/x"])
@pytest.mark.parametrize("said", [b"no HTTP at all", b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"])
def test_a_reply_that_is_no_http_may_be_billed(name: str, said: bytes) -> None:
    with replying(b"", as_said=said) as url:
        config = ModelConfig(model=name, api_base=url, api_key_env="LOOP_KEY")
        with pytest.raises(ProviderError) as caught:
            asyncio.run(make_provider(config).chat(BODY, Attempt("k", None, 0, 1, 20.0)))
    assert caught.value.kind == "transport"
    assert caught.value.maybe_billed


@contextmanager
def replying(reply: bytes, *, as_said: bytes = b"") -> Iterator[str]:
    """An endpoint with one reply to everything, or one that says something else than HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if as_said:
                self.wfile.write(as_said)
                return
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
