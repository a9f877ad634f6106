"""A judge that misbehaves makes an error with a reason: never a 0, never NaN, and the mean does not move."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from seedbed.suite import Case
from seedbed.suites.rag_quality import EvalCase
from seedbed.suites.rag_quality.asking import Account, Asker
from seedbed.suites.rag_quality.scorers import aggregate, as_row
from tests.support.lm import runtime, scope
from tests.support.loopback import Loopback
from tests.support.rag import assess_with, scripted_judge

CASE: dict[str, Any] = {
    "question": "How long is the bridge?",
    "answer": "The bridge is 90 metres long. It was built in 1930.",
    "retrieved_contexts": ["The bridge is 90 metres long.", "Bread is baked daily."],
    "ground_truth_answer": "The bridge is 90 metres long.",
    "ground_truth_contexts": ["The bridge is 90 metres long."],
}
JUDGED = ("faithfulness", "context_relevance", "context_recall", "answer_relevancy", "answer_correctness")


def fields(**values: Any) -> str:
    parts = [
        f"[[ ## {name} ## ]]\n{value if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
    ]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def verdicts(count: int, first: int = 1) -> list[dict[str, Any]]:
    return [{"index": i, "reason": "", "holds": True} for i in range(first, first + count)]


def well(prompt: str) -> str:
    """A judge that finds everything fine and keeps to the format."""
    if "makes_claims" in prompt:
        return fields(makes_claims=True, statements=["one", "two"])
    if "off_topic" in prompt:
        return fields(reason="", direct=True, complete=True, off_topic=False, score=1.0)
    if "answer_verdicts" in prompt:
        return fields(answer_verdicts=verdicts(2), reference_verdicts=verdicts(2))
    return fields(verdicts=verdicts(2))


def instead(condition: str, reply: str) -> Callable[[str], str]:
    return lambda prompt: reply if re.search(condition, prompt) else well(prompt)


def test_the_well_behaved_judge_scores_all() -> None:
    results = assess_with(scripted_judge(well)[0], **CASE)
    assert {result.status for result in results.values()} == {"ok"}


@pytest.mark.parametrize(
    "reply",
    ["%&/(garbage", "", "I'm sorry, but I can't help with that.", '{"verdicts": "maybe"}', "null"],
    ids=["garbage", "nothing", "refusal", "wrong-type", "null"],
)
def test_unreadable_replies_are_errors_of_every_judged_metric(reply: str) -> None:
    results = assess_with(scripted_judge(lambda _: reply)[0], **CASE)
    assert [results[name].status for name in JUDGED] == ["error"] * 5
    assert all(results[name].score is None and results[name].reason for name in JUDGED)
    assert results["context_precision"].score == 1.0  # needs no judge


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (verdicts(1), r"\[1\].*1 to 2"),
        ([], r"\[\].*1 to 2"),
        (verdicts(3), r"1 to 2"),
        (verdicts(2, first=0), r"1 to 2"),
        ([*verdicts(1), *verdicts(1)], r"\[1, 1\]"),
    ],
    ids=["too-few", "empty-list", "too-many", "shifted", "doubled"],
)
def test_verdicts_that_do_not_match_the_statements(given: list[dict[str, Any]], why: str) -> None:
    judge, _ = scripted_judge(instead("`statements`.*`verdicts`|entail", fields(verdicts=given)))
    result = assess_with(judge, **CASE)["faithfulness"]
    assert (result.status, result.score) == ("error", None)
    assert re.search(why, result.reason)
    assert result.calls == 3  # decompose, verify, and one repair


def test_an_empty_list_of_statements_for_a_text_with_claims_is_an_error() -> None:
    judge, _ = scripted_judge(instead("makes_claims", fields(makes_claims=True, statements=[])))
    results = assess_with(judge, **CASE)
    assert results["faithfulness"].status == "error"
    assert results["answer_correctness"].status == "error"
    assert results["answer_relevancy"].status == "ok"


def test_a_text_that_makes_no_claims_is_skipped() -> None:
    judge, _ = scripted_judge(instead("makes_claims", fields(makes_claims=False, statements=[])))
    result = assess_with(judge, **CASE)["faithfulness"]
    assert (result.status, result.score) == ("skipped", None)
    assert "no statement" in result.reason


@pytest.mark.parametrize("score", ["NaN", "1.7", "-0.1", "very good"])
def test_a_relevancy_outside_0_to_1_is_an_error(score: str) -> None:
    reply = fields(reason="", direct=True, complete=True, off_topic=False, score=score)
    result = assess_with(scripted_judge(instead("off_topic", reply))[0], **CASE)["answer_relevancy"]
    assert (result.status, result.score, result.calls) == ("error", None, 2)


def test_one_repair_call_that_says_what_was_wrong_can_save_a_metric() -> None:
    def mends(prompt: str) -> str:
        if "relevant to the question" in prompt and "could not be used" not in prompt:
            return fields(verdicts=verdicts(1))
        return well(prompt)

    judge, engine = scripted_judge(mends)
    result = assess_with(judge, **CASE)["context_relevance"]
    assert (result.status, result.score, result.calls) == ("ok", 1.0, 2)
    assert any("needs each of 1 to 2 exactly once" in prompt for prompt in engine.prompts)


def test_an_unreachable_judge_is_an_error_with_the_cause() -> None:
    def fails(_: str) -> str:
        raise ConnectionError("nobody listens there")

    results = assess_with(scripted_judge(fails)[0], **CASE)
    assert results["faithfulness"].status == "error"
    assert "nobody listens there" in results["faithfulness"].reason


def test_errors_do_not_move_the_mean_and_are_counted() -> None:
    good = assess_with(scripted_judge(well)[0], **CASE)
    bad = assess_with(scripted_judge(lambda _: "garbage")[0], **CASE)
    case = Case("a", {"question": CASE["question"]})
    rows = [as_row(case, EvalCase(**CASE), results) for results in (good, bad, bad)]
    metrics = aggregate(rows)
    assert metrics["faithfulness"] == 1.0
    assert (metrics["faithfulness_n_ok"], metrics["faithfulness_n_error"]) == (1, 2)


@pytest.mark.parametrize(("faults", "known"), [({}, True), ({"no_usage": 1.0}, False)])
def test_a_judgement_whose_tokens_nobody_told_is_not_called_free(
    tmp_path: Path, faults: dict[str, float], known: bool
) -> None:
    account = Account()
    with Loopback(faults=faults) as server, runtime(tmp_path, server) as made:
        asker = Asker(made.lm(scope()))
        made.run(asker.ask(account, dspy.Signature("question -> answer"), {"question": "Is it?"}, str))
    assert (account.cost_usd is not None) == known
    assert account.calls == 1
