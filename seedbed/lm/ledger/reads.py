"""Figures and histories read back from the ledger."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, delete, func, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import account
from seedbed.lm.ledger.answer_columns import was_cut
from seedbed.lm.ledger.database import reading

OUTCOMES = ("paid", "reused", "failed", "lost")

_DIGITS = 12
_CELLS_AT_ONCE = 500
_TOKENS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")

_a = schema.attempts


@dataclass(frozen=True, slots=True)
class PhaseUsage:
    """Tokens and dollars of a cell's phase.

    Tokens and `list_usd` count each distinct request of the last execution once: what an uninterrupted, fresh run would
    use. `spent_usd` is what was really paid, over all executions since the last fresh start. A dollar figure is None
    where the price is unknown.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    list_usd: float | None
    spent_usd: float | None
    at_risk_usd: float
    outcomes: Mapping[str, int]
    estimated: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def phase_usage(engine: Engine, cell: str, phase: str, execution: str, generation: int = 0) -> PhaseUsage:
    """The account of one phase of one cell, since a fresh start."""
    answered = (
        select(
            _a.c.key,
            *(func.max(_a.c[name]).label(name) for name in _TOKENS),
            func.max(_a.c.list_usd).label("list_usd"),
            func.max(_a.c.outcome).label("outcome"),
        )
        .where(
            _a.c.cell == cell, _a.c.phase == phase, _a.c.execution == execution, _a.c.outcome.in_(("paid", "reused"))
        )
        .group_by(_a.c.key)
        .subquery()
    )
    here = (_a.c.cell == cell) & (_a.c.phase == phase) & (_a.c.generation >= generation)
    with reading(engine) as connection:
        total = connection.execute(
            select(
                func.count().label("calls"),
                *(func.coalesce(func.sum(answered.c[n]), 0).label(n) for n in _TOKENS),
                func.sum(answered.c.list_usd).label("list_usd"),
                func.count(answered.c.list_usd).label("priced"),
            )
        ).one()  # fmt: skip
        paid = connection.execute(
            select(
                func.count().label("rows"),
                func.count(_a.c.spent_usd).label("priced"),
                func.coalesce(func.sum(_a.c.spent_usd), 0.0).label("spent"),
                func.coalesce(func.sum(_a.c.at_risk_usd), 0.0).label("at_risk"),
                func.coalesce(func.sum(_estimated()), 0).label("estimated"),
            ).where(here, _a.c.outcome.is_not(None))
        ).one()
        outcomes = _count_outcomes(connection, here)
    return PhaseUsage(
        calls=total.calls,
        tokens_in=total.tokens_in,
        tokens_out=total.tokens_out,
        tokens_cached=total.tokens_cached,
        tokens_reasoning=total.tokens_reasoning,
        # Rounded far below a cent's millionth: the order in which rows were added up must not show.
        list_usd=round(total.list_usd or 0.0, _DIGITS) if total.priced == total.calls else None,
        spent_usd=round(paid.spent, _DIGITS) if paid.priced == paid.rows else None,
        at_risk_usd=round(paid.at_risk, _DIGITS),
        outcomes=outcomes,
        estimated=paid.estimated,
    )


def cost_sums(engine: Engine, sweep: str) -> list[dict[str, Any]]:
    """As `cost_rows`, over all fresh starts, from the account: quick however many attempts there are. Dollars may
    differ in their last bit, for they are added up in another order."""
    from_account = account()
    here = from_account.c
    by = (here.phase, here.role, here.model, here.outcome)
    query = (
        select(
            *by,
            *(func.coalesce(func.sum(here[n]), 0).label(n) for n in ("calls", *_TOKENS, "at_risk_usd", "cut")),
            *(func.sum(here[n]).label(n) for n in ("spent_usd", "list_usd")),
        )
        .where(here.sweep == sweep)
        .group_by(*by)
        .order_by(*by)
    )
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def cost_rows(engine: Engine, sweep: str, generation: int = 0) -> list[dict[str, Any]]:
    """Calls, tokens and dollars of a sweep by phase, role, model and outcome, from a moment on. `cut` of the calls had
    an answer that ended because no more tokens were allowed."""
    by = (_a.c.phase, _a.c.role, _a.c.model, _a.c.outcome)
    query = (
        select(
            *by,
            func.count().label("calls"),
            *(func.coalesce(func.sum(_a.c[n]), 0).label(n) for n in _TOKENS),
            func.sum(_a.c.spent_usd).label("spent_usd"),
            func.sum(_a.c.list_usd).label("list_usd"),
            func.coalesce(func.sum(_a.c.at_risk_usd), 0.0).label("at_risk_usd"),
            func.sum(was_cut()).label("cut"),
        )
        .where(_a.c.sweep == sweep, _a.c.outcome.is_not(None), _a.c.generation >= generation)
        .group_by(*by)
        .order_by(*by)
    )  # fmt: skip
    with reading(engine) as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def call_span(engine: Engine, sweep: str, generation: int = 0) -> list[float] | None:
    """When the first call of a sweep was made and when the last one ended, since a fresh start; None without a call."""
    ended = func.max(_a.c.started_at + func.coalesce(_a.c.latency_s, 0.0))
    query = select(func.min(_a.c.started_at), ended).where(
        _a.c.sweep == sweep, _a.c.outcome.is_not(None), _a.c.generation >= generation
    )
    with reading(engine) as connection:
        first, last = connection.execute(query).one()
    return None if first is None else [round(first, 3), round(last, 3)]


