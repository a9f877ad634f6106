"""Seeded luck: every random decision of the offline model comes from a hash, so the same call decides the same way."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


def digest(*parts: object) -> int:
    """A 256-bit number from the parts. Their representation is hashed, so ("a", "bc") and ("ab", "c") differ."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest())


def uniform(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return (digest(*parts) >> 203) / (1 << 53)


@dataclass(frozen=True, slots=True)
class Chance:
    """The luck of one call.

    A decision compares its own fixed draw with the ability, so an abler model slips on a subset of the occasions
    on which a less able one does, and two settings differ by their ability and not by luck.
    """

    seed: int
    ability: float
    noise: float
    """0 unless the temperature is above 0."""

    def slips(self, decision: str, *, steps: int = 1) -> bool:
        """Whether the model errs at the decision; `steps` successes in a row are needed not to."""
        if uniform(self.seed, decision) >= self.ability**steps:
            return True
        return self.noise > 0 and uniform(self.seed, decision, "noise") < self.noise

    def coin(self, decision: str) -> bool:
        return uniform(self.seed, decision) < 0.5

    def pick(self, decision: str, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[int(uniform(self.seed, decision) * len(options))]
