"""Setting the record straight after a death: attempts nobody will end, and ends that come after all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.budget import Book, recount
from seedbed.lm.ledger.records import End
from seedbed.lm.ledger.statements import ENDED

LOST = "Lost"
"""Error class of attempts whose process died; one that gave a call up itself says why."""

_a = schema.attempts


def mark_lost(
    connection: Connection, owners: Sequence[int], *, keys: Sequence[str] | None = None, but: Sequence[int] = ()
) -> None:
    """Attempts that these writers left in flight are lost, at their worst case: they may have been billed.

    `keys` narrows it to some requests; `but` names attempts that are to stay.
    """
    if not owners:
        return
    query = select(_a.c.id, _a.c.sweep, _a.c.cell, _a.c.reserved_usd).where(
        _a.c.owner.in_(owners), _a.c.outcome.is_(None), _a.c.id.not_in(but)
    )
    if keys is not None:
        query = query.where(_a.c.key.in_(keys))
    orphans = list(connection.execute(query))
    if not orphans:
        return
    connection.execute(
        update(_a)
        .where(_a.c.id.in_([row.id for row in orphans]), _a.c.outcome.is_(None))
        .values(outcome="lost", spent_usd=0.0, list_usd=0.0, at_risk_usd=_a.c.reserved_usd, error_class=LOST)
    )
    scopes = {f"sweep:{row.sweep}" for row in orphans} | {f"cell:{row.cell}" for row in orphans}
    for scope in sorted(scopes):
        recount(connection, scope)


def late_end(connection: Connection, item: End, row: Mapping[str, Any], book: Book) -> None:
    """Write one end whose attempt another process may have given up as lost: the truth replaces the worst case."""
    used = (item.spent_usd or 0.0) + item.at_risk_usd
    found = connection.execute(select(_a.c.error_class, _a.c.at_risk_usd).where(_a.c.id == item.attempt_id)).one()
    if found.error_class == LOST:
        connection.execute(update(_a).where(_a.c.id == item.attempt_id).values({name: row[name] for name in ENDED}))
        book.correct(item.begin, used - (found.at_risk_usd or 0.0))
    else:
        book.settle(item.begin, used)
