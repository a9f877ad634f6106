"""Judges the judge of explanations: replies that are known to fulfil all of their rubric, a part of it, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from seedbed.suites.kit.meta import MetaOptions, Outcome, Questions, judge_planted
from seedbed.suites.kit.rows import read_rows

PLANTED = Path(__file__).with_name("planted.jsonl")
_GOOD = 3.0


class Planted(BaseModel):
    """A reply, and what it is worth from 1 to 5."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    user_message: str
    reply: str
    rubric: list[str]
    score: float = Field(ge=1, le=5)


def judge_the_judge(out: Path, options: MetaOptions) -> str:
    """A verdict is whether the judge gives 3 or more; the bias is in points."""
    planted = {case.id: case for case in (row.checked(Planted) for row in read_rows(PLANTED))}
    return judge_planted("finance_dialog", planted, ("lm_judge",), _questions, out, options)


def _questions(lm: Any, case: Planted) -> Questions:
    from seedbed.suites.finance_dialog.judge import rated

    async def explained() -> Outcome:
        given = await rated(lm, case.user_message, case.reply, case.rubric)
        return [given >= _GOOD], [case.score >= _GOOD], given - case.score

    return {"lm_judge": explained}
