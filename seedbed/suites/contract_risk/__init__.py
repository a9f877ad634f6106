"""Contract review: what each part of a reviewer is worth, measured by switching it off."""

from pathlib import Path

from seedbed.suite import BenchmarkSpec, Metric, Suite, SystemSpec

_HERE = "seedbed.suites.contract_risk"
_DATA = Path(__file__).parent / "data" / "clauses"


def _reviewer(name: str, calls: float, tokens: float) -> SystemSpec:
    return SystemSpec(
        f"{_HERE}.systems:{name}", f"{_HERE}.options:ReviewOptions", calls_per_case=calls, evidence_tokens=tokens
    )


SUITE = Suite(
    name="contract_risk",
    title="Risk review of contract clauses",
    version="2",
    scoring_version="2",
    benchmarks={
        "clauses": BenchmarkSpec(f"{_HERE}.cases:load", f"{_HERE}.options:ClauseOptions", _DATA),
        "file": BenchmarkSpec(f"{_HERE}.cases:load", f"{_HERE}.options:ClauseOptions"),
    },
    systems={
        "full": _reviewer("full", 2, 500),
        "no_reflection": _reviewer("no_reflection", 1, 500),
        "no_rerank": _reviewer("no_rerank", 2, 600),
        "no_rag": _reviewer("no_rag", 2, 300),
        "no_rules": _reviewer("no_rules", 2, 200),
        "prompt_only": _reviewer("prompt_only", 1, 0),
        "llm_only": SystemSpec(f"{_HERE}.systems:BareReviewer"),
        "rules_only": SystemSpec(f"{_HERE}.systems:rules_only", calls_per_case=0),
        "always_high": SystemSpec(f"{_HERE}.systems:always_high", calls_per_case=0),
        "always_medium": SystemSpec(f"{_HERE}.systems:always_medium", calls_per_case=0),
        "prior_random": SystemSpec(f"{_HERE}.systems:prior_random", calls_per_case=0),
    },
    reference_systems=("always_high", "always_medium", "prior_random"),
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.figures:aggregate",
    score_group=f"{_HERE}.groups:score_group",
    console=f"{_HERE}.report:console",
    report=f"{_HERE}.report:report",
    score_file=f"{_HERE}.score_file:score_file",
    score_file_options=f"{_HERE}.options:FileOptions",
    metrics=(
        Metric("accuracy", "Acc", kind="rate"),
        Metric("weighted_accuracy", "WAcc"),
        Metric("kappa_linear", "LWK", kind="pooled", range=(-1.0, 1.0)),
        Metric("high_risk_f2", "F2-High", kind="pooled"),
        Metric("macro_f1", "MacroF1", kind="pooled"),
        Metric("hallucination_rate", "Halluc", higher_is_better=False, kind="pooled"),
        Metric("clause_hallucination_rate", "ClauseH", higher_is_better=False, kind="pooled"),
        Metric("law_hallucination_rate", "LawH", higher_is_better=False, kind="pooled"),
        Metric("evidence_coverage", "Cover", kind="rate"),
        Metric("rule_recall", "RuleR", kind="pooled"),
        Metric("rule_precision", "RuleP", kind="pooled"),
        Metric("risk_id_accuracy", "RiskID", kind="rate"),
        Metric("task_success_rate", "Success", kind="rate"),
        Metric("task_success_lenient", "SuccessL", kind="rate"),
        Metric("parse_rate", "Parse", kind="rate"),
        Metric("avg_latency", "Latency", higher_is_better=False, kind="pooled", range=None),
    ),
    offline=f"{_HERE}.offline",
)
