"""A model as judge: a rubric in the user's words, a scale, a reason that is kept, and votes where one is not enough."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import Field, field_validator

from seedbed.suite import Case, Judged, Metric, PhaseContext, Scored, ScorerSpec, scale_marks
from seedbed.suites.kit.images import as_texts
from seedbed.suites.kit.scorers.asking import ask_judge, with_rubric
from seedbed.suites.kit.scorers.values import VERSION, AnswerOptions, answer_text


class JudgeOptions(AnswerOptions):
    judge: str = Field(min_length=1)
    """The rubric: what is asked of an answer."""
    file: str | None = None
    """The file of a long rubric."""
    scale: tuple[int, int] = (1, 5)
    """The worst and the best mark."""
    reference: bool = True
    """Show the judge the right answer, where the case has one."""
    votes: int = Field(default=1, ge=1, le=25)
    """So many independent judgements, whose mean counts; the judge's model needs a temperature above 0 to vary."""

    @classmethod
    def read_files(cls, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        return with_rubric(given, "judge", folder)

    @field_validator("scale")
    @classmethod
    def _upwards(cls, value: tuple[int, int]) -> tuple[int, int]:
        if value[0] >= value[1]:
            raise ValueError(f"the scale must rise: [{value[1]}, {value[0]}], or other numbers")
        return value


async def judge(context: PhaseContext, case: Case, output: Mapping[str, Any], options: JudgeOptions) -> Scored:
    """The mean of the votes; reasons and marks are kept with the sample."""
    votes = await asyncio.gather(*(_vote(context, case, output, options, number) for number in range(options.votes)))
    marks = [mark for mark, _ in votes]
    reasons = [reason for _, reason in votes]
    details: dict[str, Any] = {"judge_reason": reasons[0]} if options.votes == 1 else {"judge_votes": votes}
    return Scored({"judge": sum(marks) / len(marks)}, details, f"The judge says: {reasons[0]}")


async def _vote(
    context: PhaseContext, case: Case, output: Mapping[str, Any], options: JudgeOptions, number: int
) -> tuple[float, str]:
    low, high = options.scale

    def problem_of(reply: Any) -> str | None:
        fits = isinstance(reply.score, int | float) and low <= reply.score <= high
        return None if fits else f"the score is {reply.score!r}, but must lie between {low} and {high}"

    reply = await ask_judge(context, _asked(case, output, options), _signature, problem_of, number)
    return float(reply.score), str(reply.reason or "")


def _asked(case: Case, output: Mapping[str, Any], options: JudgeOptions) -> dict[str, str]:
    low, high = options.scale
    asked = {
        "rubric": options.judge,
        "scale": f"a whole number from {low} (worst) to {high} (best)",
        "case": "\n".join(f"{name}: {value}" for name, value in as_texts(case.inputs).items()),
        "answer": answer_text(output, options),
    }
    if options.reference and case.gold is not None:
        asked["right_answer"] = str(case.gold)
    return asked


def _signature(asked: Mapping[str, str]) -> Any:
    import dspy

    fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in asked}
    fields["reason"] = (str, dspy.OutputField(desc="one or two sentences"))
    fields["score"] = (float, dspy.OutputField(desc="on the scale"))
    return cast(Any, dspy.Signature)(
        fields, "Judge the answer to the case by the rubric alone. Give the reason, then the score."
    )


def _metrics(options: JudgeOptions) -> tuple[Metric, ...]:
    low, high = options.scale
    judged = Judged(
        options.judge, scale_marks(low, high), (options.field,), reference=options.reference, votes="judge_votes"
    )
    return (Metric("judge", "Judge", digits=2, range=(float(low), float(high)), judged=judged),)


JUDGE = ScorerSpec(judge, _metrics, JudgeOptions, roles=("judge",), calls_per_case=1.0, version=VERSION)
