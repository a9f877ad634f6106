"""Batches of several processes: each is one's work, what a dead one left is taken over, and ends are heard of; and what
is said once for all where no later try can go better."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seedbed.errors import ProviderError, Unreachable
from seedbed.lm.batches import results
from seedbed.lm.batches.waiting import Again
from seedbed.lm.ledger import batches
from seedbed.lm.ledger.batches import OpenRow
from tests.unit.lm.batches.bench import Bench, Benches

CUT = ProviderError("transport", "reset")
DOWN = ProviderError("server", "HTTP 500: down", status=500)
UNREACHED = ProviderError("transport", "cannot reach it", unsent=True)
NO_BATCHES = ProviderError("invalid_request", "HTTP 405: none", status=405)


@pytest.fixture
def bench(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with benches(monkeypatch) as made:
        yield made


def taken_over(bench: Bench, by: int, state: str | None = None) -> None:
    bench.set(owner=by, **({"state": state} if state else {}))


def end(bench: Bench, attempt: int) -> None:
    """As the process does whose attempt it is."""

    async def written(row: OpenRow) -> None:
        await bench.ledger.end(results.lost(row, "nobody knows"))

    rows = [row for batch in bench.open for row in batches.open_rows(bench.ledger.engine, batch.id)]
    bench.run(written(next(row for row in rows if row.attempt_id == attempt)))


# -- of other processes -----------------------------------------------------------------------------------------------


def test_a_batch_of_a_living_process_is_left_to_it(bench: Bench) -> None:
    bench.running()
    taken_over(bench, bench.another_process().owner)
    bench.later(100.0)
    assert bench.api.count("progress") == 1


@pytest.mark.parametrize("let_go", [True, False])
def test_a_batch_that_is_nobodys_is_taken_over_beside_ones_own(bench: Bench, let_go: bool) -> None:
    bench.running()
    dead = bench.another_process()
    left = bench.batch().id
    taken_over(bench, dead.owner)
    dead.close()
    if let_go:
        bench.set(owner=None)
    bench.ask(2)
    bench.rounds()
    assert [batch.owner for batch in bench.open if batch.id == left] != [bench.ledger.owner], "two seconds are not over"
    bench.later(2.0)
    assert [batch.owner for batch in bench.open] == [bench.ledger.owner] * 2
    asked = bench.api.count("progress")
    bench.later(8.0)
    assert bench.api.count("progress") > asked


def test_who_begins_looks_for_what_others_left(bench: Bench) -> None:
    bench.running()
    bench.set(owner=None)
    bench.poller = bench.another_poller()
    bench.rounds()
    assert bench.batch().owner == bench.ledger.owner
    assert bench.api.count("progress") == 2


def test_ends_that_others_wrote_down_are_heard_of_every_two_seconds(bench: Bench) -> None:
    first, second = bench.running()
    end(bench, first)
    bench.later(1.75)
    assert bench.told(first) is None
    bench.later(0.25)
    assert bench.told(first) == Again()
    end(bench, second)
    bench.later(1.75)
    assert bench.told(second) is None
    bench.later(0.25)
    assert bench.told(second) == Again()


def test_a_batch_that_another_process_took_meanwhile_is_not_created(bench: Bench) -> None:
    other = bench.another_process().owner
    bench.ask(4)
    bench.round()
    bench.api.meanwhile = lambda step: taken_over(bench, other)
    bench.rounds()
    assert bench.api.asked == ["upload", "upload", "create", "cancel"]


def test_what_was_created_for_a_batch_that_another_took_over_is_cancelled(bench: Bench) -> None:
    other = bench.another_process().owner
    bench.ask(2)
    bench.round()
    bench.api.meanwhile = lambda step: taken_over(bench, other, "uploaded")
    bench.rounds()
    assert bench.api.told["cancel"] == ["batch-1"]
    assert (bench.batch().owner, bench.batch().state, bench.batch().provider_id) == (other, "uploaded", None)


# -- for good ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [NO_BATCHES, UNREACHED, ProviderError("auth", "no key", status=401)])
def test_what_no_later_try_can_mend_stops_the_sweep_and_gives_back_what_is_not_sent(
    bench: Bench, error: ProviderError
) -> None:
    other = bench.another_process()
    bench.ask(2, other)
    batches.pack(bench.ledger.engine, other.owner, bench.lane.id, bench.lane.spec, size=2, max_bytes=100)
    bench.ask(2)
    bench.api.answers["upload"] = [error]
    bench.rounds()
    assert [type(stop) for stop in bench.stops] == [Unreachable]
    assert [batch.owner for batch in bench.open] == [other.owner], "what is another's is not taken apart"
    assert bench.outcomes().count(("failed", "NotSent", 0.0)) == 2


def test_what_runs_is_not_taken_apart_by_a_stop(bench: Bench) -> None:
    bench.running()
    bench.ask(2)
    bench.api.answers["upload"] = [NO_BATCHES]
    bench.rounds()
    assert len(bench.stops) == 1
    assert bench.batch().state == "running"
    assert bench.outcomes() == [(None, None, None)] * 2 + [("failed", "NotSent", 0.0)] * 2


def test_what_cannot_be_reached_before_anything_was_said_stops_the_sweep(bench: Bench) -> None:
    bench.ask(2)
    bench.api.answers["upload"] = [CUT, UNREACHED]
    bench.rounds()
    assert not bench.stops
    bench.later(2.0)
    assert [str(stop) for stop in bench.stops] == [
        "openai/loop: cannot reach it. Start the server there, or correct the api_base of the model, and run again."
    ]


def test_a_server_that_answered_with_an_error_may_come_back(bench: Bench) -> None:
    bench.ask(2)
    bench.api.answers["upload"] = [DOWN, UNREACHED, CUT, UNREACHED]
    bench.rounds()
    for _ in range(4):
        bench.later(60.0)
    assert bench.api.count("upload") == 5
    assert not bench.stops


@pytest.mark.parametrize("step", ["upload", "create", "find", "progress"])
def test_a_server_that_did_a_step_may_come_back(bench: Bench, step: str) -> None:
    """Whatever the step was, and by whichever process those before it were made."""
    bench.ask(2)
    states = {"upload": "packed", "create": "uploaded", "find": "creating", "progress": "running"}
    if step != "upload":
        bench.round()
        bench.set(state=states[step], provider_id="batch-1" if step == "progress" else None)
    if step == "find":
        bench.api.answers["find"] = ["batch-1"]
    bench.lane.answered = False
    bench.poller = bench.another_poller()
    following = {"upload": "create", "create": "progress", "find": "progress", "progress": "progress"}[step]
    done = bench.api.answers[step] if step == following else []
    bench.api.answers[following] = [*done, UNREACHED]
    bench.round()
    bench.later(8.0)
    assert bench.api.count(following) >= 1
    assert not bench.stops
