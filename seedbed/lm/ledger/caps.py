"""Dollar caps: what is used and reserved under a scope, exact over all processes that write to the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, select, update

from seedbed.lm.ledger import schema
from seedbed.lm.ledger.records import Begin, Cap, OverBudget
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
        self._rows: dict[str, list[float]] = {}
        self._changed: set[str] = set()

    def load(self, items: Iterable[Begin]) -> None:
        """Read the caps of a batch, always in one order: two writers then never wait for each other."""
        wanted = {cap.scope: item.scope.generation for item in items for cap in item.caps}
        for scope in sorted(wanted):
            self._rows[scope] = self._read(scope, wanted[scope])

    def reserve(self, item: Begin) -> OverBudget | None:
        """Set the worst case of a call aside under all its caps, or under none."""
        worst = item.reserved_usd or 0.0
        for cap in item.caps:
            used, reserved = self._rows[cap.scope]
            if used + reserved + worst > cap.max_usd:
                return OverBudget(cap, used, reserved if reserved > _NOTHING_USD else 0.0)
        self._add(item.caps, worst, 0.0)
        return None

    def settle(self, item: Begin, used: float) -> None:
        """The reservation goes, what was used stays."""
        self._add(item.caps, -(item.reserved_usd or 0.0), used)

    def recount(self) -> None:
        """Take the sums from the attempts again, after they were changed by another way than this."""
        for scope in sorted(self._rows):
            recount(self._connection, scope)
            self._rows[scope] = self._read(scope, 0)
        self._changed.clear()

    def write(self) -> None:
        if self._changed:
            rows = [
                {"scope_": scope, "used_usd": self._rows[scope][0], "reserved_usd": self._rows[scope][1]}
                for scope in sorted(self._changed)
            ]
            self._statements.write_cap.run(self._connection, rows)

    def _add(self, caps: Sequence[Cap], reserved: float, used: float) -> None:
        for cap in caps:
            row = self._rows[cap.scope]
            row[0] += used
            row[1] += reserved
            self._changed.add(cap.scope)

    def _read(self, scope: str, generation: int) -> list[float]:
        found = self._statements.read_cap.all(self._connection, {"scope": scope})
        if not found or scope not in self._known:
            if not found:
                self._statements.open_cap.run(self._connection, [{"scope": scope, "generation": generation}])
            recount(self._connection, scope)
            self._known.add(scope)
            found = self._statements.read_cap.all(self._connection, {"scope": scope})
        ((used, reserved),) = found
        return [used, reserved]


def recount(connection: Connection, scope: str) -> None:
    """Sum a scope up from its attempts. The row is locked first, so that no writer settles in between."""
    generation = connection.scalar(select(_b.c.generation).where(_b.c.scope == scope).with_for_update())
    if generation is None:
        return
    kind, _, name = scope.partition(":")
    here = (_a.c.sweep == name) if kind == "sweep" else (_a.c.cell == name)
    recent = here & (_a.c.generation >= generation)
    used = connection.execute(
        select(func.coalesce(func.sum(_a.c.spent_usd), 0.0) + func.coalesce(func.sum(_a.c.at_risk_usd), 0.0)).where(
            recent, _a.c.outcome.is_not(None)
        )
    ).scalar_one()
    held = connection.execute(
        select(func.coalesce(func.sum(_a.c.reserved_usd), 0.0)).where(recent, _a.c.outcome.is_(None))
    ).scalar_one()
    connection.execute(update(_b).where(_b.c.scope == scope).values(used_usd=used, reserved_usd=held))
