"""The reviewers: the full one, those with one part switched off, one without a model, and three that do not read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import dspy

from seedbed.suite import Options, PhaseContext
from seedbed.suites.contract_risk.chance import draw_level
from seedbed.suites.contract_risk.excerpts import sentences
from seedbed.suites.contract_risk.knowledge import LawText
from seedbed.suites.contract_risk.levels import Level
from seedbed.suites.contract_risk.options import ReviewOptions
from seedbed.suites.contract_risk.prompts import (
    BareReview,
    GuidedReview,
    Recheck,
    show_laws,
    show_rules,
    write_review,
)
from seedbed.suites.contract_risk.retrieval import Found, Library
from seedbed.suites.contract_risk.rules import Rule, grade
from seedbed.suites.kit.retrieval.search_threads import in_search_thread


@dataclass(frozen=True, slots=True)
class Parts:
    """What a reviewer consists of beside the model and the guide."""

    rules: bool = True
    laws: bool = True
    rerank: bool = True
    """The second ranking of what was found, and the threshold that goes with it."""
    reflection: bool = True


class Reviewer(dspy.Module):
    """Finds rules and laws, asks for a review, asks for it to be checked: whatever of that is switched on."""

    def __init__(self, context: PhaseContext, options: ReviewOptions, parts: Parts) -> None:
        super().__init__()
        self.review = dspy.Predict(GuidedReview)
        if parts.reflection:
            self.recheck = dspy.Predict(Recheck)
        self._library: Library = context.benchmark.resources["library"]
        self._options = options
        self._parts = parts

    async def aforward(self, clause: str, contract_type: str, **_: Any) -> dspy.Prediction:
        rules, laws = await in_search_thread(self._find, clause)
        given = {
            "contract_type": contract_type,
            "clause": clause,
            "rules": show_rules(rules),
            "laws": show_laws(laws),
        }
        draft: Any = await self.review.acall(**given)
        final: Any = await self.recheck.acall(**given, draft=draft.review) if self._parts.reflection else draft
        book = self._library.book
        fired = [f.item for f in rules if book.applies(f.item, contract_type) and f.item.triggers(clause)]
        return dspy.Prediction(
            review=final.review,
            draft=draft.review if self._parts.reflection else None,
            **_rule_fields([f.item for f in rules], fired) if self._parts.rules else {},
            laws=[{"law": f.item.law, "article": f.item.article, "score": f.score} for f in laws],
        )

    def _find(self, clause: str) -> tuple[list[Found[Rule]], list[Found[LawText]]]:
        return self._find_rules(clause), self._find_laws(clause)

    def _find_rules(self, clause: str) -> list[Found[Rule]]:
        if not self._parts.rules:
            return []
        return self._library.rules.search(clause, self._options.rules_k, **self._ranking())

    def _find_laws(self, clause: str) -> list[Found[LawText]]:
        if not self._parts.laws:
            return []
        return self._library.laws.search(clause, self._options.laws_k, **self._ranking())

    def _ranking(self) -> dict[str, Any]:
        chosen = self._options
        return {
            "rerank": self._parts.rerank,
            "candidates": chosen.candidates,
            "min_relevance": chosen.min_relevance,
        }


class BareReviewer(dspy.Module):
    """The model and the output format, nothing else."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self.review = dspy.Predict(BareReview)

    async def aforward(self, clause: str, contract_type: str, **_: Any) -> dspy.Prediction:
        answer: Any = await self.review.acall(contract_type=contract_type, clause=clause)
        return dspy.Prediction(review=answer.review)


def full(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts())


def no_reflection(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts(reflection=False))


def no_rerank(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts(rerank=False))


def no_rag(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts(laws=False))


def no_rules(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts(rules=False))


def prompt_only(context: PhaseContext, options: ReviewOptions) -> Reviewer:
    return Reviewer(context, options, Parts(rules=False, laws=False, reflection=False))


def rules_only(context: PhaseContext, options: Options) -> Callable[..., Mapping[str, Any]]:
    """The rule engine alone: the gravest rule that fires decides."""
    library: Library = context.benchmark.resources["library"]

    def review(clause: str, contract_type: str, **_: Any) -> Mapping[str, Any]:
        fired = library.book.fired(clause, contract_type)
        return {
            "review": _from_rule(fired[0], clause) if fired else write_review("", "低"),
            **_rule_fields(fired, fired),
        }

    return review


def always_high(context: PhaseContext, options: Options) -> Callable[..., Mapping[str, Any]]:
    return _constant("高")


def always_medium(context: PhaseContext, options: Options) -> Callable[..., Mapping[str, Any]]:
    return _constant("中")


def prior_random(context: PhaseContext, options: Options) -> Callable[..., Mapping[str, Any]]:
    """A level drawn as often as it is gold, from the cell's seed and the case alone."""
    prior: Mapping[Level, float] = context.benchmark.resources["prior"]

    def review(sample_id: str, **_: Any) -> Mapping[str, Any]:
        return _trivial(draw_level(prior, context.seed, sample_id))

    return review


def _constant(level: Level) -> Callable[..., Mapping[str, Any]]:
    def review(**_: Any) -> Mapping[str, Any]:
        return _trivial(level)

    return review


def _trivial(level: Level) -> Mapping[str, Any]:
    return {"review": write_review("", level), "trivial": True}


def _rule_fields(retrieved: list[Rule], fired: list[Rule]) -> dict[str, list[str]]:
    return {
        "retrieved_rules": [rule.rule_id for rule in retrieved],
        "retrieved_risks": list(dict.fromkeys(rule.risk_id for rule in retrieved)),
        "fired_rules": [rule.rule_id for rule in fired],
    }


def _from_rule(rule: Rule, clause: str) -> str:
    words = rule.triggers(clause)
    quoted = [sentence for sentence in sentences(clause) if any(word in sentence for word in words)]
    return write_review(
        rule.name,
        grade(rule),
        evidence=quoted[:2],
        analysis=rule.rationale,
        laws="；".join(f"《{ref.law}》第{ref.article}条" for ref in rule.law_refs if ref.article),
        advice=f"修改涉及“{words[0]}”的约定，使其不再构成“{rule.name}”。",
    )
