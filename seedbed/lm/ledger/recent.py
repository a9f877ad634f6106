"""What happened last in a sweep: calls as they end, what they cost by and by, what failed. Only reads."""

from __future__ import annotations

import zlib
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, Integer, cast, func, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading

_a = schema.attempts
_OWNER = 1 << 40
"""Ids of attempts are the writer's number times this, and a counter."""
_WRITERS = 8
"""Of so many writers, the latest, calls are shown."""
_SHOWN = ("id", "cell", "phase", "role", "sample", "model", "number", "outcome", "tokens_in", "tokens_out",
          "spent_usd", "at_risk_usd", "started_at", "latency_s", "error_class", "error")  # fmt: skip


def latest_calls(engine: Engine, sweep: str, generation: int, limit: int) -> list[dict[str, Any]]:
    """Attempts that ended, the newest first. Found by their ids, so that a long ledger is not read through."""
    rows: list[dict[str, Any]] = []
    with reading(engine) as connection:
        for owner in _writers(connection):
            query = (
                select(*(_a.c[name] for name in _SHOWN))
                .where(_a.c.id >= owner * _OWNER, _a.c.id < (owner + 1) * _OWNER, _a.c.outcome.is_not(None))
                .where(_a.c.sweep == sweep, _a.c.generation >= generation)
                .order_by(_a.c.id.desc())
                .limit(limit)
            )
            rows += [dict(row) for row in connection.execute(query).mappings()]
    rows.sort(key=lambda row: row["started_at"] + (row["latency_s"] or 0.0), reverse=True)
    return rows[:limit]


def _writers(connection: Connection) -> list[int]:
    return list(connection.scalars(select(schema.owners.c.id).order_by(schema.owners.c.id.desc()).limit(_WRITERS)))


def one_call(engine: Engine, sweep: str, number: int) -> dict[str, Any] | None:
    """An attempt with its request and its response, where bodies are kept; None if the sweep has none of this id."""
    query = (
        select(_a, schema.requests.c.body.label("request_body"), schema.responses.c.body.label("response_body"))
        .outerjoin(schema.requests, schema.requests.c.key == _a.c.key)
        .outerjoin(schema.responses, schema.responses.c.key == _a.c.key)
        .where(_a.c.id == number, _a.c.sweep == sweep)
    )
    with reading(engine) as connection:
        row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    answered = row["outcome"] in ("paid", "reused")
    return {
        **{name: row[name] for name in _SHOWN},
        "request": _body(row["request_body"]),
        "response": _body(row["response_body"]) if answered else None,
    }


def spent_over_time(engine: Engine, sweep: str, generation: int, since: float, width_s: float) -> list[dict[str, Any]]:
    """Dollars, calls and failures by slice of time from a moment on; slices without a call are left out."""
    slot = cast((_a.c.started_at - since) / width_s, Integer).label("slot")
    usd = func.coalesce(func.sum(_a.c.spent_usd), 0.0)
    failed = func.sum(cast(_a.c.outcome.in_(("failed", "lost")), Integer)).label("failed")
    query = (
        select(slot, func.count().label("calls"), failed, usd.label("usd"))
        .where(_a.c.sweep == sweep, _a.c.generation >= generation, _a.c.started_at >= since)
        .where(_a.c.outcome.is_not(None), _a.c.outcome != "reused")
        .group_by(slot)
        .order_by(slot)
    )
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def failures_by_kind(engine: Engine, sweep: str, generation: int) -> list[dict[str, Any]]:
    """Attempts that failed, by kind and model: how many, when last, and what was said of one of them."""
    by = (_a.c.outcome, _a.c.error_class, _a.c.model)
    last, said = func.max(_a.c.started_at).label("last"), func.max(_a.c.error).label("said")
    query = (
        select(*by, func.count().label("count"), last, said)
        .where(_a.c.sweep == sweep, _a.c.generation >= generation, _a.c.outcome.in_(("failed", "lost")))
        .group_by(*by)
        .order_by(func.count().desc())
    )
    with reading(engine) as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    return [{"kind": "lost" if row["outcome"] == "lost" else row["error_class"] or "failed", **row} for row in rows]


def _body(packed: bytes | None) -> Any:
    return orjson.loads(zlib.decompress(packed)) if packed else None
