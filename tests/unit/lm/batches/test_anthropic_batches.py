"""Batches in Anthropic's words: what is sent, how one is found again by its results, what those mean."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.batches.anthropic_api import AnthropicBatches
from seedbed.lm.batches.anthropic_messages import MessagesCodec
from seedbed.lm.batches.protocol import Perhaps, Progress, RowsRefused
from seedbed.lm.ledger.batches import Batch
from seedbed.sweep.model_config import ModelConfig
from tests.unit.lm.batches.serving import Asked, failing, serving

SINCE = 100_000.0
HOUR = 3600.0
ROOT = "/v1/messages/batches"
LIST = f"{ROOT}?limit=100"
OURS = [{"custom_id": "k-ours", "result": {}}]
THEIRS = [{"custom_id": "k-theirs", "result": {}}]


def batch(requests: int = 2) -> Batch:
    return Batch("ours", "l", "{}", "creating", 1, requests, None, None, None, 0, 0, SINCE, None, None, None)


def using(answers: Any, work: Callable[[AnthropicBatches, Asked], Coroutine[Any, Any, Any]], **changes: Any) -> Any:
    async def go() -> Any:
        async with serving(answers) as server:
            model = {"model": "anthropic/claude", "api_base": f"{server.url}/v1/", **changes}
            api = AnthropicBatches(ModelConfig.model_validate(model))
            try:
                return await work(api, server)
            finally:
                await api.aclose()

    return asyncio.run(go())


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body's own words for its parameters and the features that it needs."""

    async def encode(self: MessagesCodec, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if "error" in body:
            raise ProviderError("invalid_request", body["error"])
        return body["params"], body.get("features", "")

    monkeypatch.setattr(MessagesCodec, "encode", encode)


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/messages"])
def test_an_address_leads_to_the_batches_however_far_it_goes(end: str) -> None:
    async def go() -> list[str]:
        async with serving({f"{ROOT}/b%2F1/cancel": {}}) as server:
            api = AnthropicBatches(
                ModelConfig.model_validate({"model": "anthropic/claude", "api_base": server.url + end})
            )
            await api.cancel("b/1")
            await api.aclose()
            return server.paths

    assert asyncio.run(go()) == [f"POST {ROOT}/b%2F1/cancel"]


def test_all_requests_are_sent_in_one_call_with_the_features_that_they_need(encoded: None) -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        assert await api.upload(batch(), []) is None
        rows = [
            ("a", {"params": {"n": 1}, "features": "files, cache"}),
            ("b", {"params": {"n": 2}, "features": "files,"}),
        ]
        made = await api.create(batch(), rows)
        assert server.body == {
            "requests": [{"custom_id": "a", "params": {"n": 1}}, {"custom_id": "b", "params": {"n": 2}}]
        }
        assert await api.create(batch(), [("c", {"params": {}})]) == made
        return made, [headers.get("anthropic-beta") for headers in server.headers], server.headers[0]

    made, features, headers = using({ROOT: {"id": "msgbatch-1"}}, work)
    assert (made, features) == ("msgbatch-1", ["cache,files", None])
    assert (headers["anthropic-version"], "x-api-key" in headers) == ("2023-06-01", False)


def test_requests_that_cannot_be_put_are_named_and_nothing_is_sent(encoded: None) -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        rows = [("a", {"params": {}}), ("b", {"error": "no"}), ("c", {"error": "never"})]
        return await failing(api.create(batch(), rows)), server.paths

    error, paths = using({}, work)
    assert isinstance(error, RowsRefused)
    assert {name: one.message for name, one in error.refused.items()} == {"b": "no", "c": "never"}
    assert paths == []


def test_a_response_without_an_id_is_malformed(encoded: None) -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return await failing(api.create(batch(), []))

    assert using({ROOT: {"id": 7}}, work).message == "the response names no id"


def test_the_loop_has_a_turn_between_requests(encoded: None) -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        turns: list[str] = []

        async def other() -> None:
            for _ in range(3):
                turns.append("other")
                await asyncio.sleep(0)

        def rows() -> Any:
            for name in "abc":
                turns.append(name)
                yield name, {"params": {}}

        await asyncio.gather(other(), api.create(batch(), rows()))
        return turns

    assert using({ROOT: {"id": "m"}}, work)[:6] == ["other", "a", "other", "b", "other", "c"]


@pytest.mark.parametrize(
    ("changes", "key"),
    [({}, None), ({"api_key_env": "OWN_KEY"}, "sk-own"), ({"api_key_env": "NO_KEY"}, None)],
)
def test_a_server_of_ones_own_gets_the_key_that_the_config_names(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], key: str | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-anthropic")
    monkeypatch.setenv("OWN_KEY", "sk-own")
    monkeypatch.delenv("NO_KEY", raising=False)

    async def work(api: AnthropicBatches, server: Asked) -> Any:
        await api.cancel("b")
        return server.headers[0].get("x-api-key")

    assert using({f"{ROOT}/b/cancel": {}}, work, **changes) == key


def test_the_providers_own_address_gets_the_providers_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-anthropic")
    api: Any = AnthropicBatches(ModelConfig.model_validate({"model": "anthropic/claude"}))
    assert api._url == "https://api.anthropic.com/v1/messages/batches"
    assert api._headers()["x-api-key"] == "sk-anthropic"


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def one(name: Any = "b", *, at: float = SINCE, count: int | None = 2, ended: bool = True) -> dict[str, Any]:
    counts = {} if count is None else {"request_counts": {"processing": 1, "succeeded": count - 1}}
    return {"id": name, "created_at": iso(at), "processing_status": "ended" if ended else "in_progress", **counts}


def found(*listed: dict[str, Any], known: tuple[str, ...] = (), **results: Any) -> Any:
    """What is found in a list, with results by name of batch."""

    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return await api.find(batch(), SINCE, known)

    pages = {LIST: {"data": list(listed), "has_more": False}}
    return using({**pages, **{f"{ROOT}/{name}/results": lines for name, lines in results.items()}}, work)


def test_a_batch_is_known_by_the_ids_in_its_results() -> None:
    assert found(one("a"), one("b"), a=THEIRS, b=OURS) == "b"
    assert found(one("a"), a=THEIRS) is None
    assert found(one("a"), a=[]) is None
    assert found(one("a"), a=["{cut"]) is None


def test_one_that_still_runs_may_be_ours_and_one_that_has_ended_is_looked_into_first() -> None:
    assert found(one("a", ended=False)) == Perhaps()
    assert found(one("a", ended=False), one("b"), b=OURS) == "b"
    assert found(one("a", ended=False), one("b"), b=THEIRS) == Perhaps()
    assert found(one(7)) == Perhaps()


@pytest.mark.parametrize(
    ("other", "may_be"),
    [
        (one("a", ended=False, count=3), False),
        (one("a", ended=False, count=None), True),
        (one("a", ended=False, at=SINCE - HOUR), True),
        (one("a", ended=False, at=SINCE - HOUR - 1), False),
        ({"id": "a", "processing_status": "in_progress"}, True),
    ],
)
def test_what_has_other_counts_or_is_older_by_an_hour_is_not_ours(other: dict[str, Any], may_be: bool) -> None:
    assert (found(other) == Perhaps()) is may_be


def test_a_batch_that_we_know_is_another() -> None:
    assert found(one("a", ended=False), known=("a",)) is None
    assert found(one("a"), known=("a",), a=OURS) is None


@pytest.mark.parametrize("status", [404, 410])
def test_results_that_are_gone_are_nobodys(status: int) -> None:
    assert found(one("a"), one("b"), a=status, b=OURS) == "b"


def test_results_that_cannot_be_had_now_are_asked_for_again_later() -> None:
    for status in (403, 405, 411, 500):
        with pytest.raises(ProviderError):
            found(one("a"), a=status)


@pytest.mark.parametrize(
    ("first", "more", "goes_on"),
    [
        ([one("a", at=SINCE + 5, count=3), one("z", count=3)], True, True),
        ([one("a", at=SINCE + 5, count=3), one("z", count=3)], False, False),
        ([], True, False),
        ([one("a", at=SINCE + 5, count=3), one("z", at=SINCE - HOUR, count=3)], True, True),
        ([one("a", at=SINCE + 5, count=3), one("z", at=SINCE - HOUR - 1, count=3)], True, False),
    ],
)
def test_pages_are_turned_until_all_were_seen_or_they_are_older_by_an_hour(
    first: list[dict[str, Any]], more: bool, goes_on: bool
) -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return await api.find(batch(), SINCE, ()), server.paths

    pages = {LIST: {"data": first, "has_more": more}, f"{ROOT}/mine/results": OURS}
    if goes_on:
        pages[f"{LIST}&after_id=z"] = {"data": [one("mine")], "has_more": False}
    name, paths = using(pages, work)
    assert name == ("mine" if goes_on else None)
    assert len([path for path in paths if "limit" in path]) == 1 + goes_on


@pytest.mark.parametrize("status", ["in_progress", "canceling", "ended"])
def test_progress_is_in_the_providers_words(status: str) -> None:
    counts = {"processing": 1, "succeeded": 20, "errored": 3, "expired": 5, "canceled": 7}

    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return await api.progress("b"), await api.progress("c")

    answers = {f"{ROOT}/b": {"processing_status": status, "request_counts": counts},
               f"{ROOT}/c": {"processing_status": status}}  # fmt: skip
    told, bare = using(answers, work)
    assert (told.status, told.done, told.failed) == (status, 20, 15)
    assert told.ended is told.complete is (status == "ended")
    assert told.why.kind == "malformed"
    assert (bare.done, bare.failed) == (0, 0)


MESSAGE = {"type": "message", "content": []}


@pytest.mark.parametrize(
    ("result", "kind", "message", "unsent"),
    [
        ({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}},
         "server", "overloaded_error: m", False),
        ({"type": "errored", "error": {"type": "invalid_request_error", "message": "m"}},
         "invalid_request", "invalid_request_error: m", False),
        ({"type": "errored", "error": {"type": "authentication_error", "message": "m"}},
         "auth", "authentication_error: m", False),
        ({"type": "errored", "error": {"type": "rate_limit_error", "message": "m"}},
         "rate_limit", "rate_limit_error: m", False),
        ({"type": "errored", "error": {"type": "unheard_of", "message": "m" * 400}},
         "server", ("unheard_of: " + "m" * 400)[:300], False),
        ({"type": "expired"}, "timeout", "the batch expired before this request was answered", True),
        ({"type": "canceled"}, "server", "the batch was cancelled before this request was answered", False),
        ({"type": "succeeded", "message": None}, "malformed", "the result of this request cannot be read", False),
        ({"type": "odd"}, "malformed", "the result of this request cannot be read", False),
        (None, "malformed", "the result of this request cannot be read", False),
    ],
)  # fmt: skip
def test_a_row_that_failed_says_why(result: Any, kind: str, message: str, unsent: bool) -> None:
    [(name, error)] = rows({"custom_id": "a", "result": result})
    assert isinstance(error, ProviderError)
    assert (name, error.kind, error.message, error.unsent) == ("a", kind, message, unsent)


