"""A completion that is none of the dialect is a malformed answer to every client, and booked with what it tells."""

from __future__ import annotations

import http.client
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.attempts import Binding
from seedbed.lm.gateway import asking, gateway_of
from tests.support import lm
from tests.support.loopback import Loopback

MESSAGES = [{"role": "user", "content": "hello"}]
ASKED = {
    "/v1/chat/completions": {"messages": MESSAGES},
    "/v1/responses": {"input": "hello"},
    "/v1/messages": {"messages": MESSAGES, "max_tokens": 50},
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("calls", [5, "x", [5], {"a": 1}, [{"function": "f"}]])
def test_tool_calls_that_are_none_are_a_malformed_answer(
    tmp_path: Path, path: str, calls: Any, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    message = {"role": "assistant", "content": "yes", "tool_calls": calls}
    with Loopback(say=lambda *_: message) as server, lm.runtime(tmp_path, server) as runtime:
        gateway = gateway_of(runtime)
        grant = gateway.grant(lambda role: Binding(lm.scope(role=role), lm.model(server)), "task", ("q1", 0))
        client = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=280)
        body = json.dumps({"model": "m", "stream": stream, **ASKED[path]})
        with caplog.at_level(logging.ERROR):
            client.request("POST", path, body, {"authorization": f"Bearer {grant.key}"})
            reply = client.getresponse()
            said = reply.read().decode()
        client.close()
        found = lm.sums(tmp_path)
        assert (reply.status, caplog.text) == (502, "")
        assert "none of the dialect" in said
        assert found.outcomes == {"failed": 1}
        assert (found.tokens_in, found.tokens_out) == (server.books.tokens_in, server.books.tokens_out)


@pytest.mark.parametrize(
    "more", [{"finish_reason": ["stop"]}, {"finish_reason": 5}, {"logprobs": 5}, {"logprobs": [5]}]
)
def test_the_rest_of_a_choice_is_looked_at_too(more: dict[str, Any]) -> None:
    plain = {"message": {"content": "yes"}, "finish_reason": "stop", "logprobs": None}
    assert asking._readable({"choices": [plain]})  # type: ignore[attr-defined]
    with pytest.raises(ProviderError, match="none of the dialect"):
        asking._readable({"choices": [{**plain, **more}]})  # type: ignore[attr-defined]


@pytest.mark.parametrize("usage", [5, "x", [1], {"prompt_tokens": "x"}, {"prompt_tokens": 1, "completion_tokens": -1}])
def test_several_answers_with_an_absurd_usage_are_joined_all_the_same(usage: Any) -> None:
    one = {"choices": [{"message": {"content": "yes"}}], "usage": usage}
    told = {**one, "usage": {"prompt_tokens": 2, "completion_tokens": 3}}
    joined = asking._joined([one, told])  # type: ignore[attr-defined]
    assert joined["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    assert len(joined["choices"]) == 2
