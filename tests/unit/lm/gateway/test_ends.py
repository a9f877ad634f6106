"""A gateway's end: of a key, of a phase with what still runs under it, of the server; and what it takes at most."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.attempts import Binding
from seedbed.lm.gateway import Gateway, Reply
from seedbed.lm.gateway import gateway as gateway_module
from seedbed.lm.gateway.asking import complete, embed
from tests.support import lm
from tests.unit.lm.gateway.conftest import Place

ASK: Any = [{"role": "user", "content": "Is 4 even?"}]
CHAT = "/v1/chat/completions"


def begun(place: Place, grant: Any) -> Future[Reply]:
    """A call without a socket, on its way to a server that takes its time."""
    place.server.latency_s = 60.0
    body = json.dumps({"messages": ASK}).encode()
    work = place.gateway.answer(grant, CHAT, body, lambda: False)
    call = asyncio.run_coroutine_threadsafe(work, place.runtime.loop)
    deadline = time.monotonic() + 250
    while place.server.books.in_flight == 0:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return call


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def posted(port: int, key: str, body: bytes, host: str | None = None) -> tuple[int, Any]:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("POST", CHAT, body, {"Authorization": f"Bearer {key}", **({"Host": host} if host else {})})
    reply = client.getresponse()
    told = json.loads(reply.read())
    client.close()
    return reply.status, told


def test_what_runs_without_a_socket_is_given_up_with_its_phase_and_on_record_then(place: Place) -> None:
    grant = place.grant()
    call = begun(place, grant)
    assert len(grant.running) == 1
    place.gateway.end_phase("e1")
    assert lm.sums(place.folder).outcomes == {"lost": 1}
    assert call.done()
    assert not grant.running


def test_what_a_sample_left_behind_is_given_up_with_its_phase(place: Place) -> None:
    grant = place.grant()
    call = begun(place, grant)
    assert place.gateway.end(grant.key) is grant
    assert place.gateway.end(grant.key) is None
    place.gateway.end_phase("another")
    assert not call.done(), "it is not of that phase"
    place.gateway.end_phase("e1")
    assert lm.sums(place.folder).outcomes == {"lost": 1}


def test_the_server_ends_with_the_last_phase_that_may_need_it_though_nobody_asked(place: Place) -> None:
    port = place.gateway.port
    assert port == place.gateway.port
    assert port > 1024
    assert answers(port)
    place.grant()
    place.gateway.end_phase("another")
    assert answers(port), "a key is still good"
    place.gateway.end_phase("e1")
    assert not answers(port)
    opened = place.gateway.port
    place.gateway.end_phase("e1")
    assert not answers(opened)


def test_a_gateway_that_is_closed_before_its_server_is_up_lets_its_port_go() -> None:
    loop = asyncio.new_event_loop()
    runtime: Any = SimpleNamespace(loop=loop)
    gateway = Gateway(runtime)
    asyncio.run(gateway.aclose())
    port = gateway.port
    asyncio.run(gateway.aclose())
    assert not answers(port)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_a_call_that_is_answered_runs_no_more(place: Place) -> None:
    grant = place.grant()
    body = json.dumps({"messages": ASK}).encode()
    assert place.runtime.run(place.gateway.answer(grant, CHAT, body, lambda: False)).status == 200
    place.runtime.run(asyncio.sleep(0))
    assert not grant.running


def test_who_is_let_in_is_told_apart_by_host_key_and_length(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "_MAX_REQUEST", 2**20)
    key, port = place.grant().key, place.gateway.port
    body = json.dumps({"messages": ASK}).encode()
    assert posted(port, key, body)[0] == 200
    assert posted(port, key, body, f"localhost:{port}")[0] == 200
    status, told = posted(port, key, body, f"localhost:{port + 1}")
    assert (status, told["error"]["message"]) == (403, "the gateway answers on loopback only, under its own name")
    status, told = posted(port, "sk-seedbed-none", body)
    assert (status, told["error"]["code"]) == (401, "invalid_api_key")
    assert told["error"]["message"].startswith("the gateway does not know this key; ")
    long = json.dumps({"messages": [{"role": "user", "content": "x" * 2**20}]}).encode()
    status, told = posted(port, key, long)
    assert (status, told["error"]["message"]) == (413, "the request is longer than 1 MB")


@pytest.mark.parametrize(
    ("transport", "gone"),
    [
        (None, True),
        (SimpleNamespace(is_closing=lambda: True), True),
        (SimpleNamespace(is_closing=lambda: False), False),
    ],
)
def test_who_has_no_connection_any_more_has_hung_up(transport: Any, gone: bool) -> None:
    request: Any = SimpleNamespace(transport=transport)
    assert gateway_module._hung_up(request) is gone  # type: ignore[attr-defined]


# -- how a request becomes attempts -----------------------------------------------------------------------------------


def sent(place: Place, **more: Any) -> dict[str, Any]:
    """What the model's server is sent for a body."""
    seen: list[dict[str, Any]] = []
    say = place.server.say

    def watched(body: Any, name: str) -> Any:
        seen.append(dict(body))
        return say(body, name) if say else None

    place.server.say = watched
    place.runtime.run(complete(place.runtime, place.grant(), {"messages": ASK, **more}, lambda: False))
    return seen[-1]


def test_what_is_the_gateways_own_or_left_open_is_not_sent(place: Place) -> None:
    found = sent(place, model="other", stream=True, stream_options={"include_usage": True}, n=1, top_p=None, stop=["x"])
    assert {"stream", "stream_options", "n", "top_p"} & found.keys() == set()
    assert (found["model"], found["stop"], found["temperature"], found["max_tokens"]) == ("loop", ["x"], 0.7, 200)


@pytest.mark.parametrize(
    ("asked", "length"),
    [({"max_tokens": 7}, 7), ({"max_completion_tokens": 8}, 8), ({"max_tokens": 7, "max_completion_tokens": 8}, 8)],
)
def test_the_length_that_a_client_asks_for_is_sent_under_one_name(
    place: Place, asked: dict[str, int], length: int
) -> None:
    found = sent(place, **asked)
    assert [found[name] for name in ("max_tokens", "max_completion_tokens") if name in found] == [length]


def test_all_of_several_answers_end_though_one_failed(place: Place) -> None:
    said = iter([{"role": "assistant", "content": "x", "tool_calls": 5}])
    place.server.say = lambda body, name: next(said, {"role": "assistant", "content": "yes"})
    asked = {"messages": ASK, "n": 6}
    with pytest.raises(ProviderError, match="none of the dialect"):
        place.runtime.run(complete(place.runtime, place.grant(), asked, lambda: False))
    assert lm.sums(place.folder).outcomes == {"failed": 1, "paid": 5}


@pytest.mark.parametrize(("role", "asked_of"), [("task", "embedding"), ("judge", "judge")])
def test_embeddings_of_the_task_are_those_of_the_model_for_embeddings(place: Place, role: str, asked_of: str) -> None:
    roles: list[str] = []

    def bind(name: str) -> Binding:
        roles.append(name)
        return place.bind(name)

    grant = place.gateway.grant(bind, role, ("q7", 3))
    roles.clear()
    place.runtime.run(embed(place.runtime, grant, ["a text"], {}))
    assert roles == [asked_of]
    assert lm.sums(place.folder, f"sample = 'q7' AND role = '{asked_of}'").outcomes == {"paid": 1}
