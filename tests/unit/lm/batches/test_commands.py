"""`seedbed batches cancel`, `drop` and `wait`: what is said and done for a batch in each of its states."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from seedbed.errors import ProviderError, Unreachable, UserError
from seedbed.lm.batches import commands, poller
from seedbed.lm.batches.lane import Lane
from seedbed.lm.batches.protocol import Perhaps, Progress
from seedbed.lm.ledger import batches
from seedbed.lm.ledger.batches import Batch
from seedbed.lm.ledger.database import reading, split_owners
from tests.unit.lm.batches.bench import RESERVED, Bench, Benches, reply

FREE = [("failed", "NotSent", 0.0)] * 2
OPEN = [(None, None, None)] * 2
ASKED = "asked to cancel; `seedbed batches wait`, or the next run, takes what was answered"


@pytest.fixture
def bench(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A batch of two that nobody works on, packed; its provider is asked by whoever is to reach its lane."""
    with benches(monkeypatch, poll_s=0.01) as made:
        monkeypatch.setattr(Lane, "api", made.api)
        made.ask(2)
        batches.pack(made.ledger.engine, made.ledger.owner, made.lane.id, made.lane.spec, size=2, max_bytes=100)
        batches.release(made.ledger.engine, made.ledger.owner)
        yield made


@pytest.fixture
def url(bench: Bench) -> str:
    return bench.url


def cancelled(bench: Bench, url: str, chosen: Sequence[Batch] | None = None) -> list[str]:
    said: list[str] = []
    commands.cancel(url, bench.open if chosen is None else chosen, lambda batch, what: said.append(what))
    return said


def dropped(bench: Bench, url: str) -> list[str]:
    said: list[str] = []
    commands.drop(url, bench.open, lambda batch, what: said.append(what))
    return said


@pytest.mark.parametrize("state", ["packed", "uploaded"])
def test_a_batch_that_was_never_sent_is_taken_apart(bench: Bench, url: str, state: str) -> None:
    bench.set(state=state)
    assert cancelled(bench, url) == ["was never sent: 2 requests are free again"]
    assert (bench.outcomes(), bench.open, bench.api.asked) == (FREE, [], [])


def test_one_that_is_just_being_sent_is_left_to_who_sends_it(bench: Bench, url: str) -> None:
    bench.set(owner=bench.ledger.owner)
    assert cancelled(bench, url) == ["is just being sent by another process; stop that one, or try again in a moment"]
    assert (bench.outcomes(), bench.api.asked) == (OPEN, [])


@pytest.mark.parametrize("looked_after", [True, False])
def test_one_that_runs_is_cancelled_whoever_looks_after_it(bench: Bench, url: str, looked_after: bool) -> None:
    bench.set(state="running", provider_id="batch-7", owner=bench.ledger.owner if looked_after else None)
    assert cancelled(bench, url) == [ASKED]
    assert bench.api.told["cancel"] == ["batch-7"]
    assert bench.outcomes() == OPEN, "what was answered is still to be taken"


def test_one_that_was_sent_since_it_was_looked_at_is_cancelled_too(bench: Bench, url: str) -> None:
    before = bench.open
    bench.set(state="running", provider_id="batch-7")
    assert cancelled(bench, url, before) == [ASKED]
    assert bench.api.told["cancel"] == ["batch-7"]


def test_one_whose_creation_was_cut_off_is_looked_for_and_cancelled(bench: Bench, url: str) -> None:
    bench.set(state="creating")
    bench.api.answers["find"] = ["batch-7"]
    packed_at = bench.batch().packed_at
    assert cancelled(bench, url) == ["was found at the provider and asked to cancel"]
    assert bench.api.told["find"] == [(2, packed_at, set())]
    assert bench.api.told["cancel"] == ["batch-7"]
    assert (bench.batch().state, bench.batch().provider_id) == ("running", "batch-7")


def test_one_that_may_run_at_the_provider_is_not_taken_apart(bench: Bench, url: str) -> None:
    bench.set(state="creating")
    bench.api.answers["find"] = [Perhaps()]
    assert cancelled(bench, url) == ["cannot be told yet from others at the provider; try again when those have ended"]
    assert (bench.outcomes(), bench.api.count("cancel")) == (OPEN, 0)
    # The command has gone, and does not keep it from others.
    assert batches.lease(bench.ledger.engine, bench.ledger.owner, bench.batch().id) is not None


