"""What is skipped, what is 0 and what is shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from seedbed.suites.rag_quality import METRICS, EvalCase, EvalResult

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
