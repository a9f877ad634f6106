"""The RAG systems that fill a case: each gives an answer and the contexts it was drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy

from seedbed.suite import Options, PhaseContext
from seedbed.suites.kit.embedding import Embedder, model_identity
from seedbed.suites.rag_quality.evalcase import EvalCase
from seedbed.suites.rag_quality.options import DenseOptions, RagOptions
from seedbed.suites.rag_quality.retrieval import DenseIndex, Passages


class AnswerFromContexts(dspy.Signature):
    """Answer the question from the contexts alone, in the language of the question, in one or two full sentences. If
    the contexts do not hold the answer, say that you do not know."""

    contexts: list[str] = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class AnswerFromMemory(dspy.Signature):
    """Answer the question in its own language, in one or two full sentences. If you do not know the answer, say so."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class _Reader(dspy.Module):
    """Answers from contexts; where there are none it says so by an empty list and answers all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.respond = dspy.Predict(AnswerFromContexts)

    async def read(self, question: str, contexts: Sequence[str]) -> dspy.Prediction:
        reply: Any = await self.respond.acall(contexts=list(contexts), question=question)
        return dspy.Prediction(answer=reply.answer, retrieved_contexts=list(contexts))


class Bm25Rag(_Reader):
    def __init__(self, context: PhaseContext, options: RagOptions) -> None:
        super().__init__()
        self._passages: Passages = context.benchmark.resources["passages"]
        self._top_k = options.top_k

    async def aforward(self, question: str, **_: Any) -> dspy.Prediction:
        found = await self._passages.search(question, self._top_k)
        return await self.read(question, [passage.text for passage, _ in found])


class DenseRag(_Reader):
    def __init__(self, context: PhaseContext, options: DenseOptions) -> None:
        super().__init__()
        passages: Passages = context.benchmark.resources["passages"]
        embedder, folder = Embedder(options.embedder).ready(), context.cache_dir / "rag_quality"
        self._index = DenseIndex(passages, embedder, model_identity(options.embedder), folder)
        self._top_k = options.top_k

    async def aforward(self, question: str, **_: Any) -> dspy.Prediction:
        found = await self._index.search(question, self._top_k)
        return await self.read(question, [passage.text for passage in found])


class OracleRag(_Reader):
    """Reads the ground-truth contexts: what a perfect retriever would allow."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self._cases: Mapping[str, EvalCase] = context.benchmark.resources["cases"]

    async def aforward(self, question: str, sample_id: str, **_: Any) -> dspy.Prediction:
        return await self.read(question, self._cases[sample_id].ground_truth_contexts)


class ClosedBook(dspy.Module):
    """Answers from memory. It retrieves nothing, so metrics of contexts are skipped and not 0."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        self.respond = dspy.Predict(AnswerFromMemory)

    async def aforward(self, question: str, **_: Any) -> dspy.Prediction:
        reply: Any = await self.respond.acall(question=question)
        return dspy.Prediction(answer=reply.answer, retrieved_contexts=None)


def given(context: PhaseContext, options: Options) -> Callable[..., Any]:
    """What the file already holds, as it is: no call is made."""
    cases: Mapping[str, EvalCase] = context.benchmark.resources["cases"]

    async def take(sample_id: str, **_: Any) -> dict[str, Any]:
        case = cases[sample_id]
        return {"answer": case.answer, "retrieved_contexts": case.retrieved_contexts}

    return take
