"""All metrics of one case: 7 calls with ground truth, 4 without. Decompositions are made once and shared."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.suites.rag_quality.asking import Account, AskError
from seedbed.suites.rag_quality.embedding import Embedder, cosine
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase, EvalResult
from seedbed.suites.rag_quality.judge import Judge, Verdicts
from seedbed.suites.rag_quality.matching import relevant_places
from seedbed.suites.rag_quality.metrics import average_precision, share, statement_f1, weighted
from seedbed.suites.rag_quality.options import Scoring

CALLS_WITH_TRUTH, CALLS_WITHOUT_TRUTH = 7, 4

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("answer", "retrieved_contexts"),
    "context_relevance": ("retrieved_contexts",),
    "context_recall": ("ground_truth_answer", "retrieved_contexts"),
    "context_precision": ("ground_truth_contexts", "retrieved_contexts"),
    "answer_relevancy": ("answer",),
    "answer_correctness": ("answer", "ground_truth_answer"),
}


@dataclass(frozen=True, slots=True)
class Scored:
    """What a metric came to: a score with its details, or, without a score, why there is none."""

    score: float | None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""


async def evaluate(
    case: EvalCase, judge: Judge, scoring: Scoring | None = None, embedder: Embedder | None = None
) -> dict[str, EvalResult]:
    """A result for each metric, in a fixed order. Metrics whose fields are missing are skipped; a metric that the
    judge failed is an error and does not touch the others."""
    work = _Evaluation(case, judge, scoring or Scoring(), embedder)
    methods = (work.faithfulness, work.relevance, work.recall, work.precision, work.relevancy, work.correctness)
    results = await asyncio.gather(*(_run(case, name, method) for name, method in zip(METRICS, methods, strict=True)))
    return {result.metric: result for result in results}


async def _run(case: EvalCase, metric: str, method: Callable[[Account], Awaitable[Scored]]) -> EvalResult:
    missing = [name for name in _NEEDS[metric] if _is_missing(case, name)]
    if missing:
        return EvalResult(metric=metric, status="skipped", reason=f"the case has no {' and no '.join(missing)}")
    account = Account()
    try:
        scored = await method(account)
        status, reason = ("skipped" if scored.score is None else "ok"), scored.reason
    except AskError as error:
        scored, status, reason = Scored(None), "error", str(error)
    return EvalResult(
        metric=metric,
        score=scored.score,
        status=status,
        reason=reason,
        details=scored.details,
        calls=account.calls,
        cost_usd=account.cost_usd,
        elapsed_s=round(account.elapsed_s, 6) if account.calls else None,
    )


def _is_missing(case: EvalCase, name: str) -> bool:
    """None is missing, and so is an empty ground truth. An empty answer or an empty retrieval is a result."""
    value = getattr(case, name)
    if name == "ground_truth_answer":
        return not value.strip()
    return value is None or (name == "ground_truth_contexts" and not any(text.strip() for text in value))


class _Evaluation:
    """One case under judgement; holds the decompositions that metrics share."""

    def __init__(self, case: EvalCase, judge: Judge, scoring: Scoring, embedder: Embedder | None) -> None:
        self._case = case
        self._judge = judge
        self._scoring = scoring
        self._embedder = embedder
        self._decomposed: dict[str, asyncio.Future[list[str]]] = {}

    async def faithfulness(self, account: Account) -> Scored:
        statements = await self._statements(account, "answer", self._case.answer or "")
        if not statements:
            return Scored(None, reason="the answer makes no statement")
        return await self._supported(account, statements)

    async def recall(self, account: Account) -> Scored:
        statements = await self._statements(account, "truth", self._case.ground_truth_answer)
        if not statements:
            return Scored(None, reason="the ground-truth answer makes no statement")
        return await self._supported(account, statements)

    async def relevance(self, account: Account) -> Scored:
        contexts = self._case.retrieved_contexts or []
        if not contexts:
            return Scored(None, reason="nothing was retrieved")
        judged = await self._per_context(
            contexts, lambda shown: self._judge.relevance(account, self._case.question, shown)
        )
        return Scored(share(judged.holds), {"relevant": list(judged.holds), "reasons": list(judged.reasons)})

    async def precision(self, account: Account) -> Scored:
        case, contexts = self._case, self._case.retrieved_contexts or []
        if self._scoring.precision_by_judge and contexts and case.ground_truth_answer.strip():
            judged = await self._per_context(
                contexts,
                lambda shown: self._judge.usefulness(account, case.question, case.ground_truth_answer, shown),
            )
            relevant, by = list(judged.holds), "judge"
        else:
            relevant = relevant_places(contexts, case.ground_truth_contexts, self._scoring.match_threshold)
            by = "text"
        reason = "" if contexts else "nothing was retrieved"
        return Scored(average_precision(relevant), {"relevant": relevant, "by": by}, reason)

    async def relevancy(self, account: Account) -> Scored:
        answer = self._case.answer or ""
        if not answer.strip():
            return Scored(0.0, reason="the answer is empty")
        judged = await self._judge.relevancy(account, self._case.question, answer)
        flags = {"direct": judged.direct, "complete": judged.complete, "off_topic": judged.off_topic}
        return Scored(judged.score, flags, judged.reason)

    async def correctness(self, account: Account) -> Scored:
        case, answer = self._case, self._case.answer or ""
        truth = await self._statements(account, "truth", case.ground_truth_answer)
        stated = await self._statements(account, "answer", answer)
        if not truth:
            return Scored(None, reason="the ground-truth answer makes no statement")
        if stated:
            ours, theirs = await self._judge.compare(account, case.question, stated, truth)
            supported, covered = ours.holds, theirs.holds
        else:
            supported, covered = (), (False,) * len(truth)
        counts = {"tp": sum(supported), "fp": supported.count(False), "fn": covered.count(False)}
        factual = statement_f1(counts["tp"], counts["fp"], counts["fn"])
        assert factual is not None  # the truth states something
        similarity = None
        if self._embedder is not None:
            similarity = await asyncio.to_thread(cosine, self._embedder, answer, case.ground_truth_answer)
        details = {
            **counts,
            "factual": factual,
            "similarity": similarity,
            "answer_statements": _judged(stated, supported),
            "truth_statements": _judged(truth, covered),
        }
        reason = "" if stated else "the answer makes no statement"
        return Scored(weighted(factual, similarity, self._scoring.correctness_weights), details, reason)

    async def _statements(self, account: Account, of: str, text: str) -> list[str]:
        """The decomposition, charged to whoever asks first; a failure fails all who need it."""
        if not text.strip():
            return []
        if of not in self._decomposed:
            made = self._judge.decompose(account, self._case.question, text)
            self._decomposed[of] = asyncio.ensure_future(made)
        return await self._decomposed[of]

    async def _supported(self, account: Account, statements: Sequence[str]) -> Scored:
        contexts = [text for text in self._case.retrieved_contexts or [] if text.strip()]
        if not contexts:  # nothing can be entailed by nothing: no need to ask
            return Scored(0.0, {"statements": _judged(statements, [False] * len(statements))}, "nothing was retrieved")
        judged = await self._judge.verify(account, statements, contexts)
        details = {"statements": _judged(statements, judged.holds), "reasons": list(judged.reasons)}
        return Scored(share(judged.holds), details)

    async def _per_context(self, contexts: Sequence[str], ask: Callable[[list[str]], Awaitable[Verdicts]]) -> Verdicts:
        """Verdicts for all contexts, of which the judge sees those that hold any text."""
        shown = [i for i, text in enumerate(contexts) if text.strip()]
        holds, reasons = [False] * len(contexts), ["the context is empty"] * len(contexts)
        if shown:
            judged = await ask([contexts[i] for i in shown])
            for place, hold, reason in zip(shown, judged.holds, judged.reasons, strict=True):
                holds[place], reasons[place] = hold, reason
        return Verdicts(tuple(holds), tuple(reasons))


def _judged(statements: Sequence[str], holds: Sequence[bool]) -> list[dict[str, Any]]:
    return [{"text": text, "holds": hold} for text, hold in zip(statements, holds, strict=True)]
