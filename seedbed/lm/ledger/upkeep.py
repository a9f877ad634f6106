"""Looking after a ledger: its figures, copies to give away, and bodies nobody needs any more. Rows of attempts are
never deleted: they are the account."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    Connection,
    Engine,
    Integer,
    RowMapping,
    Select,
    Subquery,
    case,
    cast,
    delete,
    func,
    insert,
    literal,
    select,
    text,
)

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import open_database, reading, split_owners, sqlite_url
from seedbed.lm.ledger.hosts import host_name
from seedbed.lm.ledger.repair import mark_lost
from seedbed.storage.redact import redact

_a, _q, _r = schema.attempts, schema.requests, schema.responses
_CHUNK = 500
_SIGNED_OFF = literal(0.0).label("seen_at")


def stats(engine: Engine) -> list[dict[str, Any]]:
    """Attempts, tokens and dollars by sweep; the tokens are those billed, so reused answers add none."""
    billed = _a.c.outcome.in_(("paid", "failed"))

    def total(name: str) -> Any:
        return func.coalesce(func.sum(case((billed, _a.c[name]), else_=0)), 0).label(name)

    query = (
        select(
            _a.c.sweep,
            *(
                func.coalesce(func.sum(cast(_a.c.outcome == outcome, Integer)), 0).label(outcome)
                for outcome in ("paid", "reused", "failed", "lost")
            ),
            func.sum(cast(_a.c.outcome.is_(None), Integer)).label("in_flight"),
            total("tokens_in"),
            total("tokens_out"),
            func.sum(_a.c.spent_usd).label("spent_usd"),
            func.coalesce(func.sum(cast((_a.c.outcome == "paid") & _a.c.spent_usd.is_(None), Integer)), 0).label(
                "unpriced"
            ),
            func.coalesce(func.sum(_a.c.at_risk_usd), 0.0).label("at_risk_usd"),
        )
        .group_by(_a.c.sweep)
        .order_by(_a.c.sweep)
    )
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def stored(engine: Engine) -> tuple[int, int]:
    """How many answers are kept for reuse, and the bytes of all bodies."""
    with reading(engine) as connection:
        count, answers = connection.execute(
            select(func.count(), func.sum(func.length(_r.c.body))).select_from(_r)
        ).one()
        asked = connection.scalar(select(func.sum(func.length(_q.c.body))))
    return count, (answers or 0) + (asked or 0)


def export_rows(engine: Engine, sweep: str | None, *, bodies: bool) -> Iterator[dict[str, Any]]:
    """Every attempt that has ended, in order, with its bodies if they are wanted and kept."""
    query: Select[Any] = select(_a).where(_a.c.outcome.is_not(None)).order_by(_a.c.id)
    if bodies:
        query = (
            query.add_columns(_q.c.body.label("request"), _r.c.body.label("response"))
            .outerjoin(_q, _q.c.key == _a.c.key)
            .outerjoin(_r, (_r.c.key == _a.c.key) & _a.c.outcome.in_(("paid", "reused")))
        )
    if sweep is not None:
        query = query.where(_a.c.sweep == sweep)
    with reading(engine) as connection:
        for row in connection.execution_options(yield_per=_CHUNK).execute(query).mappings():
            data = {str(name): value for name, value in row.items()}
            for name in ("request", "response") if bodies else ():
                data[name] = orjson.loads(zlib.decompress(data[name])) if data[name] else None
            yield data


def export_ledger(engine: Engine, sweep: str | None, target: Path) -> int:
    """Copy a sweep's attempts and every body they need into a new ledger, enough for `--replay`; returns the number of
    attempts. Secrets in requests are masked: a request is found by its key, and a copy is made to be given away."""
    if target.exists():
        raise UserError(f"{target} exists already; choose another name or remove it.")
    copy = open_database(sqlite_url(target))
    here = [] if sweep is None else [_a.c.sweep == sweep]
    keys = select(_a.c.key).where(*here)
    count = 0
    with reading(engine) as source, copy.begin() as connection:
        for table, query in (
            (_a, select(_a).where(_a.c.outcome.is_not(None), *here)),
            (_q, select(_q).where(_q.c.key.in_(keys))),
            (_r, select(_r).where(_r.c.key.in_(keys))),
            (schema.sweeps, select(schema.sweeps)),
            # Ids of attempts begin with their writer's: a new writer of the copy must not get a number of an old one.
            (schema.owners, select(schema.owners.c.id, schema.owners.c.host, schema.owners.c.pid, _SIGNED_OFF)),
        ):
            rows = source.execution_options(yield_per=_CHUNK).execute(query).mappings()
            for part in rows.partitions(_CHUNK):
                copied = [masked_request(row) for row in part] if table is _q else [dict(row) for row in part]
                connection.execute(insert(table), copied)
                count += len(part) if table is _a else 0
    copy.dispose()
    return count


def masked_request(request: RowMapping) -> dict[str, Any]:
    """A row of requests without the secrets in it, as it may be given away."""
    said = redact(zlib.decompress(request["body"]).decode())
    return {"key": request["key"], "body": zlib.compress(said.encode())}


def prune(engine: Engine, *, before: float | None, sweep: str | None, apply: bool) -> tuple[int, int]:
    """Drop stored bodies made before a moment, or used by no sweep but one; returns how many answers and bytes.

    Without `apply` nothing is changed. What is dropped cannot be reused: asked again, it is paid again. A sweep at work
    counts on what it was answered, so as long as one is, nothing is dropped.
    """
    with engine.begin() as connection:
        if apply:
            _refuse_at_work(connection)
        doomed = _doomed(before, sweep)
        answers = connection.scalar(select(func.count()).select_from(_r).where(_r.c.key.in_(select(doomed.c.key)))) or 0
        size = sum(
            connection.scalar(
                select(func.coalesce(func.sum(func.length(table.c.body)), 0)).where(
                    table.c.key.in_(select(doomed.c.key))
                )
            )
            or 0
            for table in (_q, _r)
        )
        if apply:
            connection.execute(delete(_q).where(_q.c.key.in_(select(doomed.c.key))))
            connection.execute(delete(_r).where(_r.c.key.in_(select(doomed.c.key))))
    if apply and engine.dialect.name == "sqlite":
        raw = engine.raw_connection()
        raw.cursor().execute("VACUUM")
        raw.close()
    return answers, size


def _doomed(before: float | None, sweep: str | None) -> Subquery:
    query = select(_a.c.key).group_by(_a.c.key)
    if before is not None:
        query = query.having(func.max(_a.c.started_at) < before)
    if sweep is not None:
        query = query.having(func.min(_a.c.sweep) == sweep, func.max(_a.c.sweep) == sweep)
    return query.subquery()


def _refuse_at_work(connection: Connection) -> None:
    """Nobody can begin either until this transaction ends. What dead processes left in flight is settled first."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE"))
    alive, dead = split_owners(connection)
    mark_lost(connection, dead)
    if not alive:
        return
    owners = schema.owners
    rows = connection.execute(select(owners.c.host, owners.c.pid).where(owners.c.id.in_(alive)).order_by(owners.c.id))
    who = ", ".join(f"process {row.pid} on {host_name(row.host)}" for row in rows)
    raise UserError(
        f"a sweep is at work on this ledger ({who}) and would pay again for what is dropped; wait for its end, or stop "
        "it."
    )
