"""Batches on record: which attempts wait for one, which are in one, how far it has come and who works on it.

Everything that a provider is asked to do stands here before it is asked, so that any process can go on with a batch
whose own died: its rows, then the file that was uploaded, then that it is being created, then its id.
"""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from sqlalchemy import Connection, Engine, Select, func, insert, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading, split_owners
from seedbed.lm.ledger.records import Begin, CallScope, Cap
from seedbed.lm.ledger.repair import mark_unsent
from seedbed.lm.types import JsonDict

State = Literal["packed", "uploaded", "creating", "running", "ended"]

_a, _b, _rows = schema.attempts, schema.batches, schema.batch_rows
_AT_ONCE = 5000
_CHUNK = 200
_IDS_OF_KEY = 43
_NO_LIMIT = float("inf")


@dataclass(frozen=True, slots=True)
class Batch:
    """A row of `batches`."""

    id: str
    lane: str
    spec: str
    state: State
    owner: int | None
    requests: int
    file_id: str | None
    provider_id: str | None
    provider_status: str | None
    done: int
    failed: int
    packed_at: float
    asked_at: float | None
    ended_at: float | None
    error: str | None

    def custom_id(self, key: str) -> str:
        """What the provider knows a request by: its key, and whose batch it is; 64 characters, the most that all
        providers take."""
        return f"{key[:_IDS_OF_KEY]}-{self.id}"


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An attempt of a batch that has not ended."""

    attempt_id: int
    begin: Begin


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended that was waited for."""

    attempt_id: int
    outcome: str
    reply: bytes | None
    """What was said, where it was answered and is kept."""
    error_class: str | None
    error: str | None


def gathering(engine: Engine, lane: str) -> tuple[int, float | None]:
    """How many attempts of all processes wait for a batch, and since when the first."""
    query = select(func.count(), func.min(_a.c.started_at)).join(_rows, _rows.c.attempt == _a.c.id)
    with reading(engine) as connection:
        count, first = connection.execute(
            query.where(_rows.c.lane == lane, _rows.c.batch.is_(None), _a.c.outcome.is_(None))
        ).one()
    return count, first


def pack(engine: Engine, owner: int, lane: str, spec: str, *, size: int, max_bytes: int) -> Batch | None:
    """Put attempts that wait into a new batch, the first ones first, whichever process they are of; None where there
    are none."""
    query = (
        select(_rows.c.attempt, _rows.c.bytes)
        .join(_a, _a.c.id == _rows.c.attempt)
        .where(_rows.c.lane == lane, _rows.c.batch.is_(None), _a.c.outcome.is_(None))
        .order_by(_a.c.started_at, _rows.c.attempt)
        .limit(size)
        # What another process puts into a batch in this moment is left to it.
        .with_for_update(of=_rows, skip_locked=True)
    )
    with engine.begin() as connection:
        chosen, total = list[int](), 0
        for attempt, length in connection.execute(query):
            total += length
            if chosen and total > max_bytes:
                break
            chosen.append(attempt)
        if not chosen:
            return None
        batch = Batch(uuid.uuid4().hex[:20], lane, spec, "packed", owner, len(chosen), None, None, None, 0, 0,
                      time.time(), None, None, None)  # fmt: skip
        connection.execute(insert(_b).values(**{name: getattr(batch, name) for name in Batch.__slots__}))
        for at in range(0, len(chosen), _AT_ONCE):
            part = chosen[at : at + _AT_ONCE]
            connection.execute(update(_rows).where(_rows.c.attempt.in_(part)).values(batch=batch.id))
    return batch


def open_batches(engine: Engine, lanes: Collection[str] | None = None) -> list[Batch]:
    """Those that have not ended, the oldest first."""
    query = select(_b).where(_b.c.ended_at.is_(None)).order_by(_b.c.packed_at, _b.c.id)
    if lanes is not None:
        query = query.where(_b.c.lane.in_(lanes))
    with reading(engine) as connection:
        return [_batch(row) for row in connection.execute(query).mappings()]


def lease(engine: Engine, owner: int, batch_id: str) -> Batch | None:
    """Become the one process that works on a batch; None where another does, or nothing is left to do."""
    with engine.begin() as connection:
        found = connection.execute(select(_b).where(_b.c.id == batch_id).with_for_update()).mappings().first()
        if found is None or found["ended_at"] is not None:
            return None
        if found["owner"] not in (None, owner) and found["owner"] in split_owners(connection)[0]:
            return None
        connection.execute(update(_b).where(_b.c.id == batch_id).values(owner=owner))
    return _batch({**found, "owner": owner})


def release(engine: Engine, owner: int) -> list[Batch]:
    """Work on no batch any more; others may. Returns those that go on. One whose last row was just taken does not."""
    unended = select(_rows.c.attempt).join(_a, _a.c.id == _rows.c.attempt)
    unended = unended.where(_rows.c.batch == _b.c.id, _a.c.outcome.is_(None))
    mine = (_b.c.owner == owner) & _b.c.ended_at.is_(None)
    with engine.begin() as connection:
        taken = mine & (_b.c.state == "running") & ~unended.exists()
        connection.execute(update(_b).where(taken).values(state="ended", ended_at=time.time()))
        left = [_batch(row) for row in connection.execute(select(_b).where(mine)).mappings()]
        connection.execute(update(_b).where(mine).values(owner=None))
    return left