def paid_latencies(engine: Engine, cells: Sequence[str], generation: int) -> dict[str, list[float]]:
    """By cell: how long each paid call of its generate phase took, since a fresh start."""
    found: dict[str, list[float]] = {}
    query = select(_a.c.cell, _a.c.latency_s).where(
        _a.c.phase == "generate", _a.c.outcome == "paid", _a.c.generation >= generation, _a.c.latency_s.is_not(None)
    )
    with reading(engine) as connection:
        for at in range(0, len(cells), _CELLS_AT_ONCE):
            for cell, latency in connection.execute(query.where(_a.c.cell.in_(cells[at : at + _CELLS_AT_ONCE]))):
                found.setdefault(cell, []).append(latency)
    return found


def history(engine: Engine, cell: str, executions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every attempt of a cell's executions in order, with its request and response where bodies are kept."""
    query = (
        select(_a, schema.requests.c.body.label("request_body"), schema.responses.c.body.label("response_body"))
        .outerjoin(schema.requests, schema.requests.c.key == _a.c.key)
        .outerjoin(schema.responses, schema.responses.c.key == _a.c.key)
        .where(_a.c.cell == cell, _a.c.execution.in_(executions), _a.c.outcome.is_not(None))
        .order_by(_a.c.id)
    )
    with reading(engine) as connection:
        for row in connection.execute(query).mappings():
            data = dict(row)
            request, response = data.pop("request_body"), data.pop("response_body")
            data["request"] = orjson.loads(zlib.decompress(request)) if request else None
            answered = response and data["outcome"] in ("paid", "reused")
            data["response"] = orjson.loads(zlib.decompress(response)) if answered else None
            yield data


def unanswered(engine: Engine, cell: str) -> int:
    """How many requests of a cell have no reply on record: all attempts failed, or it was empty, or none is kept."""
    query = (
        select(func.count(_a.c.key.distinct()))
        .outerjoin(schema.responses, schema.responses.c.key == _a.c.key)
        .where(_a.c.cell == cell, schema.responses.c.key.is_(None))
    )
    with reading(engine) as connection:
        return connection.scalar(query) or 0


def generation_of(engine: Engine, sweep: str) -> int:
    """The number of a sweep's last fresh start; 0 unless it was once started with --fresh."""
    with reading(engine) as connection:
        found = connection.scalar(select(schema.sweeps.c.generation).where(schema.sweeps.c.name == sweep))
    return int(found or 0)


def start_fresh(engine: Engine, sweep: str) -> int:
    """Forget, for this sweep, all stored answers and all budget used so far; returns the number of this fresh start. It
    is higher than that of any other sweep's: no clock has a say in what is old."""
    with engine.begin() as connection:
        connection.execute(delete(schema.sweeps).where(schema.sweeps.c.name == sweep))
        generation = 1 + max(
            connection.scalar(select(func.max(table.c.generation))) or 0 for table in (schema.sweeps, _a)
        )
        connection.execute(schema.sweeps.insert().values(name=sweep, generation=generation))
    return generation


def _estimated() -> Any:
    from sqlalchemy import Integer, cast

    return cast(_a.c.estimated, Integer)


def _count_outcomes(connection: Connection, here: Any) -> dict[str, int]:
    rows = connection.execute(select(_a.c.outcome, func.count()).where(here).group_by(_a.c.outcome))
    found = {outcome: count for outcome, count in rows if outcome is not None}
    return {outcome: found.get(outcome, 0) for outcome in OUTCOMES}
