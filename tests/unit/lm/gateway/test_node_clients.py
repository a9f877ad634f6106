"""The official clients in JavaScript against the gateway, over the socket: node runs once for all their forms."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm
from tests.support.loopback import Loopback
from tests.support.tool_model import say
from tests.unit.lm.gateway.conftest import Place

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]
PACKAGES = ROOT / "examples" / "node_agent"
SCRIPT = ROOT / "tests" / "support" / "node_clients.js"
FAILURES = {"400": "context_length", "429": "rate_limit", "500": "server"}
CLIENTS = ("openai", "anthropic")
TOOLS = [["look_up", ["word"]], ["count", ["word"]]]


@dataclass
class Said:
    """What came of each form, and the places that were asked."""

    forms: dict[str, Any]
    places: dict[str, Place]
    failing: dict[str, dict[str, Place]]


@pytest.fixture(scope="module")
def said() -> Iterator[Said]:
    _need_packages()
    with ExitStack() as stack:
        places = {client: stack.enter_context(_place()) for client in CLIENTS}
        failing = {
            client: {status: stack.enter_context(_place(fault)) for status, fault in FAILURES.items()}
            for client in CLIENTS
        }
        given: dict[str, Any] = {client: _address(place) for client, place in places.items()}
        given["failing"] = {
            client: {**{status: _address(place) for status, place in own.items()}, "401": _strange(places[client])}
            for client, own in failing.items()
        }
        ran = subprocess.run(
            ["node", str(SCRIPT)], input=json.dumps(given), cwd=PACKAGES, capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, ran.stderr
        yield Said(json.loads(ran.stdout), places, failing)


@contextmanager
def _place(fault: str | None = None) -> Iterator[Place]:
    """Before a model with tools; with a fault, the first time that each request comes."""
    faults = {} if fault is None else {fault: 1.0}
    with (
        tempfile.TemporaryDirectory() as folder,
        Loopback(say=say, faults=faults, max_faults=1) as server,
        lm.runtime(Path(folder), server) as runtime,
    ):
        yield Place(Path(folder), server, runtime)


def _address(place: Place) -> dict[str, str]:
    return {"root": place.root, "key": place.grant().key}


def _strange(place: Place) -> dict[str, str]:
    return {"root": place.root, "key": "sk-nobody"}


def _need_packages() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    wanted = "require('openai'); require('@anthropic-ai/sdk')"
    if subprocess.run(["node", "-e", wanted], cwd=PACKAGES, capture_output=True).returncode != 0:
        pytest.skip("the npm packages are not installed: npm install in examples/node_agent")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_says_the_same_as_a_plain_answer(said: Said, client: str) -> None:
    plain, streamed = said.forms[client]["plain"], said.forms[client]["streamed"]
    text = plain["choices"][0]["message"]["content"] if client == "openai" else plain["content"][0]["text"]
    assert text
    assert streamed["text"] == text
    if client == "openai":
        assert streamed["usage"] == plain["usage"]
    else:
        assert streamed["stop_reason"] == plain["stop_reason"] == "end_turn"
        assert streamed["usage"]["output_tokens"] == plain["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("form", ["tools", "streamed_tools"])
def test_tools_in_two_rounds(said: Said, client: str, form: str) -> None:
    found = said.forms[client][form]
    assert found["called"] == TOOLS
    assert found["last"].endswith("look_up done count done")
    assert found["more"] == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_structured_output_fits_its_schema(said: Said, client: str) -> None:
    found = said.forms[client]["structured"]
    assert found["even"] is True
    assert isinstance(found["reason"], str)


def test_responses_and_embeddings(said: Said) -> None:
    found = said.forms["openai"]
    assert found["responses"]
    assert found["streamed_responses"] == found["responses"]
    assert found["embeddings"] == [[0, 8], [1, 8]]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("400", "BadRequestError"),
        ("401", "AuthenticationError"),
        ("429", "RateLimitError"),
        ("500", "InternalServerError"),
    ],
)
def test_an_error_is_one_of_the_clients_own_and_its_retry_is_an_attempt(
    said: Said, client: str, status: str, name: str
) -> None:
    found = said.forms[f"{client}_failures"][status]
    assert (found["first"]["name"], found["first"]["status"]) == (name, int(status))
    if status == "429":
        assert float(found["first"]["after"]) == 0.02
    if status == "401":
        assert found["then"]["status"] == 401, "a client's retries do not make a key a right one"
        return
    assert found["then"] is None, "the second time it is answered"
    assert said.failing[client][status].books_agree().outcomes == {"failed": 1, "paid": 1}


@pytest.mark.parametrize(("client", "paid", "reused"), [("openai", 10, 2), ("anthropic", 8, 1)])
def test_every_call_is_in_the_ledger_to_the_token(said: Said, client: str, paid: int, reused: int) -> None:
    assert said.places[client].books_agree().outcomes == {"paid": paid, "reused": reused}
