"""The examples of docs/optimizers.md, run as they stand there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.lm.prices import token_cost
from seedbed.sweep.config import load_config
from seedbed.sweep.estimate import estimate
from seedbed.sweep.plan import make_plan
from tests.flows.conftest import RunSweep
from tests.support.snippets import snippet

SWEEP = """\
name: tryout
seeds: [0]
plugins: [my_optimizer, my_benchmark]
models:
  small: {model: offline/small, temperature: 0.7}
experiments:
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{name: Riddles, limit: 6}]
    systems: [CoT]
    optimizers: [Baseline, {name: RandomSearch, tries: 2}]
"""


@pytest.fixture
def plugins(tmp_path: Path) -> None:
    (tmp_path / "my_optimizer.py").write_text(snippet("optimizers.md", "## Adding an optimizer"), encoding="utf-8")
    (tmp_path / "my_benchmark.py").write_text(snippet("optimizers.md", "## Adding a benchmark"), encoding="utf-8")
    rows = [{"id": f"r{n}", "text": f"Compute {n + 2} * 7 - {n}.", "answer": str(7 * (n + 2) - n)} for n in range(20)]
    (tmp_path / "riddles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.usefixtures("plugins")
def test_the_documented_optimizer_and_benchmark_run_in_a_sweep(run_sweep: RunSweep) -> None:
    run = run_sweep(SWEEP)
    assert run.code == 0, run.err + run.out[-2000:]
    rows = {row["optimizer"]: row for row in run.summary()["rows"]}
    assert {name: (row["benchmark"], row["n"], row["n_errors"]) for name, row in rows.items()} == {
        "Baseline": ("Riddles", 6, 0),
        "RandomSearch": ("Riddles", 6, 0),
    }
    folder = run.cell(0, "Riddles_CoT_RandomSearch_small")
    done = json.loads((folder / "done/optimise.json").read_text(encoding="utf-8"))["result"]
    assert done["n_val"] == 8, "a file of 20 rows was split"
    # The plain program, the labelled and the bootstrapped one, and the tries: about what its budget says.
    assert done["metric_calls"] >= 5 * done["n_val"]
    assert json.loads((folder / "program.json").read_text(encoding="utf-8"))["optimizer"] == "RandomSearch"


@pytest.mark.parametrize("heading", ["## Adding an optimizer", "## Adding a benchmark"])
def test_ten_lines_are_enough(heading: str) -> None:
    lines = [line for line in snippet("optimizers.md", heading).splitlines() if line.strip()]
    assert len(lines) <= 10


def test_the_documented_choice_of_optimizers_can_be_planned(tmp_path: Path) -> None:
    head = "name: d\nseeds: [0]\nmodels: {m: {model: offline/m}}\nexperiments:\n  - suite: prompt_optimization\n"
    body = "    models: [m]\n    benchmarks: [AIMEBench]\n    systems: [CoT]\n"
    config = tmp_path / "d.yaml"
    config.write_text(f"{head}{body}    {snippet('optimizers.md', '# Optimizers', 'yaml')}", encoding="utf-8")
    plan = make_plan(*load_config(config))
    assert [cell.optimizer for cell in plan.cells] == ["Baseline", "GEPA-5", "MIPROv2-Light"]
    assert all(estimate(plan, cell, token_cost).calls > 0 for cell in plan.cells)
