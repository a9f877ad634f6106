"""The files of an optimizer's search: scores of candidates follow from the judgements, the program from the choice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.context import SweepRun, read_run
from seedbed.phases.verification.cell_files import check_cell
from seedbed.phases.verification.checker import Checker
from seedbed.storage.store import Store, write_json, write_jsonl

Rows = list[dict[str, Any]]


def candidate(number: int, train: float | None, val: float | None, **more: Any) -> dict[str, Any]:
    row = {"candidate": number, "chosen": number == 1, "instructions": {"p": f"Do {number}."}, "n_demos": 0}
    return {**row, "n_train": 2, "n_val": 2, "train_score": train, "val_score": val, **more}


def judged(*scores: tuple[int, str, float]) -> Rows:
    return [{"candidate": number, "sample_id": sample, "score": score} for number, sample, score in scores]


CANDIDATES = [candidate(0, 0.5, 0.25), candidate(1, 1.0, 0.75)]
TRAIN = judged((0, "a", 0.0), (0, "b", 1.0), (1, "a", 1.0), (1, "b", 1.0))
VAL = judged((0, "c", 0.0), (0, "d", 0.5), (1, "c", 0.5), (1, "d", 1.0))
RESULT = {"n_candidates": 2, "chosen": 1, "val_score_before": 0.25, "val_score_after": 0.75, "metric_calls": 8}
PROGRAM = {"instructions": {"p": "Do 1."}, "n_demos": 0}
_OF_THE_SEARCH = ("candidates.jsonl", "metric_logs/train.jsonl", "metric_logs/val.jsonl", "program.json")


@pytest.fixture(scope="module")
def run(toy_run: Path) -> SweepRun:
    return read_run(toy_run)


@pytest.fixture
def told(run: SweepRun, tmp_path: Path) -> Any:
    """What is said of a search that left these files."""

    def said(candidates: Rows = CANDIDATES, train: Rows | None = TRAIN, val: Rows = VAL, **other: Any) -> list[str]:
        cell = replace(run.plan.cells[0], optimised=True)
        folder = tmp_path / cell.folder
        write_jsonl(folder / "candidates.jsonl", candidates)
        if train is not None:
            write_jsonl(folder / "metric_logs/train.jsonl", train)
        write_jsonl(folder / "metric_logs/val.jsonl", val)
        write_json(folder / "program.json", {**PROGRAM, **other.get("program", {})})
        result = {**RESULT, **other.get("result", {})}
        write_json(folder / "done/optimise.json", {"result": result})
        check = Checker(tmp_path)
        check_cell(check, replace(run, store=Store(tmp_path)), cell, None, with_cases=False)
        own = [(d.file.removeprefix(f"{cell.folder}/"), d.what) for d in check.differences]
        return [
            f"{file}: {what}"
            for file, what in own
            if file in _OF_THE_SEARCH or (file == "done/optimise.json" and what.startswith("result."))
        ]

    return said


def test_a_search_that_follows_from_its_judgements_has_no_difference(told: Any) -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("field", "forged", "given"),
    [
        ("n_candidates", 3, 2), ("chosen", 0, 1), ("val_score_before", 0.5, 0.25), ("val_score_after", 0.5, 0.75),
        ("metric_calls", 9, 8),
    ],
)  # fmt: skip
def test_the_result_of_a_search_is_that_of_its_files(told: Any, field: str, forged: float, given: float) -> None:
    said = f"done/optimise.json: result.{field} is {forged}, the search's files give {given}"
    assert told(result={field: forged}) == [said]


def test_one_candidate_is_chosen(told: Any) -> None:
    for chosen, n in ((True, 2), (False, 0)):
        rows = [{**row, "chosen": chosen} for row in CANDIDATES]
        assert told(rows) == [f"candidates.jsonl: {n} candidates are chosen; it is always one"]


def test_the_program_is_that_of_the_chosen_candidate(told: Any) -> None:
    assert told(program={"n_demos": 3, "more": "than that"}) == ["program.json: n_demos is 3, candidates.jsonl gives 0"]
    assert told(program={"instructions": {"p": "Do 0."}}) == [
        "program.json: instructions.p is 'Do 0.', candidates.jsonl gives 'Do 1.'"
    ]


def test_the_score_of_a_candidate_is_the_mean_of_its_judgements(told: Any) -> None:
    forged = [candidate(0, 0.625, 0.25), CANDIDATES[1]]
    assert told(forged) == [
        "metric_logs/train.jsonl: train_score of candidate 0 in candidates.jsonl is 0.625, its rows give 0.5"
    ]
    none = [candidate(0, None, 0.25, n_train=0), CANDIDATES[1]]
    assert told(none, TRAIN[2:], result={"metric_calls": 6}) == []


def test_a_sample_judged_more_than_once_counts_where_it_was_judged_alike(told: Any) -> None:
    again = [*TRAIN[:1], *TRAIN]
    assert told(train=again, result={"metric_calls": 9}) == []
    otherwise = judged((0, "a", 0.5), (0, "a", 0.0), *[(0, "b", 1.0), (1, "a", 1.0), (1, "b", 1.0)])
    assert told(train=otherwise, result={"metric_calls": 9}) == [], "the last counts, which nobody knows"
    forged = [candidate(0, 0.625, 0.25), CANDIDATES[1]]
    assert len(told(forged, again, result={"metric_calls": 9})) == 1
    assert told(forged, otherwise, result={"metric_calls": 9}) == []


def test_a_candidate_is_judged_on_as_many_samples_as_it_says(told: Any) -> None:
    fewer = [candidate(0, 0.0, 0.25), CANDIDATES[1]]
    assert told(fewer, [TRAIN[0], *TRAIN[2:]], result={"metric_calls": 7}) == [
        "metric_logs/train.jsonl: candidate 0 is judged on 1 samples, candidates.jsonl says 2"
    ]


def test_a_judgement_of_a_candidate_that_is_none_is_told(told: Any) -> None:
    assert told(val=[*VAL, *judged((2, "c", 1.0))], result={"metric_calls": 9}) == [
        "metric_logs/val.jsonl: judges candidate 2, which candidates.jsonl does not have"
    ]


def test_judgements_stand_in_the_order_of_candidates_and_samples(told: Any) -> None:
    said = ["metric_logs/val.jsonl: its rows are not in the order of candidates and samples"]
    assert told(val=[VAL[1], VAL[0], *VAL[2:]]) == said
    assert told(val=[*VAL[2:], *VAL[:2]]) == said


def test_judgements_that_are_gone_are_missing(told: Any) -> None:
    found = told(train=None)
    assert found[0] == "metric_logs/train.jsonl: is missing"
    assert json.dumps(found).count("metric_calls is 8") == 1
