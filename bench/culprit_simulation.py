"""Nights with a planted cause, explained by the functions that explain real ones: who is named, and for how much?

    python -m bench.culprit_simulation [--nights 100] [--unchanged 50] [--seed 0]

Rows are drawn, and so are those of each crossing that `Changed.crossings` asks for; what changed on record, the
attribution, Holm and the rule of naming are the real ones. Every second night something else has changed on record as
well and does nothing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seedbed.analysis.attribution import attribute, with_holm
from seedbed.analysis.gate_rule import gate_verdict
from seedbed.nightly.changed import CODE, DATA, JUDGE, MODEL, SERVED, Changed, changed
from seedbed.nightly.explanation import Explanation, MovedFigure
from seedbed.sweep.cell import Cell

CAUSES = (JUDGE, MODEL, DATA, CODE, SERVED)
N, MEAN, DROP = 200, 0.75, 0.15
REDRAWN = 0.15
"""Answers that another night, or another run of the same, draws anew."""
TASK_USD, JUDGE_USD = 1.0, 0.4


@dataclass
class Night:
    """A night and its baseline: what changed on record, what did something, and the scores of any crossing."""

    rng: np.random.Generator
    cause: str | None
    decoy: str | None
    silent: bool = False
    """The served model changed without a word."""
    drop: float = DROP
    draws: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        ability = np.clip(self.rng.normal(MEAN, 0.3, N), 0.02, 0.98)
        self.draws = {
            "old": self.rng.random(N) < ability,
            "hit": self.rng.random(N) < self.drop / MEAN,
            "wrong gold": self.rng.random(N) < self.drop / MEAN,
            "harsh": self.rng.random(N) < self.drop / MEAN,
        }
        self.draws["new"] = self._again(ability)
        self.draws["new, old model"] = self._again(ability)
        self.draws["new, old cases"] = self._again(ability)

    def _again(self, ability: Any) -> Any:
        return np.where(self.rng.random(N) < REDRAWN, self.rng.random(N) < ability, self.draws["old"])

    def changed(self) -> Changed:
        on_record = {self.decoy, None if self.silent else self.cause}
        answers = {part: "now" if name in on_record else "then"
                   for part, name in (("benchmark", DATA), ("model", MODEL), ("system", CODE))}  # fmt: skip
        judges = {"judges": "now" if JUDGE in on_record else "then", "scoring": "then"}
        then = Cell("a", 0, "s", "b", "x", "Baseline", "reader", 0, dict.fromkeys(answers, "then"),
                    dict.fromkeys(judges, "then"))  # fmt: skip
        now = Cell("b", 0, "s", "b", "x", "Baseline", "reader", 0, answers, judges)
        served = "reader-2" if SERVED in on_record else "reader-1"
        return changed(then, now, [_answerer("reader-1")], [_answerer(served)], {"task": "reader", "judge": "judge"})

    def scores(self, corner: frozenset[str], parts: frozenset[str]) -> Any:
        """What a judge gives in a crossing: answers, cases and judge are those of tonight or of then."""
        new_answers = bool(corner & {MODEL, CODE, SERVED})
        which = "new" if new_answers else "old"
        if new_answers and MODEL in parts - corner:
            which = "new, old model"
        right = self.draws[which].copy()
        if self.cause in (MODEL, CODE, SERVED) and self.cause in corner | (
            set() if self.cause in parts else {self.cause}
        ):
            right &= ~self.draws["hit"] | (not new_answers)
        if self.cause == DATA and DATA in corner:
            right &= ~self.draws["wrong gold"]
        if self.cause == JUDGE and JUDGE in corner:
            right &= ~self.draws["harsh"]
        return right.astype(float)

    def explained(self) -> tuple[Explanation, Changed]:
        what = self.changed()
        parts = frozenset(what.parts)
        corners = {frozenset[str](): None, parts: None, **{corner: None for _, corner in self._crossed(what)}}
        values = {corner: self.scores(corner, parts) for corner in corners}
        (found,) = with_holm([attribute(values, what.parts, np.arange(N))])
        figure = MovedFigure("sums · plain: helpful", 3, what.on_record, found)
        return Explanation([figure], [], [], self.price(what), N * (TASK_USD + JUDGE_USD)), what

    def _crossed(self, what: Changed) -> list[tuple[str, frozenset[str]]]:
        """An old judge can be asked again only where its settings, and not the model behind them, are others."""
        return [(kind, corner) for kind, corner in what.crossings() if kind != "old judge" or JUDGE in what.on_record]

    def price(self, what: Changed) -> float:
        each = {"old answers": JUDGE_USD, "old judge": JUDGE_USD, "old model": TASK_USD + JUDGE_USD,
                # Other golds ask for another judging and for no other answer.
                "old cases": JUDGE_USD * float(self.draws["wrong gold"].mean())}  # fmt: skip
        return N * sum(each[kind] for kind, _ in self._crossed(what))

    def gate(self, what: Changed) -> str:
        """The verdict; data and judges that changed on record keep a night from being compared."""
        if what.on_record & {DATA, JUDGE}:
            return "inconclusive"
        parts = frozenset(what.parts)
        night, base = self.scores(parts, parts), self.scores(frozenset(), parts)
        return gate_verdict(night, base, kind="rate", min_effect=0.05)


def _answerer(name: str) -> dict[str, Any]:
    return {"model": "reader", "answered_by": name, "fingerprint": None, "provider": "p", "service_tier": None,
            "answers": N}  # fmt: skip


def planted(nights: int, rng: np.random.Generator, drop: float) -> None:
    """Nights with one cause each: how many are named right, by cause, and what explaining them cost."""
    right: Counter[str] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    gates: Counter[str] = Counter()
    prices: dict[str, list[float]] = {cause: [] for cause in CAUSES}
    for number in range(nights):
        cause = CAUSES[number % len(CAUSES)]
        others = [part for part in CAUSES if part != cause]
        decoy = others[int(rng.integers(len(others)))] if rng.random() < 0.5 else None
        silent = cause == SERVED and rng.random() < 0.5
        found, what = (night := Night(rng, cause, decoy, silent, drop)).explained()
        gates[night.gate(what)] += 1
        prices[cause].append((found.spent_usd or 0.0) / (found.night_usd or 1.0))
        if found.culprits == [cause]:
            right[cause] += 1
        else:
            wrong[cause, ", ".join(found.culprits) or "nobody"] += 1
    print(f"{nights} nights with a planted drop of {drop:g}: {right.total()} named right; gate: {dict(gates)}")
    for cause in CAUSES:
        print(
            f"  {cause:13} {right[cause]:3} of {len(prices[cause])}, explanation / night {np.mean(prices[cause]):.2f}"
        )
    for (cause, named), count in wrong.most_common():
        print(f"  {cause} -> {named}: {count}")


def unchanged(nights: int, rng: np.random.Generator, *, decoys: bool) -> None:
    """Nights in which nothing did anything; all are explained, whatever the gate says."""
    named: Counter[str] = Counter()
    for _ in range(nights):
        decoy = CAUSES[int(rng.integers(len(CAUSES)))] if decoys else None
        found, _ = Night(rng, None, decoy).explained()
        named[", ".join(found.culprits) or "nobody"] += 1
    told = "with a harmless change on record" if decoys else "with nothing changed on record"
    print(f"{nights} unchanged nights {told}: {nights - named['nobody']} accusations {dict(named)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nights", type=int, default=100)
    parser.add_argument("--unchanged", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    for drop in (DROP, 0.10):
        planted(arguments.nights, rng, drop)
    unchanged(arguments.unchanged, rng, decoys=False)
    unchanged(arguments.unchanged, rng, decoys=True)


if __name__ == "__main__":
    main()
