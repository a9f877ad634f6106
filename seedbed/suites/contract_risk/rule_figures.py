"""What a reviewer's rules were worth: those whose cue it found in the clause, and those it retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.suite import ScoreRow

Rate = tuple[int, int]
"""How many of how many."""

HIT_AT = 3


def rule_rates(rows: Sequence[ScoreRow]) -> Mapping[str, Rate | None]:
    """Recall and precision of rules by both notions of triggered, and whether the right risk was found; None without a
    rule engine.

    Ours is that the rule's cue stands in the clause; a rule that fires on a harmless clause lowers precision. The
    source of the suite takes a rule as triggered when it is retrieved, and leaves clauses without a rule out.
    """
    found: list[Mapping[str, Any]] = [row.details["rules"] for row in rows if row.details.get("rules")]
    risky = [own for own in found if own["risks"] is not None and own["gold_risk"]]
    hits = sum(own["gold_risk"] in own["risks"][:HIT_AT] for own in risky)
    return {
        **_rates("rule_{}", "fired", found),
        **_rates("rule_{}_retrieved", "retrieved", [own for own in found if own["gold"]]),
        "risk_id_accuracy": defined_rate(rows, "risk_id_accuracy") if risky else None,
        f"risk_id_hit_at_{HIT_AT}": (hits, len(risky)) if risky else None,
    }


def defined_rate(rows: Sequence[ScoreRow], name: str) -> Rate:
    """Of the rows that have the score at all."""
    values = [value for row in rows if (value := row.scores.get(name)) is not None]
    return sum(value == 1.0 for value in values), len(values)


def _rates(name: str, part: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Rate | None]:
    sets = [(set(own[part]), set(own["gold"])) for own in found if own[part] is not None]
    if not sets:
        return {name.format("recall"): None, name.format("precision"): None}
    right = sum(len(triggered & gold) for triggered, gold in sets)
    return {
        name.format("recall"): (right, sum(len(gold) for _, gold in sets)),
        name.format("precision"): (right, sum(len(triggered) for triggered, _ in sets)),
    }
