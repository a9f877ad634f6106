"""A suite of the benchmark's questions, for contenders that run whole phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.contenders import WARM_UP, question
from seedbed.suite import Benchmark, BenchmarkSpec, Case, Metric, Prediction, ScoreRow, Suite, SystemSpec
from seedbed.sweep.registry import register_suite


def _load(options: Any) -> Benchmark:
    return Benchmark("questions", [Case(f"q{n}", {"question": question(n)}) for n in range(options.limit)])


def _load_warm_up(_options: Any) -> Benchmark:
    numbers = range(1_000_000, 1_000_000 + 8 * WARM_UP)
    return Benchmark("warm_up", [Case(f"q{n}", {"question": question(n)}) for n in numbers])


def _build(_context: Any, _options: Any) -> Any:
    import dspy

    return dspy.ChainOfThought("question -> answer")


async def _score(_context: Any, cases: Sequence[Case], _predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    return [ScoreRow(case.sample_id, "ok", {"done": 1.0}) for case in cases]


def _aggregate(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    return {"done": 1.0, "n": len(rows), "n_errors": 0, "n_skipped": 0}


register_suite(
    Suite(
        name="questions",
        title="Questions",
        version="1",
        benchmarks={
            "warm_up": BenchmarkSpec(_load_warm_up, data=Path(__file__)),
            "questions": BenchmarkSpec(_load, data=Path(__file__)),
        },
        systems={"think": SystemSpec(_build)},
        score=_score,
        aggregate=_aggregate,
        metrics=(Metric("done", "done"),),
    )
)
