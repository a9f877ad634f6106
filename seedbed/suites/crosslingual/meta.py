"""Judges the judge of meaning: answers of which it is known whether they mean what the gold answer means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from seedbed.suites.kit.meta import MetaOptions, Outcome, Questions, judge_planted
from seedbed.suites.kit.rows import read_rows

PLANTED = Path(__file__).with_name("planted.jsonl")


class Planted(BaseModel):
    """An answer, and whether it means the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: str
    question: str
    gold: list[str]
    answer: str
    same: bool


def judge_the_judge(out: Path, options: MetaOptions) -> str:
    planted = {case.id: case for case in (row.checked(Planted) for row in read_rows(PLANTED))}
    return judge_planted("crosslingual", planted, ("semantic_score",), _questions, out, options)


def _questions(lm: Any, case: Planted) -> Questions:
    from seedbed.suites.crosslingual.judge import judge

    async def meaning() -> Outcome:
        found = await judge(lm, case.question, case.gold, case.answer, case.language)
        return [found.score >= 0.5], [case.same], found.score - float(case.same)

    return {"semantic_score": meaning}
