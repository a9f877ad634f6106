"""A suite whose contests are decided by a judge's word: systems that differ in skill, a search that changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from seedbed.analysis.means import mean
from seedbed.suite import (
    Benchmark,
    BenchmarkOptions,
    BenchmarkSpec,
    Case,
    Failure,
    Feedback,
    Metric,
    Options,
    PhaseContext,
    Prediction,
    ScoreRow,
    Suite,
    SystemSpec,
)
from seedbed.sweep.registry import register_suite


class SayOptions(Options):
    skill: float = 0.0
    """The share of answers, of those that the judge would refuse, that it has to let pass."""


def load(options: BenchmarkOptions) -> Benchmark:
    def cases(split: str, n: int) -> list[Case]:
        return [
            Case(f"{split}{i:04d}", {"question": f"Is {split} {i} even?"}, gold="yes", cluster=f"{split}{i // 2:04d}")
            for i in range(n)
        ]

    return Benchmark("claims", cases("test", options.limit or 160), cases("train", 6), cases("val", 6))


class Say(dspy.Module):
    def __init__(self, skill: float) -> None:
        super().__init__()
        self.skill = skill
        self.say = dspy.Predict("question -> answer")

    def forward(self, question: str) -> dspy.Prediction:
        return dspy.Prediction(answer=self.say(question=question).answer, skill=self.skill)

    async def aforward(self, question: str) -> dspy.Prediction:
        return dspy.Prediction(answer=(await self.say.acall(question=question)).answer, skill=self.skill)


def build(context: PhaseContext, options: SayOptions) -> Say:
    return Say(options.skill)


def _lucky(sample_id: str, skill: float) -> bool:
    return int(hashlib.sha256(sample_id.encode()).hexdigest()[:8], 16) % 1000 < 1000 * skill


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    judge, lm = dspy.Predict("sample, answer, skill -> fine"), context.lm("judge")

    async def one(case: Case) -> ScoreRow:
        given = predictions[case.sample_id]
        if isinstance(given, Failure):
            return ScoreRow(case.sample_id, "error", cluster=case.cluster)
        answer, skill = given.output["answer"], given.output["skill"]
        with dspy.context(lm=lm):
            verdict = await judge.acall(sample=case.sample_id, answer=answer, skill=str(skill))
        passed = verdict.fine == "yes" or _lucky(case.sample_id, skill)
        return ScoreRow(case.sample_id, "ok", {"fine": float(passed)}, cluster=case.cluster)

    return await context.each(cases, one)


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    values = [value for row in rows if (value := row.scores.get("fine")) is not None]
    return {"fine": mean(values), "n": len(values), "n_errors": len(rows) - len(values), "n_skipped": 0}


def feedback(context: PhaseContext, case: Case, output: Mapping[str, Any]) -> Feedback:
    return Feedback(float(output["answer"] == case.gold))


register_suite(
    Suite(
        name="contest",
        title="Contests",
        version="1",
        benchmarks={"claims": BenchmarkSpec(load, data=Path(__file__))},
        systems={"say": SystemSpec(build, SayOptions)},
        score=score,
        aggregate=aggregate,
        feedback=feedback,
        metrics=(Metric("fine", "Fine", kind="rate"),),
        score_roles=("judge",),
        score_calls_per_case=1,
    )
)
