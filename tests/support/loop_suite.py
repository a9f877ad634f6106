"""A small suite for sweeps against the loopback server: one system asks once, one asks twice, the scorer asks too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from seedbed.suite import (
    Benchmark,
    BenchmarkSpec,
    Case,
    Failure,
    Metric,
    PhaseContext,
    Prediction,
    ScoreRow,
    Suite,
    SystemSpec,
)
from seedbed.sweep.registry import register_suite


def load(options: Any) -> Benchmark:
    cases = [Case(f"q{n}", {"question": f"Is {n} even?"}, gold="yes" if n % 2 == 0 else "no") for n in range(40)]
    return Benchmark("numbers", cases[: options.limit])


class TwoSteps(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.think = dspy.ChainOfThought("question -> hint")
        self.decide = dspy.Predict("question, hint -> answer")

    async def aforward(self, question: str) -> dspy.Prediction:
        thought = await self.think.acall(question=question)
        return await self.decide.acall(question=question, hint=thought.hint)


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    judge = dspy.Predict("answer -> fine")
    lm = context.lm("judge")

    async def one(case: Case) -> ScoreRow:
        given = predictions[case.sample_id]
        if isinstance(given, Failure):
            return ScoreRow(case.sample_id, "error")
        output = given.output
        with dspy.context(lm=lm):
            verdict = await judge.acall(answer=f"{case.sample_id}: {output['answer']}")
        return ScoreRow(
            case.sample_id, "ok", {"right": float(output["answer"] == case.gold), "fine": float(verdict.fine == "yes")}
        )

    return await context.each(cases, one)


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    right = [row.scores["right"] for row in rows if row.status == "ok"]
    mean = sum(value or 0.0 for value in right) / len(right) if right else None
    return {"right": mean, "n": len(right), "n_errors": len(rows) - len(right), "n_skipped": 0}


register_suite(
    Suite(
        name="loop",
        title="Loopback",
        version="1",
        benchmarks={"numbers": BenchmarkSpec(load, data=Path(__file__))},
        systems={
            "once": SystemSpec(lambda _context, _options: dspy.ChainOfThought("question -> answer")),
            "twice": SystemSpec(lambda _context, _options: TwoSteps(), calls_per_case=2),
        },
        score=score,
        aggregate=aggregate,
        metrics=(Metric("right", "Right", kind="rate"),),
        score_roles=("judge",),
        score_calls_per_case=1,
    )
)
