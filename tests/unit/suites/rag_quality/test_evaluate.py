"""What is skipped, what is 0 and what is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from seedbed.errors import UserError
from seedbed.lm.session import Session
from seedbed.suites.kit.embedding import Embedder
from seedbed.suites.rag_quality import METRICS, EvalCase, EvalResult
from seedbed.suites.rag_quality.evaluate import evaluate
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.options import Scoring
from tests.support.rag import calls_by_sample

Assess = Callable[..., dict[str, EvalResult]]
Q, A = "How long is the bridge?", "The bridge is 90 metres long."


def statuses(results: dict[str, EvalResult]) -> dict[str, str]:
    return {name: result.status for name, result in results.items()}


def test_production_scenario_has_three_metrics(assess: Assess) -> None:
    results = assess(question=Q, answer=A, retrieved_contexts=[A])
    assert EvalCase(question=Q, answer=A, retrieved_contexts=[A]).scenario == "production"
    assert [name for name, status in statuses(results).items() if status == "ok"] == [
        "faithfulness",
        "context_relevance",
        "answer_relevancy",
    ]
    assert "ground_truth_answer" in results["context_recall"].reason


def test_test_set_scenario_has_all_six(assess: Assess) -> None:
    results = assess(question=Q, answer=A, retrieved_contexts=[A], ground_truth_answer=A, ground_truth_contexts=[A])
    assert statuses(results) == dict.fromkeys(METRICS, "ok")


def test_a_case_without_answer_and_contexts_costs_nothing(assess: Assess) -> None:
    results = assess(question=Q, ground_truth_answer=A, ground_truth_contexts=[A])
    assert statuses(results) == dict.fromkeys(METRICS, "skipped")
    assert sum(result.calls for result in results.values()) == 0


def test_an_empty_retrieval_supports_nothing_and_has_no_relevance(assess: Assess) -> None:
    results = assess(question=Q, answer=A, retrieved_contexts=[], ground_truth_answer=A, ground_truth_contexts=[A])
    assert (results["faithfulness"].score, results["context_recall"].score) == (0.0, 0.0)
    assert results["context_precision"].score == 0.0
    assert results["context_relevance"].status == "skipped"


def test_a_blank_context_is_irrelevant_without_being_shown(assess: Assess) -> None:
    results = assess(question=Q, answer=A, retrieved_contexts=["  ", A])
    assert results["context_relevance"].score == 0.5
    assert results["context_relevance"].details["relevant"] == [False, True]
    assert results["faithfulness"].score == 1.0


def test_an_empty_answer_is_neither_relevant_nor_correct(assess: Assess) -> None:
    results = assess(question=Q, answer="", retrieved_contexts=[A], ground_truth_answer=A)
    assert results["faithfulness"].status == "skipped"
    assert (results["answer_relevancy"].score, results["answer_correctness"].score) == (0.0, 0.0)


@pytest.mark.parametrize("answer", ["I don't know.", "我不知道。", "わかりません。", "لا أعرف."])
def test_an_answer_without_a_statement_is_not_unfaithful(assess: Assess, answer: str) -> None:
    result = assess(question=Q, answer=answer, retrieved_contexts=[A])["faithfulness"]
    assert (result.status, result.score) == ("skipped", None)


def test_a_score_needs_the_status_ok() -> None:
    with pytest.raises(ValidationError):
        EvalResult(metric="faithfulness", status="error", score=0.0)
    with pytest.raises(ValidationError):
        EvalResult(metric="faithfulness", status="ok", score=float("nan"))


def test_details_name_each_statement_with_its_verdict(assess: Assess) -> None:
    result = assess(
        question=Q, answer="The bridge is 90 metres long. It was painted by monks.", retrieved_contexts=[A]
    )["faithfulness"]
    assert [row["holds"] for row in result.details["statements"]] == [True, False]


def alike(texts: Sequence[str]) -> Any:
    return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)


@pytest.mark.parametrize(("weights", "expected"), [((1.0, 0.0), 0.0), ((0.75, 0.25), 0.25)])
def test_similarity_is_a_detail_unless_it_has_a_weight(
    session: Session, weights: tuple[float, float], expected: float
) -> None:
    case = EvalCase(question=Q, answer="The bridge is 80 metres long.", ground_truth_answer=A)
    scoring = Scoring(correctness_weights=weights, embedder="a folder")
    result = session.run(evaluate(case, Judge(session.lm("judge")), scoring, alike))["answer_correctness"]
    assert result.score == expected
    assert (result.details["factual"], result.details["similarity"]) == (0.0, 1.0)


def test_a_weight_for_similarity_needs_an_embedder() -> None:
    with pytest.raises(ValidationError, match="needs an embedder"):
        Scoring(correctness_weights=(0.75, 0.25))


@pytest.mark.slow  # torch is imported
def test_an_embedder_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(UserError, match="embedder"):
        Embedder("no/such-model").ready()


def test_precision_by_the_judge_is_an_eighth_call(session: Session) -> None:
    case = EvalCase(
        question=Q,
        answer="It is 90 metres long.",
        retrieved_contexts=["Bread is baked daily.", "Its length: the bridge is 90 metres long."],
        ground_truth_answer=A,
        ground_truth_contexts=["A sentence that no retriever found."],
    )
    judge = Judge(session.lm("judge"))
    work = session.each({"c": case}, lambda case: evaluate(case, judge, Scoring(precision_by_judge=True)))
    result = session.run(work)[0]["context_precision"]
    assert (result.score, result.calls, result.details["by"]) == (0.5, 1, "judge")
    assert calls_by_sample(session)["c"] == 8
