"""The programs. Their first instructions are plain on purpose: finding better ones is the optimizer's work."""

from __future__ import annotations

from typing import Any

import dspy

from seedbed.errors import UserError
from seedbed.suite import Options, PhaseContext
from seedbed.suites.kit.program import Program
from seedbed.suites.prompt_optimization.options import RetrievalOptions
from seedbed.suites.prompt_optimization.retrieval import Corpus

_FITS = {
    "hotpot": "HotpotMultiHop",
    "hover": "HoverMultiHop",
    "papillon": "PAPILLON",
    "ifbench": "IFBenchCoT2StageProgram",
    "math": "CoT",
    "integer": "CoT",
}


class HotpotMultiHop(Program):
    """Searches with the question, summarises, searches again with a query of its own, summarises, answers."""

    def __init__(self, context: PhaseContext, options: RetrievalOptions) -> None:
        super().__init__()
        _check(context, "HotpotMultiHop")
        self.summarize1 = dspy.ChainOfThought("question, passages -> summary")
        self.create_query_hop2 = dspy.ChainOfThought("question, summary_1 -> query")
        self.summarize2 = dspy.ChainOfThought("question, context, passages -> summary")
        self.generate_answer = dspy.ChainOfThought("question, summary_1, summary_2 -> answer")
        self._corpus: Corpus = context.benchmark.resources["corpus"]
        self._k = options.top_k

    async def aforward(self, question: str) -> dspy.Prediction:
        first = await self._corpus.search(question, self._k)
        summary_1 = (await self.summarize1.acall(question=question, passages=passages(first))).summary
        query = (await self.create_query_hop2.acall(question=question, summary_1=summary_1)).query
        second = await self._corpus.search(query, self._k)
        found = await self.summarize2.acall(question=question, context=summary_1, passages=passages(second))
        reply = await self.generate_answer.acall(question=question, summary_1=summary_1, summary_2=found.summary)
        return dspy.Prediction(answer=reply.answer, titles=_titles(first, second), queries=[query])


class HoverMultiHop(Program):
    """Three searches, each but the first with a query written from what was found before."""

    def __init__(self, context: PhaseContext, options: RetrievalOptions) -> None:
        super().__init__()
        _check(context, "HoverMultiHop")
        self.summarize1 = dspy.ChainOfThought("claim, passages -> summary")
        self.create_query_hop2 = dspy.ChainOfThought("claim, summary_1 -> query")
        self.summarize2 = dspy.ChainOfThought("claim, context, passages -> summary")
        self.create_query_hop3 = dspy.ChainOfThought("claim, summary_1, summary_2 -> query")
        self._corpus: Corpus = context.benchmark.resources["corpus"]
        self._k = options.top_k

    async def aforward(self, claim: str) -> dspy.Prediction:
        first = await self._corpus.search(claim, self._k)
        summary_1 = (await self.summarize1.acall(claim=claim, passages=passages(first))).summary
        query_2 = (await self.create_query_hop2.acall(claim=claim, summary_1=summary_1)).query
        second = await self._corpus.search(query_2, self._k)
        found = await self.summarize2.acall(claim=claim, context=summary_1, passages=passages(second))
        query_3 = (await self.create_query_hop3.acall(claim=claim, summary_1=summary_1, summary_2=found.summary)).query
        third = await self._corpus.search(query_3, self._k)
        return dspy.Prediction(titles=_titles(first, second, third), queries=[query_2, query_3])


class Papillon(Program):
    """Asks an untrusted model without giving the user away: writes a request, then answers from its reply."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        _check(context, "PAPILLON")
        self.craft_request = dspy.ChainOfThought(CraftRequest)
        self.respond = dspy.Predict(Respond)
        self._untrusted = context.lm("untrusted")

    async def aforward(self, user_query: str) -> dspy.Prediction:
        request = (await self.craft_request.acall(user_query=user_query)).llm_request
        # Plain text both ways: the untrusted model sees the request and nothing else.
        replies: Any = await self._untrusted.acall(messages=[{"role": "user", "content": request}])
        told = replies[0] if isinstance(replies[0], str) else replies[0]["text"]
        final = await self.respond.acall(user_query=user_query, llm_request=request, llm_response=told)
        return dspy.Prediction(response=final.response, llm_request=request, llm_response=told)


class CraftRequest(dspy.Signature):
    """Write a request for a powerful external model that helps to answer the user's query."""

    user_query: str = dspy.InputField()
    llm_request: str = dspy.OutputField()


class Respond(dspy.Signature):
    """Answer the user's query with the help of what the external model replied to the request."""

    user_query: str = dspy.InputField()
    llm_request: str = dspy.InputField()
    llm_response: str = dspy.InputField()
    response: str = dspy.OutputField()


class IFBenchCoT2Stage(Program):
    """Answers, then looks at the answer again."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        _check(context, "IFBenchCoT2StageProgram")
        self.generate_response = dspy.ChainOfThought(Reply)
        self.ensure_correct_response = dspy.ChainOfThought(EnsureCorrect)

    async def aforward(self, query: str) -> dspy.Prediction:
        draft = (await self.generate_response.acall(query=query)).response
        final = await self.ensure_correct_response.acall(query=query, response=draft)
        return dspy.Prediction(response=final.final_response, draft=draft)


class Reply(dspy.Signature):
    """Respond to the query."""

    query: str = dspy.InputField()
    response: str = dspy.OutputField()


class EnsureCorrect(dspy.Signature):
    """Look at the response again and write the version that is sent."""

    query: str = dspy.InputField()
    response: str = dspy.InputField()
    final_response: str = dspy.OutputField()


class CoT(Program):
    """One step of thought and an answer."""

    def __init__(self, context: PhaseContext, options: Options) -> None:
        super().__init__()
        _check(context, "CoT")
        self.solve = dspy.ChainOfThought("problem -> answer")

    async def aforward(self, problem: str) -> dspy.Prediction:
        reply = await self.solve.acall(problem=problem)
        return dspy.Prediction(answer=reply.answer, reasoning=reply.reasoning)


def passages(articles: list[tuple[str, str]]) -> str:
    """Articles as a prompt shows them."""
    return "\n".join(f"[{i}] {title} | {text}" for i, (title, text) in enumerate(articles, start=1)) or "none found"


def _titles(*searches: list[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(title for search in searches for title, _ in search))


def _check(context: PhaseContext, program: str) -> None:
    kind = context.benchmark.resources["kind"]
    if _FITS[kind] != program:
        raise UserError(
            f"program {program!r} does not fit benchmark {context.benchmark.name!r}; use {_FITS[kind]!r} there."
        )
