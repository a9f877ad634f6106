"""Batches to look at: how old they are, how far they have come, whose requests they hold."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, func, inspect, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading, split_owners

_a, _b, _rows = schema.attempts, schema.batches, schema.batch_rows


@dataclass(frozen=True, slots=True)
class BatchView:
    id: str
    provider_id: str | None
    """The provider's name for it, once it has one."""
    model: str
    state: str
    """How far it is on record, or what the provider last said of it."""
    requests: int
    taken: int
    """Requests whose end is on record."""
    done: int
    """Requests that the provider has worked on, as it last said."""
    age_s: float
    ended: bool
    at_work: bool
    """Whether a process looks after it."""
    sweeps: tuple[str, ...]
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Gathering:
    """Requests that wait for a batch."""

    requests: int
    age_s: float


def view_batches(engine: Engine, sweep: str | None = None, *, ended: bool = False) -> list[BatchView]:
    """Batches with requests of a sweep, or all, the oldest first; those that have ended only if asked for."""
    query = select(_b).order_by(_b.c.packed_at, _b.c.id)
    query = query if ended else query.where(_b.c.ended_at.is_(None))
    with reading(engine) as connection:
        found = list(connection.execute(query).mappings()) if _has_batches(connection) else []
        if not found:
            return []
        alive = set(split_owners(connection)[0])
        views = [_view(row, _taken(connection, row["id"]), alive) for row in found]
    return [view for view in views if sweep is None or sweep in view.sweeps]


def view_gathering(engine: Engine, sweep: str) -> Gathering | None:
    """What of a sweep waits for a batch; None where nothing does."""
    query = select(func.count(), func.min(_a.c.started_at)).join(_rows, _rows.c.attempt == _a.c.id)
    with reading(engine) as connection:
        if not _has_batches(connection):
            return None
        count, first = connection.execute(
            query.where(_rows.c.batch.is_(None), _a.c.outcome.is_(None), _a.c.sweep == sweep)
        ).one()
    return Gathering(count, max(0.0, time.time() - first)) if count else None


def _has_batches(connection: Connection) -> bool:
    """A ledger of before, which is only looked at, has no such tables."""
    return inspect(connection).has_table(_b.name)


def _taken(connection: Connection, batch_id: str) -> dict[str, int]:
    """By sweep: its rows that have ended."""
    query = (
        select(_a.c.sweep, func.count(_a.c.outcome))
        .join(_rows, _rows.c.attempt == _a.c.id)
        .where(_rows.c.batch == batch_id)
        .group_by(_a.c.sweep)
    )
    return {sweep: count for sweep, count in connection.execute(query)}  # noqa: C416 - rows are no pairs to a type


def _view(row: Any, taken: Mapping[str, int], alive: set[int]) -> BatchView:
    ended = row["ended_at"] is not None
    state = row["provider_status"] or row["state"] if row["state"] == "running" else row["state"]
    return BatchView(
        id=row["id"],
        provider_id=row["provider_id"],
        model=orjson.loads(row["spec"])["model"],
        state=state,
        requests=row["requests"],
        taken=sum(taken.values()),
        done=row["done"] + row["failed"],
        age_s=max(0.0, (row["ended_at"] or time.time()) - row["packed_at"]),
        ended=ended,
        at_work=not ended and row["owner"] in alive,
        sweeps=tuple(sorted(taken)),
        error=row["error"],
    )
