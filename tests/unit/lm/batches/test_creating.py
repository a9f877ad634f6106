"""A batch is made once: what becomes of one whose creation is refused, cut off, or done by a process that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from seedbed.errors import ProviderError, Unreachable
from seedbed.lm.batches.protocol import Perhaps, RowsRefused
from seedbed.lm.ends import unsent_end
from seedbed.lm.ledger import batches
from tests.unit.lm.batches.bench import RESERVED, Bench, Benches

CUT = ProviderError("transport", "reset")
DOWN = ProviderError("server", "HTTP 500: down", status=500)


@pytest.fixture
def bench(benches: Benches, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """`@with_settings(...)` gives the model other settings."""
    with benches(monkeypatch, **getattr(request, "param", {})) as made:
        yield made


def with_settings(**settings: Any) -> Any:
    return pytest.mark.parametrize("bench", [settings], indirect=True, ids=[""])


def cut_off(bench: Bench) -> None:
    """A batch of two whose creation nobody saw the end of, two seconds ago."""
    bench.ask(2)
    bench.api.answers["create"] = [CUT, "batch-2"]
    bench.rounds()
    assert bench.batch().state == "creating"
    bench.clock.now += 2.0


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ProviderError("server", "x", status=500), "creating"),
        (ProviderError("timeout", "x"), "creating"),
        (ProviderError("transport", "x"), "creating"),
        (ProviderError("malformed", "x"), "creating"),
        (ProviderError("transport", "x", unsent=True), "uploaded"),
        (ProviderError("rate_limit", "x", status=429), "uploaded"),
        (ProviderError("invalid_request", "x"), "uploaded"),
    ],
    ids=str,
)
def test_a_creation_of_which_nobody_knows_whether_it_was_done_is_not_simply_repeated(
    bench: Bench, error: ProviderError, state: str
) -> None:
    bench.ask(2)
    bench.api.answers["create"] = [error, "batch-2"]
    bench.rounds()
    assert bench.batch().state == state
    assert not bench.stops
    bench.later(2.0)
    assert bench.api.count("find") == (state == "creating")
    assert bench.api.count("create") == 1 + (state == "uploaded")


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_batches_is_sent_nothing_and_what_waits_is_given_back(bench: Bench, status: int) -> None:
    bench.ask(2)
    bench.api.answers["create"] = [ProviderError("server" if status > 500 else "invalid_request", "no", status=status)]
    bench.rounds()
    assert bench.outcomes() == [("failed", "NotSent", 0.0)] * 2
    [stop] = bench.stops
    assert isinstance(stop, Unreachable)
    remedy = "Remove `service: batch` of the model, or correct its api_base, and run again."
    assert str(stop) == f"openai/loop: the server has no batches (no). {remedy}"


def test_a_batch_whose_requests_have_all_ended_is_not_made(bench: Bench) -> None:
    asked = bench.ask(2)
    bench.round()
    for row in batches.open_rows(bench.ledger.engine, bench.batch().id):
        bench.run(_ended(bench, row))
    bench.rounds()
    assert bench.api.asked == ["upload"]
    [ended] = bench.ended()
    assert ended.error == "nothing left to ask"
    assert len(asked) == 2


async def _ended(bench: Bench, row: batches.OpenRow) -> None:
    await bench.ledger.end(unsent_end(row.attempt_id, row.begin))


def test_requests_that_cannot_be_put_fail_and_the_others_are_sent(bench: Bench) -> None:
    first, second = bench.ask(2)
    bench.round()
    refused = RowsRefused({bench.custom_id(1): ProviderError("invalid_request", "no such field")})
    assert (refused.kind, str(refused), refused.unsent) == ("invalid_request", "1 requests cannot be put", True)
    bench.api.answers["create"] = [refused, "batch-1"]
    bench.rounds()
    assert bench.told(first).message == "no such field"
    assert bench.told(second) is None
    assert bench.outcomes() == [("failed", "invalid_request", 0.0), (None, None, None)]
    assert bench.api.told["create"][1] == [bench.custom_id(2)]
    assert bench.batch().state == "running"


@pytest.mark.parametrize(("status", "again"), [(400, True), (404, True), (401, False), (422, False)])
def test_a_file_of_a_process_that_is_gone_is_uploaded_anew_where_the_provider_has_it_no_more(
    bench: Bench, status: int, again: bool
) -> None:
    bench.ask(2)
    bench.round()
    bench.poller = bench.another_poller()
    bench.api.answers |= {
        "create": [ProviderError("auth" if status == 401 else "invalid_request", "no file", status=status), "batch-1"],
        "upload": ["file-2"],
    }
    bench.rounds()
    assert bench.api.count("upload") == 1 + again
    assert [(batch.state, batch.file_id) for batch in bench.open] == ([("running", "file-2")] if again else [])


def test_a_file_that_was_just_uploaded_is_not_to_blame(bench: Bench) -> None:
    bench.ask(2)
    bench.api.answers["create"] = [ProviderError("invalid_request", "no", status=400)]
    bench.rounds()
    assert bench.api.asked == ["upload", "create"]
    assert bench.outcomes() == [("failed", "invalid_request", 0.0)] * 2


def test_a_batch_without_a_file_is_not_uploaded_again(bench: Bench) -> None:
    bench.api.answers |= {"upload": [None], "create": [ProviderError("invalid_request", "no", status=400)]}
    bench.ask(2)
    bench.round()
    bench.poller = bench.another_poller()
    bench.rounds()
    assert bench.api.count("upload") == 1
    assert [ended.error for ended in bench.ended()] == ["no"]


# -- looking for what was cut off -------------------------------------------------------------------------------------


def test_a_batch_that_is_found_runs_on_under_its_id(bench: Bench) -> None:
    cut_off(bench)
    bench.api.answers["find"] = ["batch-7"]
    packed_at = bench.batch().packed_at
    bench.rounds()
    assert (bench.batch().state, bench.batch().provider_id) == ("running", "batch-7")
    assert bench.api.told["find"] == [(2, packed_at, set())]
    assert bench.api.count("create") == 1


@with_settings(settle_s=4.0)
def test_a_batch_that_is_not_found_is_made_again_when_it_was_looked_for_long_enough(bench: Bench) -> None:
    cut_off(bench)
    bench.rounds()
    bench.later(0.75)
    assert bench.api.count("find") == 1
    bench.later(0.25)
    assert bench.api.count("find") == 2
    bench.later(0.75)
    assert (bench.api.count("find"), bench.batch().state) == (2, "creating")
    bench.later(0.25)
    assert bench.api.count("find") == 3
    assert bench.api.count("create") == 1
    assert bench.batch().state == "uploaded", "four seconds after the creation"
    bench.later(0.0)
    assert (bench.batch().state, bench.batch().provider_id) == ("running", "batch-2")


@with_settings(settle_s=2.5)
def test_what_settles_soon_is_looked_for_four_times(bench: Bench) -> None:
    cut_off(bench)
    bench.rounds()
    bench.later(0.5)
    assert bench.api.count("find") == 1
    bench.later(0.125)
    assert bench.api.count("find") == 2


def test_each_creation_that_is_cut_off_is_looked_for_anew(bench: Bench) -> None:
    """Also where another process made it again, and died of it."""
    cut_off(bench)
    bench.round()
    assert bench.batch().state == "uploaded"
    bench.clock.now += 100.0
    bench.set(state="creating")
    bench.round()
    assert bench.batch().state == "creating"


def test_a_batch_that_may_be_ours_is_waited_for_however_long_it_takes(bench: Bench) -> None:
    cut_off(bench)
    bench.api.answers["find"] = [Perhaps()]
    bench.rounds()
    bench.later(7.75)
    assert bench.api.count("find") == 1
    bench.later(0.25)
    assert bench.api.count("find") == 2
    bench.later(1000.0)
    assert (bench.batch().state, bench.api.count("create")) == ("creating", 1)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_where_batches_are_not_listed_one_that_was_cut_off_is_lost_in_the_end(bench: Bench, status: int) -> None:
    cut_off(bench)
    bench.api.answers["find"] = [ProviderError("server", "no list", status=status)]
    bench.rounds()
    bench.later(1.5)
    assert bench.outcomes() == [(None, None, None)] * 2
    bench.later(0.5)
    assert bench.outcomes() == [("lost", "BatchGone", RESERVED)] * 2
    assert [ended.error for ended in bench.ended()] == ["no list"]
    assert not bench.stops


def test_a_list_that_cannot_be_had_now_is_asked_for_again(bench: Bench) -> None:
    cut_off(bench)
    bench.api.answers["find"] = [DOWN, "batch-7"]
    bench.rounds()
    assert bench.batch().state == "creating"
    bench.later(4.0)
    assert bench.batch().state == "running"
