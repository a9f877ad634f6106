"""`seedbed score crosslingual FILE.jsonl`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suite import Options
from seedbed.suites.crosslingual.score_file import score_file

CHINESE = {"sample_id": "a-zh", "lang": "zh", "question": "?", "gold": "4429米"}
ENGLISH = {"sample_id": "b-en", "lang": "en", "question": "?", "gold": ["Nile", "the Nile"]}
ROWS: list[dict[str, Any]] = [
    {**CHINESE, "system": "direct", "pred": "不知道", "translation_tokens": 0},
    {**CHINESE, "system": "lbrag", "gold": ["4429米"], "pred": "4429米", "translation_tokens": 20},
    {**ENGLISH, "system": "direct", "pred": "The Nile"},
    {**ENGLISH, "system": "lbrag", "error": "timeout"},
]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_it_prints_the_seed_s_lines_and_writes_scores_and_metrics(tmp_path: Path) -> None:
    printed = score_file(written(tmp_path / "answers.jsonl", ROWS), tmp_path / "out", Options())
    figure = r"-?\d+\.\d+±\d+\.\d+"
    line = rf"lbrag    \| EM={figure} \| F1={figure} \| RLC={figure} \| Cost={figure} \| CNBE={figure} \| Sem=-"
    assert re.search(rf"(?m)^{line}$", printed)
    assert "Cost=20.0±0.0 | CNBE=0.05000±0.00000" in printed
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))["metrics"]
    assert (metrics["lbrag"]["n"], metrics["lbrag"]["n_errors"], metrics["lbrag"]["n_paired"]) == (1, 1, 1)
    assert metrics["direct"]["em"] == 0.5
    rows = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["system"], row["sample_id"], row["status"]) for row in rows] == [
        ("direct", "a-zh", "ok"),
        ("direct", "b-en", "ok"),
        ("lbrag", "a-zh", "ok"),
        ("lbrag", "b-en", "error"),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lang": "klingon"}, r"answers\.jsonl:1: field lang: unknown language"),
        ({"pred": None}, r"answers\.jsonl:1: field pred: None is not a text; .* error"),
        ({"gold": []}, r"answers\.jsonl:1: field gold: an empty list"),
        ({"gold": [7]}, r"answers\.jsonl:1: field gold: 7 is not a text"),
        ({"translation_tokens": -1}, r"answers\.jsonl:1: field translation_tokens"),
        ({"semantic_score": 1.5}, r"answers\.jsonl:1: field semantic_score: 1\.5 is no score from 0 to 1"),
        ({"semantic_score": "good"}, r"answers\.jsonl:1: field semantic_score"),
        ({"translation_tokens": "many"}, r"answers\.jsonl:1: field translation_tokens"),
        ({"sample_id": "b-en"}, r"answers\.jsonl:2: system 'direct': sample_id 'b-en' stands twice, first on line 1"),
    ],
)
def test_a_bad_row_is_named_with_file_line_and_field(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "answers.jsonl", [{**ROWS[0], **change}, ROWS[2]])
    with pytest.raises(UserError, match=said):
        score_file(path, tmp_path, Options())


LBRAG = {
    "run_id": "20251208_1012",
    "sample_id": "17_zh_cn",
    "sample_lang": "zh_cn",
    "system": "lbrag",
    "question": "多高？",
    "gold_answer": "4429米",
    "pred_answer": "4429米",
    "em": 1.0,
    "f1": 1.0,
    "rlc": 1.0,
    "rlc_ok": 1.0,
    "translate_tokens": 20.0,
    "semantic_score": 0.9,
    "num_evidence": 1,
    "evidence": [
        {
            "id": "17_en",
            "language": "en",
            "original_text": "It is 4429 m high.",
            "translated_text": "高4429米。",
            "weight": 0.8,
            "metadata": {"token_count": 20.0},
        }
    ],
    "prompt": "...",
}
"""A row of LBRAG's answers; the words are ours."""


def test_rows_that_lbrag_wrote_are_read_as_they_are(tmp_path: Path) -> None:
    direct = {**LBRAG, "system": "direct", "pred_answer": "不知道", "translate_tokens": 0.0, "semantic_score": 0.1,
              "num_evidence": 0, "evidence": []}  # fmt: skip
    english = {**LBRAG, "sample_id": "17_en", "sample_lang": "en", "pred_answer": "", "gold_answer": ""}
    printed = score_file(written(tmp_path / "answers.jsonl", [LBRAG, direct, english]), tmp_path / "out", Options())
    assert "Cost=20.0±0.0 | CNBE=0.05000±0.00000 | Sem=0.900±0.000" in printed
    rows = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["cluster"] for row in rows] == ["17", "17", "17"], "one question in two languages"
    assert rows[0]["scores"]["answer_in_context"] == 1.0
    assert rows[1]["scores"]["em"] == 1.0, "both are empty"
    assert rows[2]["scores"]["answer_in_context"] is None


def test_evidence_that_lbrag_cut_off_says_nothing_of_the_answer_in_it(tmp_path: Path) -> None:
    block = {**LBRAG["evidence"][0], "translated_text": None, "original_text": "x" * 200 + "..."}
    path = written(tmp_path / "answers.jsonl", [{**LBRAG, "evidence": [block]}])
    score_file(path, tmp_path / "out", Options())
    (row,) = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text().splitlines()]
    assert row["scores"]["answer_in_context"] is None


def test_a_semantic_score_that_was_given_is_taken_with_its_n(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "semantic_score": 0.25}, {**ROWS[2], "semantic_score": None}]
    printed = score_file(written(tmp_path / "answers.jsonl", rows), tmp_path / "out", Options())
    assert "Sem=0.250±0.000" in printed
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))["metrics"]["direct"]
    assert (metrics["semantic_score"], metrics["n_semantic_score"], metrics["n"]) == (0.25, 1, 2)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "answers.jsonl", [{"sample_id": "a", "system": "direct"}])
    with pytest.raises(UserError, match="field lang is missing"):
        score_file(path, tmp_path, Options())


def test_scoring_a_file_imports_neither_dspy_nor_litellm_nor_prefect(tmp_path: Path) -> None:
    path = written(tmp_path / "answers.jsonl", ROWS)
    code = (
        "import sys; from seedbed.cli.main import main\n"
        f"code = main(['score', 'crosslingual', {str(path)!r}, '--out', {str(tmp_path / 'out')!r}])\n"
        "heavy = {'dspy', 'litellm', 'prefect', 'torch', 'matplotlib'} & set(sys.modules)\n"
        "assert code == 0 and not heavy, (code, heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "lbrag    | EM=1.000" in done.stdout
