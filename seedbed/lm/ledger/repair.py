"""Setting the record straight after a death: attempts nobody will end, and ends that come after all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import IDS, unsettle
from seedbed.lm.ledger.caps import recount
from seedbed.lm.ledger.records import End
from seedbed.lm.ledger.statements import ENDED

LOST = "Lost"
"""Error class of attempts whose process died; one that gave a call up itself says why."""

_a, _b = schema.attempts, schema.budgets


def mark_lost(
    connection: Connection, owners: Sequence[int], *, keys: Sequence[str] | None = None, but: Sequence[int] = ()
) -> bool:
    """Attempts that these writers left in flight are lost, at their worst case: they may have been billed. Returns
    whether there were any: the caps are then counted again, here and by whoever holds them in memory.

    `keys` narrows it to some requests; `but` names attempts that are to stay.
    """
    if not owners:
        return False
    query = select(_a.c.id, _a.c.sweep, _a.c.cell, _a.c.reserved_usd).where(
        _a.c.owner.in_(owners), _a.c.outcome.is_(None), _a.c.id.not_in(but)
    )
    if keys is not None:
        query = query.where(_a.c.key.in_(keys))
    orphans = list(connection.execute(query))
    if not orphans:
        return False
    scopes = sorted({f"sweep:{row.sweep}" for row in orphans} | {f"cell:{row.cell}" for row in orphans})
    # Caps before attempts, as the writer takes them: two that repair and write at once then never wait for each other.
    connection.execute(select(_b.c.scope).where(_b.c.scope.in_(scopes)).order_by(_b.c.scope).with_for_update())
    connection.execute(
        update(_a)
        .where(_a.c.id.in_([row.id for row in orphans]), _a.c.outcome.is_(None))
        .values(outcome="lost", spent_usd=0.0, list_usd=0.0, at_risk_usd=_a.c.reserved_usd, error_class=LOST)
    )
    for scope in scopes:
        recount(connection, scope)
    return True


def late_end(connection: Connection, item: End, row: Mapping[str, Any]) -> None:
    """Write one end whose attempt another process may have given up as lost: the truth replaces the worst case. The
    caps have to be counted again afterwards."""
    connection.execute(
        update(_a)
        .where(_a.c.id == item.attempt_id, _a.c.outcome == "lost", _a.c.error_class == LOST)
        .values({name: row[name] for name in ENDED})
    )
    unsettle(connection, item.attempt_id // IDS)
