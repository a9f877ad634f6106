"""How far a sweep has come, as its calls tell it. Only reads, and keeps no writer waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, case, func, inspect, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import IDS, account
from seedbed.lm.ledger.database import reading, split_owners

_a = schema.attempts
_ANSWERED = ("paid", "reused")
_CELLS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class CallProgress:
    """Of a sweep since its last fresh start."""

    answered: dict[tuple[str, str], int]
    """By cell and phase of which anything was asked: samples with an answer of a model; one with several calls counts
    from its first."""
    paid: int
    reused: int
    tokens: int
    spent_usd: float
    at_risk_usd: float
    """What more may have been billed, at worst, for calls whose end nobody saw."""
    failed: Counter[str]
    """Attempts that failed, by kind; most were repeated and then succeeded."""
    recent: int
    """Calls begun and ended within the time that was asked for."""
    at_work: bool
    """Whether a process that called for this sweep is alive."""


def call_progress(
    engine: Engine, sweep: str, generation: int, since: float, cells: Sequence[str] | None = None
) -> CallProgress:
    """`since` is the time from which calls count as recent. `cells` are those whose samples are counted; None counts
    those of all."""
    with reading(engine) as connection:
        here = account(settled=inspect(connection).has_table(schema.settled_sums.name)).c
    ours = (here.sweep == sweep, here.generation >= generation)
    sums = (
        select(
            here.outcome,
            here.error_class,
            func.sum(here.calls),
            func.coalesce(func.sum(here.tokens_in), 0) + func.coalesce(func.sum(here.tokens_out), 0),
            func.coalesce(func.sum(here.spent_usd), 0.0),
            func.coalesce(func.sum(here.at_risk_usd), 0.0),
            func.sum(case((here.started_at >= since, here.calls), else_=0)),
        )
        .where(*ours)
        .group_by(here.outcome, here.error_class)
    )
    with reading(engine) as connection:
        answered = _answered(connection, sweep, generation, cells)
        rows = [(row[0], row[1], int(row[2]), int(row[3]), *row[4:]) for row in connection.execute(sums)]
        alive, _ = split_owners(connection)
        at_work = any(_called_for(connection, owner, sweep, generation) for owner in alive)
    calls: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for outcome, kind, count, *_ in rows:
        calls[outcome] += count
        if outcome not in _ANSWERED:
            failed[outcome if outcome == "lost" else kind or outcome] += count
    fresh = [row for row in rows if row[0] != "reused"]
    return CallProgress(
        answered,
        calls["paid"],
        calls["reused"],
        sum(row[3] for row in fresh),
        sum(row[4] for row in fresh),
        sum(row[5] for row in fresh),
        failed,
        sum(row[6] for row in fresh),
        at_work,
    )


def _answered(
    connection: Connection, sweep: str, generation: int, cells: Sequence[str] | None
) -> dict[tuple[str, str], int]:
    # A sweep's own index leads through all of its attempts, where that of the cells leads to a few.
    name = _a.c.sweep if cells is None else func.coalesce(_a.c.sweep, "")
    query = (
        select(_a.c.cell, _a.c.phase, func.count(case((_a.c.outcome.in_(_ANSWERED), _a.c.sample)).distinct()))
        .where(name == sweep, _a.c.generation >= generation)
        .group_by(_a.c.cell, _a.c.phase)
    )
    if cells is None:
        return {(cell, phase): count for cell, phase, count in connection.execute(query)}
    parts = (cells[at : at + _CELLS_AT_ONCE] for at in range(0, len(cells), _CELLS_AT_ONCE))
    found = (connection.execute(query.where(_a.c.cell.in_(part))) for part in parts)
    return {(cell, phase): count for rows in found for cell, phase, count in rows}


def _called_for(connection: Connection, owner: int, sweep: str, generation: int) -> bool:
    own = (_a.c.id >= owner * IDS) & (_a.c.id < (owner + 1) * IDS)
    query = select(_a.c.id).where(own, _a.c.sweep == sweep, _a.c.generation >= generation)
    return connection.scalar(query.limit(1)) is not None
