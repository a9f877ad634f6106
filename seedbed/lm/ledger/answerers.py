"""Who answered: the distinct models, fingerprints, providers and service tiers behind the answers of a sweep."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, func, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading

_a = schema.attempts
_WHO = (_a.c.model, _a.c.answered_by, _a.c.fingerprint, _a.c.provider, _a.c.service_tier)


def answerers(engine: Engine, sweep: str, generation: int = 0, *, cell: str | None = None) -> list[dict[str, Any]]:
    """By model of the config, in the order in which they first answered, with the number of answers. Answers from
    before the ledger took this down are left out."""
    query = (
        select(*_WHO, func.count().label("answers"))
        .where(_a.c.sweep == sweep, _a.c.generation >= generation, _a.c.outcome.in_(("paid", "reused")))
        .where(_a.c.provider.is_not(None))
        .group_by(*_WHO)
        .order_by(_a.c.model, func.min(_a.c.id))
    )
    if cell is not None:
        query = query.where(_a.c.cell == cell)
    with reading(engine) as connection:
        return [{str(name): value for name, value in row.items()} for row in connection.execute(query).mappings()]


def first_answers(engine: Engine, sweep: str, generation: int = 0) -> dict[tuple[str, str], float]:
    """When a model of the config was first answered for by whom, as seconds since 1970: by its name, and by what its
    answers call their model and its fingerprint."""
    query = (
        select(_a.c.model, _a.c.answered_by, _a.c.fingerprint, func.min(_a.c.started_at))
        .where(_a.c.sweep == sweep, _a.c.generation >= generation, _a.c.outcome == "paid")
        .group_by(_a.c.model, _a.c.answered_by, _a.c.fingerprint)
    )
    found: dict[tuple[str, str], float] = {}
    with reading(engine) as connection:
        for model, answered_by, fingerprint, at in connection.execute(query):
            for told in (answered_by, fingerprint):
                if told is not None:
                    found[model, told] = min(at, found.get((model, told), at))
    return found
