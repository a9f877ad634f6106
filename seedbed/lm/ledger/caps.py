"""Dollar caps: what is used and reserved under a scope, exact over all processes that write to the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.account import account
from seedbed.lm.ledger.records import Begin, OverBudget
from seedbed.lm.ledger.statements import Statements

_NOTHING_USD = 1e-9
"""Sums of binary fractions do not come back to exactly 0."""

_a, _b = schema.attempts, schema.budgets


class Caps:
    """The caps during one transaction: each is read (and locked) once, changed in memory, and written once."""

    def __init__(self, connection: Connection, known: set[str], statements: Statements) -> None:
        self._connection = connection
        self._statements = statements
        self._known = known
        """Scopes this process has counted from the attempts before. Without that, what runs without a cap spent would
        not be seen."""
        self._sums: dict[str, dict[int, list[float]]] = {}
        """By scope and generation: what is used and what is reserved since that fresh start."""
        self._kept: dict[str, int] = {}
        """By scope: the generation whose sums the database keeps, the newest that asked. A run that is still at work
        when its sweep is started afresh counts its own from the attempts."""
        self._changed: set[str] = set()

    def load(self, items: Iterable[Begin]) -> None:
        """Read the caps of a batch, always in one order: two writers then never wait for each other."""
        for scope, generation in sorted({(cap.scope, item.scope.generation) for item in items for cap in item.caps}):
            self._sums.setdefault(scope, {})[generation] = self._read(scope, generation)

    def reserve(self, item: Begin) -> OverBudget | None:
        """Set the worst case of a call aside under all its caps, or under none."""
        worst = item.reserved_usd or 0.0
        for cap in item.caps:
            used, reserved = self._sums[cap.scope][item.scope.generation]
            if used + reserved + worst > cap.max_usd:
                return OverBudget(cap, used, reserved if reserved > _NOTHING_USD else 0.0)
        self._add(item, worst, 0.0)
        return None

    def settle(self, item: Begin, used: float) -> None:
        """The reservation goes, what was used stays."""
        self._add(item, -(item.reserved_usd or 0.0), used)

    def recount(self) -> None:
        """Take the sums from the attempts again, after they were changed by another way than this."""
        for scope, sums in self._sums.items():
            recount(self._connection, scope)
            for generation in sums:
                sums[generation] = self._read(scope, generation)
        self._changed.clear()

    def write(self) -> None:
        rows: list[dict[str, Any]] = []
        for scope in sorted(self._changed):
            kept = self._sums[scope].get(self._kept[scope])
            if kept is not None:
                rows.append({"scope_": scope, "used_usd": kept[0], "reserved_usd": kept[1]})
        if rows:
            self._statements.write_cap.run(self._connection, rows)

    def _add(self, item: Begin, reserved: float, used: float) -> None:
        for cap in item.caps:
            for generation, sums in self._sums[cap.scope].items():
                if generation <= item.scope.generation:
                    sums[0] += used
                    sums[1] += reserved
            self._changed.add(cap.scope)

    def _read(self, scope: str, generation: int) -> list[float]:
        found = self._statements.read_cap.all(self._connection, {"scope": scope})
        if not found or scope not in self._known or found[0][2] < generation:
            if not found:
                self._statements.open_cap.run(self._connection, [{"scope": scope, "generation": generation}])
            recount(self._connection, scope, generation)
            self._known.add(scope)
            found = self._statements.read_cap.all(self._connection, {"scope": scope})
        ((used, reserved, kept),) = found
        self._kept[scope] = kept
        return [used, reserved] if kept == generation else _count(self._connection, scope, generation)


def recount(connection: Connection, scope: str, since: int = 0) -> None:
    """Sum a scope up from its attempts, of a fresh start if it is newer than the one counted so far. The row is locked
    first, so that no writer settles in between."""
    kept = connection.scalar(select(_b.c.generation).where(_b.c.scope == scope).with_for_update())
    if kept is None:
        return
    since = max(kept, since)
    used, held = _count(connection, scope, since)
    connection.execute(update(_b).where(_b.c.scope == scope).values(generation=since, used_usd=used, reserved_usd=held))


def _count(connection: Connection, scope: str, generation: int) -> list[float]:
    """What is used and what is reserved under a scope, by its attempts since a fresh start."""
    kind, _, name = scope.partition(":")
    if kind == "cell":
        ended, here = _a, _a.c.cell == name
        used_here = here & _a.c.outcome.is_not(None)
    else:
        # A sweep may have millions: those of ended writers are added up already. Those in flight are few and have an
        # index of their own, which is not asked where the sweep's could be.
        ended, here = account(), func.coalesce(_a.c.sweep, "") == name
        used_here = ended.c.sweep == name
    used = connection.execute(
        select(
            func.coalesce(func.sum(ended.c.spent_usd), 0.0) + func.coalesce(func.sum(ended.c.at_risk_usd), 0.0)
        ).where(used_here, ended.c.generation >= generation)
    ).scalar_one()
    held = connection.execute(
        select(func.coalesce(func.sum(_a.c.reserved_usd), 0.0)).where(
            here, _a.c.generation >= generation, _a.c.outcome.is_(None)
        )
    ).scalar_one()
    return [used, held]
