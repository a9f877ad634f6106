"""The labelling page is for who has its link: no other host, page or token gets in."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.local.label_server import TOKEN_HEADER, LabelServer


class Book:
    """Work that remembers what it was asked."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, int | None]] = []

    def page(self, at: int | None) -> dict[str, Any]:
        return {"at": at or 0, "secret": "an answer"}

    def label(self, at: int, mark: int | None) -> None:
        if at > 9:
            raise IndexError(at)
        self.marks.append((at, mark))


@pytest.fixture
def server() -> Iterator[LabelServer]:
    with LabelServer(Book(), 0) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def _ask(
    server: LabelServer, path: str, body: Any = None, *, token: bool = True, **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    sent = {TOKEN_HEADER: server.token} if token else {}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else body if isinstance(body, str) else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, data, sent)
    reply = connection.getresponse()
    found = reply.status, reply.read().decode(), reply.headers
    connection.close()
    return found


def test_the_link_holds_the_token_where_no_request_shows_it(server: LabelServer) -> None:
    assert server.link == f"http://127.0.0.1:{server.server_port}/#{server.token}"
    status, text, headers = _ask(server, "/", token=False)
    assert status == 200
    assert server.token not in text
    assert "an answer" not in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert headers["X-Frame-Options"] == "DENY"


def test_items_and_marks_need_the_token(server: LabelServer) -> None:
    assert _ask(server, "/item")[0] == 200
    assert _ask(server, "/label", {"at": 3, "mark": 1})[0] == 200
    for path, body in (("/item", None), ("/label", {"at": 3, "mark": 1})):
        assert _ask(server, path, body, token=False)[0] == 401
        assert _ask(server, path, body, token=False, **{TOKEN_HEADER: "x" * 43})[0] == 401
    assert server.work.marks == [(3, 1)]  # type: ignore[attr-defined]


def test_another_name_of_this_machine_is_refused(server: LabelServer) -> None:
    for host in ("evil.example", f"localhost:{server.server_port}", f"127.0.0.1.nip.io:{server.server_port}"):
        assert _ask(server, "/item", Host=host)[0] == 403


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}]
)
def test_requests_of_other_pages_are_refused_even_with_the_token(server: LabelServer, headers: dict[str, str]) -> None:
    assert _ask(server, "/label", {"at": 1, "mark": 1}, **headers)[0] == 403
    assert _ask(server, "/item", **headers)[0] == 403
    assert server.work.marks == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '{"at": 1}', '{"at": -1, "mark": 1}', '{"at": 1, "mark": 9}', '{"at": true, "mark": 1}',
     '{"at": 99, "mark": 1}', "x" * 2000],
)  # fmt: skip
def test_what_is_no_mark_is_refused_and_nothing_is_kept(server: LabelServer, body: str) -> None:
    assert _ask(server, "/label", body)[0] == 400
    assert server.work.marks == []  # type: ignore[attr-defined]


def test_a_place_must_be_a_number_and_other_pages_are_not_there(server: LabelServer) -> None:
    assert _ask(server, "/item?at=one")[0] == 400
    assert _ask(server, "/labels.jsonl")[0] == 404


def test_a_port_that_is_taken_is_one_sentence(server: LabelServer) -> None:
    with pytest.raises(UserError, match=f"--port {server.server_port}: cannot be used"):
        LabelServer(Book(), server.server_port)
