"""The examples of docs/extending.md, run as they stand there, in a folder outside the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flows.conftest import RunSweep
from tests.support.snippets import snippet

SWEEP = """\
name: tryout
seeds: [0]
plugins: [my_suite, my_scorers, my_provider]
models:
  bird: {model: parrot/any, price: {input: 1, output: 2}}
experiments:
  - suite: sums
    models: [bird]
    benchmarks: [{name: sums, path: sums.csv}]
    systems: [plain]
    scorers: [brevity]
"""


@pytest.fixture
def plugins(tmp_path: Path) -> None:
    for name, heading in (
        ("my_suite", "## A suite"),
        ("my_scorers", "## A scorer, for any suite"),
        ("my_provider", "## A provider"),
    ):
        (tmp_path / f"{name}.py").write_text(snippet("extending.md", heading), encoding="utf-8")
    (tmp_path / "sums.csv").write_text("2 + 2,4\n2 + 3,5\n1 + 3,4\n", encoding="utf-8")


@pytest.mark.usefixtures("plugins")
def test_a_suite_a_scorer_and_a_provider_of_ones_own_run_from_the_docs_alone(run_sweep: RunSweep) -> None:
    run = run_sweep(SWEEP)
    assert run.code == 0, run.err + run.out[-2000:]
    (row,) = run.summary()["rows"]
    assert (row["n"], row["n_errors"]) == (3, 0)
    assert row["metrics"]["right"]["mean"] == pytest.approx(2 / 3)
    assert row["metrics"]["brevity"]["mean"] == 1.0
    assert (row["tokens_in"], row["tokens_out"]) == (30, 6)
    assert row["spent_usd"] == pytest.approx(30e-6 + 12e-6)
    scores = [json.loads(line) for line in (run.cell(0, "sums_plain_Baseline_bird") / "scores.jsonl").open()]
    assert scores[0]["scores"] == {"right": 1.0, "brevity": 1.0}
