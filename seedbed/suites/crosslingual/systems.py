"""The systems. One prompt skeleton serves them all; only the evidence differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from seedbed.suite import Options, PhaseContext
from seedbed.suites.crosslingual.languages import language_name
from seedbed.suites.crosslingual.options import RagOptions
from seedbed.suites.crosslingual.retrieval import Candidate, Corpus

NO_DOCUMENTS = "no external documents"


class Answer(dspy.Signature):
    """Answer the question with the shortest span that answers it, and nothing else. Rely on the documents where they
    help; they may be in other languages. Write the answer in the answer language."""

    documents: str = dspy.InputField()
    question: str = dspy.InputField()
    answer_language: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Direct(dspy.Module):
    """Answers from what the model knows."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self.respond = dspy.Predict(Answer)

    async def aforward(self, question: str, language: str, sample_id: str) -> dspy.Prediction:
        return await _respond(self.respond, question, language, [])


class Multi(dspy.Module):
    """Answers from the candidates as they are, in whatever languages they come."""

    def __init__(self, context: PhaseContext, options: RagOptions) -> None:
        super().__init__()
        self.respond = dspy.Predict(Answer)
        self._corpus: Corpus = context.benchmark.resources["corpus"]
        self._top_k = options.top_k

    async def aforward(self, question: str, language: str, sample_id: str) -> dspy.Prediction:
        candidates = self._corpus.candidates(question, sample_id, self._top_k)
        return await _respond(self.respond, question, language, candidates)


async def _respond(
    predict: dspy.Predict, question: str, language: str, candidates: Sequence[Candidate], translation_tokens: int = 0
) -> dspy.Prediction:
    reply: Any = await predict.acall(
        documents=_evidence(candidates), question=question, answer_language=language_name(language)
    )
    return dspy.Prediction(
        answer=reply.answer,
        candidates=[{"doc_id": c.document.doc_id, "lang": c.document.lang, "score": c.score} for c in candidates],
        translation_tokens=translation_tokens,
    )


def _evidence(candidates: Sequence[Candidate]) -> str:
    if not candidates:
        return NO_DOCUMENTS
    blocks = (f"[{i}] {c.document.title}\n{c.document.text}" for i, c in enumerate(candidates, start=1))
    return "\n\n".join(blocks)
