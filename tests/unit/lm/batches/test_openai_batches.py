"""Batches in OpenAI's words: what is sent, how one is found again, what its progress and its results mean."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.batches.openai_api import OpenAIBatches
from seedbed.lm.batches.protocol import Progress
from seedbed.lm.ledger.batches import Batch
from seedbed.sweep.model_config import ModelConfig
from tests.unit.lm.batches.serving import Asked, failing, serving

SINCE = 100_000.0
HOUR = 3600.0
LIST = "/v1/batches?limit=100"


def batch(file: str | None = "file-1") -> Batch:
    return Batch("ours", "l", "{}", "creating", 1, 2, file, None, None, 0, 0, SINCE, None, None, None)


def using(answers: Any, work: Callable[[OpenAIBatches, Asked], Coroutine[Any, Any, Any]], **changes: Any) -> Any:
    async def go() -> Any:
        async with serving(answers) as server:
            model = {"model": "openai/org/loop", "api_base": f"{server.url}/v1", **changes}
            api = OpenAIBatches(ModelConfig.model_validate(model))
            try:
                return await work(api, server)
            finally:
                await api.aclose()

    return asyncio.run(go())


def test_requests_are_handed_over_as_a_file_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", "sk-1")

    async def work(api: OpenAIBatches, server: Asked) -> Any:
        rows = [("a-ours", {"messages": [], "model": "openai/org/loop"}), ("b-ours", {"n": 1})]
        return await api.upload(batch(None), rows), server

    name, server = using({"/v1/files": {"id": "file-7"}}, work, api_key_env="OWN_KEY")
    assert name == "file-7"
    assert server.paths == ["POST /v1/files"]
    assert server.headers[0]["authorization"] == "Bearer sk-1"
    content = server.contents[0]
    assert b'name="purpose"' in content
    assert b'name="file"; filename="seedbed-ours.jsonl"' in content
    lines = [json.loads(line) for line in content.splitlines() if line.startswith(b'{"custom_id"')]
    assert lines == [
        {"custom_id": "a-ours", "method": "POST", "url": "/v1/chat/completions",
         "body": {"messages": [], "model": "org/loop"}},
        {"custom_id": "b-ours", "method": "POST", "url": "/v1/chat/completions", "body": {"n": 1, "model": "org/loop"}},
    ]  # fmt: skip


def test_a_batch_is_made_of_its_file_and_bears_our_name() -> None:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        return await api.create(batch(), []), server.body, server.headers

    name, body, headers = using({"/v1/batches": {"id": "batch-7"}}, work)
    assert (name, "authorization" in headers[0]) == ("batch-7", False)
    assert body == {
        "input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h",
        "metadata": {"seedbed_batch": "ours"},
    }  # fmt: skip


def test_a_response_without_an_id_is_malformed() -> None:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        return await failing(api.create(batch(), []))

    error = using({"/v1/batches": {"id": 7}}, work)
    assert (error.kind, error.message) == ("malformed", "the response names no id")


def found(pages: dict[str, Any], file: str | None = "file-1") -> tuple[Any, list[str]]:
    """What is found in such pages, and which were looked at."""

    async def work(api: OpenAIBatches, server: Asked) -> Any:
        return await api.find(batch(file), SINCE, ()), server.paths

    return using(pages, work)


@pytest.mark.parametrize(
    ("one", "name"),
    [
        ({"metadata": {"seedbed_batch": "ours"}}, "b"),
        ({"metadata": {"seedbed_batch": "ours"}, "input_file_id": "file-2"}, "b"),
        ({"metadata": None, "input_file_id": "file-1"}, "b"),
        ({"metadata": {"seedbed_batch": "another"}, "input_file_id": "file-2"}, None),
        ({"metadata": "x"}, None),
        ({}, None),
    ],
)
def test_a_batch_is_known_by_our_name_or_by_its_file(one: dict[str, Any], name: str | None) -> None:
    assert found({LIST: {"data": [{"id": "b", "created_at": SINCE, **one}]}})[0] == name


def test_without_a_file_of_ours_no_other_batch_without_one_is_taken_for_it() -> None:
    assert found({LIST: {"data": [{"id": "b", "created_at": SINCE}]}}, file=None)[0] is None


def page(*made: float, more: bool = True) -> dict[str, Any]:
    return {"data": [{"id": f"b{at:g}", "created_at": at} for at in made], "has_more": more}


@pytest.mark.parametrize(
    ("first", "goes_on"),
    [
        (page(SINCE + 5, SINCE), True),
        (page(SINCE + 5, SINCE, more=False), False),
        (page(), False),
        (page(SINCE + 5, SINCE - HOUR), True),
        (page(SINCE + 5, SINCE - HOUR - 1), False),
    ],
)
def test_pages_are_turned_until_all_were_seen_or_they_are_older_by_an_hour(
    first: dict[str, Any], goes_on: bool
) -> None:
    after = f"{LIST}&after=b{first['data'][-1]['created_at']:g}" if first["data"] else LIST
    last = {"data": [{"id": "mine", "created_at": SINCE, "metadata": {"seedbed_batch": "ours"}}], "has_more": False}
    name, paths = found({LIST: first, after: last} if goes_on else {LIST: first})
    assert (name, len(paths)) == (("mine", 2) if goes_on else (None, 1))


def test_a_batch_of_an_unknown_age_is_no_old_one() -> None:
    pages = {LIST: {"data": [{"id": "x"}], "has_more": True}, f"{LIST}&after=x": page(more=False)}
    assert found(pages) == (None, [f"GET {LIST}", f"GET {LIST}&after=x"])


def progress(**said: Any) -> Progress:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        return await api.progress("b/1")

    return using({"/v1/batches/b%2F1": said}, work)


def test_progress_is_in_the_providers_words() -> None:
    counts = {"total": 9, "completed": 5, "failed": 2}
    running = progress(status="in_progress", request_counts=counts)
    assert running == Progress("in_progress", False, 5, 2)
    assert progress(status="validating") == Progress("validating", False)
    assert Progress("validating", False) == Progress("validating", False, 0, 0, None, (), False, ())


@pytest.mark.parametrize(
    ("status", "kind", "complete"),
    [("completed", "malformed", True), ("expired", "timeout", False), ("cancelled", "server", False),
     ("failed", "invalid_request", False)],
)  # fmt: skip
def test_what_has_ended_says_where_its_results_are_and_what_a_row_without_one_means(
    status: str, kind: str, complete: bool
) -> None:
    ended = progress(status=status, output_file_id="out", error_file_id="err")
    assert ended.why is not None
    assert (ended.ended, ended.complete, ended.why.kind, ended.results) == (True, complete, kind, ("out", "err"))
    assert ended.why.unsent is (status == "expired")
    assert progress(status=status, output_file_id=None, error_file_id="err").results == ("err",)


def test_the_lines_at_fault_are_told_with_their_reasons() -> None:
    faults = [{"code": "bad", "line": 3, "message": "no model"}, {"code": "worse"}, {"line": "x"}, {"line": 4}]
    ended = progress(status="failed", errors={"data": faults})
    assert ended.refused == ((3, "no model"), (4, "None"))
    assert ended.why is not None
    assert ended.why.message == "the batch was refused: no model; worse; None"


def test_a_batch_refused_without_a_reason_says_so() -> None:
    why = progress(status="failed", errors=None).why
    assert why is not None
    assert why.message == "the batch was refused: no reason given"


def results(*lines: Any) -> list[Any]:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        ended = Progress("completed", True, results=("out", "e/1"))
        return [row async for row in api.results("b", ended)]

    return using({"/v1/files/out/content": list(lines), "/v1/files/e%2F1/content": []}, work)


def test_rows_are_read_by_custom_id_and_others_passed_over() -> None:
    body = {"choices": []}
    good = {"custom_id": "a", "response": {"status_code": 200, "body": body}}
    assert results(good, "{cut", "[1]", {"custom_id": 7}, {"response": {}}) == [("a", body)]


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ({"response": {"status_code": 200, "body": None}}, "malformed", "the response has no content"),
        ({"response": {"status_code": 201, "body": {"error": {"message": "m"}}}}, "invalid_request", "HTTP 201: m"),
        ({"response": {"status_code": 400, "body": {"error": {"message": "m"}}}}, "invalid_request", "HTTP 400: m"),
        ({"response": {"status_code": 429, "body": {"error": {"message": "m"}}}}, "rate_limit", "HTTP 429: m"),
        ({"response": {"body": {"error": {"message": "m"}}}}, "server", "HTTP 500: m"),
        ({"error": {"code": "batch_expired", "message": "m"}}, "server", "batch_expired: m"),
        ({"error": {}}, "server", "no response: the batch has no response to this request"),
        ({"error": "x", "response": None}, "server", "no response: the batch has no response to this request"),
    ],
)
def test_a_row_that_failed_says_why(line: dict[str, Any], kind: str, message: str) -> None:
    [(name, error)] = results({"custom_id": "a", **line})
    assert isinstance(error, ProviderError)
    assert (name, error.kind, error.message) == ("a", kind, message)


def test_a_line_may_be_as_long_as_a_reply() -> None:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        return [name async for name, _ in api.results("b", Progress("completed", True, results=("out",)))]

    rows = [{"custom_id": name, "response": {"status_code": 200, "body": {"x": "y" * size}}}
            for name, size in (("short", 5), ("long", 300_000), ("last", 5))]  # fmt: skip
    assert using({"/v1/files/out/content": rows}, work, max_reply_mb=1.0) == ["short", "long", "last"]
    assert using({"/v1/files/out/content": rows}, work, max_reply_mb=0.001) == ["short", "last"]


def test_a_batch_is_cancelled_under_its_name() -> None:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        await api.cancel("b/1")
        return server.paths

    assert using({"/v1/batches/b%2F1/cancel": {}}, work) == ["POST /v1/batches/b%2F1/cancel"]


def test_the_query_of_an_address_stays_behind_what_is_asked_there() -> None:
    async def go() -> list[str]:
        async with serving({f"{LIST.partition('?')[0]}?api-version=1&limit=100": page(more=False)}) as server:
            model = {"model": "openai/loop", "api_base": f"{server.url}/v1?api-version=1"}
            api = OpenAIBatches(ModelConfig.model_validate(model))
            assert await api.find(batch(), SINCE, ()) is None
            await api.aclose()
            return server.paths

    assert asyncio.run(go()) == ["GET /v1/batches?api-version=1&limit=100"]


def test_no_connection_stays_open_behind_it() -> None:
    async def work(api: OpenAIBatches, server: Asked) -> Any:
        await api.cancel("b")
        await api.aclose()
        with pytest.raises(RuntimeError, match="closed"):
            await api.cancel("b")

    using({"/v1/batches/b/cancel": {}}, work)
