"""The statements of the writer, compiled once. SQLAlchemy's own path to the driver costs more than SQLite does, so
there they go to the driver directly; whoever runs them turns its errors into SQLAlchemy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Dialect, any_, bindparam, func, insert, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.expression import ClauseElement

from seedbed.lm.compat.sqlalchemy import parameter_order
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
    "generation",
    "started_at",
)
"""Columns an attempt has from its beginning."""
ENDED = (
    "outcome",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "tokens_reasoning",
    "tokens_written",
    "usage_more",
    "answered_by",
    "fingerprint",
    "provider",
    "service_tier",
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
        self._fixed: Mapping[str, Any] = {k: v for k, v in compiled.params.items() if v is not None}
        self._in_order = _picker(parameter_order(compiled))
        self._direct = dialect.name == "sqlite"

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Execute for every row; returns how many rows of the table were touched in all."""
        parameters: Any = [self._parameters(row) for row in rows]
        if not self._direct:
            return connection.exec_driver_sql(self._sql, parameters[0] if len(rows) == 1 else parameters).rowcount
        with closing(connection.connection.cursor()) as cursor:
            cursor.executemany(self._sql, parameters)
            return cursor.rowcount

    def all(self, connection: Connection, row: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """The rows found."""
        if not self._direct:
            return connection.exec_driver_sql(self._sql, self._parameters(row)).all()
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(self._sql, self._parameters(row))
            return cursor.fetchall()

    def _parameters(self, row: Mapping[str, Any]) -> Any:
        return self._in_order({**self._fixed, **row} if self._fixed else row)


def _picker(names: Sequence[str] | None) -> Callable[[Mapping[str, Any]], Any]:
    """Puts the values of a row into the order that a driver wants; a driver that takes names gets the row itself."""
    match names:
        case None:
            return lambda row: row
        case [name]:
            return lambda row: (row[name],)
        case _:
            return itemgetter(*names)


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
        self.take_seat = Prepared(
            insert(schema.batch_rows).values(values("attempt", "lane", "caps", "body", "bytes")), dialect
        )
        self.keep_request = Prepared(make(q).values(values("key", "body")).on_conflict_do_nothing(), dialect)
        upsert = make(r).values(values(*RESPONSE))
        self.keep_response = Prepared(
            upsert.on_conflict_do_update(
                index_elements=["key"],
                set_={name: upsert.excluded[name] for name in RESPONSE if name != "key"},
                # A late answer to a call from before a fresh start does not take the place of a newer one.
                where=upsert.excluded.generation >= r.c.generation,
            ),
            dialect,
        )
        self.finish = Prepared(
            update(a).where(a.c.id == bindparam("id_"), a.c.outcome.is_(None)).values(values(*ENDED)), dialect
        )
        b = schema.budgets
        self.read_cap = Prepared(
            select(b.c.used_usd, b.c.reserved_usd, b.c.generation)
            .where(b.c.scope == bindparam("scope"))
            .with_for_update(),
            dialect,
        )
        self.open_cap = Prepared(
            make(b)
            .values(values("scope", "generation") | {"used_usd": literal(0.0), "reserved_usd": literal(0.0)})
            .on_conflict_do_nothing(),
            dialect,
        )
        self.write_cap = Prepared(
            update(b).where(b.c.scope == bindparam("scope_")).values(values("used_usd", "reserved_usd")), dialect
        )
        self._find = Prepared(select(r).where(among(r.c.key, dialect)), dialect)
        self._keys = as_parameter(dialect)

    def find_responses(self, connection: Connection, keys: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of `responses` under these keys, by column."""
        found = self._find.all(connection, {"keys": self._keys(keys)})
        return [dict(zip(RESPONSE, row, strict=True)) for row in found]


def among(column: ColumnElement[Any], dialect: Dialect) -> ColumnElement[bool]:
    """Whether it is one of `keys`: one parameter for any number of them, so the statement is compiled once."""
    keys: Any = bindparam("keys")
    if dialect.name == "postgresql":
        return column == any_(keys)
    return column.in_(select(func.json_each(keys).table_valued("value").c.value))


def as_parameter(dialect: Dialect) -> Callable[[Sequence[str]], Any]:
    """What `among` takes as its keys."""
    return list if dialect.name == "postgresql" else _json


def _json(keys: Sequence[str]) -> str:
    return orjson.dumps(keys).decode()
