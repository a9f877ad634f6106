"""The systems. One prompt skeleton serves them all; only the evidence differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from seedbed.suite import Options, PhaseContext
from seedbed.suites.crosslingual.evidence import Block, shown
from seedbed.suites.crosslingual.languages import language_name
from seedbed.suites.crosslingual.options import CrossOptions, LbragOptions
from seedbed.suites.crosslingual.retrieval import Candidate, Corpus
from seedbed.suites.crosslingual.selection import DEFAULT_PIVOT, Selection, select, select_all
from seedbed.suites.crosslingual.translation import Translator
from seedbed.suites.kit.program import Program


class Answer(dspy.Signature):
    """Answer the question with the shortest span that answers it, and nothing else. Rely on the documents where they
    help; they may be in other languages. Write the answer in the answer language."""

    documents: str = dspy.InputField()
    question: str = dspy.InputField()
    answer_language: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Direct(Program):
    """Answers from what the model knows."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self.respond = dspy.Predict(Answer)

    async def aforward(self, question: str, language: str, **_: Any) -> dspy.Prediction:
        return await _respond(self.respond, question, language, [], [], 0)


class Multi(Program):
    """Answers from the candidates as they are, in whatever languages they come. Systems that bridge languages differ
    from it in what they select for translation."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self.respond = dspy.Predict(Answer)
        self._context = context
        self._corpus: Corpus = context.benchmark.resources["corpus"]
        self._translator = Translator(context)

    async def aforward(self, question: str, language: str, **_: Any) -> dspy.Prediction:
        candidates = await self._corpus.candidates(question, self._context)
        selection = self.select(candidates, question, language)
        blocks = await self._translator.bridge(candidates, selection)
        return await _respond(self.respond, question, language, candidates, blocks, selection.tokens)

    def select(self, candidates: Sequence[Candidate], question: str, language: str) -> Selection:
        """What is translated of the candidates, and into which language: nothing."""
        return Selection(DEFAULT_PIVOT)


class Cross(Multi):
    """Answers from candidates all brought into one language, the pivot."""

    def __init__(self, context: PhaseContext, options: CrossOptions) -> None:
        super().__init__(context, options)
        self._pivot = options.pivot

    def select(self, candidates: Sequence[Candidate], question: str, language: str) -> Selection:
        return select_all(candidates, self._pivot)


class Lbrag(Multi):
    """Language-bridged RAG: translates what promises most a token, within a budget."""

    def __init__(self, context: PhaseContext, options: LbragOptions) -> None:
        super().__init__(context, options)
        self._options = options

    def select(self, candidates: Sequence[Candidate], question: str, language: str) -> Selection:
        own = self._options
        return select(candidates, question, language, budget=own.budget, pivot=own.pivot, level=own.level)


async def _respond(
    predict: dspy.Predict,
    question: str,
    language: str,
    candidates: Sequence[Candidate],
    blocks: Sequence[Block],
    translation_tokens: int,
) -> dspy.Prediction:
    reply: Any = await predict.acall(
        documents=shown(blocks), question=question, answer_language=language_name(language)
    )
    return dspy.Prediction(
        answer=reply.answer,
        candidates=[{"doc_id": c.document.doc_id, "lang": c.document.lang, "score": c.score} for c in candidates],
        evidence=[block.to_json() for block in blocks],
        translation_tokens=translation_tokens,
    )
