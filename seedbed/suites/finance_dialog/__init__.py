"""A finance assistant with memory: what it recalls, learns of its user, discloses, may say, and explains."""

from pathlib import Path

from seedbed.suite import BenchmarkSpec, Judged, Metric, Suite, SystemSpec, scale_marks

_HERE = "seedbed.suites.finance_dialog"
_AGENTS = f"{_HERE}.agents"
_OPTIONS = f"{_HERE}.options"
_DATA = Path(__file__).parent / "data"
_TURNS = 8.0
"""User turns a dialogue has, about: estimates before a run count calls with it."""


def _memory_agent(build: str, calls: float = 2.0) -> SystemSpec:
    return SystemSpec(build, f"{_OPTIONS}:MemoryOptions", calls_per_case=calls * _TURNS, evidence_tokens=400)


_EXPLAINED = Judged(
    "How well do the replies explain themselves: their grounds, why they fit the user, where they end?",
    scale_marks(1, 5),
    ("turns.user_text", "turns.pred_assistant_text"),
    inputs=("dialog_id",),
    reference=False,
)

SUITE = Suite(
    name="finance_dialog",
    title="Finance dialogues with memory",
    version="2",
    scoring_version="3",
    benchmarks={
        "dialogues": BenchmarkSpec(f"{_HERE}.cases:load_dialogues", f"{_OPTIONS}:DialogueOptions", _DATA / "dialogues"),
        "jsonl": BenchmarkSpec(f"{_HERE}.cases:load_dialogues", f"{_OPTIONS}:DialogueOptions"),
    },
    systems={
        "memory_agent": _memory_agent(f"{_AGENTS}.memory_agent:MemoryAgent"),
        "memory_agent-short_term": _memory_agent(f"{_HERE}.systems:without_short_term"),
        "memory_agent-long_term": _memory_agent(f"{_HERE}.systems:without_long_term"),
        "memory_agent-profile": _memory_agent(f"{_HERE}.systems:without_profile", 1.0),
        "memory_agent-risk_template": _memory_agent(f"{_HERE}.systems:without_risk_template"),
        "memory_agent-compliance_guard": _memory_agent(f"{_HERE}.systems:without_compliance_guard"),
        "mem0_style": SystemSpec(
            f"{_AGENTS}.mem0_style:Mem0Style",
            f"{_OPTIONS}:Mem0Options",
            calls_per_case=2.5 * _TURNS,
            evidence_tokens=100,
        ),
        "mem0": SystemSpec(
            f"{_AGENTS}.mem0_package:Mem0Package",
            f"{_OPTIONS}:Mem0Options",
            calls_per_case=2 * _TURNS,
            evidence_tokens=100,
        ),
        "window_only": SystemSpec(
            f"{_AGENTS}.baselines:WindowOnly",
            f"{_OPTIONS}:WindowOptions",
            calls_per_case=_TURNS,
            evidence_tokens=300,
        ),
        "full_context": SystemSpec(
            f"{_AGENTS}.baselines:FullContext",
            f"{_OPTIONS}:AgentOptions",
            calls_per_case=_TURNS,
            evidence_tokens=600,
        ),
        "llm_only": SystemSpec(f"{_AGENTS}.baselines:LlmOnly", f"{_OPTIONS}:LlmOnlyOptions", calls_per_case=_TURNS),
        "given": SystemSpec(f"{_HERE}.systems:Given", f"{_OPTIONS}:GivenOptions", calls_per_case=0.0),
    },
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    console=f"{_HERE}.console:console",
    score_roles=("judge",),
    score_file=f"{_HERE}.score_file:score_file",
    meta=f"{_HERE}.meta:judge_the_judge",
    score_file_options=f"{_OPTIONS}:ScoreFileOptions",
    report=f"{_HERE}.report:report",
    metrics=(
        Metric("key_coverage", "M1 key coverage", kind="pooled"),
        Metric("strict_key_hit_rate", "M1 strict", kind="pooled"),
        Metric("contradiction_rate", "M1 contradiction", higher_is_better=False, kind="pooled"),
        Metric("profile_score", "M2 profile"),
        Metric("risk_coverage", "M3 risk coverage", kind="pooled"),
        Metric("strict_risk_coverage_rate", "M3 strict", kind="pooled"),
        Metric("compliance_label_acc", "M4 label acc.", kind="pooled"),
        Metric("severe_violation_rate", "M4 severe", higher_is_better=False, kind="pooled"),
        Metric("rubric_hit_rate", "M5 rubric", kind="pooled"),
        Metric("judge_score_mean", "M5 score 1-5", digits=2, kind="pooled", range=(1.0, 5.0)),
        Metric("availability", "availability", kind="pooled"),
        Metric("lm_judge", "LM judge 1-5", digits=2, range=(1.0, 5.0), judged=_EXPLAINED),
    ),
    offline=f"{_HERE}.offline",
)
