"""`seedbed verify`: a changed digit in any published file is found."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import read_run
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from seedbed.report.sample_packs import packed, read_sheet

pytestmark = pytest.mark.slow

CELL = "experiment_runs/seed_1/sums_strong_Baseline_reader"
_WORKING = re.compile(r"/(\.locks|done|cache)/|/cell\.json$|/ledger\.sqlite|/latest$")
"""What a sweep keeps for itself: it publishes nothing there."""
_FIRST_READ = ("manifest.json", "plan.json", "run.json")
"""Files of the sweep without which no other can be checked."""


@pytest.fixture
def copied(toy_run: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    root = toy_run.parents[2]
    shutil.copytree(root, tmp_path / "out")
    return tmp_path / "out" / toy_run.relative_to(root)


def published(folder: Path) -> list[Path]:
    """Every file of a run that says something, in its own folder, its cells' and its groups'."""
    found = sorted(path for path in folder.parents[2].rglob("*") if path.is_file())
    return [path for path in found if not _WORKING.search(str(path)) and re.search(rb"\d", path.read_bytes())]


def change_a_digit(path: Path, rng: random.Random) -> None:
    """Another digit in the place of one; in an image, another byte."""
    data = path.read_bytes()
    if path.suffix == ".png":
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        return
    at = rng.choice([match.start() for match in re.finditer(rb"\d", data)])
    digit = rng.choice([d for d in b"0123456789" if d != data[at]])
    path.write_bytes(data[:at] + bytes([digit]) + data[at + 1 :])


def test_an_untouched_sweep_is_verified(copied: Path) -> None:
    result = verify(read_run(copied))
    assert result.differences == []
    assert (result.n_cells, result.n_figures > 1000) == (8, True)
    assert not [told for told in result.unchecked if "no phase writes it" in told]


def test_all_kinds_of_files_are_published(copied: Path) -> None:
    root = copied.parents[2]
    kinds = {re.sub(r"/[^/]*\.(svg|png)$", r"/*.\1", str(path.relative_to(root))) for path in published(copied)}
    own = {kind.removeprefix(f"{copied.relative_to(root)}/") for kind in kinds}
    files = ["summary.json", "summary.csv", "summary.md", "summary.tex", "costs.csv", "report.html", "plots/*.svg"]
    assert {*files, "numbers.tex", "plots/*.png", *_FIRST_READ} <= own
    parts = ["config.json", "predictions.jsonl", "scores.jsonl", "metrics.json", "manifest.json", "toy_answers.jsonl"]
    parts += ["metric_logs/test.jsonl", "evaluation_results/result.json", "evaluation_results/evaluation_result.txt"]
    assert {f"{CELL}/{name}" for name in parts} <= kinds
    assert f"{CELL.replace('strong', 'ask')}/lm_history.jsonl" in kinds
    assert "experiment_runs/seed_1/groups/toy_sums_reader/metrics.json" in kinds


def test_a_changed_digit_is_found_in_every_published_file(copied: Path) -> None:
    """All at once, since each must be named for itself."""
    spoilt = [path for path in published(copied) if path.parent != copied or path.name not in _FIRST_READ]
    for path in spoilt:
        change_a_digit(path, random.Random(path.name))
    found = {difference.file for difference in verify(read_run(copied)).differences}
    names = [str(path.relative_to(copied.parents[2])) for path in spoilt]
    assert [name for name in names if name not in found] == []


@pytest.mark.parametrize("name", _FIRST_READ)
def test_a_changed_digit_is_found_in_what_the_check_starts_from(copied: Path, name: str) -> None:
    change_a_digit(copied / name, random.Random(name))
    assert main(["verify", "--published", str(copied)]) != 0


@pytest.mark.parametrize("name", ["plan.json", "run.json", f"../../../{CELL}/done/score.json", "summary.json"])
@pytest.mark.parametrize("text", ["", "[1]"])
def test_a_broken_file_is_told_in_a_sentence(
    copied: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (copied / name).write_text(text)
    assert main(["verify", "--published", str(copied)]) in (1, 2)
    said = capsys.readouterr()
    assert Path(name).name in said.out or "is no whole run" in said.err or Path(name).name in said.err


def test_a_forged_score_is_found_in_every_figure_above_it(copied: Path) -> None:
    path = copied.parents[2] / CELL / "scores.jsonl"
    path.write_text(path.read_text().replace('"digits": 1.0', '"digits": 0.0', 1))
    files = {Path(difference.file).name for difference in verify(read_run(copied)).differences}
    assert {"metrics.json", "result.json", "test.jsonl", "summary.json", "summary.csv", "report.html"} <= files


def test_the_command_fails_on_a_difference_and_names_it(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = copied / "summary.csv"
    text = path.read_text()
    path.write_text(text.replace("0.", "1.", 1))
    assert main(["verify", str(copied)]) == 1
    said = capsys.readouterr().out
    assert "summary.csv: line" in said
    assert "Not checked:" in said


def test_samples_beside_the_page_are_held_against_the_rows_too(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.report.sample_packs.INSIDE", 100)
    assert publish_again(read_run(copied), Choices())
    assert verify(read_run(copied), again=False).differences == []
    pack = copied / "samples" / "0.css"
    samples = read_sheet(pack.read_text())
    samples[2]["answers"]["strong"][0]["output"]["answer"] = "forged"
    text = packed(json.dumps(samples).encode())
    pack.write_text(f'#pack{{--n:1;--d0:"{text}"}}\n')
    (copied / "samples" / "99.css").write_text("#pack{}")
    told = [d.what for d in verify(read_run(copied), again=False).differences if "/samples/" in d.file]
    assert any("sample 2.answers.strong[0].output.answer is 'forged'" in what for what in told)
    assert any("give no such pack of samples" in what for what in told)
    monkeypatch.undo()
    publish_again(read_run(copied), Choices())
    assert not list((copied / "samples").glob("*")), "what is inside the page again lies no longer beside it"
