"""Keys, hosts and ends: who is let in, and until when."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from typing import Any

import openai
import pytest

from seedbed.errors import BudgetReached
from seedbed.lm.attempts import Binding
from seedbed.lm.gateway import Grant, gateway_of
from tests.support import lm
from tests.unit.lm.gateway.conftest import Place

ASK: Any = [{"role": "user", "content": "Is 4 even?"}]


def _client(place: Place, grant: Grant) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{place.root}/v1", api_key=grant.key, max_retries=0)


def _post(place: Place, headers: dict[str, str]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", place.gateway.port)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": ASK}), headers)
    reply = connection.getresponse()
    told = json.loads(reply.read())
    connection.close()
    return reply.status, told


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer sk-seedbed-none"}, {"Authorization": "Basic eA=="}])
def test_a_wrong_or_missing_key_is_401(place: Place, headers: dict[str, str]) -> None:
    place.grant()
    status, told = _post(place, headers)
    assert (status, told["error"]["code"]) == (401, "invalid_api_key")
    assert place.server.books.requests == 0


def test_a_foreign_host_is_refused_though_its_key_is_right(place: Place) -> None:
    key = {"Authorization": f"Bearer {place.grant().key}"}
    assert _post(place, {**key, "Host": "attacker.example"})[0] == 403
    assert _post(place, {**key, "Host": f"attacker.example:{place.gateway.port}"})[0] == 403
    assert place.server.books.requests == 0
    assert _post(place, {**key, "Host": f"localhost:{place.gateway.port}"})[0] == 200


def test_it_listens_on_loopback_only(place: Place) -> None:
    port = place.gateway.port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for host in others - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((str(host), port)) != 0


def test_a_key_ends_with_its_phase_and_the_server_with_the_last(place: Place) -> None:
    mine = place.grant()
    other = place.gateway.grant(_bind(place, execution="e2", cell="c2"), "task", ("q1", 0))
    assert mine.key != other.key
    assert _client(place, mine).chat.completions.create(model="m", messages=ASK).choices
    place.gateway.end_phase("e1")
    with pytest.raises(openai.AuthenticationError):
        _client(place, mine).chat.completions.create(model="m", messages=ASK)
    assert _client(place, other).chat.completions.create(model="m", messages=ASK).choices
    assert lm.sums(place.folder, "cell = 'c2'").outcomes == {"reused": 1}, "of its own cell, whoever asked first"
    port = place.gateway.port
    place.gateway.end_phase("e2")
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass
    # The next phase that needs it opens it again.
    assert _client(place, place.grant()).chat.completions.create(model="m", messages=ASK).choices


def test_the_end_of_a_phase_gives_up_its_calls(place: Place) -> None:
    place.server.latency_s = 60.0
    grant = place.grant()
    asking = threading.Thread(target=lambda: _quietly(_client(place, grant)))
    asking.start()
    _until(lambda: place.server.books.in_flight == 1)
    place.gateway.end_phase("e1")
    asking.join(45)
    assert not asking.is_alive()
    assert lm.sums(place.folder).outcomes == {"lost": 1}


def test_who_hangs_up_and_asks_again_gets_the_answer_that_was_paid_for(place: Place) -> None:
    place.server.latency_s = 1.0
    impatient = _client(place, place.grant()).with_options(timeout=0.2)
    with pytest.raises(openai.APITimeoutError):
        impatient.chat.completions.create(model="m", messages=ASK)
    assert impatient.with_options(timeout=30).chat.completions.create(model="m", messages=ASK).choices
    assert place.books_agree().outcomes == {"paid": 1, "reused": 1}


def test_a_reached_cap_is_no_error_that_a_client_tries_again_after(place: Place) -> None:
    grant = place.gateway.grant(_bind(place, max_usd=1e-6), "task", ("q1", 0))
    with pytest.raises(openai.APIStatusError) as raised:
        _client(place, grant).with_options(max_retries=3).chat.completions.create(model="m", messages=ASK)
    assert raised.value.status_code == 402
    assert isinstance(place.runtime.stop_reason, BudgetReached)
    assert place.server.books.requests == 0


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/messages/count_tokens"])
def test_what_the_gateway_does_not_have_is_404(place: Place, path: str) -> None:
    reply = place.runtime.run(gateway_of(place.runtime).answer(place.grant(), path, b"{}", lambda: False))
    assert reply.status == 404
    assert b"/v1/chat/completions" in reply.content


def test_the_name_of_the_model_is_told(place: Place) -> None:
    assert [model.id for model in _client(place, place.grant()).models.list()] == ["openai/loop"]


def _bind(place: Place, max_usd: float | None = None, **scope: Any) -> Any:
    caps = () if max_usd is None else lm.caps(max_usd)
    return lambda role: Binding(lm.scope(role=role, **scope), lm.model(place.server), caps)


def _quietly(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIError):
        client.chat.completions.create(model="m", messages=ASK)


def _until(holds: Any) -> None:
    end = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
