"""Scores a review: its level, its evidence, its citations, the rules behind it. One row a case, failures included."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seedbed.suite import Case, Failure, PhaseContext, Prediction, SampleUsage, ScoreRow
from seedbed.suites.contract_risk import SUITE
from seedbed.suites.contract_risk.lawrefs import LawIndex, LawRef
from seedbed.suites.contract_risk.levels import LEVELS, WEIGHTS, Level, place
from seedbed.suites.contract_risk.parser import Review, parse_review
from seedbed.suites.contract_risk.verify import Verifier
from seedbed.suites.kit.outcomes import unanswered_row

_OF_ANY_ANSWER = ("accuracy", "weighted_accuracy", "parse_rate", "task_success_rate", "task_success_lenient")


@dataclass(frozen=True, slots=True)
class Checks:
    """What reviews are held against beside the gold."""

    verifier: Verifier
    law_index: LawIndex
    seed: int = 0


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """A system that failed on a case leaves an error there; aggregates count it as a miss and never as a level."""
    resources = context.benchmark.resources
    checks = Checks(resources["verifier"], resources["law_index"], context.seed)
    usage = context.sample_usage()

    def work() -> list[ScoreRow]:
        return [score_one(case, predictions[case.sample_id], checks, usage.get(case.sample_id)) for case in cases]

    # Embedding takes seconds; the loop belongs to all cells.
    return await asyncio.to_thread(work)


def score_one(case: Case, prediction: Prediction, checks: Checks, usage: SampleUsage | None = None) -> ScoreRow:
    known: dict[str, Any] = {
        "gold": case.gold["risk_level"],
        "contract_type": case.inputs["contract_type"],
        "verifier": checks.verifier.stamp,
        "seed": checks.seed,
        "latency_s": usage.latency_s if usage else None,
    }
    if isinstance(prediction, Failure):
        empty = {**known, "pred": None, "evidence": [], "laws": []}
        return unanswered_row(case, prediction, SUITE.metrics, _OF_ANY_ANSWER, empty)
    output = prediction.output
    known["trivial"] = bool(output.get("trivial"))
    review = parse_review(str(output.get("review") or ""))
    details = {**known, **_findings(case, review, checks), "rules": _rules(case, output)}
    return ScoreRow(case.sample_id, "ok", _scores(case, review, details), details, cluster=case.cluster)


def score_level(
    case: Case,
    level: Level | None,
    checks: Checks,
    output: Mapping[str, Any] | None = None,
    usage: SampleUsage | None = None,
) -> ScoreRow:
    """A bare level, without the review it came from: what only a review shows stays undefined."""
    gold: Level = case.gold["risk_level"]
    details: dict[str, Any] = {
        "gold": gold,
        "pred": level,
        "contract_type": case.inputs["contract_type"],
        "verifier": checks.verifier.stamp,
        "latency_s": usage.latency_s if usage else None,
        "rules": _rules(case, output or {}),
    }
    unknown = ("parse_rate", "task_success_rate", "task_success_lenient", "evidence_coverage")
    scores = {
        **_level_scores(gold, level),
        **dict.fromkeys(unknown),
        "risk_id_accuracy": _risk_id(details["rules"]),
    }
    return ScoreRow(case.sample_id, "ok", scores, details, cluster=case.cluster)


def _findings(case: Case, review: Review, checks: Checks) -> dict[str, Any]:
    evidence = checks.verifier.check(case.inputs["clause"], review.evidence) if review.parse_success else []
    laws = [_law(ref, checks.law_index) for ref in review.laws] if review.parse_success else []
    return {
        "pred": review.level if review.parse_success else None,
        "parsed": review.parse_success,
        "missing_sections": review.missing_sections,
        "evidence": None if evidence is None else [asdict(check) for check in evidence],
        "laws": laws,
        "suggestion": review.has_suggestion,
        "review": review.raw,
    }


def _law(ref: LawRef, index: LawIndex) -> dict[str, Any]:
    return {"law": ref.law, "article": ref.article, "verdict": index.check(ref)}


def _rules(case: Case, output: Mapping[str, Any]) -> dict[str, Any] | None:
    """None for a system without a rule engine: rules whose cue was found, rules and risks that were retrieved."""
    parts = {
        "fired": output.get("fired_rules"),
        "retrieved": output.get("retrieved_rules"),
        "risks": output.get("retrieved_risks"),
    }
    if all(value is None for value in parts.values()):
        return None
    given = {name: None if value is None else list(value) for name, value in parts.items()}
    return {**given, "gold": list(case.gold["rule_ids"]), "gold_risk": case.gold["risk_id"]}


def _scores(case: Case, review: Review, details: Mapping[str, Any]) -> dict[str, float | None]:
    strict, lenient = _success(case.gold["risk_level"], review, details)
    return {
        **_level_scores(case.gold["risk_level"], details["pred"]),
        "parse_rate": float(review.parse_success),
        "task_success_rate": strict,
        "task_success_lenient": lenient,
        "evidence_coverage": _coverage(details),
        "risk_id_accuracy": _risk_id(details["rules"]),
    }


def _coverage(details: Mapping[str, Any]) -> float | None:
    """Whether a parsed verdict of a risk quotes anything: a rate of false quotes means little without it."""
    if details["evidence"] is None or details["pred"] not in LEVELS[:2]:
        return None
    return float(bool(details["evidence"]))


def _risk_id(rules: Mapping[str, Any] | None) -> float | None:
    """Whether the first risk found is the one that is there; None for a clause without a risk."""
    if not rules or rules["risks"] is None or not rules["gold_risk"]:
        return None
    return float(rules["risks"][:1] == [rules["gold_risk"]])


def _level_scores(gold: Level, predicted: Level | None) -> dict[str, float | None]:
    return {
        "accuracy": float(gold == predicted),
        "weighted_accuracy": WEIGHTS[place(gold)][place(predicted)] if predicted else 0.0,
    }


def _success(gold: Level, review: Review, details: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Strict and lenient. Unknown while evidence goes unchecked."""
    if details["evidence"] is None:
        return None, None
    verdicts = [item["valid"] for item in details["evidence"]]
    verdicts += [law["verdict"] == "valid" for law in details["laws"] if law["verdict"] != "incomplete"]
    right = review.parse_success and review.level == gold and all(verdicts)
    supported = review.level == "低" or any(verdicts)
    strict = right and supported and review.has_suggestion
    return float(strict), float(strict or (right and review.level == "低"))
