"""The statements of the writer, compiled once. SQLAlchemy's own path to the driver costs more than SQLite does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.expression import ClauseElement

from seedbed.lm.ledger import schema

IDENTITY = (
    "id",
    "owner",
    "sweep",
    "cell",
    "phase",
    "role",
    "execution",
    "sample",
    "model",
    "key",
    "number",
    "started_at",
)
"""Columns an attempt has from its beginning."""
ENDED = (
    "outcome",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "tokens_reasoning",
    "estimated",
    "spent_usd",
    "list_usd",
    "at_risk_usd",
    "latency_s",
    "error_class",
    "error",
)
"""Columns it gets with its end."""
RESPONSE = tuple(column.name for column in schema.responses.c)


class Prepared:
    """A statement in the words of a driver, with the order of its parameters."""

    def __init__(self, statement: ClauseElement, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect)
        self._sql = str(compiled)
        self._order: Sequence[str] | None = compiled.positiontup
        self._fixed: Mapping[str, Any] = {k: v for k, v in compiled.params.items() if v is not None}

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Execute for every row; returns how many rows of the table were touched in all."""
        parameters: Any
        if self._order is None:
            parameters = [{**self._fixed, **row} for row in rows]
        else:
            order, fixed = self._order, self._fixed
            parameters = [tuple([row[name] if name in row else fixed[name] for name in order]) for row in rows]
        if len(parameters) == 1:
            return connection.exec_driver_sql(self._sql, parameters[0]).rowcount
        return connection.exec_driver_sql(self._sql, parameters).rowcount


class Statements:
    def __init__(self, dialect: Dialect) -> None:
        a, r, q = schema.attempts, schema.responses, schema.requests
        make = postgresql.insert if dialect.name == "postgresql" else sqlite.insert

        def values(*names: str) -> dict[str, Any]:
            return {name: bindparam(name) for name in names}

        self.insert_attempt = Prepared(insert(a).values(values(*IDENTITY, *ENDED)), dialect)
        self.claim = Prepared(
            make(a).values(values(*IDENTITY, "estimated", "reserved_usd")).on_conflict_do_nothing(), dialect
        )
        self.keep_request = Prepared(make(q).values(values("key", "body")).on_conflict_do_nothing(), dialect)
        upsert = make(r).values(values(*RESPONSE))
        self.keep_response = Prepared(
            upsert.on_conflict_do_update(
                index_elements=["key"], set_={name: upsert.excluded[name] for name in RESPONSE if name != "key"}
            ),
            dialect,
        )
        self.finish = Prepared(
            update(a).where(a.c.id == bindparam("id_"), a.c.outcome.is_(None)).values(values(*ENDED)), dialect
        )
        self.find = select(r).where(r.c.key.in_(bindparam("keys", expanding=True)))
