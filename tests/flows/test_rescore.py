"""`seedbed rescore`: stored answers are scored again and nothing is generated."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from tests.flows.conftest import RunSweep
from tests.support import forked

SWEEP = """
name: again
seeds: [0]
models:
  reader: {model: offline/reader}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{name: tiny, limit: 4}]
    systems: [direct, multi]
"""


def attempts(root: Path) -> int:
    with sqlite3.connect(root / "ledger.sqlite") as ledger:
        return ledger.execute("select count(*) from attempts where phase = 'generate'").fetchone()[0]


def test_rescoring_makes_a_new_run_without_a_call(run_sweep: RunSweep) -> None:
    first = run_sweep(SWEEP)
    assert first.code == 0, first.err
    scores = first.cell(0, "tiny_multi_Baseline_reader") / "scores.jsonl"
    whole, before = scores.read_text(encoding="utf-8"), attempts(first.root)
    scores.write_text(whole.replace("1.0", "0.0"), encoding="utf-8")
    command = [sys.executable, "-m", "seedbed", "rescore", "again", "--out", str(first.root)]
    done = forked.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert scores.read_text(encoding="utf-8") == whole
    assert attempts(first.root) == before
    assert len(list((first.root / "sweeps" / "again").glob("*/report.html"))) == 2
