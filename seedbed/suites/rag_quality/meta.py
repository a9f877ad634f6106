"""Judges the judge: planted cases, of which every verdict is known, are put to it one judgement at a time.

Statements are planted too, so that what verification gets wrong is not blamed on decomposition, which is measured by
itself: how many statements the judge finds in a text that is known to make so many.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from seedbed.suites.kit.meta import MetaOptions, Outcome, Questions, judge_planted, shares
from seedbed.suites.kit.rows import read_rows
from seedbed.suites.rag_quality.asking import Account
from seedbed.suites.rag_quality.evalcase import METRICS
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.matching import relevant_places
from seedbed.suites.rag_quality.options import Scoring

PLANTED = Path(__file__).parent / "data" / "meta" / "planted.jsonl"
ROWS = (*METRICS, "decomposition")


class Labelled(BaseModel):
    """A text with what is true of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    supported: bool = False
    """The contexts entail it."""
    agrees: bool = False
    """The other answer says the same."""
    relevant: bool = False
    gold: bool = False
    """It is one of the ground-truth contexts, though perhaps cut or set otherwise than there."""


class Planted(BaseModel):
    """A case whose every verdict is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: str
    question: str
    contexts: list[Labelled]
    truth_contexts: list[str]
    answer: str
    answer_statements: list[Labelled]
    truth: str
    truth_statements: list[Labelled]
    answers: bool
    """The answer answers the question, rightly or wrongly."""


def judge_the_judge(out: Path, options: MetaOptions) -> str:
    """Writes meta.json and the ledger into `out`; returns the table."""
    planted = {case.id: case for case in read_planted(PLANTED)}
    threshold = Scoring().match_threshold
    return judge_planted(
        "rag_quality", planted, ROWS, lambda lm, case: questions(Judge(lm), case, threshold), out, options
    )


def read_planted(path: Path) -> list[Planted]:
    return [row.checked(Planted) for row in read_rows(path)]


def questions(judge: Judge, case: Planted, threshold: float) -> Questions:
    """Every judgement of a case, each by itself."""
    contexts = [context.text for context in case.contexts]
    answer = [statement.text for statement in case.answer_statements]
    truth = [statement.text for statement in case.truth_statements]

    async def supported(statements: Sequence[Labelled], texts: Sequence[str]) -> Outcome:
        verdicts = await judge.verify(Account(), texts, contexts)
        return shares(verdicts.holds, [statement.supported for statement in statements])

    async def relevance() -> Outcome:
        verdicts = await judge.relevance(Account(), case.question, contexts)
        return shares(verdicts.holds, [context.relevant for context in case.contexts])

    async def precision() -> Outcome:
        labels = [context.gold for context in case.contexts]
        return shares(relevant_places(contexts, case.truth_contexts, threshold), labels)

    async def relevancy() -> Outcome:
        judged = await judge.relevancy(Account(), case.question, case.answer)
        return [judged.score >= 0.5], [case.answers], judged.score - float(case.answers)

    async def correctness() -> Outcome:
        ours, theirs = await judge.compare(Account(), case.question, answer, truth)
        labels = [statement.agrees for statement in (*case.answer_statements, *case.truth_statements)]
        return shares((*ours.holds, *theirs.holds), labels)

    async def decomposition() -> Outcome:
        found = await judge.decompose(Account(), case.question, case.answer)
        return [len(found) == len(answer)], [True], float(len(found) - len(answer))

    work: Sequence[Callable[[], Awaitable[Outcome]]] = (
        lambda: supported(case.answer_statements, answer),
        relevance,
        lambda: supported(case.truth_statements, truth),
        precision,
        relevancy,
        correctness,
        decomposition,
    )
    return dict(zip(ROWS, work, strict=True))
