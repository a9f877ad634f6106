"""What the batch APIs share: objects and lines of any length, errors in the words of all providers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from seedbed.errors import ProviderError
from seedbed.lm.batches import http as http_module
from seedbed.lm.batches.http import BatchHttp, as_counts, as_object, as_objects, parsed_line
from tests.unit.lm.batches.serving import failing, serving


def made(base: str, max_line: int = 100) -> BatchHttp:
    return BatchHttp(base, lambda: {"x-key": "k"}, max_line)


def asked(status: int, content: bytes, headers: dict[str, str] | None = None) -> Any:
    """What becomes of such a reply: an object or an error."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, body=content, headers=headers)

    async def go() -> Any:
        async with serving(answer) as server:
            http = made(server.url)
            try:
                return await http.ask("GET", server.url)
            except ProviderError as error:
                return error
            finally:
                await http.aclose()

    return asyncio.run(go())


def lines_of(parts: Sequence[bytes], max_line: int = 100, status: int = 200) -> list[bytes]:
    """Lines of a reply that comes in such parts."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        reply = web.StreamResponse(status=status)
        await reply.prepare(request)
        for part in parts:
            await reply.write(part)
            await asyncio.sleep(0.002)
        return reply

    async def go() -> list[bytes]:
        async with serving(answer) as server:
            http = made(server.url, max_line)
            try:
                return [line async for line in http.lines(server.url)]
            finally:
                await http.aclose()

    return asyncio.run(go())


@pytest.mark.parametrize("status", [200, 201, 299])
def test_an_object_is_read_under_any_status_of_success(status: int) -> None:
    assert asked(status, b'{"id": "b"}') == {"id": "b"}


@pytest.mark.parametrize(("status", "kind"), [(300, "invalid_request"), (404, "invalid_request"), (500, "server")])
def test_another_status_is_an_error_with_what_it_says(status: int, kind: str) -> None:
    error = asked(status, b'{"error": {"message": "not now"}}', {"Retry-After": "7"})
    assert (error.kind, error.status, error.retry_after) == (kind, status, 7.0)
    assert "not now" in error.message or "redirected" in error.message


def test_nobody_is_led_elsewhere_with_the_key() -> None:
    error = asked(302, b"", {"Location": "http://elsewhere.example/"})
    assert error.status == 302
    assert "redirected to http://elsewhere.example/" in error.message


def test_results_are_not_fetched_from_elsewhere_either() -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/results":
            raise web.HTTPFound("/elsewhere")
        return web.Response(text="a line of another")

    async def go() -> tuple[ProviderError, list[str]]:
        async with serving(answer) as server:
            http = made(server.url)
            try:
                return await failing(_first(http.lines(f"{server.url}/results"))), server.paths
            finally:
                await http.aclose()

    error, paths = asyncio.run(go())
    assert (error.status, paths) == (302, ["GET /results"])


async def _first(lines: AsyncIterator[bytes]) -> bytes:
    return await anext(lines)


@pytest.mark.parametrize("content", [b"", b"[1]", b'"x"', b'{"id": '])
def test_what_is_no_object_is_a_malformed_answer(content: bytes) -> None:
    error = asked(200, content)
    assert (error.kind, error.message) == ("malformed", "the response is not a JSON object")


def test_an_answer_is_read_whole_up_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    long = b'{"id": "' + b"x" * 300_000 + b'"}'
    assert len(asked(200, long)["id"]) == 300_000
    monkeypatch.setattr(http_module, "_MAX_ANSWER", len(long))
    assert len(asked(200, long)["id"]) == 300_000
    monkeypatch.setattr(http_module, "_MAX_ANSWER", len(long) - 1)
    assert asked(200, long).kind == "malformed"
    # What comes behind it is not read.
    monkeypatch.setattr(http_module, "_MAX_ANSWER", len(long))
    assert len(asked(200, long + b"y" * 300_000)["id"]) == 300_000


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"one\ntwo"], [b"one", b"two"]),
        ([b"o", b"ne\nt", b"wo", b"\n"], [b"one", b"two"]),
        ([b"one\n\n  \ntwo\n"], [b"one", b"two"]),
        ([b"\n", b"  "], []),
        ([], []),
    ],
)
def test_lines_come_as_they_are_however_they_are_cut(parts: list[bytes], lines: list[bytes]) -> None:
    assert lines_of(parts) == lines


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"x" * 10, b"\n", b"after\n"], [b"x" * 10, b"after"]),
        ([b"x" * 11, b"rest\n", b"after\n"], [b"after"]),
        ([b"before\n" + b"x" * 11, b"rest", b"rest\nafter\nlast"], [b"before", b"after", b"last"]),
        ([b"x" * 11, b"rest"], []),
        ([b"x" * 11, b"rest\n", b"last"], [b"last"]),
    ],
)
def test_a_line_longer_than_a_reply_may_be_is_left_out(parts: list[bytes], lines: list[bytes]) -> None:
    assert lines_of(parts, max_line=10) == lines


def test_lines_of_another_status_are_an_error() -> None:
    with pytest.raises(ProviderError) as raised:
        lines_of([b'{"error": {"message": "gone"}}'], status=410)
    assert (raised.value.status, "gone" in raised.value.message) == (410, True)
    with pytest.raises(ProviderError):
        lines_of([b"x"], status=201)


def test_who_cannot_be_reached_was_sent_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

        async def go() -> ProviderError:
            http = made(url)
            try:
                return await failing(http.ask("GET", url))
            finally:
                await http.aclose()

        error = asyncio.run(go())
    assert (error.kind, error.unsent) == ("transport", True)
    assert error.message.startswith(f"cannot reach {url}: ")


def test_who_hangs_up_may_have_been_sent_something() -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def go() -> ProviderError:
        async with serving(answer) as server:
            http = made(server.url)
            try:
                return await failing(http.ask("GET", server.url))
            finally:
                await http.aclose()

    error = asyncio.run(go())
    assert (error.kind, error.unsent) == ("transport", False)


def test_who_does_not_answer_in_time_may_have_been_sent_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "_ANSWER_S", 0.01)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async def go() -> tuple[ProviderError, str]:
        async with serving(answer) as server:
            http = made(server.url)
            try:
                return await failing(http.ask("GET", server.url)), server.url
            finally:
                await http.aclose()

    error, url = asyncio.run(go())
    assert (error.kind, error.message, error.unsent) == ("timeout", f"{url} did not answer in time", False)


@pytest.mark.parametrize(("base", "by_proxy"), [("http://127.0.0.1:9", False), ("https://api.openai.com", True)])
def test_one_session_serves_all_and_a_proxy_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, base: str, by_proxy: bool
) -> None:
    trusted: list[bool] = []
    sessions: list[aiohttp.ClientSession] = []
    real = aiohttp.ClientSession

    def session(*, trust_env: bool) -> aiohttp.ClientSession:
        trusted.append(trust_env)
        sessions.append(real())
        return sessions[-1]

    monkeypatch.setattr(http_module.aiohttp, "ClientSession", session)

    async def go() -> None:
        http = made(base)
        await http.aclose()
        async with serving({"/": {"id": "b"}}) as server:
            assert await http.ask("GET", server.url) == await http.ask("GET", server.url) == {"id": "b"}
            assert [headers["x-key"] for headers in server.headers] == ["k", "k"]
            await http.aclose()
        assert sessions[0].closed

    asyncio.run(go())
    assert trusted == [by_proxy]


def test_what_a_provider_puts_in_the_place_of_something_is_read_as_nothing() -> None:
    assert [as_object(value) for value in ({"a": 1}, [1], "x", None)] == [{"a": 1}, {}, {}, {}]
    assert as_objects([{"a": 1}, 5, {}]) == [{"a": 1}, {}]
    assert as_objects({"a": 1}) == as_objects(None) == []
    assert as_counts({"a": 1, "b": "2", "c": None}) == {"a": 1}
    assert as_counts([1]) == {}
    assert [parsed_line(line) for line in (b'{"a": 1}', b"[1]", b'{"a"')] == [{"a": 1}, None, None]
