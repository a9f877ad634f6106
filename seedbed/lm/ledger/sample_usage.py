"""What single samples took, from the ledger."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import Engine, select

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.answer_columns import was_cut
from seedbed.lm.ledger.database import reading
from seedbed.suite import SampleUsage

_a = schema.attempts

Call = tuple[int, int, float | None, bool]
"""Tokens in and out, list price, and whether the answer was cut off."""


def sample_usage(engine: Engine, cell: str, phase: str, execution: str) -> dict[str, SampleUsage]:
    """By sample id. Each distinct request of a sample counts once, whether it was paid now or reused."""
    query = (
        select(
            *(_a.c.sample, _a.c.key, _a.c.outcome, _a.c.tokens_in, _a.c.tokens_out, _a.c.list_usd, _a.c.latency_s),
            was_cut().label("cut"),
        )
        .where(_a.c.cell == cell, _a.c.phase == phase, _a.c.sample.is_not(None))
        .where(((_a.c.execution == execution) & _a.c.outcome.in_(("paid", "reused"))) | (_a.c.outcome == "paid"))
        .order_by(_a.c.id)
    )
    answered: dict[str, dict[str, Call]] = defaultdict(dict)
    paid: dict[str, dict[str, float]] = defaultdict(dict)
    with reading(engine) as connection:
        for row in connection.execute(query):
            answered[row.sample][row.key] = (row.tokens_in, row.tokens_out, row.list_usd, bool(row.cut))
            if row.outcome == "paid" and row.latency_s is not None:  # one by a batch has none
                # The latest payment: a resumed sample keeps the time its call took when it was made.
                paid[row.sample][row.key] = row.latency_s
    return {sample: _total(calls, paid.get(sample, {})) for sample, calls in answered.items()}


def _total(calls: dict[str, Call], paid: dict[str, float]) -> SampleUsage:
    costs = [cost for _, _, cost, _ in calls.values()]
    return SampleUsage(
        calls=len(calls),
        tokens_in=sum(tokens for tokens, *_ in calls.values()),
        tokens_out=sum(tokens for _, tokens, *_ in calls.values()),
        list_usd=None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None),
        # A sample that got part of its answers from elsewhere took less time than it takes.
        latency_s=sum(paid.values()) if paid.keys() >= calls.keys() else None,
        cut=sum(cut for *_, cut in calls.values()),
    )
