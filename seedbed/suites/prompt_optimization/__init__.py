"""Prompt optimisation: a program's prompts are searched on train and val, and judged on test."""

from pathlib import Path

from seedbed.suite import SHARES, BenchmarkSpec, Judged, Metric, Suite, SystemSpec

_HERE = "seedbed.suites.prompt_optimization"
_DATA = Path(__file__).parent / "data"


def _benchmark(name: str, load: str, options: str) -> BenchmarkSpec:
    return BenchmarkSpec(f"{_HERE}.benchmarks:{load}", f"{_HERE}.options:{options}", _DATA / name)


_PRIVACY = Judged(
    "Half for a response as good as the reference, half for private facts kept out of the request: how much is earned?",
    SHARES,
    ("llm_request", "response"),
    benchmarks=("Papillon",),
)
"""Of PUPA; the other benchmarks are scored by code."""

SUITE = Suite(
    name="prompt_optimization",
    title="Prompt optimisation",
    version="4",
    scoring_version="2",
    benchmarks={
        "HotpotQABench": _benchmark("HotpotQABench", "hotpot", "SplitOptions"),
        "hoverBench": _benchmark("hoverBench", "hover", "HoverOptions"),
        "Papillon": _benchmark("Papillon", "papillon", "PapillonOptions"),
        "IFBench": _benchmark("IFBench", "ifbench", "IfbenchOptions"),
        "LiveBenchMathBench": _benchmark("LiveBenchMathBench", "livebench_math", "LiveBenchOptions"),
        "AIMEBench": _benchmark("AIMEBench", "aime", "AimeOptions"),
    },
    systems={
        "HotpotMultiHop": SystemSpec(
            f"{_HERE}.programs:HotpotMultiHop",
            f"{_HERE}.options:RetrievalOptions",
            calls_per_case=4,
            evidence_tokens=100,
        ),
        "HoverMultiHop": SystemSpec(
            f"{_HERE}.programs:HoverMultiHop",
            f"{_HERE}.options:RetrievalOptions",
            calls_per_case=4,
            evidence_tokens=100,
        ),
        "PAPILLON": SystemSpec(
            f"{_HERE}.programs:Papillon", roles=("untrusted", "judge"), calls_per_case=5, predictors=2
        ),
        "IFBenchCoT2StageProgram": SystemSpec(f"{_HERE}.programs:IFBenchCoT2Stage", calls_per_case=2),
        "CoT": SystemSpec(f"{_HERE}.programs:CoT"),
    },
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    score_group=f"{_HERE}.scorers:score_group",
    feedback=f"{_HERE}.scorers:feedback",
    console=f"{_HERE}.report:console",
    report=f"{_HERE}.report:report",
    score_file=f"{_HERE}.score_file:score_file",
    meta=f"{_HERE}.meta:judge_the_judge",
    score_file_options=f"{_HERE}.options:ScoreOptions",
    metrics=(
        Metric("score", "Score", digits=4, judged=_PRIVACY),
        Metric("gain", "Gain", digits=4, kind="pooled", range=(-1.0, 1.0)),
    ),
    offline=f"{_HERE}.offline",
)
