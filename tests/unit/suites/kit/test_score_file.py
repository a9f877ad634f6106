"""`seedbed score`: where results go, and what the command says of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main

ROW = {"sample_id": "a", "system": "direct", "lang": "en", "question": "?", "gold": "Nile", "pred": "Nile"}


def answers(path: Path, pred: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**ROW, "pred": pred}), encoding="utf-8")
    return path


def score(path: Path, *more: str) -> int:
    return main(["score", "crosslingual", str(path), *more])


def em(folder: Path) -> float:
    rows = (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["metrics"]
    assert json.loads(rows[0])["scores"]["em"] == metrics["direct"]["em"]
    return metrics["direct"]["em"]


def test_results_go_beside_the_file_and_those_of_a_second_file_into_a_folder_of_their_own(tmp_path: Path) -> None:
    assert score(answers(tmp_path / "run1.jsonl", "Nile")) == 0
    assert score(answers(tmp_path / "run2.jsonl", "Amazon")) == 0
    assert (em(tmp_path), em(tmp_path / "run2_scores")) == (1.0, 0.0)
    assert score(tmp_path / "run1.jsonl") == 0
    assert not (tmp_path / "run1_scores").exists()


def test_so_they_do_in_a_folder_that_is_named(tmp_path: Path) -> None:
    out = tmp_path / "scored"
    assert score(answers(tmp_path / "a" / "run.jsonl", "Nile"), "--out", str(out)) == 0
    assert score(answers(tmp_path / "b" / "run.jsonl", "Amazon"), "--out", str(out)) == 0
    assert score(answers(tmp_path / "c" / "run.jsonl", "The Nile"), "--out", str(out)) == 0
    assert (em(out), em(out / "run_scores"), em(out / "run_scores.2")) == (1.0, 0.0, 0.0)


def test_a_file_that_was_corrected_replaces_its_own_results(tmp_path: Path) -> None:
    path = answers(tmp_path / "run.jsonl", "Amazon")
    assert score(path) == 0
    answers(path, "Nile")
    assert score(path) == 0
    assert em(tmp_path) == 1.0
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["metrics.json", "run.jsonl", "scored_input.json", "scores.jsonl"]


def test_what_a_cell_left_in_the_folder_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text('{"metrics": {}}', encoding="utf-8")
    assert score(answers(tmp_path / "predictions.jsonl", "Nile")) == 0
    assert (tmp_path / "metrics.json").read_text(encoding="utf-8") == '{"metrics": {}}'
    assert em(tmp_path / "predictions_scores") == 1.0


def test_a_file_that_has_the_name_of_a_result_is_not_written_over(tmp_path: Path) -> None:
    path = answers(tmp_path / "scores.jsonl", "Nile")
    before = path.read_bytes()
    assert score(path) == 0
    assert path.read_bytes() == before
    assert em(tmp_path / "scores_scores") == 1.0


def test_a_refused_file_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("{}", encoding="utf-8")
    assert score(path, "--out", str(tmp_path / "new" / "out")) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["bad.jsonl"]
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("out", ["run.jsonl", "/dev/null", "/proc/nowhere"])
def test_a_place_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    path = answers(tmp_path / "run.jsonl", "Nile")
    assert score(path, "--out", str(tmp_path / out)) == 2
    assert "name another folder with --out" in capsys.readouterr().err


def test_a_folder_is_no_file_to_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(tmp_path) == 2
    assert "is a folder; name a file in it" in capsys.readouterr().err


OPTIONS = {
    "contract_risk": ("--cases", "--verifier", "--threshold", "{case_id, output}"),
    "crosslingual": ("{sample_id, system, lang", "semantic_score"),
    "finance_dialog": ("--profile", "--lexicon", "--ignore-memory-keys"),
    "prompt_optimization": ("--benchmark", "--split"),
    "rag_quality": ("--judge", "--judge-key-env", "--concurrency", "(required)"),
}


@pytest.mark.parametrize("suite", list(OPTIONS))
def test_help_of_a_suite_lists_its_options(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", suite, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"seedbed score {suite} FILE" in shown
    assert all(word in shown for word in (*OPTIONS[suite], "--out DIR"))


def test_help_says_what_an_option_is_and_what_it_is_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "rag_quality", "-h"]) == 0
    shown = capsys.readouterr().out
    assert "A litellm name such as openai/gpt-4.1-mini" in shown
    assert "(default: 8)" in shown


def test_help_without_a_suite_names_the_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(suite in shown for suite in OPTIONS)
    assert main(["score"]) == 2
    assert "SUITE" in capsys.readouterr().err
