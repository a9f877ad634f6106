"""The worked examples of the source document, in Chinese as written there and in English: exactly its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seedbed.lm.session import Session
from seedbed.suites.rag_quality import EvalResult
from tests.support.rag import calls_by_sample

Assess = Callable[..., dict[str, EvalResult]]

ZH = {
    "question": "FHA 贷款的最低首付是多少？",
    "context": "FHA 贷款允许最低 3.5% 的首付...",
    "other": "ARMs 通常以较低利率开始...",
    "right": "FHA 贷款最低首付为 3.5%",
    "embellished": "FHA 贷款最低首付为 3.5%，且联邦政府强制要求不得超过此比例",
    "requirements": "FHA 贷款有哪些要求？",
    "two_facts": "FHA 贷款最低首付 3.5%，信用分数至少 580",
    "truth": "FHA 贷款允许最低 3.5% 的首付",
    "wrong": "FHA 贷款最低首付为 5%",
    "wordy": "FHA 贷款有很多优势，包括较低的首付要求、灵活的信用分数标准...",
}
EN = {
    "question": "What is the minimum down payment of an FHA loan?",
    "context": "FHA loans allow a minimum down payment of 3.5%...",
    "other": "ARMs usually start with a lower interest rate...",
    "right": "The minimum down payment of an FHA loan is 3.5%",
    "embellished": "The minimum down payment of an FHA loan is 3.5%, and the federal government strictly forbids going "
    "beyond this ratio",
    "requirements": "What does an FHA loan require?",
    "two_facts": "An FHA loan needs a minimum down payment of 3.5% and a credit score of at least 580",
    "truth": "FHA loans allow a minimum down payment of 3.5%",
    "wrong": "The minimum down payment of an FHA loan is 5%",
    "wordy": "FHA loans have many advantages, among them low down payment demands and flexible credit standards...",
}
in_both = pytest.mark.parametrize("t", [ZH, EN], ids=["zh", "en"])


@in_both
def test_faithful_answer_scores_1(assess: Assess, t: dict[str, str]) -> None:
    results = assess(question=t["question"], answer=t["right"], retrieved_contexts=[t["context"]])
    assert results["faithfulness"].score == 1.0


@in_both
def test_half_invented_answer_scores_half(assess: Assess, t: dict[str, str]) -> None:
    results = assess(question=t["question"], answer=t["embellished"], retrieved_contexts=[t["context"]])
    assert results["faithfulness"].score == 0.5


@in_both
def test_one_of_two_contexts_relevant(assess: Assess, t: dict[str, str]) -> None:
    results = assess(question=t["question"], retrieved_contexts=[t["context"], t["other"]])
    assert results["context_relevance"].score == 0.5


@in_both
def test_one_of_two_facts_recalled(assess: Assess, t: dict[str, str]) -> None:
    results = assess(question=t["requirements"], ground_truth_answer=t["two_facts"], retrieved_contexts=[t["context"]])
    assert results["context_recall"].score == 0.5


@in_both
def test_relevant_context_in_second_place(assess: Assess, t: dict[str, str]) -> None:
    results = assess(
        question=t["question"],
        ground_truth_contexts=[t["context"]],
        retrieved_contexts=[t["other"], t["context"]],
    )
    assert results["context_precision"].score == 0.5


@in_both
@pytest.mark.parametrize(("answer", "expected"), [("right", 1.0), ("wrong", 0.0)])
def test_paraphrase_is_correct_and_another_number_is_not(
    assess: Assess, t: dict[str, str], answer: str, expected: float
) -> None:
    results = assess(question=t["question"], ground_truth_answer=t["truth"], answer=t[answer])
    assert results["answer_correctness"].score == expected


@in_both
@pytest.mark.parametrize(("answer", "expected"), [("right", 1.0), ("wordy", 0.6)])
def test_relevancy_of_a_direct_and_of_a_wordy_answer(
    assess: Assess, t: dict[str, str], answer: str, expected: float
) -> None:
    assert assess(question=t["question"], answer=t[answer])["answer_relevancy"].score == expected


@pytest.mark.parametrize("k", [1, 2, 9])
def test_seven_calls_a_case_whatever_k(assess: Assess, session: Session, k: int) -> None:
    results = assess("seven", **_case(k, truth=True))
    assert calls_by_sample(session)["seven"] == 7
    assert sum(result.calls for result in results.values()) == 7


@pytest.mark.parametrize("k", [1, 2, 9])
def test_four_calls_without_ground_truth(assess: Assess, session: Session, k: int) -> None:
    results = assess("four", **_case(k, truth=False))
    assert calls_by_sample(session)["four"] == 4
    assert sum(result.calls for result in results.values()) == 4


def test_costs_of_the_results_add_up_to_the_ledger(assess: Assess, session: Session) -> None:
    results = assess("seven", **_case(2, truth=True))
    assert sum(result.cost_usd or 0.0 for result in results.values()) == pytest.approx(session.usage().list_usd)


def _case(k: int, *, truth: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "question": ZH["question"],
        "answer": ZH["right"],
        "retrieved_contexts": [ZH["context"], *(f"{ZH['other']}{i}" for i in range(k - 1))],
    }
    if truth:
        fields |= {"ground_truth_answer": ZH["two_facts"], "ground_truth_contexts": [ZH["context"]]}
    return fields
