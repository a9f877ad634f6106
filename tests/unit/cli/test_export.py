"""`seedbed export`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from seedbed.cli.main import main
from seedbed.storage.store import read_json


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_holds_every_sample_with_its_scores(toy_run: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"samples.{form}"
    assert main(["export", str(toy_run), "--format", form, "--to", str(target)]) == 0
    table = pd.read_csv(target) if form == "csv" else pd.read_parquet(target)
    assert len(table) == 8 * 24
    strong = table[table.system == "strong"].groupby("seed").score_digits.mean().mean()
    row = next(r for r in read_json(toy_run / "summary.json")["rows"] if r["label"] == "strong")
    assert strong == pytest.approx(row["metrics"]["digits"]["mean"])
    assert table[table.status == "error"].score_digits.isna().all()


def test_inspect_logs_hold_every_sample_and_come_back_as_an_import(
    toy_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(toy_run), "--format", "inspect", "--to", str(tmp_path / "logs")]) == 0
    assert "inspect view --log-dir" in capsys.readouterr().out
    logs = sorted((tmp_path / "logs").iterdir())
    assert len(logs) == 8
    # By any other name inspect_ai would not list them.
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-00-00_[^_]+_\w{22}\.json", path.name) for path in logs)
    strong = [path for path in logs if "-strong-" in path.name]
    log = json.loads(strong[0].read_text(encoding="utf-8"))
    assert (log["version"], log["status"], len(log["samples"])) == (2, "success", 24)
    failed = [sample for sample in log["samples"] if "error" in sample]
    assert all(sample["scores"] == {} for sample in failed)
    assert log["results"]["completed_samples"] == 24 - len(failed)
    out = ["--out", str(tmp_path / "out")]
    for system in ("weak", "strong"):
        files = [str(path) for path in logs if f"-{system}-" in path.name]
        assert main(["import", *files, "--name", system, *out]) == 0
    capsys.readouterr()
    assert main(["compare", "weak", "strong", "--json", "--metric", "digits", *out]) == 0
    (ours,) = json.loads(capsys.readouterr().out)
    assert main(["compare", f"{toy_run}:weak", f"{toy_run}:strong", "--json", "--metric", "digits"]) == 0
    (first,) = json.loads(capsys.readouterr().out)
    assert ours["difference"] == pytest.approx(first["difference"])
    assert (ours["n_pairs"], ours["n_seeds"]) == (first["n_pairs"], first["n_seeds"])


def test_inspect_ai_itself_reads_the_logs(toy_run: Path, tmp_path: Path) -> None:
    inspect_log: Any = pytest.importorskip("inspect_ai.log")
    assert main(["export", str(toy_run), "--format", "inspect", "--to", str(tmp_path / "logs")]) == 0
    listed = inspect_log.list_eval_logs(str(tmp_path / "logs"))
    assert len(listed) == 8
    for info in listed:
        log = inspect_log.read_eval_log(info)
        assert (log.status, len(log.samples)) == ("success", 24)
        assert log.results.scores[0].metrics["mean"].value is not None


def test_mlflow_reads_the_runs_that_its_library_wrote(toy_run: Path, tmp_path: Path) -> None:
    mlflow: Any = pytest.importorskip("mlflow")
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    for _ in range(2):  # again: nothing is written twice
        assert main(["export", str(toy_run), "--format", "mlflow", "--to", store]) == 0
    client = mlflow.MlflowClient(tracking_uri=store)
    sweep = read_json(toy_run / "summary.json")["sweep"]
    runs = client.search_runs([client.get_experiment_by_name(sweep).experiment_id])
    assert len(runs) == 8
    strong = [run.data.metrics["digits"] for run in runs if run.data.params["system"] == "strong"]
    row = next(r for r in read_json(toy_run / "summary.json")["rows"] if r["label"] == "strong")
    assert sum(strong) / len(strong) == pytest.approx(row["metrics"]["digits"]["mean"])
    assert {file.path for file in client.list_artifacts(runs[0].info.run_id)} >= {"scores.jsonl", "predictions.jsonl"}


def test_without_mlflow_it_says_what_to_install(
    toy_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert main(["export", str(toy_run), "--format", "mlflow"]) == 2
    assert "needs the package mlflow; pip install 'seedbed[mlflow]'" in capsys.readouterr().err
