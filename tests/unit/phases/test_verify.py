"""`seedbed verify`: a changed digit in any published file is found."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

from seedbed.cli.main import main
from seedbed.phases.context import open_run
from seedbed.phases.publish import manifest_digest
from seedbed.phases.verify import verify
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import write_json

pytestmark = pytest.mark.slow

CELL = "experiment_runs/seed_1/sums_strong_Baseline_reader"
_WORKING = re.compile(r"/(\.locks|done|cache)/|/cell\.json$|/ledger\.sqlite|/latest$")
"""What a sweep keeps for itself: it publishes nothing there."""
_FIRST_READ = ("manifest.json", "plan.json", "run.json")
"""Files of the sweep without which no other can be checked."""


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
    result = verify(open_run(str(copied)))
    assert result.differences == []
    assert (result.n_cells, result.n_figures > 1000) == (8, True)


def test_all_kinds_of_files_are_published(copied: Path) -> None:
    root = copied.parents[2]
    kinds = {re.sub(r"/[^/]*\.(svg|png)$", r"/*.\1", str(path.relative_to(root))) for path in published(copied)}
    own = {kind.removeprefix(f"{copied.relative_to(root)}/") for kind in kinds}
    files = ["summary.json", "summary.csv", "summary.md", "summary.tex", "costs.csv", "report.html", "plots/*.svg"]
    assert {*files, "plots/*.png", *_FIRST_READ} <= own
    parts = ["config.json", "predictions.jsonl", "scores.jsonl", "metrics.json", "manifest.json", "toy_answers.jsonl"]
    parts += ["metric_logs/test.jsonl", "evaluation_results/result.json", "evaluation_results/evaluation_result.txt"]
    assert {f"{CELL}/{name}" for name in parts} <= kinds
    assert f"{CELL.replace('strong', 'ask')}/lm_history.jsonl" in kinds
    assert "experiment_runs/seed_1/groups/toy_sums_reader/metrics.json" in kinds


@pytest.mark.parametrize("seed", range(3))
def test_a_changed_digit_is_found_in_every_published_file(copied: Path, seed: int) -> None:
    """All at once, since each must be named for itself."""
    spoilt = [path for path in published(copied) if path.parent != copied or path.name not in _FIRST_READ]
    for path in spoilt:
        change_a_digit(path, random.Random(f"{seed} {path.name}"))
    found = {difference.file for difference in verify(open_run(str(copied))).differences}
    assert [str(path) for path in spoilt if str(path) not in found] == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", _FIRST_READ)
def test_a_changed_digit_is_found_in_what_the_check_starts_from(copied: Path, name: str, seed: int) -> None:
    change_a_digit(copied / name, random.Random(seed))
    open_run.cache_clear()
    assert main(["verify", str(copied)]) != 0


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
