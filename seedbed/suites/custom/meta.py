"""Judges the judges that every config can add: marks by a rubric, and the choice between two answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from seedbed.suite import Answer, Case, PhaseContext, Prediction
from seedbed.suites.kit.meta import MetaOptions, Outcome, Questions, judge_planted
from seedbed.suites.kit.rows import read_rows

PLANTED = Path(__file__).with_name("planted.jsonl")
ROWS = ("judge", "preference", "orders_agree")
_SCALE = (1, 5)


class Planted(BaseModel):
    """A good and a bad answer to a case, by a rubric."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    rubric: str
    question: str
    reference: str | None = None
    good: str
    bad: str


@dataclass(frozen=True, slots=True)
class _Asking:
    """As much of a phase's context as a judge needs."""

    model: Any
    other: Mapping[str, Prediction]

    def lm(self, role: str = "task") -> Any:
        return self.model

    def answers_of_rival(self, against: str | None) -> Mapping[str, Prediction]:
        return self.other


def judge_the_judge(out: Path, options: MetaOptions) -> str:
    """`judge`: is the good answer marked above the middle of the scale and the bad one not? `preference`: is the good
    one preferred, and the bad one not? `orders_agree`: does it stay so when the two change places?"""
    planted = {case.id: case for case in (row.checked(Planted) for row in read_rows(PLANTED))}
    return judge_planted("custom", planted, ROWS, _questions, out, options)


def _questions(lm: Any, planted: Planted) -> Questions:
    from seedbed.suites.kit.scorers.judge import JudgeOptions, judge
    from seedbed.suites.kit.scorers.preference import PreferenceOptions, preference

    case = Case(planted.id, {"question": planted.question}, planted.reference)

    def context(other: str) -> PhaseContext:
        return cast("PhaseContext", _Asking(lm, {planted.id: Answer(planted.id, {"answer": other})}))

    async def marks() -> Outcome:
        options = JudgeOptions(judge=planted.rubric, scale=_SCALE)
        low, high = _SCALE
        given = [await judge(context(""), case, {"answer": text}, options) for text in (planted.good, planted.bad)]
        places = [((scored.values["judge"] or low) - low) / (high - low) for scored in given]
        return [place > 0.5 for place in places], [True, False], sum(places) / 2 - 0.5

    async def preferred() -> Outcome:
        options = PreferenceOptions(preference=planted.rubric)
        worths: list[float] = []
        for own, other in ((planted.good, planted.bad), (planted.bad, planted.good)):
            scored = await preference(context(other), case, {"answer": own}, options)
            worths.append(0.5 if scored is None else scored.values["preference"] or 0.0)
        return [worth > 0.5 for worth in worths], [True, False], sum(worths) / 2 - 0.5

    async def steady() -> Outcome:
        options = PreferenceOptions(preference=planted.rubric)
        scored = await preference(context(planted.bad), case, {"answer": planted.good}, options)
        agree = scored is not None and bool(scored.details.get("orders_agree"))
        return [agree], [True], float(agree) - 1.0

    return {"judge": marks, "preference": preferred, "orders_agree": steady}
