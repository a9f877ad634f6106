"""A batch whose process is gone, or whose creation was cut off, is found again and never made twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from seedbed.errors import Interrupted, Unreachable
from seedbed.lm.ledger.batch_views import view_batches
from seedbed.lm.ledger.database import open_database
from tests.support import lm
from tests.support.batch_loopback import BatchLoopback
from tests.support.lm import model, runtime, scope, sums
from tests.support.loopback import Loopback
from tests.unit.lm.batches.conftest import ask, batched, in_full, start

PATIENCE_S = 60.0


def until(state: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not state():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.005)


def _views(folder: Path, **more: Any) -> list[Any]:
    engine = open_database(lm.ledger_url(folder))
    try:
        return view_batches(engine, **more)
    finally:
        engine.dispose()


def _cut_off(server: BatchLoopback, step: str, times: int = 1) -> None:
    """The reply to a step is lost, though it was done if its name says so."""
    left = [times]

    def at(name: str) -> None:
        if name == step and left[0] > 0:
            left[0] -= 1
            raise ConnectionResetError

    server.at = at


@pytest.mark.parametrize("keeps_metadata", [True, False])
def test_a_batch_whose_creation_was_cut_off_is_found_and_not_made_again(
    tmp_path: Path, protocol: dict[str, Any], keeps_metadata: bool
) -> None:
    with (
        BatchLoopback(keeps_metadata=keeps_metadata) as server,
        runtime(tmp_path, server, **in_full(4, **protocol)) as made,
    ):
        _cut_off(server, "created")
        answers = ask(made, 4)
        assert all(isinstance(answer, list) for answer in answers)
        assert len(server.made) == 1
    assert sums(tmp_path).outcomes == {"paid": 4}
    assert server.books.answered == 4


def test_a_batch_that_was_never_made_is_made_when_it_is_not_found(tmp_path: Path, protocol: dict[str, Any]) -> None:
    with BatchLoopback() as server, runtime(tmp_path, server, **in_full(4, **protocol)) as made:
        _cut_off(server, "create", times=2)
        assert all(isinstance(answer, list) for answer in ask(made, 4))
        assert len(server.made) == 1
    assert sums(tmp_path).outcomes == {"paid": 4}


def test_a_stop_leaves_batches_running_and_the_next_run_takes_their_answers(tmp_path: Path, each_ledger: str) -> None:
    with BatchLoopback() as server:
        server.hold = True
        with runtime(tmp_path, server, **in_full(6)) as made:
            asked = start(made, 6)
            until(lambda: server.asked["poll"])
            assert "waiting for batch, 0 of 6" in str(made.batches.words("c"))
            made.stop(Interrupted("stopped by the user"))
            assert all("stopped by the user" in str(answer) for answer in asked.result(PATIENCE_S))
        assert sums(tmp_path).in_flight == 6
        (view,) = _views(tmp_path)
        assert (view.requests, view.taken, view.ended, view.at_work, view.sweeps) == (6, 0, False, False, ("s",))
        server.hold = False
        with runtime(tmp_path, server, **in_full(6)) as made:
            assert all(isinstance(answer, list) for answer in ask(made, 6, execution="e2"))
        assert len(server.made) == 1
    # The first execution's calls were paid, the second's are answered by them.
    assert sums(tmp_path).outcomes == {"paid": 6, "reused": 6}
    assert server.books.answered == 6
    (view,) = _views(tmp_path, ended=True)
    assert (view.taken, view.ended) == (6, True)


def test_what_only_gathered_ends_unsent_at_a_stop(tmp_path: Path) -> None:
    with BatchLoopback() as server:
        with runtime(tmp_path, server, **batched(batch={"age_s": 600})) as made:
            asked = start(made, 3)
            until(lambda: sums(tmp_path).in_flight == 3)
            made.stop(Interrupted("enough"))
            asked.result(PATIENCE_S)
            until(lambda: sums(tmp_path).outcomes == {"failed": 3})
        assert sums(tmp_path).at_risk_usd == 0.0
        assert not server.made


def test_normal_calls_wait_for_what_a_batch_will_answer_and_pay_nothing(tmp_path: Path) -> None:
    with BatchLoopback() as server:
        server.hold = True
        with runtime(tmp_path, server, **in_full(3)) as made:
            start(made, 3)
            until(lambda: server.asked["poll"])
            made.stop(Interrupted("enough"))
        server.hold = False
        with runtime(tmp_path, server, batch=batched()["batch"]) as made:  # `service: batch` was taken out
            assert all(isinstance(answer, list) for answer in ask(made, 3, execution="e2"))
        assert server.online == 0
    assert sums(tmp_path).outcomes == {"paid": 3, "reused": 3}


def test_two_processes_share_a_batch_and_each_gets_its_answers(tmp_path: Path, each_ledger: str) -> None:
    # Two runtimes are two writers of the ledger, as two processes are.
    settings = batched(batch={"size": 8, "age_s": 600})
    with BatchLoopback() as server, runtime(tmp_path, server, **settings) as one:
        with runtime(tmp_path, server, **settings) as other:
            asked = start(one, 5)
            until(lambda: sums(tmp_path).in_flight == 5)
            others = [asyncio.run_coroutine_threadsafe(_odd(other, n), other.loop) for n in range(3)]
            assert all(isinstance(answer, list) for answer in asked.result(PATIENCE_S))
            assert all(isinstance(answer.result(PATIENCE_S), list) for answer in others)
        assert [len(batch.rows) for batch in server.made.values()] == [8]
    assert sums(tmp_path).outcomes == {"paid": 8}


async def _odd(made: Any, number: int) -> Any:
    return await made.lm(scope(cell="d")).acall(f"Is {number} odd?")


@pytest.mark.parametrize("status", [404, 405, 501])
@pytest.mark.parametrize("path", ["/files", "/batches"])
def test_a_server_without_batches_stops_the_sweep_with_a_sentence_that_helps(
    tmp_path: Path, status: int, path: str
) -> None:
    class No(BatchLoopback):
        async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
            if request.path.endswith(path):
                return web.json_response({"error": {"message": "no such thing"}}, status=status)
            return await super()._handle(request)

    with No() as server:
        with runtime(tmp_path, server, **batched(batch={"size": 2})) as made:
            start(made, 3).result(PATIENCE_S)
            assert isinstance(made.stop_reason, Unreachable)
            assert "has no batches" in str(made.stop_reason)
            assert "Remove `service: batch`" in str(made.stop_reason)
        assert sums(tmp_path).outcomes == {"failed": 3}, "what nobody was sent waits for nothing"
        assert not _views(tmp_path)
        with runtime(tmp_path, server) as made:
            assert all(isinstance(answer, list) for answer in start(made, 3, execution="e2").result(PATIENCE_S))
    assert sums(tmp_path).at_risk_usd == 0.0


def test_a_creation_that_was_cut_off_where_batches_are_not_listed_counts_as_lost(tmp_path: Path) -> None:
    class Unlisted(BatchLoopback):
        async def _batches(self, request: web.BaseRequest) -> web.StreamResponse:
            if request.method == "GET":
                raise web.HTTPMethodNotAllowed("GET", ["POST"])
            return await super()._batches(request)

    with Unlisted() as server, runtime(tmp_path, server, **batched()) as made:
        _cut_off(server, "created")
        assert all(isinstance(answer, list) for answer in start(made, 4).result(PATIENCE_S))
    found = sums(tmp_path)
    assert found.outcomes == {"lost": 4, "paid": 4}
    assert found.at_risk_usd > 0


def test_models_without_batches_are_refused() -> None:
    with Loopback() as server, pytest.raises(ValueError, match="no batches are known of offline/reader"):
        model(server, model="offline/reader", service="batch")
