"""Files as zeval itself writes them: an EvalDataset as JSON, its cases with results as JSONL, its CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.rag_quality.cases import load, read_cases
from seedbed.suites.rag_quality.options import CaseOptions, JudgeOptions
from seedbed.suites.rag_quality.score_file import score_file

UNIT = {
    "unit_id": "u-7",
    "unit_type": "text",
    "summary": None,
    "keyphrases": ["down payment"],
    "entities": [],
    "context_path": "Loans/FHA",
}
PERSONA = {
    "name": "Ana",
    "role_description": "buys a home",
    "expertise_level": "beginner",
    "focus_area": "costs",
    "credit_score": 640,
}
PARAMS = {"llm_uri": "bailian/qwen-plus", "generated_at": "2025-12-01T10:00:00", "case_index": 0, "theme": "costs"}
CASE: dict[str, Any] = {
    "question": "What is the least down payment of an FHA loan?",
    "ground_truth_answer": "The least down payment is 3.5%.",
    "ground_truth_contexts": ["FHA loans allow down payments of 3.5%."],
    "answer": "The least down payment is 3.5%.",
    "retrieved_contexts": ["FHA loans allow down payments of 3.5%.", "ARMs begin with low rates."],
    "source_units": [UNIT],
    "persona": PERSONA,
    "generation_params": PARAMS,
}
"""A case of zeval's schema; the words are ours."""
RESULT = {
    "metric_name": "faithfulness",
    "score": 1.0,
    "reason": "1/1 statements supported by context",
    "details": None,
    "elapsed_time": 2.31,
    "evaluated_at": "2025-12-01T10:00:09.123456",
}
UNANSWERED = {**CASE, "question": "And the credit score?", "answer": None, "retrieved_contexts": None}


def _dataset(path: Path, *cases: dict[str, Any]) -> Path:
    """As `EvalDataset.to_json` writes it."""
    whole = {"cases": list(cases), "domain": "home loans", "generated_at": "2025-12-01T10:00:00"}
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def _lines(path: Path, *cases: dict[str, Any]) -> Path:
    """As `EvalDataset.to_jsonl` does."""
    path.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), encoding="utf-8")
    return path


def _csv(path: Path, *cases: dict[str, Any]) -> Path:
    """As `EvalDataset.to_csv` does."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        names = ["question", "ground_truth_answer", "answer", "ground_truth_contexts", "retrieved_contexts"]
        writer = csv.DictWriter(handle, [*names, "source_unit_ids", "persona_name", "generation_params"])
        writer.writeheader()
        for case in cases:
            writer.writerow(
                {
                    **{name: case[name] for name in names[:2]},
                    "answer": case["answer"] or "",
                    "ground_truth_contexts": json.dumps(case["ground_truth_contexts"]),
                    "retrieved_contexts": json.dumps(case["retrieved_contexts"] or []),
                    "source_unit_ids": ",".join(unit["unit_id"] for unit in case["source_units"]),
                    "persona_name": case["persona"]["name"],
                    "generation_params": json.dumps(case["generation_params"]),
                }
            )
    return path


def test_an_eval_dataset_is_read_with_its_lines(tmp_path: Path) -> None:
    first, second = read_cases(_dataset(tmp_path / "05_generated_dataset.json", CASE, UNANSWERED)).values()
    assert first.model_dump(exclude={"results"}) == CASE
    assert (second.answer, second.retrieved_contexts) == (None, None)
    bad = {name: value for name, value in CASE.items() if name != "question"}
    with pytest.raises(UserError, match=r"bad\.json:\d\d: field question: is required"):
        read_cases(_dataset(tmp_path / "bad.json", CASE, bad))


def test_results_of_zeval_are_read_and_are_no_part_of_the_id(tmp_path: Path) -> None:
    judged = {**CASE, "results": {"faithfulness": RESULT, "custom": {**RESULT, "metric_name": "custom", "score": 0}}}
    ((sample_id, case),) = read_cases(_lines(tmp_path / "evaluated.jsonl", judged)).items()
    found = case.results["faithfulness"]
    assert (found.metric, found.score, found.status, found.elapsed_s) == ("faithfulness", 1.0, "ok", 2.31)
    assert case.results["custom"].score == 0
    assert [sample_id] == list(read_cases(_lines(tmp_path / "plain.jsonl", CASE)))


def test_fields_of_ones_own_are_kept_and_slips_refused(tmp_path: Path) -> None:
    extra = {**CASE, "id": "q1", "question_id": 7, "reviewed": True}
    ((sample_id, case),) = read_cases(_lines(tmp_path / "extra.jsonl", extra)).items()
    assert sample_id == "q1"
    assert case.generation_params == {**PARAMS, "id": "q1", "question_id": 7, "reviewed": True}
    for name, meant in (("retreived_contexts", "retrieved_contexts"), ("contexts", "retrieved_contexts")):
        with pytest.raises(UserError, match=rf"slip\.jsonl:1: field {name}: unknown; did you mean '{meant}'\?"):
            read_cases(_lines(tmp_path / "slip.jsonl", {**CASE, name: []}))


def test_zevals_csv_gives_the_same_cases(tmp_path: Path) -> None:
    first, second = read_cases(_csv(tmp_path / "cases.csv", CASE, UNANSWERED)).values()
    assert first.ground_truth_contexts == CASE["ground_truth_contexts"]
    assert first.retrieved_contexts == CASE["retrieved_contexts"]
    assert (first.source_units, first.persona) == ([{"unit_id": "u-7"}], {"name": "Ana"})
    assert first.generation_params == PARAMS
    assert second.retrieved_contexts is None, "nothing was retrieved for a case without an answer"


def test_they_are_judged_and_asked_as_cases_of_our_own(tmp_path: Path) -> None:
    judged = {**CASE, "results": {"faithfulness": {**RESULT, "score": 0.25}}}
    path = _dataset(tmp_path / "zeval.json", judged)
    score_file(path, tmp_path / "out", JudgeOptions(judge="offline/judge"))
    (row,) = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text().splitlines()]
    assert row["results"]["faithfulness"]["score"] == 1.0, "judged anew"
    assert set(row["results"]) == {
        *("faithfulness", "context_relevance", "context_recall"),
        *("context_precision", "answer_relevancy", "answer_correctness"),
    }
    (case,) = load(CaseOptions(path=path)).test
    assert case.inputs["question"] == CASE["question"]
