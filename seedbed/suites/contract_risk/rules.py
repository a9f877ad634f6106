"""Rules of review, and the engine that fires them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from seedbed.suites.contract_risk.contract_types import ContractTypes, read_contract_types
from seedbed.suites.contract_risk.lawrefs import LawRef
from seedbed.suites.contract_risk.levels import Level, place


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


class RuleBook:
    """All rules of a benchmark."""

    def __init__(self, rules: Sequence[Rule], types: ContractTypes | None = None) -> None:
        self.rules = tuple(rules)
        self._types = types or read_contract_types(None)
        self._for_type: dict[str, frozenset[str]] = {}

    def applies(self, rule: Rule, contract_type: str) -> bool:
        """Whether a rule is for contracts of a type: of its kind or of any. Where no rule is of the kind, all are: its
        name may only be another."""
        known = self._for_type.get(contract_type)
        if known is None:
            known = self._for_type[contract_type] = self._ids_for(contract_type)
        return rule.rule_id in known

    def fired(self, clause: str, contract_type: str) -> list[Rule]:
        """Rules that fire, the gravest first, then those with more triggers."""
        found = [(rule, rule.triggers(clause)) for rule in self.rules if self.applies(rule, contract_type)]
        ranked = sorted(
            ((rule, words) for rule, words in found if words), key=lambda pair: (place(grade(pair[0])), -len(pair[1]))
        )
        return [rule for rule, _ in ranked]

    def _ids_for(self, contract_type: str) -> frozenset[str]:
        general = {rule.rule_id for rule in self.rules if self._types.is_general(rule.contract_type)}
        own = {rule.rule_id for rule in self.rules if self._types.meet(rule.contract_type, contract_type)}
        if own or (general and self._types.is_general(contract_type)):
            return frozenset(own | general)
        return frozenset(rule.rule_id for rule in self.rules)


def grade(rule: Rule) -> Level:
    """A rule that names no level warns of a medium risk."""
    return rule.level or "中"
