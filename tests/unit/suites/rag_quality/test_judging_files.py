"""`seedbed score rag_quality` and `seedbed meta rag_quality`, as given on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.cli.main import main

pytestmark = pytest.mark.slow

CASE = {
    "question": "How long is the bridge?",
    "answer": "The bridge is 90 metres long.",
    "retrieved_contexts": ["The bridge over the Tamm is 90 metres long."],
    "ground_truth_answer": "The bridge measures 90 metres.",
    "ground_truth_contexts": ["The bridge over the Tamm is 90 metres long."],
}


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def test_scoring_fills_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "c.jsonl", CASE, {**CASE, "question": "How old is it?", "answer": None})
    assert main(["score", "rag_quality", file, "--judge", "offline/judge"]) == 0
    scored = [json.loads(line) for line in (tmp_path / "scores.jsonl").open(encoding="utf-8")]
    assert [case["results"]["faithfulness"]["status"] for case in scored] == ["ok", "skipped"]
    summary = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    assert (summary["n"], summary["n_errors"], summary["n_skipped"]) == (2, 0, 0)
    assert summary["simulated"] is True
    assert summary["metrics"]["faithfulness"]["n_skipped"] == 1
    assert "n_ok  n_skipped  n_error" in capsys.readouterr().out
    taken = [json.loads(line)["times"] for line in (tmp_path / "score_times.jsonl").open(encoding="utf-8")]
    assert taken[0]["faithfulness"] > 0
    assert "elapsed_s" not in scored[0]["results"]["faithfulness"], "another run would give other bytes"


def test_scoring_again_asks_nothing_again(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonl", CASE)
    for _ in range(2):
        assert main(["score", "rag_quality", file, "--judge", "offline/judge"]) == 0
    usage = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))["usage"]
    assert (usage["calls"], usage["outcomes"]["paid"], usage["outcomes"]["reused"]) == (7, 7, 7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--judge: Field required"),
        (["--judge", "gpt"], "--judge gpt: not a model"),
        (["--judge", "offline/j", "--jugde", "x"], "did you mean 'judge'?"),
    ],
)
def test_a_missing_or_wrong_judge_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["score", "rag_quality", write(tmp_path / "c.jsonl", CASE), *options]) == 2
    assert said in capsys.readouterr().err


def test_a_bad_file_is_refused_before_any_model_is_loaded(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonl", {"answer": "a"})
    program = (
        "import sys; from seedbed.cli.main import main\n"
        f"code = main(['score', 'rag_quality', {file!r}, '--judge', 'offline/j'])\n"
        "assert not {'dspy', 'litellm', 'prefect'} & set(sys.modules), 'a model library was loaded'\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "c.jsonl:1: field question: is required" in done.stderr


def meta(out: Path, *options: str) -> dict[str, dict[str, float]]:
    assert main(["meta", "rag_quality", "--judge", "offline/judge", "--out", str(out), *options]) == 0
    return json.loads((out / "offline-judge.meta.json").read_text(encoding="utf-8"))["metrics"]


def test_meta_prints_accuracy_bias_and_confusion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = meta(tmp_path)
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("accuracy", "bias", "TP", "FP", "FN", "TN", "answer_correctness"))
    assert all(own["accuracy"] >= 0.85 for own in metrics.values())


def test_meta_tells_a_poor_judge_from_a_good_one(tmp_path: Path) -> None:
    good, poor = meta(tmp_path / "good"), meta(tmp_path / "poor", "--judge-ability", "0.4")
    for name in ("faithfulness", "context_relevance", "context_recall", "answer_relevancy", "answer_correctness"):
        assert poor[name]["accuracy"] < good[name]["accuracy"] - 0.15
    assert poor["answer_relevancy"]["bias"] < -0.1


def test_meta_knows_its_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meta", "rag_qualty", "--judge", "offline/judge"]) == 2
    assert "did you mean 'rag_quality'?" in capsys.readouterr().err
