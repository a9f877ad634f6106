"""Cross-lingual RAG: a question in any language, documents in many, and what it costs to bridge them."""

from pathlib import Path

from seedbed.suite import BenchmarkSpec, Metric, Suite, SystemSpec

_HERE = "seedbed.suites.crosslingual"
_DATA = Path(__file__).parent / "data"

SUITE = Suite(
    name="crosslingual",
    title="RAG across languages",
    version="1",
    benchmarks={
        "tiny": BenchmarkSpec(f"{_HERE}.cases:load_folder", f"{_HERE}.options:CorpusOptions", _DATA / "tiny"),
        "jsonl": BenchmarkSpec(f"{_HERE}.cases:load_folder", f"{_HERE}.options:CorpusOptions"),
    },
    systems={
        "direct": SystemSpec(f"{_HERE}.systems:Direct"),
        "multi": SystemSpec(f"{_HERE}.systems:Multi", f"{_HERE}.options:RagOptions", evidence_tokens=500),
    },
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    score_group=f"{_HERE}.scorers:score_group",
    console=f"{_HERE}.report:console",
    metrics=(
        Metric("f1", "F1"),
        Metric("em", "EM"),
        Metric("rlc", "RLC"),
        Metric("rlc_ok", "RLC_OK"),
        Metric("cost", "Cost", higher_is_better=False, digits=1),
        Metric("cnbe", "CNBE", digits=5),
    ),
)
