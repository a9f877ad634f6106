"""Setting the record straight after a death: attempts nobody will end, and ends that come after all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, or_, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import IDS, unsettle
from seedbed.lm.ledger.caps import recount
from seedbed.lm.ledger.records import End
from seedbed.lm.ledger.statements import ENDED

LOST = "Lost"
"""Error class of attempts whose process died; one that gave a call up itself says why."""

_AT_ONCE = 5000
NOT_SENT = "NotSent"
"""Of those that were never sent."""

_a, _b, _rows = schema.attempts, schema.budgets, schema.batch_rows
_OPEN = (
    select(_a.c.id, _a.c.sweep, _a.c.cell, _rows.c.attempt.label("seated"))
    .outerjoin(_rows, _rows.c.attempt == _a.c.id)
    .where(_a.c.outcome.is_(None), or_(_rows.c.attempt.is_(None), _rows.c.batch.is_(None)))
)
"""Attempts in flight that no batch will answer."""


def mark_lost(
    connection: Connection, owners: Sequence[int], *, keys: Sequence[str] | None = None, but: Sequence[int] = ()
) -> bool:
    """Attempts that these writers left in flight are lost, at their worst case: they may have been billed. Those in a
    batch stay, since the batch will answer them; those that waited for one were sent to nobody. Returns whether there
    were any: the caps are then counted again, here and by whoever holds them in memory.

    `keys` narrows it to some requests; `but` names attempts that are to stay.
    """
    if not owners:
        return False
    query = _OPEN.where(_a.c.owner.in_(owners), _a.c.id.not_in(but))
    orphans = list(connection.execute(query if keys is None else query.where(_a.c.key.in_(keys))))
    _mark(connection, [row for row in orphans if not row.seated], "lost", LOST, at_risk_usd=_a.c.reserved_usd)
    _mark_unsent(connection, [row for row in orphans if row.seated])
    return bool(orphans)


def mark_unsent(connection: Connection, ids: Sequence[int]) -> list[int]:
    """Of attempts that wait for a batch: those that are in none yet end here, for nothing. Returns them."""
    found = [row for part in _parts(ids) for row in connection.execute(_OPEN.where(_a.c.id.in_(part)))]
    return _mark_unsent(connection, [row for row in found if row.seated])


def _mark_unsent(connection: Connection, rows: Sequence[Any]) -> list[int]:
    # One that another process puts into a batch in this moment is the batch's.
    ours: set[int] = set()
    for part in _parts([row.id for row in rows]):
        chosen = delete(_rows).where(_rows.c.attempt.in_(part), _rows.c.batch.is_(None))
        ours.update(connection.scalars(chosen.returning(_rows.c.attempt)))
    _mark(connection, [row for row in rows if row.id in ours], "failed", NOT_SENT, at_risk_usd=0.0)
    return sorted(ours)


def _mark(connection: Connection, rows: Sequence[Any], outcome: str, error: str, *, at_risk_usd: Any) -> None:
    if not rows:
        return
    scopes = sorted({f"sweep:{row.sweep}" for row in rows} | {f"cell:{row.cell}" for row in rows})
    # Caps before attempts, as the writer takes them: two that repair and write at once then never wait for each other.
    connection.execute(select(_b.c.scope).where(_b.c.scope.in_(scopes)).order_by(_b.c.scope).with_for_update())
    ended = {"outcome": outcome, "spent_usd": 0.0, "list_usd": 0.0, "at_risk_usd": at_risk_usd, "error_class": error}
    for part in _parts([row.id for row in rows]):
        connection.execute(update(_a).where(_a.c.id.in_(part), _a.c.outcome.is_(None)).values(ended))
    for scope in scopes:
        recount(connection, scope)


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """No statement has more parameters than a database takes."""
    return (ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE))


def late_end(connection: Connection, item: End, row: Mapping[str, Any]) -> None:
    """Write one end whose attempt another process may have given up as lost: the truth replaces the worst case. The
    caps have to be counted again afterwards."""
    connection.execute(
        update(_a)
        .where(_a.c.id == item.attempt_id, _a.c.outcome == "lost", _a.c.error_class == LOST)
        .values({name: row[name] for name in ENDED})
    )
    unsettle(connection, item.attempt_id // IDS)
