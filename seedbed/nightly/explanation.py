"""What an explanation of a night says: which part moved which figure by how much, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seedbed.analysis.attribution import ACCUSED, SILENT, Attribution, Effect, accused
from seedbed.report.tables import dollars


@dataclass(frozen=True)
class MovedFigure:
    """A judged figure and what moved it."""

    place: str
    digits: int
    on_record: frozenset[str]
    """Parts that the record shows to be others than in the baseline."""
    found: Attribution

    def named(self) -> list[Effect]:
        """The parts that are shown to have moved it, the strongest first. Where the record shows no change of a part,
        more is asked."""
        own = [
            effect
            for effect in self.found.effects
            if accused(effect, self.found.total, ACCUSED if self.on_record & set(effect.parts) else SILENT)
        ]
        return sorted(own, key=lambda effect: -abs(effect.difference))

    def sentence(self) -> str:
        parts = ", ".join(self.effect_text(effect) for effect in self.found.effects)
        return f"{self.place} {self._signed(self.found.total.difference)} (n = {self.found.total.n}): {parts}"

    def effect_text(self, effect: Effect) -> str:
        """ "judge -0.060 [-0.081, -0.039]"."""
        ends = (
            ""
            if effect.low is None or effect.high is None
            else f" [{self._signed(effect.low)}, {self._signed(effect.high)}]"
        )
        return f"{' or '.join(effect.parts)} {self._signed(effect.difference)}{ends}"

    def _signed(self, value: float) -> str:
        return f"{value:+.{self.digits}f}"

    def interactions(self) -> list[str]:
        """Pairs of parts that do more together, or less, than each by itself."""
        own = [e for e in self.found.interactions if e.excludes_none and e.p_holm is not None and e.p_holm < ACCUSED]
        told = [
            f"{self.place}: {' and '.join(e.parts)} together change it by {self._signed(e.difference)} more than each "
            "by itself; half of that is counted with either"
            for e in own
        ]
        pairs = [" and ".join(pair) for pair in self.found.unmeasured]
        if pairs and len(self.found.effects) > 1:
            told.append(f"{self.place}: what {', '.join(pairs)} do only together was not crossed")
        return told


@dataclass(frozen=True)
class Explanation:
    figures: Sequence[MovedFigure]
    served: Sequence[str]
    """Who answered otherwise than in the baseline, and since when."""
    notes: Sequence[str]
    """What was not crossed, and why."""
    spent_usd: float | None
    night_usd: float | None

    @property
    def culprits(self) -> list[str]:
        """The names of the parts that moved a figure, the strongest first."""
        named = sorted((e for f in self.figures for e in f.named()), key=lambda effect: -abs(effect.difference))
        return list(dict.fromkeys(" or ".join(effect.parts) for effect in named))

    @property
    def headline(self) -> str:
        """One line: who moved which figure by how much; who answers otherwise since when."""
        told = [
            f"{figure.place}: {', '.join(figure.effect_text(effect) for effect in own)}"
            for figure in self.figures
            if (own := figure.named())
        ]
        first = "; ".join(told) if told else "no part is shown to have moved the figures"
        return "; ".join([first, *self.served])

    @property
    def price(self) -> str:
        return f"The explanation cost ${dollars(self.spent_usd)}, the night ${dollars(self.night_usd)}."

    def to_json(self) -> dict[str, Any]:
        return {
            "headline": self.headline,
            "culprits": self.culprits,
            "figures": [{"place": f.place, "on_record": sorted(f.on_record), **asdict(f.found)} for f in self.figures],
            "served": list(self.served),
            "notes": list(self.notes),
            "spent_usd": self.spent_usd,
            "night_usd": self.night_usd,
        }

    def markdown(self) -> str:
        """A section of gate.md."""
        lines = [f"**{self.headline}**", ""]
        lines += [f"- {figure.sentence()}" for figure in self.figures]
        lines += [f"- {text}" for figure in self.figures for text in figure.interactions()]
        lines += [f"- {text}" for text in (*self.served, *self.notes)]
        level = f"{1 - ACCUSED:.0%}"
        about = (
            f"Old and new of each part were crossed on the same samples. Intervals hold at {level} for all parts "
            f"together; a part is named where its own leaves out 0 and p after Holm is below {ACCUSED:g} "
            f"({SILENT:g} where the record shows no change of it)."
        )
        return "\n".join([*lines, "", about, self.price])
