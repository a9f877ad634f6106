"""Code of others that leaves by `sys.exit` fails by itself; nobody waits for ever, and nothing else ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import LeftByExit, UserError
from seedbed.lm.runtime import close_runtimes
from tests.support.cells import Prepared, prepared

PLUGIN = """\
import asyncio, sys
from pathlib import Path
import dspy
from seedbed import Answer, Benchmark, BenchmarkSpec, Case, Metric, ScoreRow, Suite, SystemSpec, register_suite, scorer

def load(options):
    return Benchmark("numbers", [Case(f"q{n}", {"number": n}, gold="even") for n in range(4)])

def leave_at_two(number):
    if number == 2:
        sys.exit("no luck with two")
    return {"answer": "even"}

async def leave_at_two_async(number):
    await asyncio.sleep(0)
    return leave_at_two(number)

class Module(dspy.Module):
    def forward(self, number):
        return dspy.Prediction(**leave_at_two(number))

async def leave_a_task_behind(number):
    task = asyncio.get_running_loop().create_task(leave_at_two_async(2))
    await asyncio.wait([task])
    return {"answer": "even"}

async def score(context, cases, predictions):
    if context.cell.system == "scored":
        sys.exit(3)
    return [
        ScoreRow(case.sample_id, "ok" if isinstance(given := predictions[case.sample_id], Answer) else "error",
                 {"right": 1.0} if isinstance(given, Answer) else {})
        for case in cases
    ]

@scorer("leaver", [Metric("kept", "Kept", kind="rate")])
def leave_as_scorer(context, case, output, options):
    if case.sample_id == "q1":
        sys.exit(0)
    return 1.0

def aggregate(rows):
    right = [1.0 for row in rows if row.status == "ok"]
    return {"right": 1.0 if right else None, "n": len(right), "n_errors": len(rows) - len(right), "n_skipped": 0}

def build(context, options):
    sys.exit("not built")

register_suite(Suite(name="leaving", title="Leaving", version="1",
    benchmarks={"numbers": BenchmarkSpec(load, data=Path(__file__))},
    systems={"plain": SystemSpec(lambda context, options: leave_at_two),
             "scored": SystemSpec(lambda context, options: lambda number: {"answer": "even"}),
             "async": SystemSpec(lambda context, options: leave_at_two_async),
             "module": SystemSpec(lambda context, options: Module()),
             "task": SystemSpec(lambda context, options: leave_a_task_behind),
             "built": SystemSpec(build)},
    score=score, aggregate=aggregate, metrics=(Metric("right", "Right", kind="rate"),)))
"""
CONFIG = """\
name: leaving
seeds: [0]
plugins: [leaving_suite]
models: {reader: {model: offline/reader}}
experiments:
  - {suite: leaving, models: [reader], benchmarks: [numbers], systems: [SYSTEM], scorers: SCORERS}
max_error_share: 1.0
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def _config(folder: Path, system: str, scorers: str = "[]") -> Path:
    (folder / "leaving_suite.py").write_text(PLUGIN, encoding="utf-8")
    path = folder / "sweep.yaml"
    path.write_text(CONFIG.replace("SYSTEM", system).replace("SCORERS", scorers), encoding="utf-8")
    return path


def _ready(folder: Path, system: str, scorers: str = "[]") -> Prepared:
    return prepared(_config(folder, system, scorers), folder / "out")


def _rows(ready: Prepared, name: str) -> dict[str, Any]:
    return {row["sample_id"]: row for row in ready.rows(ready.plan.cells[0], name)}


@pytest.mark.parametrize("system", ["plain", "async", "module"])
def test_a_system_that_leaves_has_no_answer_to_that_sample(tmp_path: Path, system: str) -> None:
    ready = _ready(tmp_path, system)
    result = ready.all_phases(ready.plan.cells[0])
    rows = _rows(ready, "predictions.jsonl")
    assert rows["q2"]["error"] == {"kind": "LeftByExit", "message": "the code called sys.exit('no luck with two')"}
    assert [rows[name]["output"] for name in ("q0", "q1", "q3")] == [{"answer": "even"}] * 3
    assert (result["metrics"]["n"], result["metrics"]["n_errors"]) == (3, 1)


def test_a_scorer_that_leaves_gives_no_score_to_that_sample(tmp_path: Path) -> None:
    ready = _ready(tmp_path, "task", "[leaver]")
    ready.all_phases(ready.plan.cells[0])
    kept = {sample: row["scores"]["kept"] for sample, row in _rows(ready, "scores.jsonl").items()}
    assert kept == {"q0": 1.0, "q1": None, "q2": 1.0, "q3": 1.0}
    assert "sys.exit(0)" in json.dumps(_rows(ready, "scores.jsonl")["q1"])


@pytest.mark.parametrize(("system", "said"), [("scored", "sys.exit(3)"), ("built", "sys.exit('not built')")])
def test_a_suite_that_leaves_fails_its_cell_and_no_other(tmp_path: Path, system: str, said: str) -> None:
    ready = _ready(tmp_path, f"{system}, plain")
    bad, good = ready.plan.cells
    with pytest.raises(LeftByExit, match=said.replace("(", r"\(").replace(")", r"\)")):
        ready.all_phases(bad)
    assert ready.all_phases(good)["metrics"]["n"] == 3


def test_a_plugin_that_leaves_when_it_is_imported_is_one_sentence(tmp_path: Path) -> None:
    path = _config(tmp_path, "plain")
    (tmp_path / "leaving_at_once.py").write_text("import sys; sys.exit(0)", encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("[leaving_suite]", "[leaving_at_once]"), encoding="utf-8")
    with pytest.raises(UserError, match=r"'leaving_at_once' failed while it was imported .*sys.exit\(0\)"):
        prepared(path, tmp_path / "out")


def test_a_command_that_code_of_others_leaves_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _config(tmp_path, "plain")
    plugin = PLUGIN.replace('return Benchmark("numbers"', 'sys.exit(0)\n    return Benchmark("numbers"')
    (tmp_path / "leaving_data.py").write_text(plugin.replace('"leaving"', '"leaving_data"'), encoding="utf-8")
    path.write_text(
        path.read_text(encoding="utf-8")
        .replace("leaving_suite", "leaving_data")
        .replace("suite: leaving", "suite: leaving_data"),
        encoding="utf-8",
    )
    assert main(["plan", str(path)]) == 2
    assert "the code called sys.exit(0)" in capsys.readouterr().err
