"""The judgements that the metrics are made of. Each is one call, whatever the number of contexts or statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from seedbed.suites.rag_quality import prompts
from seedbed.suites.rag_quality.asking import Account, Asker, Misfit


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One verdict a text, in the order of the texts."""

    holds: tuple[bool, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relevancy:
    score: float
    direct: bool
    complete: bool
    off_topic: bool
    reason: str


class Judge:
    """A model as a judge. Every method takes the account that its calls are charged to."""

    def __init__(self, lm: dspy.LM) -> None:
        self._asker = Asker(lm)

    async def decompose(self, account: Account, question: str, text: str) -> list[str]:
        """The atomic statements of a text; none only where the judge says that it makes no claims."""
        return await self._asker.ask(account, prompts.Decompose, {"question": question, "text": text}, _statements)

    async def verify(self, account: Account, statements: Sequence[str], contexts: Sequence[str]) -> Verdicts:
        """Which statements the contexts entail."""
        inputs = {"contexts": numbered(contexts), "statements": numbered(statements)}
        return await self._asker.ask(
            account, prompts.VerifyStatements, inputs, lambda reply: _verdicts(reply.verdicts, len(statements))
        )

    async def relevance(self, account: Account, question: str, contexts: Sequence[str]) -> Verdicts:
        """Which contexts are relevant to the question."""
        inputs = {"question": question, "contexts": numbered(contexts)}
        return await self._asker.ask(
            account, prompts.JudgeContexts, inputs, lambda reply: _verdicts(reply.verdicts, len(contexts))
        )

    async def usefulness(self, account: Account, question: str, truth: str, contexts: Sequence[str]) -> Verdicts:
        """Which contexts help to arrive at the ground-truth answer."""
        inputs = {"question": question, "reference_answer": truth, "contexts": numbered(contexts)}
        return await self._asker.ask(
            account, prompts.JudgeUsefulContexts, inputs, lambda reply: _verdicts(reply.verdicts, len(contexts))
        )

    async def relevancy(self, account: Account, question: str, answer: str) -> Relevancy:
        """How well the answer answers the question."""
        inputs = {"question": question, "answer": answer}
        return await self._asker.ask(account, prompts.JudgeRelevancy, inputs, _relevancy)

    async def compare(
        self, account: Account, question: str, answer: Sequence[str], truth: Sequence[str]
    ) -> tuple[Verdicts, Verdicts]:
        """Which statements of the answer the truth supports, and which of the truth the answer covers."""
        inputs = {
            "question": question,
            "answer_statements": numbered(answer),
            "reference_statements": numbered(truth),
        }

        def check(reply: Any) -> tuple[Verdicts, Verdicts]:
            return (
                _verdicts(reply.answer_verdicts, len(answer), "answer_verdicts"),
                _verdicts(reply.reference_verdicts, len(truth), "reference_verdicts"),
            )

        return await self._asker.ask(account, prompts.CompareStatements, inputs, check)


def numbered(texts: Sequence[str]) -> list[prompts.Numbered]:
    return [prompts.Numbered(index=i, text=text) for i, text in enumerate(texts, start=1)]


def _statements(reply: Any) -> list[str]:
    statements = [text.strip() for text in reply.statements if text.strip()]
    if reply.makes_claims and not statements:
        raise Misfit("makes_claims is true but statements is empty; list the statements")
    return statements


def _verdicts(given: Sequence[prompts.Verdict], count: int, field: str = "verdicts") -> Verdicts:
    """In the order of the texts, whatever order they came in; a missing, doubled or foreign index is a misfit."""
    indexes = [verdict.index for verdict in given]
    if sorted(indexes) != list(range(1, count + 1)):
        raise Misfit(f"{field} has the indexes {indexes}, but needs each of 1 to {count} exactly once")
    ordered = sorted(given, key=lambda verdict: verdict.index)
    return Verdicts(tuple(v.holds for v in ordered), tuple(v.reason for v in ordered))


def _relevancy(reply: Any) -> Relevancy:
    if not 0.0 <= reply.score <= 1.0:  # NaN fails this too
        raise Misfit(f"score is {reply.score}, but must lie between 0 and 1")
    return Relevancy(float(reply.score), reply.direct, reply.complete, reply.off_topic, reply.reason)
