"""What a ledger must say, as plainly as it can be written: a list of calls, and sums over it. No database, no cache of
sums, no transaction; tests/unit/lm/ledger/test_rules.py holds the real ledger against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from seedbed.lm.ledger import Cap


@dataclass
class Call:
    """An attempt. Without an outcome it is in flight."""

    writer: int
    key: str
    cell: str
    generation: int
    worst: float
    outcome: str | None = None
    spent: float = 0.0
    at_risk: float = 0.0
    given_up: bool = False
    """Its writer was taken for dead: the truth may still come."""


@dataclass
class LedgerModel:
    """One sweep with several cells; writers (processes) that may die; fresh starts, which count up the generation."""

    calls: dict[int, Call] = field(default_factory=dict[int, Call])
    answers: dict[str, tuple[int, Call]] = field(default_factory=dict[str, tuple[int, Call]])
    """Key of a stored answer -> its generation, and the call that was answered so."""
    dead: set[int] = field(default_factory=set[int])

    def since(self, generation: int) -> list[Call]:
        return [call for call in self.calls.values() if call.generation >= generation]

    def sums(self, scope: str, generation: int) -> tuple[float, float]:
        """Dollars used (or at risk) and reserved under a scope since a fresh start."""
        kind, _, name = scope.partition(":")
        here = [c for c in self.since(generation) if kind == "sweep" or c.cell == name]
        used = sum(c.spent + c.at_risk for c in here if c.outcome is not None)
        return used, sum(c.worst for c in here if c.outcome is None)

    def over(self, caps: Sequence[Cap], generation: int, worst: float) -> Cap | None:
        """The first cap that a call could pass."""
        return next((cap for cap in caps if sum(self.sums(cap.scope, generation)) + worst > cap.max_usd), None)

    def begin(self, call: Call, caps: Sequence[Cap]) -> str:
        """How the ledger answers a begin: stored, over, busy or granted (then `grant` it)."""
        if self._answered(call.key) >= call.generation:
            return "stored"
        if self.over(caps, call.generation, call.worst) is not None:
            return "over"
        open_ones = [c for c in self.calls.values() if c.key == call.key and c.outcome is None]
        for other in open_ones:
            if other.writer in self.dead or other.writer == call.writer:
                self.give_up(other)
        return "busy" if any(c.outcome is None for c in open_ones) else "granted"

    def give_up(self, call: Call) -> None:
        """It may have been billed, at most at its worst case."""
        call.outcome, call.at_risk, call.given_up = "lost", call.worst, True

    def look_around(self) -> None:
        """Calls of dead writers will not be ended by them."""
        for call in self.calls.values():
            if call.outcome is None and call.writer in self.dead:
                self.give_up(call)

    def end(self, call: Call, outcome: str, spent: float, at_risk: float) -> None:
        """The first end is the true one; that of a call given up for its writer replaces the guess."""
        if call.outcome is None or call.given_up:
            call.outcome, call.spent, call.at_risk, call.given_up = outcome, spent, at_risk, False
        if outcome == "paid" and call.generation >= self._answered(call.key):
            self.answers[call.key] = call.generation, call

    def _answered(self, key: str) -> int:
        """The generation of a key's answer; none has -1."""
        return self.answers[key][0] if key in self.answers else -1