def test_an_error_of_an_unknown_kind_is_the_servers() -> None:
    [(_, error)] = rows({"custom_id": "a", "result": {"type": "errored", "error": {"type": "unheard_of"}}})
    assert error.status == 500


def rows(*lines: Any) -> list[Any]:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return [row async for row in api.results("b", Progress("ended", True))]

    return using({f"{ROOT}/b/results": list(lines)}, work)


def test_rows_are_read_by_custom_id_and_others_passed_over() -> None:
    good = {"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}}
    assert rows(good, "{cut", "[1]", {"custom_id": 7}, {"result": {}}) == [("a", MESSAGE)]


def test_a_line_may_be_as_long_as_a_reply() -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        return [name async for name, _ in api.results("b", Progress("ended", True))]

    lines = [{"custom_id": name, "result": {"type": "succeeded", "message": {"x": "y" * size}}}
             for name, size in (("short", 5), ("long", 300_000), ("last", 5))]  # fmt: skip
    assert using({f"{ROOT}/b/results": lines}, work, max_reply_mb=1.0) == ["short", "long", "last"]
    assert using({f"{ROOT}/b/results": lines}, work, max_reply_mb=0.001) == ["short", "last"]


def test_no_connection_stays_open_behind_it() -> None:
    async def work(api: AnthropicBatches, server: Asked) -> Any:
        await api.cancel("b")
        await api.aclose()
        with pytest.raises(RuntimeError, match="closed"):
            await api.cancel("b")

    using({f"{ROOT}/b/cancel": {}}, work)
