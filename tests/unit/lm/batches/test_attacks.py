"""Providers that answer late, twice, by half or with nonsense: no request is paid twice, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from seedbed.errors import Interrupted
from seedbed.lm.ledger import Cap
from tests.support.batch_loopback import BatchLoopback, Made
from tests.support.lm import PRICE, dollars, runtime, scope, sums
from tests.unit.lm.batches.conftest import ask, batched, in_full, start
from tests.unit.lm.batches.test_poller import PATIENCE_S, until


class Odd(BatchLoopback):
    """Puts what `twist` gives in the place of a list of result lines, and what `told` gives in that of a batch."""

    twist: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = staticmethod(lambda lines: lines)
    told: Callable[[dict[str, Any]], dict[str, Any]] = staticmethod(lambda batch: batch)

    async def _rows(self, request: web.BaseRequest, lines: list[dict[str, Any]]) -> web.StreamResponse:
        return await super()._rows(request, self.twist(lines))

    def _batch(self, made: Made) -> dict[str, Any]:
        return self.told(super()._batch(made))

    def _message_batch(self, made: Made) -> dict[str, Any]:
        return self.told(super()._message_batch(made))


def _first_times(step: str, times: int, error: Callable[[], BaseException]) -> Callable[[str], None]:
    left = [times]

    def at(name: str) -> None:
        if name == step and left[0] > 0:
            left[0] -= 1
            raise error()

    return at


def _all_paid_once(folder: Path, server: BatchLoopback, count: int) -> None:
    found = sums(folder)
    assert (found.outcomes, found.at_risk_usd) == ({"paid": count}, 0.0)
    assert server.books.answered == count
    assert found.spent_usd == pytest.approx(dollars(server.books.tokens_in, server.books.tokens_out) / 2)


def test_results_that_are_not_there_yet_are_not_given_up(tmp_path: Path, protocol: dict[str, Any]) -> None:
    settings = in_full(4, batch={"settle_s": 30}, **protocol)
    with BatchLoopback() as server, runtime(tmp_path, server, **settings) as made:
        server.at = _first_times("download", 3, web.HTTPNotFound)
        assert all(isinstance(answer, list) for answer in ask(made, 4))
        assert len(server.made) == 1
    _all_paid_once(tmp_path, server, 4)


def test_a_creation_that_is_answered_with_an_error_after_the_deed_is_not_repeated(
    tmp_path: Path, protocol: dict[str, Any]
) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **in_full(4, **protocol)) as made:
        server.at = _first_times("created", 1, web.HTTPInternalServerError)
        assert all(isinstance(answer, list) for answer in ask(made, 4))
        assert len(server.made) == 1
    _all_paid_once(tmp_path, server, 4)


def test_rows_that_stand_twice_in_the_results_count_once(tmp_path: Path, protocol: dict[str, Any]) -> None:
    with Odd() as server, runtime(tmp_path, server, **batched(**protocol)) as made:
        server.twist = lambda lines: [*lines, *lines]
        assert all(isinstance(answer, list) for answer in ask(made, 6))
    _all_paid_once(tmp_path, server, 6)


def test_results_that_are_shorter_than_the_counts_are_fetched_again(tmp_path: Path, protocol: dict[str, Any]) -> None:
    cut = [2]

    def shorter(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        cut[0] -= 1
        return lines[:2] if cut[0] >= 0 else lines

    settings = in_full(5, batch={"settle_s": 30}, **protocol)
    with Odd() as server, runtime(tmp_path, server, **settings) as made:
        server.twist = shorter
        assert all(isinstance(answer, list) for answer in ask(made, 5))
        assert len(server.made) == 1
    _all_paid_once(tmp_path, server, 5)


def test_a_row_that_never_comes_is_at_risk_and_asked_again(tmp_path: Path, protocol: dict[str, Any]) -> None:
    def without_the_first(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return lines[1:] if len(server.made) == 1 else lines

    with Odd() as server, runtime(tmp_path, server, **batched(**protocol)) as made:
        server.twist = without_the_first
        assert all(isinstance(answer, list) for answer in ask(made, 5))
    found = sums(tmp_path)
    assert found.outcomes == {"paid": 5, "failed": 1}
    assert found.at_risk_usd > 0
    # What the server billed is between what is known to be spent and what may be.
    billed = dollars(server.books.tokens_in, server.books.tokens_out) / 2
    assert found.spent_usd < billed <= found.spent_usd + found.at_risk_usd


def test_a_batch_that_says_completed_before_it_names_files_or_counts_is_asked_about_again(tmp_path: Path) -> None:
    early = [3]

    def without_files(batch: dict[str, Any]) -> dict[str, Any]:
        if batch["status"] != "completed" or early[0] == 0:
            return batch
        early[0] -= 1
        return {**batch, "output_file_id": None, "request_counts": None}

    with Odd() as server, runtime(tmp_path, server, **batched(batch={"settle_s": 30})) as made:
        server.told = without_files
        assert all(isinstance(answer, list) for answer in ask(made, 5))
        assert len(server.made) == 1
    _all_paid_once(tmp_path, server, 5)


@pytest.mark.parametrize(
    "odd",
    [{"request_counts": [1]}, {"request_counts": {"completed": "many", "failed": {}}}, {"errors": "none"},
     {"errors": [{"code": "x"}]}, {"metadata": "x"}, {"metadata": ["x"]}, {"created_at": "of late"},
     {"output_file_id": 5}, {"id": 7}, {"status": None}, {"processing_status": 7}],
    ids=str,
)  # fmt: skip
def test_fields_of_an_odd_kind_break_nothing(tmp_path: Path, protocol: dict[str, Any], odd: dict[str, Any]) -> None:
    """They come for a while, in the reply to a creation that is cut off, in lists and when a batch is asked about."""
    left = [4]

    def twisted(batch: dict[str, Any]) -> dict[str, Any]:
        left[0] -= 1
        return {**batch, **odd} if left[0] >= 0 else batch

    settings = batched(batch={"settle_s": 30}, **protocol)
    with Odd(looks=1) as server, runtime(tmp_path, server, **settings) as made:
        server.at = _first_times("created", 1, web.HTTPInternalServerError)
        server.told = twisted
        assert all(isinstance(answer, list) for answer in start(made, 4).result(PATIENCE_S))
        assert len(server.made) == 1
    _all_paid_once(tmp_path, server, 4)


def test_a_batch_that_is_too_large_for_the_server_says_what_makes_it_smaller(
    tmp_path: Path, protocol: dict[str, Any]
) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **batched(**protocol)) as made:
        server.at = _first_times("create", 1, lambda: web.HTTPRequestEntityTooLarge(max_size=1, actual_size=2))
        answers = start(made, 3).result(PATIENCE_S)
    assert all("lower `batch: {size: ...}` of the model" in str(answer) for answer in answers)
    assert sums(tmp_path).outcomes == {"failed": 3}
    assert sums(tmp_path).at_risk_usd == 0.0


def test_an_answer_without_content_may_have_been_billed_and_is_asked_again(tmp_path: Path) -> None:
    def emptied(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        said = {"status_code": 200, "request_id": "r", "body": None}
        return [{**lines[0], "response": said}, *lines[1:]] if len(server.made) == 1 else lines

    with Odd() as server, runtime(tmp_path, server, **batched()) as made:
        server.twist = emptied
        assert all(isinstance(answer, list) for answer in ask(made, 4))
    found = sums(tmp_path)
    assert found.outcomes == {"paid": 4, "failed": 1}
    assert found.at_risk_usd > 0


def test_a_file_that_is_gone_when_its_batch_is_to_be_made_is_uploaded_anew(tmp_path: Path) -> None:
    """Killed after the upload, started again when the provider has dropped the file."""
    with BatchLoopback() as server:
        with runtime(tmp_path, server, **batched()) as made:
            server.at = _first_times("create", 10**6, lambda: web.HTTPTooManyRequests())
            asked = start(made, 4)
            until(lambda: server.asked["create"])
            made.stop(Interrupted("enough"))
            asked.result(PATIENCE_S)
        server.at = None
        server.files.clear()
        server.files["file-x"] = b""  # so that no new file takes the old name
        with runtime(tmp_path, server, **batched()) as made:
            assert all(isinstance(answer, list) for answer in ask(made, 4, execution="e2"))
    found = sums(tmp_path)
    assert found.outcomes["paid"] == 4 == server.books.answered
    assert found.at_risk_usd == 0.0


def test_a_request_that_cannot_be_put_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seedbed.errors import ProviderError
    from seedbed.lm.batches.anthropic_messages import MessagesCodec

    real = MessagesCodec.encode

    async def encode(self: MessagesCodec, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if "Is 2 even?" in str(body):
            raise ProviderError("invalid_request", "litellm cannot put the request")
        return await real(self, body)

    monkeypatch.setenv("LOOP_KEY", "a-key-of-nobody")
    monkeypatch.setattr(MessagesCodec, "encode", encode)
    settings = batched(model="anthropic/claude-loop", api_key_env="LOOP_KEY")
    with BatchLoopback() as server, runtime(tmp_path, server, **settings) as made:
        answers = start(made, 4).result(PATIENCE_S)
    assert [isinstance(answer, list) for answer in answers] == [True, True, False, True]
    assert "litellm cannot put the request" in str(answers[2])
    assert sums(tmp_path).outcomes == {"paid": 3, "failed": 1}


def test_a_cell_at_its_own_cap_does_not_keep_others_from_their_batches(tmp_path: Path) -> None:
    one = 200 * PRICE["output"] / 2e6
    with BatchLoopback() as server, runtime(tmp_path, server, **batched()) as made:
        poor = made.lm(scope(cell="poor"), (Cap("cell:poor", 0.5 * one),))
        with pytest.raises(Exception, match="could take the cell past its"):
            made.run(poor.acall("too dear"))
        rich = asyncio.run_coroutine_threadsafe(made.lm(scope(cell="rich")).acall("go"), made.loop)
        assert isinstance(rich.result(PATIENCE_S), list)


def test_half_of_a_batch_that_expired_is_paid_and_the_rest_asked_again(
    tmp_path: Path, protocol: dict[str, Any], each_ledger: str
) -> None:
    with BatchLoopback(fail={"expired": 0.5}) as server, runtime(tmp_path, server, **batched(**protocol)) as made:
        assert all(isinstance(answer, list) for answer in ask(made, 10))
    found = sums(tmp_path)
    assert found.outcomes["paid"] == 10 == server.books.answered
    assert found.outcomes["failed"] > 0
    assert found.at_risk_usd == 0.0
