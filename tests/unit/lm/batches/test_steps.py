"""The life of a batch, one step a time: what is on record when, what is tried again, and what ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from seedbed.errors import ProviderError, SweepStopped
from seedbed.lm.batches import poller as poller_module
from seedbed.lm.batches.protocol import Progress
from seedbed.lm.batches.waiting import Again
from seedbed.lm.ledger import batches
from tests.unit.lm.batches.bench import RESERVED, Bench, Benches, reply

DOWN = ProviderError("server", "HTTP 500: down", status=500)
GONE = ProviderError("invalid_request", "HTTP 404: no such batch", status=404)


@pytest.fixture
def bench(benches: Benches, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """`@with_settings(...)` gives the model other settings."""
    with benches(monkeypatch, **getattr(request, "param", {})) as made:
        yield made


def with_settings(**settings: Any) -> Any:
    return pytest.mark.parametrize("bench", [settings], indirect=True, ids=[""])


# -- gathering --------------------------------------------------------------------------------------------------------


def test_a_full_batch_goes_out_at_once_and_runs(bench: Bench) -> None:
    bench.ask(2)
    assert bench.round(), "it was uploaded, and can be created now"
    assert (bench.batch().state, bench.batch().file_id) == ("uploaded", "file-1")
    assert bench.round()
    assert not bench.round(), "what runs waits for the provider"
    assert bench.api.asked == ["upload", "create", "progress"]
    batch = bench.batch()
    assert (batch.state, batch.file_id, batch.provider_id, batch.requests) == ("running", "file-1", "batch-1", 2)
    assert bench.api.told["upload"] == bench.api.told["create"] == [[bench.custom_id(1), bench.custom_id(2)]]
    assert not bench.stops


def test_nothing_to_do_is_no_step(bench: Bench) -> None:
    assert not bench.round()
    assert not bench.api.asked


def test_fewer_wait_for_others_until_the_first_is_old(bench: Bench) -> None:
    bench.ask(1)
    _, first = batches.gathering(bench.ledger.engine, bench.lane.id)
    assert first is not None
    bench.clock.wall = first + 64.0 - 0.5
    bench.rounds()
    assert not bench.open
    bench.clock.wall = first + 64.0
    bench.rounds()
    assert bench.batch().requests == 1


def test_many_go_out_as_several_batches_and_the_rest_waits(bench: Bench) -> None:
    bench.ask(5)
    bench.round()
    assert [batch.requests for batch in bench.open] == [2, 2]


def test_nothing_is_packed_where_nothing_may_be_sent(bench: Bench) -> None:
    bench.ask(2)
    bench.may_send = False
    bench.rounds()
    assert not bench.open
    bench.may_send = True
    bench.rounds()
    assert bench.batch().state == "running"


# -- running ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("poll_s", "pause"), [(0.125, 0.125), (0.5, 0.5), (30.0, 0.5)])
def test_the_poller_looks_round_twice_a_second_or_as_often_as_the_provider_is_asked(
    benches: Benches, monkeypatch: pytest.MonkeyPatch, poll_s: float, pause: float
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError

    with benches(monkeypatch, poll_s=poll_s) as bench:
        bench.ask(2)
        monkeypatch.setattr(poller_module, "asyncio", SimpleNamespace(sleep=sleep))
        with pytest.raises(asyncio.CancelledError):
            bench.run(bench.poller.run())
        assert slept == [pause] * 3
        assert bench.api.asked == ["upload", "create", "progress"], "all that is due comes before the first pause"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationalError("select", None, Exception("disk full")),
         "the ledger cannot be written (disk full); no call is made without it"),
        (RuntimeError("odd"), "the batches of openai/loop cannot be looked after: odd"),
    ],
)  # fmt: skip
def test_a_poller_that_cannot_go_on_stops_the_sweep_and_ends(bench: Bench, error: Exception, said: str) -> None:
    if isinstance(error, OperationalError):
        error.__cause__ = error.orig

    async def broken(work: Any) -> Any:
        raise error

    bench.run(bench.another_poller(broken).run())
    assert [(type(stop), str(stop)) for stop in bench.stops] == [(SweepStopped, said)]


def test_a_running_batch_is_asked_about_again_after_the_pause_of_the_config(bench: Bench) -> None:
    bench.running()
    bench.later(7.75)
    assert bench.api.count("progress") == 1
    bench.api.answers["progress"] = [Progress("busy", False, done=1, failed=0)]
    bench.clock.wall = 5.0
    bench.later(0.25)
    assert bench.api.told["progress"] == ["batch-1", "batch-1"]
    batch = bench.batch()
    assert (batch.provider_status, batch.done, batch.failed, batch.asked_at) == ("busy", 1, 0, 5.0)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("completed", None),
        ("ended", None),
        ("expired", "expired at the provider"),
        ("failed", "failed at the provider"),
    ],
)
def test_a_batch_whose_rows_are_taken_has_ended_and_says_how(bench: Bench, status: str, error: str | None) -> None:
    first, second = bench.running()
    bench.api.rows = [(bench.custom_id(1), reply("a")), (bench.custom_id(2), ProviderError("server", "busy"))]
    bench.api.answers["progress"] = [Progress(status, True, done=1, failed=1, results=("file-2",))]
    bench.clock.wall = 7.0
    bench.later(8.0)
    [ended] = bench.ended()
    assert (ended.state, ended.ended_at, ended.error, ended.done, ended.failed) == ("ended", 7.0, error, 1, 1)
    assert isinstance(bench.told(first), bytes)
    assert isinstance(bench.told(second), ProviderError)
    assert bench.outcomes() == [("paid", None, 0.0), ("failed", "server", 0.0)]


@pytest.mark.parametrize("status", [404, 410])
def test_a_batch_that_the_provider_has_no_more_is_looked_for_and_then_lost(bench: Bench, status: int) -> None:
    first, _ = bench.running()
    bench.api.answers["progress"] = [ProviderError("invalid_request", "HTTP 4xx: gone\0", status=status)]
    bench.later(8.0)
    for _ in range(3):
        bench.later(0.5)
    assert (bench.api.count("progress"), bench.told(first)) == (5, None)
    bench.later(0.5)
    assert bench.outcomes() == [("lost", "BatchGone", RESERVED)] * 2
    assert bench.told(first) == Again()
    [ended] = bench.ended()
    assert ended.error == "HTTP 4xx: gone"
    assert not bench.stops


@with_settings(settle_s=60.0)
def test_what_is_missing_is_looked_for_once_a_second_at_most(bench: Bench) -> None:
    bench.running()
    bench.api.answers["progress"] = [GONE]
    bench.later(8.0)
    bench.later(0.75)
    assert bench.api.count("progress") == 2
    bench.later(0.25)
    assert bench.api.count("progress") == 3


@with_settings(settle_s=2.5)
def test_what_is_missing_and_settles_soon_is_looked_for_four_times(bench: Bench) -> None:
    bench.running()
    bench.api.answers["progress"] = [GONE]
    bench.later(8.0)
    bench.later(0.5)
    assert bench.api.count("progress") == 2
    bench.later(0.125)
    assert bench.api.count("progress") == 3


def test_another_error_is_no_reason_to_give_a_batch_up(bench: Bench) -> None:
    bench.running()
    bench.api.answers["progress"] = [ProviderError("server", "HTTP 500", status=500)]
    for _ in range(8):
        bench.later(60.0)
    assert bench.outcomes() == [(None, None, None)] * 2
    assert bench.batch().state == "running"


def test_results_that_are_missing_are_looked_for_until_they_are_given_up(bench: Bench) -> None:
    first, second = bench.running()
    bench.api.rows = [(bench.custom_id(1), reply("a"))]
    bench.api.answers["progress"] = [Progress("completed", True, done=2, complete=True)]
    bench.later(8.0)
    assert (isinstance(bench.told(first), bytes), bench.told(second)) == (True, None)
    bench.later(1.5)
    assert bench.told(second) is None
    bench.later(0.5)
    assert isinstance(bench.told(second), ProviderError)
    assert bench.outcomes() == [("paid", None, 0.0), ("failed", "malformed", RESERVED)]


# -- what does not go well ---------------------------------------------------------------------------------------------


def test_pauses_after_failures_double_up_to_a_minute_and_begin_anew_after_a_success(bench: Bench) -> None:
    bench.running()
    bench.api.answers["progress"] = [DOWN]
    bench.later(8.0)
    for pause in (2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0):
        asked = bench.api.count("progress")
        bench.later(pause - 0.25)
        assert bench.api.count("progress") == asked
        bench.later(0.25)
        assert bench.api.count("progress") == asked + 1
    bench.api.answers["progress"] = [Progress("in_progress", False), DOWN]
    bench.later(60.0)
    bench.later(8.0)
    asked = bench.api.count("progress")
    bench.later(2.0)
    assert bench.api.count("progress") == asked + 1


@with_settings(backoff_s=0.03125)
def test_pauses_double_ten_times_at_most(bench: Bench) -> None:
    bench.running()
    bench.api.answers["progress"] = [DOWN]
    bench.later(8.0)
    for _ in range(12):
        bench.later(60.0)
    asked = bench.api.count("progress")
    bench.later(31.75)
    assert bench.api.count("progress") == asked
    bench.later(0.25)
    assert bench.api.count("progress") == asked + 1


@pytest.mark.parametrize(("retry_after", "pause"), [(0.5, 2.0), (5.0, 5.0), (120.0, 120.0)])
def test_a_retry_after_that_is_longer_than_the_pause_is_waited_for(
    bench: Bench, retry_after: float, pause: float
) -> None:
    bench.running()
    bench.api.answers["progress"] = [ProviderError("rate_limit", "later", status=429, retry_after=retry_after)]
    bench.later(8.0)
    bench.later(pause - 0.25)
    assert bench.api.count("progress") == 2
    bench.later(0.25)
    assert bench.api.count("progress") == 3


def test_an_upload_that_failed_is_tried_again_and_is_no_step(bench: Bench) -> None:
    bench.ask(2)
    bench.api.answers["upload"] = [DOWN, "file-2"]
    assert not bench.round()
    assert bench.batch().state == "packed"
    bench.later(2.0)
    assert (bench.batch().state, bench.batch().file_id) == ("running", "file-2")
    assert not bench.stops


@pytest.mark.parametrize("step", ["upload", "create"])
@pytest.mark.parametrize(
    ("kind", "status", "hint"),
    [("invalid_request", 422, False), ("context_length", 400, False), ("invalid_request", 413, True),
     ("invalid_request", 414, False)],
)  # fmt: skip
def test_a_batch_that_is_refused_for_good_ends_with_all_its_calls(
    bench: Bench, step: str, kind: Any, status: int, hint: bool
) -> None:
    first, second = bench.ask(2)
    bench.api.answers[step] = [ProviderError(kind, "no", status=status)]
    bench.rounds()
    assert bench.api.count(step) == 1
    assert bench.outcomes() == [("failed", kind, 0.0)] * 2
    said = "no; lower `batch: {size: ...}` of the model" if hint else "no"
    assert str(bench.told(first).message).startswith(said)
    assert isinstance(bench.told(second), ProviderError)
    [ended] = bench.ended()
    assert ended.error.startswith(said)
    assert ("lower `batch" in ended.error) is hint
    assert not bench.stops


@pytest.mark.parametrize(
    ("kind", "status"), [("rate_limit", 429), ("invalid_request", None), ("server", 500), ("timeout", 408)]
)
def test_an_upload_that_may_go_better_is_not_refused(bench: Bench, kind: Any, status: int | None) -> None:
    bench.ask(2)
    bench.api.answers["upload"] = [ProviderError(kind, "no", status=status)]
    bench.rounds()
    assert bench.batch().state == "packed"
    assert bench.outcomes() == [(None, None, None)] * 2
    assert not bench.stops
