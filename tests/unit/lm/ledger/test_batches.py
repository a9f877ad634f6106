"""Steps of a batch on record: each is this process's to take or it is not, and touches no other batch."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import Engine, select, text

from seedbed.lm.ledger import Begin, CallScope, Cap, batches, schema
from seedbed.lm.ledger.account import IDS
from seedbed.lm.ledger.batches import Batch, Ended, OpenRow
from seedbed.lm.ledger.database import open_database, register_owner, sign_off
from tests.unit.lm.ledger.conftest import FAILED, NO_END, attempt, batch, keep, put, seat

MINE = 3
HELD = Batch("b", "lane", '{"model":"m"}', "running", MINE, 2, None, None, None, 0, 0, 100.0, None, None, None)


def packed(**body: Any) -> bytes:
    return zlib.compress(orjson.dumps(body))


def waiting(engine: Engine, *numbers: int, lane: str = "lane", length: int = 10, **changes: Any) -> None:
    """Attempts that wait for a batch; the later their number, the later they began."""
    for number in numbers:
        put(engine, attempt(number, **NO_END | {"started_at": float(number)} | changes))
        seat(engine, IDS + number, lane=lane, bytes=length)


def filled(engine: Engine, name: str, *numbers: int, **changes: Any) -> None:
    """A batch of attempts in flight, each with a body that names it."""
    batch(engine, name, **changes)
    for number in numbers:
        put(engine, attempt(number, **NO_END))
        seat(engine, IDS + number, batch=name, body=packed(ask=number))


def in_batch(engine: Engine) -> dict[int, str | None]:
    rows = schema.batch_rows
    with engine.connect() as connection:
        found = connection.execute(select(rows.c.attempt, rows.c.batch).order_by(rows.c.attempt))
        return {row.attempt - IDS: row.batch for row in found}


def on_record(engine: Engine, name: str = "b") -> Batch:
    with engine.connect() as connection:
        row = connection.execute(select(schema.batches).where(schema.batches.c.id == name)).mappings().one()
    return Batch(**row)


def pack(engine: Engine, size: int = 10, max_bytes: int = 1000) -> Batch | None:
    return batches.pack(engine, MINE, "lane", "{}", size=size, max_bytes=max_bytes)


def test_what_a_provider_knows_a_request_by_has_the_64_letters_that_all_take() -> None:
    name = replace(HELD, id="0123456789" * 2).custom_id("k" * 64)
    assert name == "k" * 43 + "-" + "0123456789" * 2
    assert len(name) == 64


def test_what_waits_for_a_batch_is_counted_by_lane_from_the_first_on(engine: Engine) -> None:
    waiting(engine, 7, 5, 6)
    waiting(engine, 2, lane="other")
    waiting(engine, 3, outcome="lost")
    filled(engine, "b", 1)
    assert batches.gathering(engine, "lane") == (3, 5.0)
    assert batches.gathering(engine, "none") == (0, None)


def test_a_batch_is_packed_of_those_that_wait_and_put_on_record(engine: Engine) -> None:
    waiting(engine, 1, 2)
    waiting(engine, 3, lane="other")
    waiting(engine, 4, outcome="failed")
    made = pack(engine)
    assert made is not None
    assert made == replace(HELD, id=made.id, spec="{}", state="packed", packed_at=made.packed_at)
    assert len(made.id) == 20
    assert batches.open_batches(engine) == [made]
    assert in_batch(engine) == {1: made.id, 2: made.id, 3: None, 4: None}
    assert pack(engine) is None


@pytest.mark.parametrize(
    ("size", "max_bytes", "chosen"),
    [(2, 1000, [1, 2]), (10, 29, [1, 2]), (10, 30, [1, 2, 3]), (10, 31, [1, 2, 3]), (10, 9, [1]), (10, 10, [1])],
    ids=["by their number", "just too long", "exactly as long", "room left", "the first is too long", "one fits"],
)
def test_the_first_ones_go_into_a_batch_as_long_as_it_has_room(
    engine: Engine, size: int, max_bytes: int, chosen: list[int]
) -> None:
    waiting(engine, 3, 1, 2)
    made = pack(engine, size, max_bytes)
    assert made is not None
    assert made.requests == len(chosen)
    assert [number for number, name in in_batch(engine).items() if name is not None] == chosen


def test_what_another_process_packs_in_this_moment_is_left_to_it(postgres: Any, tmp_path: Any) -> None:
    made = open_database(f"{postgres.database_of(tmp_path)}?options=-c%20lock_timeout%3D5000")
    try:
        waiting(made, 1, 2)
        with made.begin() as other:
            other.execute(text(f"SELECT 1 FROM batch_rows WHERE attempt = {IDS + 1} FOR UPDATE"))
            own = pack(made)
        assert own is not None
        assert in_batch(made) == {1: None, 2: own.id}
    finally:
        made.dispose()


def test_open_batches_are_those_of_the_lanes_asked_for_that_have_not_ended(engine: Engine) -> None:
    batch(engine, "new", packed_at=3.0)
    batch(engine, "old", packed_at=1.0, lane="other")
    batch(engine, "gone", packed_at=2.0, ended_at=4.0)
    assert [one.id for one in batches.open_batches(engine)] == ["old", "new"]
    assert [one.id for one in batches.open_batches(engine, {"lane", "none"})] == ["new"]
    assert batches.open_batches(engine, ()) == []


@pytest.mark.parametrize("of", ["nobody", "me", "a dead one", "a living one"])
def test_a_batch_can_be_worked_on_unless_a_living_process_does(engine: Engine, of: str) -> None:
    living = register_owner(engine)
    put(engine, attempt(1, owner=7, **NO_END))
    batch(engine, "b", owner={"nobody": None, "me": MINE, "a dead one": 7, "a living one": living}[of])
    batch(engine, "beside")
    leased = batches.lease(engine, MINE, "b")
    sign_off(engine, living)
    assert leased == (None if of == "a living one" else HELD)
    assert on_record(engine).owner == (living if of == "a living one" else MINE)
    assert on_record(engine, "beside").owner is None


def test_what_has_ended_or_never_was_cannot_be_worked_on(engine: Engine) -> None:
    batch(engine, "b", ended_at=1.0)
    batch(engine, "beside")
    assert batches.lease(engine, MINE, "b") is None
    assert batches.lease(engine, MINE, "none") is None
    assert on_record(engine).owner is None


def test_what_is_released_goes_on_unless_its_last_row_was_just_taken(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches.time, "time", lambda: 500.0)
    for number, name in enumerate(("answered", "packed", "of another"), 1):
        changes = {"of another": {"owner": 4}, "packed": {"state": "packed"}}.get(name, {})
        batch(engine, name, **{"owner": MINE} | changes)
        put(engine, attempt(number))
        seat(engine, IDS + number, batch=name)
    filled(engine, "running", 4, owner=MINE)
    batch(engine, "gone", owner=MINE, ended_at=1.0)
    assert sorted(one.id for one in batches.release(engine, MINE)) == ["packed", "running"]
    left = {name: on_record(engine, name) for name in ("answered", "packed", "running", "of another", "gone")}
    assert {name: (one.state, one.owner, one.ended_at) for name, one in left.items()} == {
        "answered": ("ended", MINE, 500.0),
        "packed": ("packed", None, None),
        "running": ("running", None, None),
        "of another": ("running", 4, None),
        "gone": ("running", MINE, 1.0),
    }


def test_a_step_of_ones_own_batch_is_written_down(engine: Engine) -> None:
    filled(engine, "b", 1, state="packed", owner=MINE)
    filled(engine, "beside", 2, state="packed", owner=MINE)
    assert batches.advance(engine, MINE, "b", state="uploaded", file_id="f")
    assert on_record(engine) == replace(HELD, state="uploaded", file_id="f")
    assert on_record(engine, "beside").state == "packed"
    assert list(batches.bodies(engine, "b")) == [("k1", {"ask": 1})]


def test_bodies_go_once_the_provider_has_them(engine: Engine) -> None:
    filled(engine, "b", 1, state="creating", owner=MINE)
    filled(engine, "beside", 2, state="creating", owner=MINE)
    assert batches.advance(engine, MINE, "b", state="running", provider_id="p")
    assert list(batches.bodies(engine, "b")) == []
    assert list(batches.bodies(engine, "beside")) == [("k2", {"ask": 2})]


@pytest.mark.parametrize("state", ["uploaded", "running"])
def test_of_a_batch_that_was_taken_over_nothing_is_written(engine: Engine, state: str) -> None:
    """Also the bodies stay: who has it now may still have to send them."""
    filled(engine, "b", 1, state="packed", owner=4)
    assert not batches.advance(engine, MINE, "b", state=state, provider_id="p")
    assert on_record(engine) == replace(HELD, state="packed", owner=4)
    assert list(batches.bodies(engine, "b")) == [("k1", {"ask": 1})]


def test_bodies_are_those_of_the_requests_that_have_not_ended_in_the_order_they_came(engine: Engine) -> None:
    filled(engine, "b", 3, 1)
    filled(engine, "beside", 2)
    put(engine, attempt(4), attempt(5, **NO_END))
    seat(engine, IDS + 4, batch="b", body=packed(ask=4))
    seat(engine, IDS + 5, batch="b", body=None)
    assert list(batches.bodies(engine, "b")) == [("k1", {"ask": 1}), ("k3", {"ask": 3})]


def test_rows_without_an_end_come_back_as_they_were_begun(engine: Engine) -> None:
    put(engine, attempt(1, sample="x", number=4, generation=2, reserved_usd=0.25, **NO_END), attempt(2))
    filled(engine, "beside", 3)
    for number in (1, 2):
        seat(engine, IDS + number, batch="b", caps='["sweep:s","cell:c"]')
    scope = CallScope("s", "c", "generate", "task", "e", "m", seed=0, generation=2)
    caps = (Cap("sweep:s", float("inf")), Cap("cell:c", float("inf")))
    begin = Begin(scope, "k1", 4, "x", b"", 0.25, caps)
    assert batches.open_rows(engine, "b") == [OpenRow(IDS + 1, begin)]


def test_a_request_is_found_by_its_key(engine: Engine) -> None:
    for key in "ab":
        keep(engine, key, request={"ask": key})
    assert [batches.request_of(engine, key) for key in "abc"] == [{"ask": "a"}, {"ask": "b"}, {}]


def test_how_attempts_ended_is_told_of_those_that_have_and_were_asked_for(engine: Engine) -> None:
    put(
        engine,
        attempt(1),
        attempt(2, **FAILED | {"error_class": "RateLimit", "error": "slow down"}, key="k1"),
        attempt(3, **NO_END),
        attempt(4),
        attempt(5, generation=2),
        attempt(6, generation=2),
        attempt(7),
    )
    for number in (3, 6):
        seat(engine, IDS + number)
    batches.keep_reply(engine, IDS + 6, b"held")
    for key, generation in (("k1", 0), ("k5", 1), ("k6", 2)):
        keep(engine, key, response=f"kept {key}", generation=generation)
    assert batches.ended(engine, [IDS + number for number in range(1, 7)]) == [
        Ended(IDS + 1, "paid", b'"kept k1"', None, None),
        Ended(IDS + 2, "failed", None, "RateLimit", "slow down"),
        Ended(IDS + 4, "paid", None, None, None),
        Ended(IDS + 5, "paid", None, None, None),
        Ended(IDS + 6, "paid", b"held", None, None),
    ]


def test_a_reply_that_is_held_is_that_of_its_attempt_alone(engine: Engine) -> None:
    put(engine, attempt(1), attempt(2))
    for number in (1, 2):
        seat(engine, IDS + number)
    batches.keep_reply(engine, IDS + 1, b"held")
    assert [one.reply for one in batches.ended(engine, [IDS + 1, IDS + 2])] == [b"held", None]


def test_a_batch_that_was_never_sent_is_taken_apart_and_its_requests_end_for_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches.time, "time", lambda: 500.0)
    filled(engine, "b", 1, 2, state="packed", owner=MINE)
    filled(engine, "beside", 3, state="packed", owner=MINE)
    assert batches.unpack(engine, MINE, "b") == 2
    ended = replace(HELD, state="ended", ended_at=500.0, error="cancelled before it was sent")
    assert on_record(engine) == ended
    assert on_record(engine, "beside").ended_at is None
    assert in_batch(engine) == {3: "beside"}
    told = batches.ended(engine, [IDS + number for number in (1, 2, 3)])
    assert [(one.attempt_id - IDS, one.outcome, one.error_class) for one in told] == [
        (1, "failed", "NotSent"), (2, "failed", "NotSent")
    ]  # fmt: skip


def test_a_batch_of_another_process_is_not_taken_apart(engine: Engine) -> None:
    filled(engine, "b", 1, state="packed", owner=4)
    filled(engine, "beside", 2, state="packed", owner=MINE)
    assert batches.unpack(engine, MINE, "b") == 0
    assert on_record(engine) == replace(HELD, state="packed", owner=4)
    assert in_batch(engine) == {1: "b", 2: "beside"}


def test_the_ids_that_providers_gave_are_known(engine: Engine) -> None:
    batch(engine, "a", provider_id="p1")
    batch(engine, "b", provider_id="p2", ended_at=1.0)
    batch(engine, "c")
    with engine.connect() as connection:
        assert batches.known_ids(connection) == {"p1", "p2"}
