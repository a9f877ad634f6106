"""`seedbed score prompt_optimization`: answers made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.prompt_optimization.options import ScoreOptions
from seedbed.suites.prompt_optimization.score_file import score_file

PROMPTS = [("count:numbers", {"N": 1}), ("format:title_case", {}), ("count:dreams", {})]


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _score(folder: Path, answers: list[dict[str, Any]], **options: Any) -> tuple[str, dict[str, Any]]:
    line = score_file(_lines(folder / "answers.jsonl", answers), folder / "out", ScoreOptions(**options))
    return line, json.loads((folder / "out" / "metrics.json").read_text())


def _livebench(folder: Path) -> str:
    rows = [{"question_id": f"q{i}", "turns": ["q"], "ground_truth": "7"} for i in range(368)]
    return str(_lines(folder / "question.jsonl", rows))


def test_answers_to_a_shipped_sample(tmp_path: Path) -> None:
    line, _ = _score(tmp_path, [{"sample_id": "ai042#0", "answer": "no idea"}], benchmark="AIMEBench")
    assert line.startswith("AIMEBench: score 0.00, n=1, errors=0, skipped=59")
    assert (tmp_path / "out" / "scores.jsonl").exists()


def test_all_is_every_row_of_the_file(tmp_path: Path) -> None:
    answers = [{"sample_id": f"q{i}", "answer": "7"} for i in range(368)]
    line, written = _score(tmp_path, answers, benchmark="LiveBenchMathBench", path=_livebench(tmp_path), split="all")
    assert line.startswith("LiveBenchMathBench: score 100.00, n=368, errors=0, skipped=0;")
    assert written["metrics"]["n_rows_without_case"] == 0


def test_all_of_a_folder_is_every_row_of_its_splits(tmp_path: Path) -> None:
    answers = [{"sample_id": name, "answer": "7"} for name in ("ai000", "ai018", "ai042#0")]
    _, written = _score(tmp_path, answers, benchmark="AIMEBench", split="all")
    assert (written["metrics"]["n"], written["metrics"]["n_skipped"]) == (3, 18 + 24 + 60 - 3)


def test_rows_of_another_split_are_skipped_and_counted(tmp_path: Path) -> None:
    answers = [{"sample_id": f"q{i}", "answer": "7"} for i in range(368)]
    line, written = _score(tmp_path, answers, benchmark="LiveBenchMathBench", path=_livebench(tmp_path))
    assert "n=126, errors=0, skipped=0, rows without a case=242" in line
    assert len(written["rows_without_case"]) == 242


def test_rows_without_a_checker_are_skipped_and_counted(tmp_path: Path) -> None:
    prompts = [
        {"key": i, "prompt": "p", "instruction_id_list": [kind], "kwargs": [given]}
        for i, (kind, given) in enumerate(PROMPTS)
    ]
    path = str(_lines(tmp_path / "prompts.jsonl", prompts))
    answers = [{"sample_id": i, "response": "Only 1 Number"} for i in range(3)]
    line, written = _score(tmp_path, answers, benchmark="IFBench", path=path, split="all")
    assert line.startswith("IFBench: score 100.00, strict 100.00, n=2, errors=0, skipped=0, rows without a case=1;")
    assert written["rows_without_case"] == ["2"]
    assert written["left_out_of_the_benchmark"] == {"no checker for count:dreams": 1}


def test_hover_titles_are_scored_without_a_corpus(tmp_path: Path) -> None:
    claim = {"uid": "a", "claim": "c", "supporting_facts": [["Ada", 0], ["Bea", 0], ["Cid", 1]]}
    path = str(_lines(tmp_path / "hover.jsonl", [claim]))
    answers = [{"sample_id": "a", "titles": ["Cid", "Bea", "the Ada", "Dan"]}]
    line, _ = _score(tmp_path, answers, benchmark="hoverBench", path=path, split="all")
    assert line.startswith("hoverBench: score 100.00, n=1, errors=0, skipped=0;")


def test_a_file_for_another_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no sample_id of it is one of the 60 cases of AIMEBench \(test\), such as"):
        _score(tmp_path, [{"sample_id": "q1", "answer": "7"}], benchmark="AIMEBench")


def test_an_answer_that_failed_is_an_error_and_no_score(tmp_path: Path) -> None:
    answers = [{"sample_id": "ai042#0", "answer": "7"}, {"sample_id": "ai042#1", "error": "timeout"}]
    line, written = _score(tmp_path, answers, benchmark="AIMEBench")
    assert "n=1, errors=1, skipped=58" in line
    assert written["metrics"]["n_errors"] == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"sample_id": "ai042#0"}], r"answers\.jsonl:1: field answer is missing; where there is no answer"),
        ([{"sample_id": "ai042#0", "answer": "7"}] * 2, r"answers\.jsonl:2: sample_id 'ai042#0' stands twice"),
        ([{"answer": "7"}], r"answers\.jsonl:1: field sample_id is missing"),
    ],
    ids=["no answer", "twice", "no id"],
)
def test_a_row_that_cannot_be_scored_is_refused_with_its_line(
    tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        _score(tmp_path, rows, benchmark="AIMEBench")
