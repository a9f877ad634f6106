"""A published score stands beside a cell only where optimizer, model and benchmark are exactly the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seedbed.storage.store import write_json
from seedbed.suite import CellResult, Table
from seedbed.suites.prompt_optimization.report import report

PATH = "data/hotpot"
MINI = "openai/gpt-4.1-mini"


def _cell(folder: Path, optimizer: str = "GEPA", **changes: Any) -> CellResult:
    given = {"benchmark": "HotpotQABench", "n": 300, "model": MINI, "path": PATH, "calls": 6871} | changes
    folder.mkdir(exist_ok=True)
    config = {
        "model": {"model": given["model"]},
        "benchmark_options": {"path": given["path"]},
        "optimizer_options": {"max_metric_calls": given["calls"]} if given["calls"] else {},
    }
    write_json(folder / "config.json", config)
    label = "P" if optimizer == "Baseline" else f"P+{optimizer}"
    metrics = {"score": 0.5, "n": given["n"], "n_errors": 0, "n_skipped": 0}
    return CellResult(given["benchmark"], label, "mini", 0, metrics, folder)


def _row(*cells: CellResult) -> tuple[dict[str, Any], str]:
    (table,) = report(cells)
    assert isinstance(table, Table)
    (row,) = table.rows
    return dict(zip(table.columns, row, strict=True)), table.note


@pytest.mark.parametrize(
    ("optimizer", "benchmark", "n", "calls", "value"),
    [
        ("Baseline", "HotpotQABench", 300, None, "0.3800"),
        ("MIPROv2-Heavy", "Papillon", 221, None, "0.8337"),
        ("GEPA", "HotpotQABench", 300, 6871, "0.6900"),
        ("GEPA", "IFBench", 294, 3593, "0.5272"),
        ("GEPA", "LiveBenchMathBench", 126, 1839, "0.6413"),
    ],
)
def test_what_was_published_is_shown_with_its_source(
    tmp_path: Path, optimizer: str, benchmark: str, n: int, calls: int | None, value: str
) -> None:
    row, note = _row(_cell(tmp_path, optimizer, benchmark=benchmark, n=n, calls=calls))
    assert row["published"] == value
    assert row["score"] == "0.5000"
    assert "arXiv:2507.19457" in note
    assert "not measured here" in note


@pytest.mark.parametrize("optimizer", ["GEPA-5", "GEPA-50", "GEPA-MERGE", "MIPROv2-Light", "SIMBA"])
def test_another_optimizer_shows_nothing(tmp_path: Path, optimizer: str) -> None:
    assert _row(_cell(tmp_path, optimizer))[0]["published"] is None


@pytest.mark.parametrize(
    "changes",
    [{"model": "openai/gpt-4.1"}, {"model": "offline/m"}, {"calls": 500}, {"path": None}, {"n": 40}],
    ids=["another model", "the offline model", "another budget", "the shipped sample", "a part of the benchmark"],
)
def test_the_same_optimizer_under_other_circumstances_shows_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert _row(_cell(tmp_path, **changes))[0]["published"] is None


def test_seeds_of_which_one_is_another_search_show_nothing(tmp_path: Path) -> None:
    cells = [_cell(tmp_path / "a"), _cell(tmp_path / "b", calls=500)]
    assert _row(*cells)[0]["published"] is None
