"""What was called and spent, as a table of sums: quick however many attempts there are (`settled.py` adds up)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, cast, delete, func, literal, select, union_all
from sqlalchemy.sql.selectable import Subquery

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.answer_columns import was_cut

IDS = 1 << 40
"""A writer's ids begin with its number times this."""
BY = ("sweep", "generation", "cell", "phase", "role", "model", "outcome", "error_class")
SUMS = (
    *("calls", "tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning"),
    *("spent_usd", "list_usd", "at_risk_usd", "cut", "unpriced"),
)

_a, _o, _s, _w = schema.attempts, schema.owners, schema.settled_sums, schema.settled_owners


def account(*, settled: bool = True) -> Subquery:
    """The attempts that have ended: the sums of writers that are settled, and a row an attempt of the others. Only the
    latter say when they began. `settled` is false for a ledger of before, opened to look at: it has no such sums."""
    if not settled:
        every = select(*(_a.c[name] for name in BY), *values(), _a.c.started_at).where(_a.c.outcome.is_not(None))
        return every.subquery("account")
    first = (cast(_o.c.id, BigInteger) * literal(IDS, BigInteger)).label("first")
    others = select(first).where(_o.c.id.not_in(select(_w.c.owner))).subquery()
    mine = (_a.c.id >= others.c.first) & (_a.c.id < others.c.first + literal(IDS, BigInteger))
    # Of a sweep's own index no use is to be made: it leads through all of its attempts, the settled ones too.
    by = {"sweep": func.coalesce(_a.c.sweep, "").label("sweep")}
    return union_all(
        select(*(_s.c[name] for name in (*BY, *SUMS)), literal(0.0).label("started_at")),
        select(*(by.get(name, _a.c[name]) for name in BY), *values(), _a.c.started_at)
        .select_from(others.join(_a, mine))
        .where(_a.c.outcome.is_not(None)),
    ).subquery("account")


def values() -> list[Any]:
    """What an attempt adds to the sums."""
    unpriced = cast((_a.c.outcome == "paid") & _a.c.spent_usd.is_(None), Integer)
    own: dict[str, Any] = {"calls": literal(1), "cut": was_cut(), "unpriced": unpriced}
    return [(own[name] if name in own else _a.c[name]).label(name) for name in SUMS]


def unsettle(connection: Connection, owner: int) -> None:
    """A writer that was taken for dead has changed its attempts after all."""
    connection.execute(delete(_s).where(_s.c.owner == owner))
    connection.execute(delete(_w).where(_w.c.owner == owner))
