"""What becomes of each request when the results of its batch are read: on record first, then told to who waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from seedbed.errors import ProviderError
from seedbed.lm.batches.protocol import Progress
from seedbed.lm.batches.taking import Taking
from seedbed.lm.batches.waiting import Again
from seedbed.lm.ledger import End, batches, schema
from tests.support import lm
from tests.unit.lm.batches.bench import RESERVED, Bench, Benches, reply

DONE = Progress("completed", True, done=2, complete=True)
EXPIRED = Progress("expired", True, done=1, why=ProviderError("timeout", "it expired", unsent=True))


@pytest.fixture
def bench(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with benches(monkeypatch) as made:
        yield made


@pytest.fixture
def pair(bench: Bench) -> list[int]:
    """Two attempts in a batch that runs."""
    return bench.running()


async def aside(work: Callable[[], Any]) -> Any:
    return work()


def take(bench: Bench, progress: Progress = DONE, *rows: tuple[int, Any], enough: bool = False) -> bool:
    """The results of the open batch, by the place of the request."""
    bench.api.rows = [(bench.custom_id(place), result) for place, result in rows]
    taking = Taking(bench.ledger, bench.lane, bench.waiting, aside)
    return bench.run(taking.take(bench.batch(), progress, lambda: enough))


def rows(bench: Bench) -> list[dict[str, Any]]:
    a = schema.attempts
    with bench.ledger.engine.begin() as connection:
        return [dict(row) for row in connection.execute(a.select().order_by(a.c.id)).mappings()]


def test_answers_are_paid_at_half_the_price_and_handed_on(bench: Bench, pair: list[int]) -> None:
    assert take(bench, DONE, (1, reply("a", 100, 10)), (2, reply("b", 200, 20)))
    assert b'"b"' in bench.told(pair[1])
    first, second = rows(bench)
    assert (first["outcome"], first["tokens_in"], first["tokens_out"]) == ("paid", 100, 10)
    assert first["spent_usd"] == pytest.approx(lm.dollars(100, 10) / 2)
    assert (second["spent_usd"], second["list_usd"]) == (pytest.approx(lm.dollars(200, 20) / 2),) * 2
    assert (second["latency_s"], second["provider"]) == (None, "127.0.0.1")


def test_what_the_provider_refused_fails_with_its_reason_and_costs_nothing(bench: Bench, pair: list[int]) -> None:
    error = ProviderError("context_length", "too long", status=400)
    assert take(bench, DONE, (1, error), (2, reply()))
    assert bench.outcomes() == [("failed", "context_length", 0.0), ("paid", None, 0.0)]
    assert bench.told(pair[0]) is error
    assert "shorten the context" in str(rows(bench)[0]["error"])


def test_rows_of_nobody_and_second_ones_are_passed_over(bench: Bench, pair: list[int]) -> None:
    bench.api.rows = [("of-another", reply()), (bench.custom_id(1), reply("a")), (bench.custom_id(1), reply("b"))]
    taking = Taking(bench.ledger, bench.lane, bench.waiting, aside)
    assert bench.run(taking.take(bench.batch(), EXPIRED, lambda: True))
    assert b'"a"' in bench.told(pair[0])


def test_what_was_broken_off_is_gone_on_with(bench: Bench, pair: list[int]) -> None:
    assert not take(bench, DONE, (1, reply("a")))
    assert bench.outcomes() == [("paid", None, 0.0), (None, None, None)]
    assert take(bench, DONE, (1, reply("other")), (2, reply("b")))
    assert b'"a"' in bench.told(pair[0])
    assert b'"b"' in bench.told(pair[1])


@pytest.mark.parametrize(
    ("done", "failed", "complete", "short"),
    [
        (2, 0, True, True),
        (2, 0, False, True),
        (1, 1, False, True),
        (1, 0, False, False),
        (0, 1, False, False),
        (0, 0, False, False),
        (0, 0, True, True),
    ],
)
def test_results_shorter_than_the_provider_says_are_not_all_there_yet(
    bench: Bench, pair: list[int], done: int, failed: int, complete: bool, short: bool
) -> None:
    progress = Progress("expired", True, done, failed, EXPIRED.why, complete=complete)
    assert take(bench, progress, (1, reply())) is not short
    assert bench.outcomes()[1] == ((None, None, None) if short else ("failed", "timeout", 0.0))


def test_what_is_still_missing_after_long_enough_has_the_fate_of_its_batch(bench: Bench, pair: list[int]) -> None:
    assert take(bench, Progress("completed", True, 2, complete=True), (1, reply()), enough=True)
    assert bench.outcomes()[1] == ("failed", "malformed", RESERVED)
    assert bench.told(pair[1]).message == "the results of the batch say nothing of this request"


def test_all_that_is_said_is_enough_whatever_the_counts_say(bench: Bench, pair: list[int]) -> None:
    assert take(bench, Progress("completed", True, done=9, complete=True), (1, reply()), (2, reply()))


def test_each_row_without_a_result_has_an_error_of_its_own(bench: Bench, pair: list[int]) -> None:
    assert take(bench, EXPIRED, enough=True)
    assert EXPIRED.why is not None
    first, second = (bench.told(attempt) for attempt in pair)
    assert (first.kind, first.message, first.unsent) == ("timeout", "it expired", True)
    assert first is not second
    assert first is not EXPIRED.why
    assert bench.outcomes() == [("failed", "timeout", 0.0)] * 2


def test_the_rows_at_fault_are_counted_from_1_in_the_order_of_the_file(bench: Bench, pair: list[int]) -> None:
    why = ProviderError("server", "refused for another")
    assert take(bench, Progress("failed", True, why=why, refused=((2, "no such field"), (3, "unread"))))
    first, second = (bench.told(attempt) for attempt in pair)
    assert (first.kind, first.message) == ("server", "refused for another")
    assert (second.kind, second.message) == ("invalid_request", "no such field")


def test_an_answer_without_content_is_paid_told_and_not_kept_for_reuse(bench: Bench, pair: list[int]) -> None:
    assert take(bench, DONE, (1, reply("")), (2, reply("b")))
    assert b'"content":""' in bench.told(pair[0])
    with bench.ledger.engine.begin() as connection:
        assert len(list(connection.execute(schema.responses.select()))) == 1
    # Another process that waits for either is told the same.
    said = {one.attempt_id: one.reply for one in batches.ended(bench.ledger.engine, pair)}
    assert said == {attempt: bench.told(attempt) for attempt in pair}
    with bench.ledger.engine.begin() as connection:
        kept = [row.reply is not None for row in connection.execute(schema.batch_rows.select())]
    assert sorted(kept) == [False, True]


def test_an_answer_that_cannot_be_read_fails_and_what_it_used_was_paid(bench: Bench, pair: list[int]) -> None:
    told = {"usage": reply("", 100, 10)["usage"]}
    assert take(bench, DONE, (1, {**told, "choices": []}), (2, {"choices": []}))
    first, second = rows(bench)
    assert (first["outcome"], first["error_class"], first["tokens_in"], first["at_risk_usd"]) == (
        "failed", "malformed", 100, 0.0,
    )  # fmt: skip
    assert first["spent_usd"] == pytest.approx(lm.dollars(100, 10) / 2)
    assert (second["outcome"], second["tokens_in"], second["spent_usd"], second["at_risk_usd"]) == (
        "failed", None, 0.0, RESERVED,
    )  # fmt: skip
    assert isinstance(bench.told(pair[0]), ProviderError)


@pytest.mark.parametrize("usage", [{"prompt_tokens": 100, "completion_tokens": 10}, None])
def test_a_message_that_its_protocol_cannot_read_fails_and_what_it_used_was_paid(
    bench: Bench, pair: list[int], monkeypatch: pytest.MonkeyPatch, usage: dict[str, int] | None
) -> None:
    async def read(message: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        raise ProviderError("malformed", "the message cannot be read")

    monkeypatch.setattr(bench.api, "read", read)
    take(bench, EXPIRED, (1, {"usage": usage}), enough=True)
    first = rows(bench)[0]
    assert (first["outcome"], first["error_class"], first["tokens_in"]) == (
        "failed", "malformed", usage and usage["prompt_tokens"],
    )  # fmt: skip
    assert (first["spent_usd"], first["at_risk_usd"]) == (
        (pytest.approx(lm.dollars(100, 10) / 2), 0.0) if usage else (0.0, RESERVED)
    )
    assert bench.told(pair[0]).kind == "malformed"


def test_the_request_is_looked_up_where_its_tokens_have_to_be_counted_by_it(
    bench: Bench, pair: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    async def read(message: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return message

    monkeypatch.setattr(bench.api, "read", read)
    assert take(bench, DONE, (1, reply()), (2, {**reply(), "usage": None}))
    assert asked == [{}, {"messages": []}]
    assert [row["estimated"] for row in rows(bench)] == [False, True]


def test_messages_of_anthropic_are_read_beside_their_request(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    async def read(message: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return message

    with benches(monkeypatch, model="anthropic/claude-loop") as bench:
        bench.running()
        monkeypatch.setattr(bench.api, "read", read)
        assert take(bench, DONE, (1, reply()), (2, reply()))
    assert asked == [{"messages": []}] * 2


def test_a_price_that_nobody_knows_leaves_the_cost_open(bench: Bench, pair: list[int]) -> None:
    bench.lane.price = None
    told = {"usage": reply("", 100, 10)["usage"]}
    assert take(bench, DONE, (1, reply()), (2, {**told, "choices": []}))
    assert [(row["outcome"], row["tokens_in"], row["spent_usd"]) for row in rows(bench)] == [
        ("paid", 10, None), ("failed", 100, None),
    ]  # fmt: skip


def test_nobody_hears_of_an_answer_before_it_is_on_record(
    bench: Bench, pair: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    end = bench.ledger.end
    heard: list[bool] = []

    def slowly(item: End) -> asyncio.Future[None]:
        async def written() -> None:
            for _ in range(5):
                await asyncio.sleep(0)
                heard.append(bench.told(item.attempt_id) is not None)
            await end(item)

        return asyncio.ensure_future(written())

    monkeypatch.setattr(bench.ledger, "end", slowly)
    assert take(bench, DONE, (1, reply()), (2, reply()))
    assert heard == [False] * 10
    assert [outcome for outcome, _, _ in bench.outcomes()] == ["paid", "paid"]
    assert all(isinstance(bench.told(attempt), bytes) for attempt in pair)


@pytest.mark.parametrize("how", ["refuse_some", "refuse_all", "give_up"])
def test_who_refuses_or_gives_up_is_done_when_it_is_on_record(bench: Bench, pair: list[int], how: str) -> None:
    taking = Taking(bench.ledger, bench.lane, bench.waiting, aside)
    error, batch = ProviderError("server", "down"), bench.batch()
    outcomes: list[Any] = []

    async def done() -> None:
        match how:
            case "refuse_some":
                await taking.refuse_some(batch, {bench.custom_id(2): error})
            case "refuse_all":
                await taking.refuse_all(batch, error)
            case _:
                await taking.give_up(batch, "it is gone")
        outcomes.extend(bench.outcomes())

    bench.run(done())
    refused = ("failed", "server", 0.0)
    assert (
        outcomes
        == {
            "refuse_some": [(None, None, None), refused],
            "refuse_all": [refused, refused],
            "give_up": [("lost", "BatchGone", RESERVED)] * 2,
        }[how]
    )
    told = {"refuse_some": [None, error], "refuse_all": [error, error], "give_up": [Again(), Again()]}
    assert [bench.told(attempt) for attempt in pair] == told[how]
    if how == "give_up":
        assert {row["error"] for row in rows(bench)} == {"it is gone"}


def test_what_is_on_its_way_to_the_ledger_is_bounded(benches: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read on when those before them are committed, 64 at once."""
    with benches(monkeypatch, size=70) as bench:
        attempts = bench.running(70)
        bench.api.rows = [(bench.custom_id(place), reply()) for place in range(1, 71)]
        at_once: list[int] = []
        on_the_way = [0]
        end = bench.ledger.end

        def ended(item: Any) -> asyncio.Future[None]:
            on_the_way[0] += 1
            at_once.append(on_the_way[0])
            future = end(item)
            future.add_done_callback(lambda _: on_the_way.__setitem__(0, on_the_way[0] - 1))
            return future

        monkeypatch.setattr(bench.ledger, "end", ended)
        taking = Taking(bench.ledger, bench.lane, bench.waiting, aside)
        assert bench.run(taking.take(bench.batch(), Progress("completed", True, 70, complete=True), lambda: False))
        assert max(at_once) == 64
        assert all(isinstance(bench.told(attempt), bytes) for attempt in attempts)
