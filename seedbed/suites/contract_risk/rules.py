"""Rules of review, and the engine that fires them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from seedbed.suites.contract_risk.lawrefs import LawRef
from seedbed.suites.contract_risk.levels import Level, place

ANY_TYPE = frozenset({"", "通用", "general"})


@dataclass(frozen=True, slots=True)
class Rule:
    """Every kind of condition that a rule has must hold: one of `any_of`, all of `all_of`, none of `none_of`, one of
    `regex`. A rule without any condition is for retrieval only and never fires."""

    rule_id: str
    risk_id: str
    contract_type: str
    name: str
    level: Level | None
    any_of: Sequence[str] = ()
    all_of: Sequence[str] = ()
    none_of: Sequence[str] = ()
    regex: Sequence[re.Pattern[str]] = ()
    rationale: str = ""
    law_refs: Sequence[LawRef] = field(default_factory=tuple[LawRef, ...])

    def triggers(self, clause: str) -> list[str]:
        """What in the clause fires the rule; empty if it does not fire."""
        found = [word for word in self.any_of if word in clause]
        matched = [match.group() for pattern in self.regex if (match := pattern.search(clause))]
        holds = (
            (not self.any_of or found)
            and (not self.regex or matched)
            and all(word in clause for word in self.all_of)
            and not any(word in clause for word in self.none_of)
        )
        return list(dict.fromkeys([*matched, *found, *self.all_of])) if holds else []

    def applies_to(self, contract_type: str) -> bool:
        return self.contract_type in ANY_TYPE or self.contract_type == contract_type


class RuleBook:
    """All rules of a benchmark."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)

    def for_type(self, contract_type: str) -> list[Rule]:
        """The rules of a contract type; all of them where the type has none, since its name may only be another."""
        return [rule for rule in self.rules if rule.applies_to(contract_type)] or list(self.rules)

    def fired(self, clause: str, contract_type: str) -> list[Rule]:
        """Rules that fire, the gravest first, then those with more triggers."""
        found = [(rule, rule.triggers(clause)) for rule in self.for_type(contract_type)]
        ranked = sorted(
            ((rule, words) for rule, words in found if words), key=lambda pair: (place(grade(pair[0])), -len(pair[1]))
        )
        return [rule for rule, _ in ranked]


def grade(rule: Rule) -> Level:
    """A rule that names no level warns of a medium risk."""
    return rule.level or "中"
