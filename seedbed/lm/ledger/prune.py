"""Dropping stored bodies that nobody needs any more, a few at a time: whoever writes meanwhile waits for one piece at
most."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, Select, delete, func, select, text

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import INCREMENTAL_VACUUM, reading, split_owners
from seedbed.lm.ledger.hosts import host_name
from seedbed.lm.ledger.repair import mark_lost

_a, _q, _r, _o = schema.attempts, schema.requests, schema.responses, schema.owners

PIECE = 500
"""Keys that are dropped in one transaction: some hundredths of a second."""
_PAGES = 2000
"""Pages of SQLite's file that are given back in one transaction."""


@dataclass(slots=True)
class Pruned:
    answers: int = 0
    size: int = 0
    interrupted: str | None = None
    """Why not everything was dropped: who began to work meanwhile."""


def prune(engine: Engine, *, before: float | None, sweep: str | None, apply: bool) -> Pruned:
    """Drop stored bodies made before a moment, or used by no sweep but one; how many answers and bytes.

    Without `apply` nothing is changed. What is dropped cannot be reused: asked again, it is paid again. A sweep at work
    counts on what it was answered: as long as one is nothing is dropped, and when one begins the rest stays.
    """
    newest = _newest_writer(engine) if apply else 0
    done = Pruned()
    with reading(engine) as connection:
        if engine.dialect.name == "sqlite":
            # The keys of millions of attempts are sorted here: on disk, and not in memory as elsewhere.
            assert connection.connection.dbapi_connection is not None
            connection.connection.dbapi_connection.execute("PRAGMA temp_store=FILE")
        for keys in _pieces(connection, _doomed(before, sweep)):
            if not apply:
                _add(done, connection, keys)
                continue
            began = time.monotonic()
            with engine.begin() as writing:
                done.interrupted = _who_began(writing, newest)
                if done.interrupted:
                    break
                _add(done, writing, keys)
                for table in (_q, _r):
                    writing.execute(delete(table).where(table.c.key.in_(keys)))
            # As long as it was kept waiting, whoever wants to write has its turn.
            time.sleep(time.monotonic() - began)
    if apply and not done.interrupted and engine.dialect.name == "sqlite":
        _give_back(engine, newest)
    return done


def _doomed(before: float | None, sweep: str | None) -> Select[tuple[str]]:
    query = select(_a.c.key).group_by(_a.c.key)
    if before is not None:
        query = query.having(func.max(_a.c.started_at) < before)
    if sweep is not None:
        query = query.having(func.min(_a.c.sweep) == sweep, func.max(_a.c.sweep) == sweep)
    return query


def _pieces(connection: Connection, query: Select[tuple[str]]) -> Iterator[list[str]]:
    found = connection.execution_options(yield_per=PIECE).execute(query).scalars()
    yield from (list(keys) for keys in found.partitions(PIECE))


def _add(done: Pruned, connection: Connection, keys: Sequence[str]) -> None:
    """Count what is stored under these keys."""
    for table in (_q, _r):
        rows, size = connection.execute(
            select(func.count(), func.coalesce(func.sum(func.length(table.c.body)), 0)).where(table.c.key.in_(keys))
        ).one()
        done.size += int(size)
        done.answers += int(rows) if table is _r else 0


def _newest_writer(engine: Engine) -> int:
    """The number of the last writer there was, if all have ended; asked before anything is looked through. What dead
    processes left in flight is settled."""
    with engine.begin() as connection:
        _lock_out(connection)
        alive, dead = split_owners(connection)
        mark_lost(connection, dead)
        if alive:
            raise UserError(
                f"a sweep is at work on this ledger ({_names(connection, alive)}) and would pay again for what is "
                "dropped; wait for its end, or stop it."
            )
        return connection.scalar(select(func.max(_o.c.id))) or 0


def _who_began(connection: Connection, newest: int) -> str | None:
    """Writers that came since; one that has ended already may have used what was looked up as unused before."""
    _lock_out(connection)
    came = list(connection.scalars(select(_o.c.id).where(_o.c.id > newest)))
    return _names(connection, came) if came else None


def _lock_out(connection: Connection) -> None:
    """Nobody can begin until the transaction ends; SQLite's has the only lock there is."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE"))


def _names(connection: Connection, owners: Sequence[int]) -> str:
    rows = connection.execute(select(_o.c.host, _o.c.pid).where(_o.c.id.in_(owners)).order_by(_o.c.id))
    return ", ".join(f"process {row.pid} on {host_name(row.host)}" for row in rows)


def _give_back(engine: Engine, newest: int) -> None:
    """The room of what was dropped goes back to the disk, in pieces too. A file of before has to be written anew once,
    which keeps everybody out; it is then one that can be cut in pieces."""
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        if cursor.execute("PRAGMA auto_vacuum").fetchone()[0] != INCREMENTAL_VACUUM:
            with engine.begin() as connection:
                if _who_began(connection, newest):
                    return
            cursor.execute(f"PRAGMA auto_vacuum={INCREMENTAL_VACUUM}")
            cursor.execute("VACUUM")
            return
        while cursor.execute("PRAGMA freelist_count").fetchone()[0]:
            began = time.monotonic()
            # Not by `execute`, which takes one step of it, and a step is a page.
            cursor.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
            time.sleep(time.monotonic() - began)
