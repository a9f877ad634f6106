"""Cross-lingual RAG: a question in any language, documents in many, and what it costs to bridge them."""

from pathlib import Path

from seedbed.suite import SHARES, BenchmarkSpec, Judged, Metric, Suite, SystemSpec

_HERE = "seedbed.suites.crosslingual"
_DATA = Path(__file__).parent / "data"

SUITE = Suite(
    name="crosslingual",
    title="RAG across languages",
    version="3",
    scoring_version="2",
    benchmarks={
        "tiny": BenchmarkSpec(f"{_HERE}.cases:load_folder", f"{_HERE}.options:CorpusOptions", _DATA / "tiny"),
        "jsonl": BenchmarkSpec(f"{_HERE}.cases:load_folder", f"{_HERE}.options:CorpusOptions"),
        "mkqa": BenchmarkSpec(f"{_HERE}.public_sets:load_mkqa", f"{_HERE}.options:CorpusOptions"),
        "xquad": BenchmarkSpec(f"{_HERE}.public_sets:load_xquad", f"{_HERE}.options:XquadOptions"),
    },
    systems={
        "direct": SystemSpec(f"{_HERE}.systems:Direct"),
        "multi": SystemSpec(f"{_HERE}.systems:Multi", roles=("embedding",), evidence_tokens=500),
        "cross": SystemSpec(
            f"{_HERE}.systems:Cross",
            f"{_HERE}.options:CrossOptions",
            roles=("translator", "embedding"),
            calls_per_case=4.0,
            evidence_tokens=300,
        ),
        "lbrag": SystemSpec(
            f"{_HERE}.systems:Lbrag",
            f"{_HERE}.options:LbragOptions",
            roles=("translator", "embedding"),
            calls_per_case=2.0,
            evidence_tokens=400,
        ),
    },
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    score_group=f"{_HERE}.scorers:score_group",
    feedback=f"{_HERE}.feedback:feedback",
    score_roles=("judge",),
    score_calls_per_case=1.0,
    optional_roles=("judge", "embedding"),
    console=f"{_HERE}.report:console",
    metrics=(
        Metric("f1", "F1"),
        Metric("em", "EM", kind="rate"),
        Metric("rlc", "RLC"),
        Metric("rlc_ok", "RLC_OK", kind="rate"),
        Metric("cost", "Cost", higher_is_better=False, digits=1, range=None),
        Metric("cnbe", "CNBE", digits=5, kind="pooled", range=None),
        Metric(
            "semantic_score",
            "Sem",
            judged=Judged("How far does the answer mean what a right answer means?", SHARES, ("answer",)),
        ),
        Metric("f1_mkqa", "F1 (MKQA)"),
        Metric("char_3gram_recall", "3-gram recall"),
        Metric("answer_in_context", "in context", higher_is_better=None, kind="rate"),
    ),
    score_file=f"{_HERE}.score_file:score_file",
    meta=f"{_HERE}.meta:judge_the_judge",
    report=f"{_HERE}.report:report",
    offline=f"{_HERE}.offline",
)
