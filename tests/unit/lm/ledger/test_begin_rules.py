"""What a call is told that begins, and what is on record of it then and after its end."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update

from seedbed.lm.ledger import Begin, Busy, Cap, End, Granted, InBatch, Ledger, Stored, Unknown, schema
from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.database import _own  # type: ignore[attr-defined]
from seedbed.lm.ledger.records import BatchSeat
from seedbed.lm.types import Answerer, Usage
from tests.support.lm import budget_row, ledger_url, scope
from tests.unit.lm.ledger.conftest import attempt, put

SWEEP, CELL = Cap("sweep:s", 9.0), Cap("cell:c", 9.0)
BOTH = (SWEEP, CELL)


def opened(folder: Path) -> Ledger:
    return Ledger(ledger_url(folder), list_price=lambda _scope, usage: usage.input * 0.25)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """Two writers on one ledger."""
    ledgers = opened(tmp_path), opened(tmp_path)
    yield ledgers
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def ledger(two: tuple[Ledger, Ledger]) -> Ledger:
    return two[0]


def asked(key: str, dollars: float | None = 1.0, under: tuple[Cap, ...] = (), **changes: Any) -> Begin:
    settings: dict[str, Any] = {"number": 1, "sample": None, "request": b"{}", "reserved_usd": dollars, "caps": under}
    return Begin(changes.pop("scope", scope()), key, **settings | changes)


def tell(ledger: Ledger, *items: Begin | End) -> list[Any]:
    """What each of them is told that come in one batch."""

    async def work() -> list[Any]:
        futures = [ledger.begin(item) if isinstance(item, Begin) else ledger.end(item) for item in items]
        return await asyncio.gather(*futures)

    return asyncio.run(asyncio.wait_for(work(), 30))


def begin(ledger: Ledger, item: Begin) -> Any:
    return tell(ledger, item)[0]


def ended(granted: Any, item: Begin, outcome: Any = "paid", dollars: float | None = 0.5, **more: Any) -> End:
    assert isinstance(granted, Granted)
    usage = Usage(10, 2) if outcome == "paid" else None
    settings: dict[str, Any] = {"at_risk_usd": 0.0, "latency_s": 1.5, "response": b"said"} | more
    return End(granted.attempt_id, item, outcome, usage, dollars, dollars, **settings)


def rows(ledger: Ledger) -> list[dict[str, Any]]:
    with ledger.engine.connect() as connection:
        return [
            dict(row) for row in connection.execute(select(schema.attempts).order_by(schema.attempts.c.id)).mappings()
        ]


def dies(ledger: Ledger) -> None:
    """Its process is gone, for all that the others can see."""
    _own.discard((str(ledger.engine.url), ledger.owner))


# -- on record ---------------------------------------------------------------------------------------------------------


def test_an_attempt_in_flight_is_on_record_with_its_request_and_its_worst_case(ledger: Ledger) -> None:
    assert tell(ledger, asked("a", 0.25, sample="x", number=4, request=b"body")) == [Granted(ledger.owner * IDS + 1)]
    (row,) = rows(ledger)
    assert row.pop("started_at") > 0
    owned = {"id": ledger.owner * IDS + 1, "owner": ledger.owner, "sample": "x", "key": "a", "number": 4}
    usual = {"sweep": "s", "cell": "c", "phase": "generate", "role": "task", "execution": "e1", "model": "m"}
    filled = owned | usual | {"generation": 0, "estimated": False, "reserved_usd": 0.25}
    assert row == {name: filled.get(name) for name in row}
    with ledger.engine.connect() as connection:
        (kept,) = connection.execute(select(schema.requests)).all()
    assert (kept.key, zlib.decompress(kept.body)) == ("a", b"body")


def test_attempts_of_a_writer_are_counted_from_one(ledger: Ledger) -> None:
    told = tell(ledger, asked("a"), asked("b"), asked("c"))
    assert [one.attempt_id - ledger.owner * IDS for one in told] == [1, 2, 3]


def test_an_answer_is_kept_and_given_to_the_next_that_asks_the_same(two: tuple[Ledger, Ledger]) -> None:
    first, second = two
    who = Answerer("m-1", "fp", "lab", "flex")
    usage = Usage(10, 2, 3, 1, True, 4, searches=2, cut=True)
    item = asked("a")
    end = End(begin(first, item).attempt_id, item, "paid", usage, 0.5, 0.75, 0.125, 1.5, b"said", None, None, who)
    assert tell(first, end) == [None]
    assert begin(second, asked("a")) == Stored(b"said", usage, who)
    paid, reused = rows(first)
    shown = ("outcome", "tokens_in", "tokens_cached", "tokens_written", "provider", "estimated", "reserved_usd",
             "spent_usd", "list_usd", "at_risk_usd", "latency_s")  # fmt: skip
    assert [paid[name] for name in shown] == ["paid", 10, 3, 4, "lab", True, 1.0, 0.5, 0.75, 0.125, 1.5]
    assert [reused[name] for name in shown] == ["reused", 10, 3, 4, "lab", True, None, 0.0, 2.5, 0.0, None]


def test_a_failure_is_on_record_with_its_reason_and_no_answer(ledger: Ledger) -> None:
    item = asked("a")
    end = ended(begin(ledger, item), item, "failed", 0.0, response=None, error_class="RateLimit", error="slow\0 \ud800")
    tell(ledger, end)
    (row,) = rows(ledger)
    shown = ("outcome", "tokens_in", "estimated", "error_class", "error")
    assert [row[name] for name in shown] == ["failed", None, False, "RateLimit", "slow\ufffd ?"]
    assert isinstance(begin(ledger, asked("a")), Granted)


def test_an_answer_known_in_this_process_is_on_record_as_reused_and_not_looked_for(ledger: Ledger) -> None:
    known = Stored(b"said", Usage(4, 1))
    assert tell(ledger, asked("a", known=known), asked("b")) == [known, Granted(ledger.owner * IDS + 2)]
    assert [(row["outcome"], row["list_usd"]) for row in rows(ledger)] == [("reused", 1.0), (None, None)]


def test_who_may_only_look_is_told_what_is_not_known(ledger: Ledger) -> None:
    assert begin(ledger, asked("a", may_call=False)) == Unknown()
    assert rows(ledger) == []


@pytest.mark.parametrize(("generation", "found"), [(0, True), (1, True), (2, False)])
def test_an_answer_of_before_a_fresh_start_is_not_given(ledger: Ledger, generation: int, found: bool) -> None:
    item = asked("a", scope=scope(generation=1))
    tell(ledger, ended(begin(ledger, item), item))
    told = begin(ledger, asked("a", scope=scope(generation=generation)))
    assert isinstance(told, Stored if found else Granted)


def test_an_end_may_answer_a_begin_of_its_own_batch(ledger: Ledger) -> None:
    item = asked("a")
    end = ended(begin(ledger, item), item)
    told = tell(ledger, asked("b"), end, asked("a"))
    assert [type(one) for one in told] == [Granted, type(None), Stored]


# -- others ------------------------------------------------------------------------------------------------------------


def test_of_equal_requests_one_is_in_flight(two: tuple[Ledger, Ledger], tmp_path: Path) -> None:
    first, second = two
    assert [type(one) for one in tell(first, asked("a", 1.0, (SWEEP,)), asked("a", 1.0, (SWEEP,)))] == [Granted, Busy]
    told = tell(second, asked("a", 1.0, (SWEEP,)), asked("b", 1.0, (SWEEP,)))
    assert [type(one) for one in told] == [Busy, Granted]
    assert [row["key"] for row in rows(first)] == ["a", "b"]
    assert budget_row(tmp_path, "sweep:s") == (0.0, 2.0)


def test_a_request_of_a_process_elsewhere_is_its_own_while_that_is_heard_of(
    two: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = two
    begin(there, asked("a"))
    dies(there)
    seen = float(int(time.time()))
    with here.engine.begin() as connection:
        elsewhere = update(schema.owners).where(schema.owners.c.id == there.owner)
        connection.execute(elsewhere.values(host="far/boot/processes", seen_at=seen))
    told: list[type] = []
    for silent_s in (0.0, 59.5, 60.0):
        monkeypatch.setattr(time, "time", lambda now=seen + silent_s: now)
        told.append(type(begin(here, asked("a"))))
    assert told == [Busy, Busy, Granted]
    assert [row["outcome"] for row in rows(here)] == ["lost", None]


def test_what_a_dead_process_asked_is_taken_over_at_its_worst_case_and_the_rest_left(
    two: tuple[Ledger, Ledger], tmp_path: Path
) -> None:
    dead, living = two
    tell(dead, asked("a", 1.0, BOTH), asked("b", 0.5, BOTH))
    begin(living, asked("c", 0.25, BOTH))
    dies(dead)
    told = tell(living, asked("a", 1.0, BOTH), asked("d", 0.125, BOTH))
    assert [type(one) for one in told] == [Granted, Granted]
    found = [(row["key"], row["outcome"], row["at_risk_usd"], row["error_class"]) for row in rows(living)]
    assert found == [
        ("a", "lost", 1.0, "Lost"),
        ("b", None, None, None),
        ("c", None, None, None),
        ("a", None, None, None),
        ("d", None, None, None),
    ]
    assert budget_row(tmp_path, "sweep:s") == budget_row(tmp_path, "cell:c") == (1.0, 1.875)


def test_a_request_of_ones_own_that_is_still_open_had_its_end_refused_and_is_lost(ledger: Ledger) -> None:
    """A process has a request in flight once."""
    begin(ledger, asked("a"))
    assert isinstance(begin(ledger, asked("a")), Granted)
    assert [row["outcome"] for row in rows(ledger)] == ["lost", None]


def test_what_ended_since_it_was_found_in_flight_is_asked_anew(
    two: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two
    begin(first, asked("a"))
    holders: Any = second._batch_writer._holders  # type: ignore[attr-defined]
    own = holders.of

    def just_ended(connection: Any, keys: Any) -> Any:
        connection.execute(text("UPDATE attempts SET outcome = 'failed' WHERE owner = 1"))
        return own(connection, keys)

    monkeypatch.setattr(holders, "of", just_ended)
    assert isinstance(begin(second, asked("a")), Granted)


SEAT = BatchSeat("lane", b"what is sent")


def seated(key: str, dollars: float = 1.0, under: tuple[Cap, ...] = ()) -> Begin:
    return asked(key, dollars, under, seat=SEAT)


def test_a_call_that_a_batch_is_to_answer_has_its_seat(ledger: Ledger) -> None:
    granted = begin(ledger, seated("a", 1.0, BOTH))
    begin(ledger, asked("b"))
    with ledger.engine.connect() as connection:
        (row,) = connection.execute(select(schema.batch_rows)).mappings()
    assert zlib.decompress(row["body"]) == b"what is sent"
    expected = {"attempt": granted.attempt_id, "lane": "lane", "batch": None, "caps": '["sweep:s","cell:c"]',
                "bytes": 12, "reply": None}  # fmt: skip
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("alive", "packed", "told"),
    [(True, False, InBatch), (True, True, InBatch), (False, True, InBatch), (False, False, Granted)],
    ids=["it waits", "it is in a batch", "it is in a batch of a dead process", "it waited for a dead process"],
)
def test_a_request_in_a_batch_is_answered_by_it_whoever_put_it_there(
    two: tuple[Ledger, Ledger], tmp_path: Path, alive: bool, packed: bool, told: type
) -> None:
    first, second = two
    granted = begin(first, seated("a", 1.0, (SWEEP,)))
    if packed:
        with first.engine.begin() as connection:
            connection.execute(update(schema.batch_rows).values(batch="b"))
    if not alive:
        dies(first)
    answer = begin(second, seated("a", 1.0, (SWEEP,)))
    assert type(answer) is told
    if told is InBatch:
        assert answer == InBatch(granted.attempt_id)
    else:
        # It was sent to nobody, and nothing was billed.
        shown = [(row["outcome"], row["error_class"], row["at_risk_usd"]) for row in rows(first)]
        assert shown == [("failed", "NotSent", 0.0), (None, None, None)]
    assert budget_row(tmp_path, "sweep:s") == (0.0, 1.0)


def test_what_a_dead_process_left_is_lost_or_never_was_sent_or_is_a_batchs(
    two: tuple[Ledger, Ledger], tmp_path: Path
) -> None:
    dead, living = two
    tell(dead, asked("1 sent", 1.0, BOTH), seated("2 waits", 0.5, BOTH), seated("3 packed", 0.25, BOTH))
    with dead.engine.begin() as connection:
        third = schema.batch_rows.c.attempt == dead.owner * IDS + 3
        connection.execute(update(schema.batch_rows).where(third).values(batch="b"))
    begin(living, asked("own", 0.125, BOTH))
    dies(dead)
    living.look_around()
    assert [(row["key"], row["outcome"], row["at_risk_usd"]) for row in rows(living)] == [
        ("1 sent", "lost", 1.0),
        ("2 waits", "failed", 0.0),
        ("3 packed", None, None),
        ("own", None, None),
    ]
    assert budget_row(tmp_path, "sweep:s") == budget_row(tmp_path, "cell:c") == (1.0, 0.375)


def test_a_process_that_was_taken_for_dead_replaces_the_worst_case_with_the_truth(
    two: tuple[Ledger, Ledger], tmp_path: Path
) -> None:
    silent, other = two
    item = asked("a", 1.0, BOTH)
    granted = begin(silent, item)
    begin(silent, asked("b", 0.5, BOTH))
    dies(silent)
    other.look_around()
    put(other.engine, attempt(1, owner=7, sweep="t", cell="d"))
    with other.engine.begin() as connection:
        for owner in (silent.owner, 7):
            connection.execute(schema.settled_owners.insert().values(owner=owner))
    assert budget_row(tmp_path, "cell:c") == (1.5, 0.0)
    tell(silent, ended(granted, item, dollars=0.25, at_risk_usd=0.125))
    late, lost, _ = rows(silent)
    assert [late[name] for name in ("outcome", "spent_usd", "at_risk_usd")] == ["paid", 0.25, 0.125]
    assert lost["outcome"] == "lost"
    assert budget_row(tmp_path, "cell:c") == budget_row(tmp_path, "sweep:s") == (0.875, 0.0)
    with other.engine.connect() as connection:
        assert list(connection.scalars(select(schema.settled_owners.c.owner))) == [7]


@pytest.mark.parametrize("first_end", ["paid", "failed", "lost"])
def test_the_first_end_that_a_writer_gave_stays(ledger: Ledger, tmp_path: Path, first_end: Any) -> None:
    item = asked("a", 1.0, (SWEEP,))
    granted = begin(ledger, item)
    tell(ledger, ended(granted, item, first_end, 0.25, response=None, error_class="GaveUp"))
    tell(ledger, ended(granted, item, "paid", 0.5, response=None))
    (row,) = rows(ledger)
    assert [row[name] for name in ("outcome", "spent_usd", "error_class")] == [first_end, 0.25, "GaveUp"]
    assert budget_row(tmp_path, "sweep:s") == (0.25, 0.0)


def test_of_two_answers_the_later_is_kept_but_for_one_of_before_a_fresh_start(two: tuple[Ledger, Ledger]) -> None:
    silent, other = two
    old, new = asked("a", scope=scope(generation=1)), asked("a", scope=scope(generation=2))
    first = begin(silent, old)
    dies(silent)
    second = begin(other, old)
    tell(other, ended(second, old, response=b"second"))
    tell(silent, ended(first, old, response=b"first, and late"))
    assert begin(other, old).body == b"first, and late"
    third = begin(other, new)
    tell(other, ended(third, new, response=b"fresh"))
    tell(silent, ended(first, old, response=b"later still"))
    assert begin(other, new).body == b"fresh"


@pytest.mark.parametrize(("answered", "told"), [(0, Granted), (1, Stored), (2, Stored)])
def test_an_answer_that_comes_between_the_look_up_and_the_claim_is_taken(
    postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: int, told: type
) -> None:
    """Where several write at once, which SQLite keeps from happening."""
    monkeypatch.setattr("tests.support.lm.ledger_url", postgres.database_of)
    ledger = Ledger(postgres.database_of(tmp_path), list_price=lambda _scope, _usage: 0.25)
    asked_before = asked("a", 1.0, (SWEEP,), scope=scope(generation=answered))
    tell(ledger, ended(begin(ledger, asked_before), asked_before, dollars=0.0))
    batch_writer: Any = ledger._batch_writer  # type: ignore[attr-defined]
    own, looks = batch_writer._find, list[int]()

    def find_later(*given: Any) -> Any:
        looks.append(0)
        return own(*given) if len(looks) > 1 else {}

    monkeypatch.setattr(batch_writer, "_find", find_later)
    try:
        assert type(begin(ledger, asked("a", 1.0, (SWEEP,), scope=scope(generation=1)))) is told
        assert [row["outcome"] for row in rows(ledger)] == ["paid", "reused" if told is Stored else None]
        assert budget_row(tmp_path, "sweep:s")[1] == (0.0 if told is Stored else 1.0)
    finally:
        ledger.close()
