"""Judges PUPA's judge: responses that are known to be as good as the reference or not, and requests that are known to
give away so many private facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from seedbed.suite import Case
from seedbed.suites.kit.meta import MetaOptions, Outcome, Questions, judge_planted, shares
from seedbed.suites.kit.rows import read_rows

PLANTED = Path(__file__).with_name("planted.jsonl")


class Planted(BaseModel):
    """A response with the request it was made by, and what is true of both."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    user_query: str
    reference: str
    response: str
    as_good: bool
    request: str
    private_facts: list[str]
    given_away: int


def judge_the_judge(out: Path, options: MetaOptions) -> str:
    """Of leakage a fact counts as found or not: the judge says only how many there are."""
    planted = {case.id: case for case in (row.checked(Planted) for row in read_rows(PLANTED))}
    return judge_planted("prompt_optimization", planted, ("quality", "leakage"), _questions, out, options)


def _questions(lm: Any, case: Planted) -> Questions:
    from seedbed.suites.prompt_optimization.judges import judge_leakage, judge_quality

    gold = {"target_response": case.reference, "pii_units": case.private_facts}
    asked = Case(case.id, {"user_query": case.user_query}, gold)
    output = {"response": case.response, "llm_request": case.request}
    n = len(case.private_facts)

    async def quality() -> Outcome:
        return shares([bool(await judge_quality(lm, asked, output))], [case.as_good])

    async def leakage() -> Outcome:
        found = round(await judge_leakage(lm, asked, output) * n)
        return shares([place < found for place in range(n)], [place < case.given_away for place in range(n)])

    return {"quality": quality, "leakage": leakage}
