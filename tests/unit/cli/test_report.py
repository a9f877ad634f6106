"""`seedbed report`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.storage.store import write_json


@pytest.mark.slow
def test_a_killed_sweep_gets_a_report_that_names_what_is_missing(
    toy_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out")
    folder = tmp_path / "out" / toy_run.relative_to(root)
    settings = json.loads((folder / "run.json").read_text())
    write_json(folder / "run.json", {**settings, "root": str(tmp_path / "out")})
    for path in folder.iterdir():
        if path.name not in ("run.json", "plan.json"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(tmp_path / "out/experiment_runs/seed_1/sums_strong_Baseline_reader")
    shutil.rmtree(tmp_path / "out/experiment_runs/seed_1/groups")
    assert main(["report", str(folder)]) == 0
    assert "strong · sums · reader · seed 1 | not finished" in capsys.readouterr().out
    assert json.loads((folder / "summary.json").read_text())["status"] == "partial"
    assert main(["verify", str(folder)]) == 0


@pytest.mark.parametrize(("terminal", "whole"), [(True, False), (True, True), (False, False)])
def test_a_terminal_gets_tables_that_fit_it_and_a_file_gets_markdown(
    toy_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    whole: bool,
) -> None:
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["report", str(tmp_path / "out" / toy_run.relative_to(root)), *["--all"] * whole]) == 0
    said = capsys.readouterr().out
    fits = terminal and not whole
    assert ("|---|" in said) != fits
    if fits:
        assert max(len(line) for line in said.splitlines() if str(tmp_path) not in line) <= 80
