"""Who has a request in flight: asked of its key alone, however many attempts and other calls there are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Dialect, bindparam, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import clock, works
from seedbed.lm.ledger.statements import Prepared, among, as_parameter


@dataclass(frozen=True, slots=True)
class Holder:
    """An attempt in flight."""

    id: int
    key: str
    owner: int
    seated: bool
    """It waits for a batch, or is in one."""
    gone: bool
    """Nobody will end it: its writer has died and no batch has it."""


class Holders:
    """The statement, prepared once: whoever waits for a request of another process asks it several times a second."""

    def __init__(self, dialect: Dialect) -> None:
        a, o, rows = schema.attempts, schema.owners, schema.batch_rows
        now = clock(dialect) if dialect.name == "postgresql" else bindparam("now")
        self._keys = as_parameter(dialect)
        self._find = Prepared(
            select(a.c.id, a.c.key, a.c.owner, rows.c.attempt, rows.c.batch, o.c.host, o.c.pid, o.c.seen_at,
                   (now - o.c.seen_at).label("silent_s"))
            .select_from(a.outerjoin(rows, rows.c.attempt == a.c.id).outerjoin(o, o.c.id == a.c.owner))
            .where(among(a.c.key, dialect), a.c.outcome.is_(None)),
            dialect,
        )  # fmt: skip

    def of(self, connection: Connection, keys: Sequence[str]) -> dict[str, Holder]:
        """By key; at most one attempt of a key is in flight."""
        found = self._find.all(connection, {"keys": self._keys(keys), "now": time.time()})
        url = str(connection.engine.url)
        holders: dict[str, Holder] = {}
        for number, key, owner, seat, batch, host, pid, seen, silent in found:
            alive = bool(seen) and works(url, owner, host, pid, silent)
            holders[key] = Holder(number, key, owner, seat is not None, not alive and batch is None)
        return holders