def test_one_that_the_provider_does_not_have_was_never_sent(bench: Bench, url: str) -> None:
    bench.set(state="creating")
    assert cancelled(bench, url) == ["was never sent: 2 requests are free again"]
    assert (bench.outcomes(), bench.api.asked) == (FREE, ["find"])


def test_a_provider_that_cannot_be_asked_is_said_in_a_sentence(bench: Bench, url: str) -> None:
    bench.set(state="running", provider_id="batch-7")
    bench.api.answers["cancel"] = [ProviderError("server", "HTTP 500: down", status=500)]
    with pytest.raises(UserError, match=r"^the provider could not be asked to cancel \(HTTP 500: down\); try again\.$"):
        cancelled(bench, url)


def test_what_runs_is_dropped_at_its_worst_case(bench: Bench, url: str) -> None:
    bench.set(state="running", provider_id="batch-7")
    assert dropped(bench, url) == [
        "dropped; 2 requests count as lost, at their worst case, and are asked again by the next run"
    ]
    assert bench.outcomes() == [("lost", "BatchGone", RESERVED)] * 2
    [ended] = bench.ended()
    assert (ended.state, ended.error) == ("ended", "dropped")
    assert not bench.api.asked


@pytest.mark.parametrize("state", ["packed", "uploaded"])
def test_what_was_never_sent_is_free_when_it_is_dropped(bench: Bench, url: str, state: str) -> None:
    bench.set(state=state)
    assert dropped(bench, url) == ["was never sent: 2 requests are free again"]
    assert bench.outcomes() == FREE


def test_what_a_process_looks_after_is_not_dropped(bench: Bench, url: str) -> None:
    bench.set(owner=bench.ledger.owner, state="running", provider_id="batch-7")
    assert dropped(bench, url) == ["another process looks after it; stop that one first"]
    assert bench.outcomes() == OPEN


@pytest.fixture
def moving(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    """Time that passes, and a look at the batches every moment."""
    monkeypatch.setattr(commands, "_LOOK_S", 0.01)
    monkeypatch.setattr(poller, "time", time)


def waited(bench: Bench, url: str, chosen: set[str] | None = None) -> list[list[str]]:
    left: list[list[str]] = []
    names = {batch.id for batch in bench.open} if chosen is None else chosen
    commands.wait_for(url, names, lambda found: left.append([batch.id for batch in found]))
    return left


def test_who_waits_is_told_what_is_left_until_all_answers_are_on_record(bench: Bench, url: str, moving: None) -> None:
    name = bench.batch().id
    bench.set(state="running", provider_id="batch-7")
    bench.api.answers["progress"] = [Progress("in_progress", False), Progress("completed", True, 2, complete=True)]
    bench.api.rows = [(bench.custom_id(1), reply()), (bench.custom_id(2), reply())]
    left = waited(bench, url)
    assert left == [[name]] * len(left) != []
    assert [outcome for outcome, _, _ in bench.outcomes()] == ["paid", "paid"]
    assert not bench.open


def test_nobody_waits_for_batches_that_were_not_chosen(bench: Bench, url: str, moving: None) -> None:
    assert waited(bench, url, {"another"}) == []
    assert not bench.api.asked


def test_who_waits_hears_why_it_cannot_go_on(bench: Bench, url: str, moving: None) -> None:
    bench.set(state="running", provider_id="batch-7")
    bench.api.answers["progress"] = [ProviderError("auth", "HTTP 401: no key", status=401)]
    with pytest.raises(Unreachable, match="refused the key"):
        waited(bench, url)


@pytest.mark.parametrize("command", [cancelled, dropped, lambda bench, url: waited(bench, url, {"another"})])
def test_a_command_that_is_done_is_at_work_on_the_ledger_no_more(
    bench: Bench, url: str, command: Callable[[Bench, str], object]
) -> None:
    bench.set(state="running", provider_id="batch-7")
    command(bench, url)
    with reading(bench.ledger.engine) as connection:
        assert split_owners(connection)[0] == [bench.ledger.owner]
