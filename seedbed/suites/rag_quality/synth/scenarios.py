"""Who asks about what: a seeded draw that needs no model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.storage.hashing import hash_json
from seedbed.suites.rag_quality.matching import similarity
from seedbed.suites.rag_quality.synth.units import Unit

MOST_USES = 2
"""How often a unit may be drawn, rejects included."""
_PARTNERS = 6
"""Of how many candidates the second unit of a multi-hop scenario is the nearest in wording."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One question to be written: by which persona, from which units."""

    persona: int
    units: tuple[Unit, ...]

    @property
    def scenario_id(self) -> str:
        return hash_json([self.persona, [unit.unit_id for unit in self.units]])[:12]

    @property
    def multi_hop(self) -> bool:
        return len(self.units) > 1


class Sampler:
    """Draws units so that each is used at most twice, and if possible by two personas."""

    def __init__(self, units: Sequence[Unit], *, seed: int, multi_hop_share: float) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a draw, not a secret
        self._queue = [unit for _ in range(MOST_USES) for unit in self._shuffled(units)]
        self._share = multi_hop_share
        self._asked: set[tuple[int, str]] = set()

    def draw(self, slot: int, persona: int) -> Scenario | None:
        """The next scenario for a slot and its persona; None when the units are used up."""
        if not self._queue:
            return None
        fresh = (unit for unit in self._queue if (persona, unit.unit_id) not in self._asked)
        first = next(fresh, self._queue[0])
        self._asked.add((persona, first.unit_id))
        self._queue.remove(first)
        partner = self._partner(first) if self._is_multi(slot) else None
        if partner is not None:
            self._queue.remove(partner)
        return Scenario(persona, (first,) if partner is None else (first, partner))

    def _is_multi(self, slot: int) -> bool:
        """Slots at even distances, so that any number of cases has the share of them."""
        return int((slot + 1) * self._share + 1e-9) > int(slot * self._share + 1e-9)

    def _partner(self, first: Unit) -> Unit | None:
        """A unit of the same language: of a few drawn ones the nearest, so that they have something to do with each
        other."""
        others = [u for u in self._queue if u.unit_id != first.unit_id and u.language == first.language]
        candidates = list({unit.unit_id: unit for unit in others}.values())[:_PARTNERS]
        return max(candidates, key=lambda unit: similarity(unit.text, first.text), default=None)

    def _shuffled(self, units: Sequence[Unit]) -> list[Unit]:
        return self._random.sample(list(units), len(units))
