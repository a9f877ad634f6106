"""How far a sweep has come, as its calls tell it. Only reads, and keeps no writer waiting."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Engine, case, func, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.database import reading, split_owners

_a = schema.attempts
_ANSWERED = ("paid", "reused")


@dataclass(frozen=True, slots=True)
class CallProgress:
    """Of a sweep since its last fresh start."""

    answered: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By cell and phase: samples with an answer of a model; one with several calls counts from its first."""
    paid: int = 0
    reused: int = 0
    tokens: int = 0
    spent_usd: float = 0.0
    """With what may have been billed for calls whose end nobody saw."""
    failed: Counter[str] = field(default_factory=Counter[str])
    """Attempts that failed, by kind; most were repeated and then succeeded."""
    recent: int = 0
    """Calls begun and ended within the time that was asked for."""
    at_work: bool = False
    """Whether a process that called for this sweep is alive."""


def call_progress(engine: Engine, sweep: str, generation: int, since: float) -> CallProgress:
    """`since` is the time from which calls count as recent."""
    ours = (_a.c.sweep == sweep, _a.c.generation >= generation)
    samples = (
        select(_a.c.cell, _a.c.phase, func.count(_a.c.sample.distinct()))
        .where(*ours, _a.c.outcome.in_(_ANSWERED))
        .group_by(_a.c.cell, _a.c.phase)
    )
    sums = (
        select(
            _a.c.outcome,
            _a.c.error_class,
            func.count(),
            func.coalesce(func.sum(_a.c.tokens_in), 0) + func.coalesce(func.sum(_a.c.tokens_out), 0),
            func.coalesce(func.sum(_a.c.spent_usd), 0.0) + func.coalesce(func.sum(_a.c.at_risk_usd), 0.0),
            func.sum(case((_a.c.started_at >= since, 1), else_=0)),
        )
        .where(*ours, _a.c.outcome.is_not(None))
        .group_by(_a.c.outcome, _a.c.error_class)
    )
    writers = select(_a.c.owner.distinct()).where(*ours)
    with reading(engine) as connection:
        answered = {(cell, phase): count for cell, phase, count in connection.execute(samples)}
        rows = list(connection.execute(sums))
        alive, _ = split_owners(connection)
        at_work = bool(set(alive) & set(connection.scalars(writers)))
    calls: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for outcome, kind, count, *_ in rows:
        calls[outcome] += count
        if outcome not in _ANSWERED:
            failed[kind or outcome] += count
    fresh = [row for row in rows if row[0] != "reused"]
    return CallProgress(
        answered,
        calls["paid"],
        calls["reused"],
        sum(row[3] for row in fresh),
        sum(row[4] for row in fresh),
        failed,
        sum(row[5] for row in fresh),
        at_work,
    )
