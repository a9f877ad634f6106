"""How long calls of a model took, from a ledger."""

from __future__ import annotations

from sqlalchemy import Engine, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading

_a = schema.attempts
_NEWEST = 200


def latencies(engine: Engine, sweep: str, model: str, provider: str | None = None) -> list[float]:
    """Seconds of the newest paid calls of a model under a sweep's name; those to one provider where it is named."""
    query = select(_a.c.latency_s).where(
        _a.c.sweep == sweep, _a.c.model == model, _a.c.outcome == "paid", _a.c.latency_s.is_not(None)
    )
    if provider is not None:
        query = query.where(_a.c.provider == provider)
    with reading(engine) as connection:
        return [float(took) for took in connection.scalars(query.order_by(_a.c.id.desc()).limit(_NEWEST))]
