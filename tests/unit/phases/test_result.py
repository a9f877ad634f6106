"""The result of a cell as one row: its score in percent, and what each of its phases cost."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.phases.result import exact_usd, program_scores, result_data, result_text, write_result
from seedbed.storage.store import read_json, write_jsonl
from seedbed.suite import Metric
from seedbed.sweep.cell import BASELINE, Cell

ASKED = {
    "list_usd": 0.1 + 0.2,
    "spent_usd": 0.05,
    "calls": 4,
    "tokens_in": 30,
    "tokens_out": 6,
    "outcomes": {"paid": 4},
}
SEARCH = {**ASKED, "list_usd": None, "spent_usd": None, "tokens_in": 500, "tokens_out": 90}
FIGURES = {"right": 0.25, "n": 3, "n_errors": 1, "n_skipped": 2}
RIGHT = Metric("right", "Right", kind="rate")


def cell(optimizer: str = BASELINE) -> Cell:
    return Cell("id", 0, "toy", "sums", "guess", optimizer, "m", 0, {}, {})


def data(usage: dict[str, Any], metrics: dict[str, Any] = FIGURES, metric: Metric = RIGHT) -> dict[str, Any]:
    return result_data(metric, cell("GEPA"), metrics, usage, None)[1]


@pytest.mark.parametrize(
    ("usd", "told"), [(0.1 + 0.2, 0.3), (0.0000000000014, 1e-12), (0.0000000000004, 0.0), (None, None)]
)
def test_dollars_are_exact_to_twelve_digits(usd: float | None, told: float | None) -> None:
    assert exact_usd(usd) == told


def test_a_score_is_told_in_percent_of_the_range_of_the_first_metric() -> None:
    stars = Metric("stars", "Stars", range=(1.0, 5.0))
    assert result_data(RIGHT, cell(), FIGURES, {"generate": ASKED}, None)[0] == 25.0
    assert data({"generate": ASKED}, {**FIGURES, "stars": 4.0}, stars)["score"] == 75.0
    assert data({"generate": ASKED}, {**FIGURES, "right": None})["score"] is None


def test_a_phase_that_there_was_not_has_no_account() -> None:
    found = data({"generate": ASKED})
    assert (found["cost"], found["paid"], found["calls"], found["outcomes"]) == (0.3, 0.05, 4, {"paid": 4})
    assert (found["input_tokens"], found["output_tokens"]) == (30, 6)
    assert [found[f"{who}_{what}"] for who in ("optimizer", "judge") for what in ("cost", "paid", "calls")] == [
        None
    ] * 6
    assert (found["optimizer"], found["metric"], found["program"]) == (None, "right", "guess")
    assert [found[name] for name in ("n", "n_errors", "n_skipped", "n_unreadable", "n_truncated")] == [3, 1, 2, 0, 0]


def test_search_and_judge_have_accounts_of_their_own() -> None:
    found = data(
        {"generate": ASKED, "optimise": SEARCH, "score": ASKED}, {**FIGURES, "n_unreadable": 5, "n_truncated": 7}
    )
    assert (found["optimizer"], found["optimizer_cost"], found["optimizer_input_tokens"]) == ("GEPA", None, 500)
    assert (found["judge_cost"], found["judge_output_tokens"]) == (0.3, 6)
    assert (found["n_unreadable"], found["n_truncated"]) == (5, 7)


def test_the_row_of_a_cell_without_an_optimizer_ends_after_the_evaluation() -> None:
    assert result_text(25.0, {"generate": ASKED}, None) == ("score,cost,input_tokens,output_tokens,\n25.0,0.3,30,6,\n")
    assert result_text(None, {"generate": SEARCH}, None).splitlines()[1] == ",,500,90,"


def test_the_row_of_a_cell_with_one_has_a_comma_more_than_its_header() -> None:
    assert result_text(25.0, {"generate": ASKED, "optimise": SEARCH}, "GEPA") == (
        "score,cost,input_tokens,output_tokens,optimizer,optimizer_cost,optimizer_input_tokens,optimizer_output_tokens\n"
        "25.0,0.3,30,6,GEPA,,500,90,\n"
    )


def test_both_files_tell_the_first_metric(tmp_path: Path) -> None:
    resolved = SimpleNamespace(metrics=[RIGHT, Metric("other", "Other")])
    context: Any = SimpleNamespace(resolved=resolved, cell=cell())
    write_result(context, tmp_path, {**FIGURES, "other": 1.0}, {"generate": ASKED})
    folder = tmp_path / "evaluation_results"
    assert (folder / "evaluation_result.txt").read_text() == result_text(25.0, {"generate": ASKED}, None)
    assert read_json(folder / "result.json")["metric"] == "right"


def test_programs_are_scored_that_were_asked_all_of_val(tmp_path: Path) -> None:
    assert program_scores(tmp_path) is None
    scored = [(0.25, True), (1.0, False), (0.5, True)]
    write_jsonl(tmp_path / "candidates.jsonl", [{"val_score": score, "whole_val": whole} for score, whole in scored])
    assert program_scores(tmp_path) == [25.0, 50.0]
