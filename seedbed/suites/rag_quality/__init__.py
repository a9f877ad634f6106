"""RAG quality: six metrics of answers and of what was retrieved for them, and test sets made from documents."""

from pathlib import Path

from seedbed.suite import SHARES, BenchmarkSpec, Judged, Metric, Suite, SystemSpec
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase, EvalResult

__all__ = ["METRICS", "SUITE", "EvalCase", "EvalResult"]

_HERE = "seedbed.suites.rag_quality"
_DATA = Path(__file__).parent / "data"


def _judged(name: str, label: str, question: str, option: str = "") -> Metric:
    shown = ("answer", "retrieved_contexts")
    return Metric(name, label, judged=Judged(question, SHARES, shown, ("question",), option=option))


SUITE = Suite(
    name="rag_quality",
    title="Quality of RAG answers",
    version="2",
    scoring_version="2",
    benchmarks={
        "sample": BenchmarkSpec(f"{_HERE}.cases:load", f"{_HERE}.options:CaseOptions", _DATA / "sample"),
        "jsonl": BenchmarkSpec(f"{_HERE}.cases:load", f"{_HERE}.options:CaseOptions"),
    },
    systems={
        "bm25_rag": SystemSpec(f"{_HERE}.systems:Bm25Rag", f"{_HERE}.options:RagOptions", evidence_tokens=200),
        "dense_rag": SystemSpec(f"{_HERE}.systems:DenseRag", f"{_HERE}.options:DenseOptions", evidence_tokens=200),
        "oracle_rag": SystemSpec(f"{_HERE}.systems:OracleRag", evidence_tokens=100),
        "closed_book": SystemSpec(f"{_HERE}.systems:ClosedBook"),
        "given": SystemSpec(f"{_HERE}.systems:given", calls_per_case=0.0),
    },
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    score_roles=("judge",),
    score_calls_per_case=7.0,
    console=f"{_HERE}.report:console",
    metrics=(
        _judged("faithfulness", "Faithful", "Of what the answer says, how much follows from the contexts?"),
        _judged("context_relevance", "CtxRelev", "Of the contexts, how many help to answer the question?"),
        _judged("context_recall", "CtxRecall", "Of what the right answer says, how much follows from the contexts?"),
        _judged(
            "context_precision",
            "CtxPrec",
            "Do the contexts that help stand before those that do not?",
            option="scoring.precision_by_judge",
        ),
        _judged("answer_relevancy", "AnsRelev", "How far does the answer answer the question, rightly or wrongly?"),
        _judged("answer_correctness", "AnsCorrect", "How far does the answer say what the right answer says?"),
    ),
    score_file=f"{_HERE}.score_file:score_file",
    meta=f"{_HERE}.meta:judge_the_judge",
    score_file_options=f"{_HERE}.options:JudgeOptions",
    report=f"{_HERE}.report:report",
    offline=f"{_HERE}.offline",
)
