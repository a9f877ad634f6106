"""A model as judge of two answers: is this one better than the baseline's? Each pair is shown in both orders."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from seedbed.suite import Case, Failure, Judged, Metric, PhaseContext, Scored, ScorerSpec
from seedbed.suites.kit.images import as_texts
from seedbed.suites.kit.scorers.asking import ask_judge, with_rubric
from seedbed.suites.kit.scorers.values import VERSION, AnswerOptions, answer_text

_FIRST, _SECOND, _TIE = "1", "2", "tie"
_WORTH = {_FIRST: 1.0, _TIE: 0.5, _SECOND: 0.0}


class PreferenceOptions(AnswerOptions):
    preference: str = Field(min_length=1)
    """The rubric: by what one answer is better than another."""
    file: str | None = None
    """The file of a long rubric."""
    against: str | None = None
    """The system whose answers it is held against, or SYSTEM+OPTIMIZER; null takes the experiment's baseline."""
    reference: bool = True
    """Show the judge the right answer, where the case has one."""
    votes: int = Field(default=1, ge=1, le=25)
    """So many independent judgements, each in both orders; the judge's model needs a temperature above 0 to vary."""

    @classmethod
    def read_files(cls, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        return with_rubric(given, "preference", folder)


async def preference(
    context: PhaseContext, case: Case, output: Mapping[str, Any], options: PreferenceOptions
) -> Scored | None:
    """1 where this answer is preferred, 0 where the other is, 0.5 for neither; the mean over orders and votes.
    Undefined where there is no other answer: of the baseline itself, or where that failed. Equal ones are a tie."""
    other = context.answers_of_rival(options.against).get(case.sample_id)
    if other is None:
        return None
    if isinstance(other, Failure):
        return Scored({"preference": None}, {"preference_reason": "the other system gave no answer"})
    own, theirs = answer_text(output, options), answer_text(other.output, options)
    if own == theirs:
        return Scored({"preference": 0.5}, {"preference_reason": "both answers are the same"})
    orders = [(vote, swapped) for vote in range(options.votes) for swapped in (False, True)]
    found = await asyncio.gather(*(_judged(context, case, own, theirs, options, *order) for order in orders))
    worths = [worth for worth, _ in found]
    details = {
        "preference_votes": [list(vote) for vote in found],
        "orders_agree": all(worths[at] == worths[at + 1] for at in range(0, len(worths), 2)),
    }
    return Scored({"preference": sum(worths) / len(worths)}, details)


async def _judged(
    context: PhaseContext, case: Case, own: str, theirs: str, options: PreferenceOptions, vote: int, swapped: bool
) -> tuple[float, str]:
    """What one look at the pair is worth to this system, and why; `swapped` shows the other answer first."""
    asked = {
        "rubric": options.preference,
        "case": "\n".join(f"{name}: {value}" for name, value in as_texts(case.inputs).items()),
        "answer_1": theirs if swapped else own,
        "answer_2": own if swapped else theirs,
    }
    if options.reference and case.gold is not None:
        asked["right_answer"] = str(case.gold)
    reply = await ask_judge(context, asked, _signature, _no_problem, vote)
    worth = _WORTH[reply.better]
    return (1.0 - worth if swapped else worth), str(reply.reason or "")


def _no_problem(reply: Any) -> str | None:
    return None if reply.better in _WORTH else f"`better` is {reply.better!r}, but must be {', '.join(_WORTH)}"


def _signature(asked: Mapping[str, str]) -> Any:
    import dspy

    fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in asked}
    fields["reason"] = (str, dspy.OutputField(desc="one or two sentences"))
    fields["better"] = (Literal["1", "2", "tie"], dspy.OutputField(desc="the better answer"))
    return cast(Any, dspy.Signature)(
        fields,
        "Say which of two answers to the case is better by the rubric alone, or that neither is. Their order means "
        "nothing. Give the reason, then the better one.",
    )


def _metrics(options: PreferenceOptions) -> tuple[Metric, ...]:
    judged = Judged(
        options.preference,
        ((1.0, "the first is better"), (0.0, "the second is better"), (0.5, "neither")),
        (options.field,),
        reference=options.reference,
        votes="preference_votes",
        pairs=True,
        against=options.against,
    )
    return (Metric("preference", "Preferred", judged=judged),)


PREFERENCE = ScorerSpec(
    preference,
    _metrics,
    PreferenceOptions,
    roles=("judge",),
    calls_per_case=2.0,
    pairs=True,
    version=VERSION,
)
