"""`seedbed verify`: a changed digit in any published file is found."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

from seedbed.cli import main
from seedbed.hashing import hash_file
from seedbed.phases.context import open_run
from seedbed.report.publish import manifest_digest
from seedbed.store import write_json
from seedbed.verify import verify

SWEEP_FILES = ["summary.json", "summary.csv", "summary.md", "summary.tex", "costs.csv", "report.html", "manifest.json"]
CELL = "experiment_runs/seed_1/sums_strong_Baseline_reader"
CELL_FILES = [
    "metrics.json",
    "scores.jsonl",
    "predictions.jsonl",
    "lm_history.jsonl",
    "metric_logs/test.jsonl",
    "evaluation_results/result.json",
    "evaluation_results/evaluation_result.txt",
    "manifest.json",
    "config.json",
]


@pytest.fixture
def copied(toy_run: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil; its run.json points to the copy."""
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out")
    folder = tmp_path / "out" / toy_run.relative_to(root)
    settings = json.loads((folder / "run.json").read_text())
    write_json(folder / "run.json", {**settings, "root": str(tmp_path / "out")})
    reseal(folder)
    return folder


def reseal(folder: Path) -> None:
    """Bring the manifest in step with the files: what a careful forger would do."""
    data = json.loads((folder / "manifest.json").read_text())
    data["files"] = {name: hash_file(folder / name) for name in data["files"]}
    data.pop("schema_version")
    write_json(folder / "manifest.json", {**data, "digest": manifest_digest(data)})


def change_a_digit(path: Path, rng: random.Random) -> str:
    """Another digit in the place of one; returns what stands there now."""
    text = path.read_text(encoding="utf-8")
    at = rng.choice([match.start() for match in re.finditer(r"\d", text)])
    digit = rng.choice([d for d in "0123456789" if d != text[at]])
    path.write_text(text[:at] + digit + text[at + 1 :], encoding="utf-8")
    return f"{path.name}: ...{text[max(0, at - 30) : at]}[{text[at]}->{digit}]"


def test_an_untouched_sweep_is_verified(copied: Path) -> None:
    result = verify(open_run(str(copied)))
    assert result.differences == []
    assert (result.n_cells, result.n_figures > 1000) == (8, True)


@pytest.mark.parametrize("name", SWEEP_FILES)
def test_a_changed_digit_in_a_file_of_the_sweep_is_found(copied: Path, name: str) -> None:
    whole = (copied / name).read_bytes()
    for seed in range(5):
        where = change_a_digit(copied / name, random.Random(seed))
        assert verify(open_run(str(copied))).differences, where
        (copied / name).write_bytes(whole)


@pytest.mark.parametrize("name", CELL_FILES)
def test_a_changed_digit_in_a_file_of_a_cell_is_found(copied: Path, name: str) -> None:
    path = copied.parents[2] / (CELL.replace("strong", "ask") if name == "lm_history.jsonl" else CELL) / name
    whole = path.read_bytes()
    for seed in range(3):
        where = change_a_digit(path, random.Random(seed))
        assert verify(open_run(str(copied))).differences, where
        path.write_bytes(whole)


def test_a_changed_digit_in_a_plot_is_found(copied: Path) -> None:
    change_a_digit(next((copied / "plots").glob("*.svg")), random.Random(0))
    assert "has changed since" in str(verify(open_run(str(copied))).differences[0])


@pytest.mark.parametrize("name", ["summary.json", "summary.csv", "summary.md", "summary.tex", "costs.csv"])
def test_a_forged_figure_is_found_even_if_the_hashes_were_renewed(copied: Path, name: str) -> None:
    path = copied / name
    text = path.read_text(encoding="utf-8")
    # The leading digits of the best system's mean, or, in the account, a number of tokens.
    old = "648" if name == "costs.csv" else "0.95"
    assert old in text
    path.write_text(text.replace(old, old[:-1] + "7", 1), encoding="utf-8")
    reseal(copied)
    found = verify(open_run(str(copied))).differences
    assert [difference for difference in found if difference.file.endswith(name)]


def test_a_forged_score_is_found_in_every_figure_above_it(copied: Path) -> None:
    path = copied.parents[2] / CELL / "scores.jsonl"
    path.write_text(path.read_text().replace('"digits": 1.0', '"digits": 0.0', 1))
    files = {Path(difference.file).name for difference in verify(open_run(str(copied))).differences}
    assert {"metrics.json", "result.json", "test.jsonl", "summary.json", "summary.csv", "report.html"} <= files


def test_the_command_fails_on_a_difference_and_names_it(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(copied)]) == 0
    path = copied / "summary.csv"
    path.write_text(path.read_text().replace("0.95", "0.85", 1))
    assert main(["verify", str(copied)]) == 1
    assert "summary.csv: line" in capsys.readouterr().out
