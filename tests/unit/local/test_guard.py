"""Whom the local server lets in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from seedbed.local.guard import Guard, Message, Receive, Scope, Send, basic, proof

OWN = {"host": "127.0.0.1:4200"}


async def _prefect(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"prefect"})


def ask(
    guard: Guard,
    path: str = "/api/flows",
    *,
    method: str = "GET",
    kind: str = "http",
    body: bytes = b"",
    **headers: str,
) -> tuple[int, str]:
    """Status and text of the answer; of a websocket, the code it was closed with."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        sent.append(message)

    path, _, query = path.partition("?")
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {
        "type": kind,
        "path": path,
        "method": method,
        "query_string": query.encode(),
        "headers": named,
    }
    asyncio.run(guard(scope, receive, send))
    if sent[0]["type"] == "websocket.close":
        return sent[0]["code"], sent[0]["reason"]
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.fixture
def guard() -> Guard:
    return Guard(_prefect, 4200, "seedbed:word", public="https://lab.example.org")


@pytest.mark.parametrize("host", ["127.0.0.1:4200", "localhost:4200", "LOCALHOST:4200", "lab.example.org"])
def test_its_own_names_are_let_in(guard: Guard, host: str) -> None:
    assert ask(guard, host=host) == (200, "prefect")


@pytest.mark.parametrize(
    "host",
    [
        *("evil.test:4200", "127.0.0.1", "127.0.0.1:4201", "127.0.0.1.evil.test:4200", "", "127.0.0.1.:4200"),
        *("127.1:4200", "2130706433:4200", "[::1]:4200", "127.0.0.1:04200", "me@127.0.0.1:4200", "0:4200"),
        *("127.0.0.1:4200,evil.test", "127.0.0.1:4200/", "lab.example.org:4200", "localhost.evil.test:4200"),
    ],
)
def test_another_name_is_refused(guard: Guard, host: str) -> None:
    assert ask(guard, host=host)[0] == 403


def test_a_request_without_a_name_is_refused(guard: Guard) -> None:
    assert ask(guard)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://127.0.0.1:4201", "https://127.0.0.1:4200", ""])
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_page_of_another_origin_is_refused(guard: Guard, origin: str, kind: str) -> None:
    assert ask(guard, kind=kind, **OWN, origin=origin)[0] in (403, 1008)


def test_a_request_that_a_foreign_page_sends_without_an_origin_is_refused(guard: Guard) -> None:
    assert ask(guard, **OWN, sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="image")[0] == 403


def test_a_link_on_a_foreign_page_leads_to_the_ui(guard: Guard) -> None:
    headers = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert ask(guard, "/", **OWN, **headers) == (200, "prefect")


def test_a_form_of_a_foreign_page_is_refused(guard: Guard) -> None:
    headers = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert ask(guard, method="POST", **OWN, **headers)[0] == 403


def test_a_ticket_is_given_for_the_auth_string_and_taken_once(guard: Guard) -> None:
    assert ask(guard, "/seedbed/ticket", method="POST", **OWN)[0] == 401
    status, ticket = ask(guard, "/seedbed/ticket", method="POST", **OWN, authorization=basic("seedbed:word"))
    assert status == 200
    origin = "http://127.0.0.1:4200"
    redeemed = ask(guard, "/seedbed/login", method="POST", body=ticket.encode(), **OWN, origin=origin)
    assert f"Basic {redeemed[1]}" == basic("seedbed:word")
    assert ask(guard, "/seedbed/login", method="POST", body=ticket.encode(), **OWN, origin=origin)[0] == 401


def test_a_server_proves_that_it_knows_the_auth_string_without_telling_it(guard: Guard) -> None:
    status, told = ask(guard, "/seedbed/proof?nonce=abc", **OWN)
    assert status == 200
    assert proof("seedbed:word", "abc") in told
    assert "word" not in told
