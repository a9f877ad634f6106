"""A suite whose cells do nothing: what is left of a sweep's time is the orchestration's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.suite import Benchmark, BenchmarkSpec, Case, Metric, Prediction, ScoreRow, Suite, SystemSpec
from seedbed.sweep.registry import register_suite


def _load(_options: Any) -> Benchmark:
    return Benchmark("nothing", [Case("only", {})])


def _build(_context: Any, _options: Any) -> Any:
    return lambda **_: {"answer": "nothing"}


async def _score(_context: Any, cases: Sequence[Case], _predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    return [ScoreRow(case.sample_id, "ok", {"done": 1.0}) for case in cases]


def _aggregate(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    return {"done": 1.0, "n": len(rows), "n_errors": 0, "n_skipped": 0}


register_suite(
    Suite(
        name="empty",
        title="Empty cells",
        version="1",
        benchmarks={"nothing": BenchmarkSpec(_load, data=Path(__file__))},
        systems={"idle": SystemSpec(_build)},
        score=_score,
        aggregate=_aggregate,
        metrics=(Metric("done", "done"),),
    )
)
