"""`seedbed score contract_risk`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suites.contract_risk.cases import read_cases
from seedbed.suites.contract_risk.knowledge import DATA
from tests.unit.suites.contract_risk.conftest import review

ROOT = Path(__file__).resolve().parents[4]


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_reviews_are_scored_with_trivial_rows_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Any]] = []
    for case in read_cases(DATA):
        quoted = "；".join(f"「{text}」" for text in case.gold["evidence"]) or "无"
        rows.append({"case_id": case.sample_id, "output": review(case.gold["risk_level"], quoted)})
    path = _write(tmp_path / "mine.jsonl", rows)
    assert main(["score", "contract_risk", str(path), "--cases", str(DATA)]) == 0
    out = capsys.readouterr().out
    assert "always_high" in out
    metrics = read_json(tmp_path / "metrics.json")["metrics"]["mine"]
    assert (metrics["accuracy"], metrics["task_success_rate"], metrics["parse_rate"]) == (1.0, 1.0, 1.0)
    assert metrics["clause_hallucination_rate"] == 0.0
    assert metrics["law_hallucination_rate"] is None


def test_levels_alone_are_scored_and_the_rest_stays_undefined(tmp_path: Path) -> None:
    path = _write(tmp_path / "levels.jsonl", [{"case_id": c.sample_id, "level": "高"} for c in read_cases(DATA)])
    assert main(["score", "contract_risk", str(path), "--out", str(tmp_path / "out")]) == 0
    metrics = read_json(tmp_path / "out" / "metrics.json")["metrics"]["levels"]
    assert metrics["weighted_accuracy"] == pytest.approx(0.7666666667)
    assert metrics["parse_rate"] is None


def test_a_case_without_a_row_is_an_error_and_counts_as_a_miss(tmp_path: Path) -> None:
    first = read_cases(DATA)[0]
    path = _write(tmp_path / "one.jsonl", [{"case_id": first.sample_id, "level": first.gold["risk_level"]}])
    main(["score", "contract_risk", str(path)])
    metrics = read_json(tmp_path / "metrics.json")["metrics"]["one"]
    assert (metrics["n"], metrics["n_errors"], metrics["total"]) == (1, 65, 66)
    assert metrics["accuracy"] == pytest.approx(1 / 66)
    assert sum(row["status"] == "error" for row in read_jsonl(tmp_path / "scores.jsonl")) == 65


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"case_id": "nobody", "level": "高"}, "answers.jsonl:2: case_id 'nobody' is not among the cases"),
        (
            {"case_id": "labor-01-high", "level": "高"},
            "answers.jsonl:2: case_id 'labor-01-high' stands twice",
        ),
        ({"case_id": "labor-02-high", "level": "特高"}, "answers.jsonl:2: field level is '特高'"),
        ({"case_id": "labor-02-high"}, "answers.jsonl:2: field output or level is missing"),
    ],
    ids=["unknown", "twice", "level", "empty"],
)
def test_a_wrong_row_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any], message: str
) -> None:
    path = _write(tmp_path / "answers.jsonl", [{"case_id": "labor-01-high", "level": "高"}, row])
    assert main(["score", "contract_risk", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_scoring_a_file_loads_no_model_library(tmp_path: Path) -> None:
    path = _write(tmp_path / "levels.jsonl", [{"case_id": "labor-01-high", "level": "高"}])
    code = (
        "import sys; from seedbed.cli.main import main; main(sys.argv[1:])\n"
        "print('LOADED', *sorted({'dspy', 'litellm', 'prefect', 'torch', 'matplotlib'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "score", "contract_risk", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_flag_without_weights_is_refused_with_the_folder_to_provide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path / "levels.jsonl", [{"case_id": "labor-01-high", "level": "高"}])
    given = ["--verifier", "flag", "--embedder", str(tmp_path / "bge"), "--reranker", str(tmp_path / "bge")]
    assert main(["score", "contract_risk", str(path), *given]) == 2
    assert f"the folder {tmp_path / 'bge'} holds no config.json" in capsys.readouterr().err
