"""Sums of writers that have ended: their attempts do not change any more, so they are added up once and not for every
look at a ledger of millions. What is not settled yet is read from the attempts."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, Engine, Select, func, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import BY, IDS, SUMS, values
from seedbed.lm.ledger.database import reading, split_owners

WORTH_IT = 50_000
"""Attempts of ended writers below which nothing is settled: they are added up in a tenth of a second."""
_QUIET_S = 120.0
"""A writer's last call is so long ago that nobody asks how many there were lately."""
_ROWS = 5_000

_a, _o, _s, _w = schema.attempts, schema.owners, schema.settled_sums, schema.settled_owners


def settle(engine: Engine) -> None:
    """Add up what ended writers did, if there is much of it. The attempts are read without keeping anybody waiting;
    what is written is small."""
    with reading(engine) as connection:
        ended = _ended(connection)
    if sum(ended.values()) < WORTH_IT:
        return
    for owner in ended:
        with reading(engine) as connection:
            seen = connection.scalar(select(_o.c.seen_at).where(_o.c.id == owner))
            rows = [dict(row) for row in connection.execute(_sums_of(owner)).mappings()]
        with engine.begin() as connection:
            _write(connection, owner, seen, rows)


def _ended(connection: Connection) -> dict[int, int]:
    """Writers that have ended and are not settled, each with the number of its attempts."""
    alive, _ = split_owners(connection)
    settled = set(connection.scalars(select(_w.c.owner)))
    unfinished = set(connection.scalars(select(_a.c.owner).where(_a.c.outcome.is_(None))))
    found: dict[int, int] = {}
    for owner in connection.scalars(select(_o.c.id).order_by(_o.c.id)):
        if owner in settled or owner in unfinished or owner in alive:
            continue
        last = connection.execute(
            select(_a.c.id, _a.c.started_at).where(_within(owner)).order_by(_a.c.id.desc()).limit(1)
        ).first()
        if last is not None and last.started_at < time.time() - _QUIET_S:
            found[owner] = last.id - owner * IDS
    return found


def _within(owner: int) -> Any:
    return (_a.c.id >= owner * IDS) & (_a.c.id < (owner + 1) * IDS)


def _sums_of(owner: int) -> Select[Any]:
    each = select(*(_a.c[name] for name in BY), *values()).where(_within(owner), _a.c.outcome.is_not(None)).subquery()
    return select(
        literal(owner).label("owner"),
        *(each.c[name] for name in BY),
        *(func.sum(each.c[name]).label(name) for name in SUMS),
    ).group_by(*(each.c[name] for name in BY))


def _write(connection: Connection, owner: int, seen: float | None, rows: list[dict[str, Any]]) -> None:
    """Unless another process was quicker, or the writer has shown up again."""
    if connection.scalar(select(_o.c.seen_at).where(_o.c.id == owner).with_for_update()) != seen:
        return
    make = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    if not connection.execute(make(_w).values(owner=owner).on_conflict_do_nothing()).rowcount:
        return
    for at in range(0, len(rows), _ROWS):
        connection.execute(insert(_s), rows[at : at + _ROWS])
