"""Looking after a ledger: its figures, and copies to give away."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    Engine,
    RowMapping,
    Select,
    case,
    func,
    insert,
    literal,
    select,
)

from seedbed.errors import UserError
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import account
from seedbed.lm.ledger.database import open_database, reading, sqlite_url
from seedbed.lm.ledger.settled import settle
from seedbed.storage.redact import redact

_a, _q, _r = schema.attempts, schema.requests, schema.responses
_CHUNK = 500
_COUNTS = ("paid", "reused", "failed", "lost", "tokens_in", "tokens_out", "unpriced", "at_risk_usd")
_SIGNED_OFF = literal(0.0).label("seen_at")


def stats(engine: Engine) -> list[dict[str, Any]]:
    """Attempts, tokens and dollars by sweep; the tokens are those billed, so reused answers add none."""
    settle(engine)
    here = account().c

    def total(name: str, *outcomes: str) -> Any:
        return func.coalesce(func.sum(case((here.outcome.in_(outcomes), here[name]), else_=0)), 0)

    ended = select(
        here.sweep,
        *(total("calls", outcome).label(outcome) for outcome in ("paid", "reused", "failed", "lost")),
        *(total(name, "paid", "failed").label(name) for name in ("tokens_in", "tokens_out")),
        func.sum(here.spent_usd).label("spent_usd"),
        func.sum(here.unpriced).label("unpriced"),
        func.coalesce(func.sum(here.at_risk_usd), 0.0).label("at_risk_usd"),
    ).group_by(here.sweep)
    # Those in flight have an index of their own, which is not asked where the sweeps' could be.
    name = func.coalesce(_a.c.sweep, "")
    in_flight = select(name, func.count()).where(_a.c.outcome.is_(None)).group_by(name)
    with reading(engine) as connection:
        found = {row["sweep"]: dict(row) for row in connection.execute(ended).mappings()}
        flying = {str(row[0]): int(row[1]) for row in connection.execute(in_flight)}
    for sweep in flying.keys() - found.keys():
        found[sweep] = {"sweep": sweep, "spent_usd": None, **dict.fromkeys(_COUNTS, 0)}
    return [{**found[sweep], "in_flight": flying.get(sweep, 0)} for sweep in sorted(found)]


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
