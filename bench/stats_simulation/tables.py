"""Tables as they stand in docs/statistics.md; a figure that misses its goal is marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Goal:
    """What a share should be; counts how often it was."""

    name: str
    low: float = 0.0
    high: float = 1.0
    met: int = 0
    careful: list[float] = field(default_factory=list[float])
    """Shares that are further from the error than the goal asks for."""
    short: list[float] = field(default_factory=list[float])

    def cell(self, share: float, *, high: float | None = None) -> str:
        """`!` marks too little cover or too many errors, `+` what is more careful than it need be. An upper end that is
        not the goal's own may be given."""
        shown, most = f"{share:.1%}", self.high if high is None else high
        if self.low <= round(share, 3) <= most:
            self.met += 1
            return shown
        # A goal without a lower end is about errors.
        too_much = self.low > 0 and round(share, 3) > most
        (self.careful if too_much else self.short).append(share)
        return f"{shown} {'+' if too_much else '!'}"

    @property
    def account(self) -> str:
        total = self.met + len(self.careful) + len(self.short)
        if total == self.met:
            return f"{self.name}: all {total} figures reach it"
        parts = [f"{self.name}: {self.met} of {total} figures reach it"]
        for found, words in ((self.careful, "are more careful"), (self.short, "fall short")):
            if found:
                parts.append(f"{len(found)} {words} ({min(found):.1%} to {max(found):.1%})")
        return "; ".join(parts)


def goals() -> dict[str, Goal]:
    return {
        "mean": Goal("mean covered in 93-97% (93% or more below 30 samples)", 0.93, 0.97),
        "difference": Goal("difference covered in 93-97% (93% or more below 30 samples)", 0.93, 0.97),
        "alarms": Goal("false alarms in at most 6.5%", high=0.065),
        "gate": Goal("a drop of min_effect passes in at most 5%", high=0.05),
        "detectable": Goal("power of 77-83% at `detectable`", 0.77, 0.83),
    }


GOALS = goals()


def table(columns: Sequence[str]) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)


def line(*cells: str | float) -> None:
    shown = [cell if isinstance(cell, str) else "-" if math.isnan(cell) else f"{cell:.1%}" for cell in cells]
    print(f"| {' | '.join(shown)} |", flush=True)


def plural(number: int) -> str:
    return f"{number} seed{'s' * (number > 1)}"