def advance(engine: Engine, owner: int, batch_id: str, **values: Any) -> bool:
    """Write down a step of a batch. False where it is not this process's any more, and nothing was written: it was
    silent for so long that another took it for dead."""
    mine = (_b.c.id == batch_id) & (_b.c.owner == owner)
    with engine.begin() as connection:
        connection.execute(update(_b).where(mine).values(**values))
        if connection.scalar(select(_b.c.id).where(mine)) is None:
            return False
        if values.get("state") == "running":
            # The provider has them.
            connection.execute(update(_rows).where(_rows.c.batch == batch_id).values(body=None))
    return True


def bodies(engine: Engine, batch_id: str) -> Iterator[tuple[str, JsonDict]]:
    """Key and body of each request of a batch, in one order; those that have ended meanwhile are left out."""
    query = (
        select(_a.c.key, _rows.c.body)
        .join(_a, _a.c.id == _rows.c.attempt)
        .where(_rows.c.batch == batch_id, _a.c.outcome.is_(None), _rows.c.body.is_not(None))
        .order_by(_rows.c.attempt)
    )
    with reading(engine) as connection:
        for key, body in connection.execution_options(yield_per=_CHUNK).execute(query):
            yield key, orjson.loads(zlib.decompress(body))


def open_rows(engine: Engine, batch_id: str) -> list[OpenRow]:
    """The attempts of a batch that have no end yet, of whichever process."""
    query = select(_a, _rows.c.caps).join(_rows, _rows.c.attempt == _a.c.id)
    with reading(engine) as connection:
        rows = connection.execute(query.where(_rows.c.batch == batch_id, _a.c.outcome.is_(None))).mappings()
        return [OpenRow(row["id"], _begin(row)) for row in rows]


def request_of(engine: Engine, key: str) -> JsonDict:
    """The body of a request."""
    with reading(engine) as connection:
        body = connection.scalar(select(schema.requests.c.body).where(schema.requests.c.key == key))
    return orjson.loads(zlib.decompress(body)) if body else {}


def keep_reply(engine: Engine, attempt_id: int, reply: bytes) -> None:
    """Hold an answer, which is not kept for reuse, for the process that waits for it."""
    with engine.begin() as connection:
        kept = {"reply": zlib.compress(reply, 1)}
        connection.execute(update(_rows).where(_rows.c.attempt == attempt_id).values(kept))


def ended(engine: Engine, attempts: Sequence[int]) -> list[Ended]:
    """Those of the attempts that have ended, and how."""
    answers = schema.responses
    query: Select[Any] = (
        select(_a.c.id, _a.c.outcome, _a.c.error_class, _a.c.error, _rows.c.reply, answers.c.body)
        .outerjoin(_rows, _rows.c.attempt == _a.c.id)
        .outerjoin(answers, (answers.c.key == _a.c.key) & (answers.c.generation >= _a.c.generation))
        .where(_a.c.outcome.is_not(None))
    )
    found: list[Ended] = []
    with reading(engine) as connection:
        for at in range(0, len(attempts), _AT_ONCE):
            for row in connection.execute(query.where(_a.c.id.in_(attempts[at : at + _AT_ONCE]))):
                said = row.reply or row.body
                reply = zlib.decompress(said) if said and row.outcome == "paid" else None
                found.append(Ended(row.id, row.outcome, reply, row.error_class, row.error))
    return found


def unpack(engine: Engine, owner: int, batch_id: str) -> int:
    """End a batch that its provider never heard of; its requests end unsent. Returns how many."""
    with engine.begin() as connection:
        chosen = update(_b).where(_b.c.id == batch_id, _b.c.owner == owner, _b.c.ended_at.is_(None))
        connection.execute(chosen.values(state="ended", ended_at=time.time(), error="cancelled before it was sent"))
        if connection.scalar(select(_b.c.owner).where(_b.c.id == batch_id)) != owner:
            return 0
        ids = list(connection.scalars(select(_rows.c.attempt).where(_rows.c.batch == batch_id)))
        connection.execute(update(_rows).where(_rows.c.batch == batch_id).values(batch=None))
        return len(mark_unsent(connection, ids))


def known_ids(connection: Connection) -> set[str]:
    """Ids that providers gave to batches of this ledger."""
    return set(connection.scalars(select(_b.c.provider_id).where(_b.c.provider_id.is_not(None))))


def _batch(row: Any) -> Batch:
    return Batch(**{name: row[name] for name in Batch.__slots__})


def _begin(row: Any) -> Begin:
    scope = CallScope(
        sweep=row["sweep"],
        cell=row["cell"],
        phase=row["phase"],
        role=row["role"],
        execution=row["execution"],
        model=row["model"],
        seed=0,  # is in the key
        generation=row["generation"],
    )
    caps = tuple(Cap(name, _NO_LIMIT) for name in orjson.loads(row["caps"]))
    return Begin(scope, row["key"], row["number"], row["sample"], b"", row["reserved_usd"], caps)
