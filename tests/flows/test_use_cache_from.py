"""`use_cache_from` in a sweep on a real server: the cell waits for its source and pays for nothing the source paid."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.conftest import Run, RunSweep
from tests.flows.test_sweep import newest_run, tasks_of

Api = Callable[[str, dict[str, Any]], Any]
SOURCE, DEPENDENT = "GEPA-5", "GEPA-10"
# The dependent cell comes first, and there is room for both: only the wait keeps it from starting at once.
SWEEP = f"""\
name: tryout
seeds: [0]
models:
  small: {{model: offline/small, temperature: 0.7}}
experiments:
  - suite: prompt_optimization
    models: [small]
    benchmarks: [{{name: AIMEBench, repeats: 1, max_train: 6, max_val: 6, limit: 6}}]
    systems: [CoT]
    optimizers: [{{name: {DEPENDENT}, use_cache_from: {SOURCE}}}, {SOURCE}]
runner: {{kind: threads, workers: 2}}
"""
Attempt = tuple[str, str, float, float]
"""Key, outcome, start and end of an attempt."""


@pytest.fixture(scope="module")
def run(module_sweep: RunSweep) -> Run:
    done = module_sweep(SWEEP)
    assert done.code == 0, done.err + done.out[-2000:]
    return done


def _attempts(run: Run) -> dict[str, list[Attempt]]:
    """By optimizer of the cell."""
    found: dict[str, list[Attempt]] = {}
    with sqlite3.connect(run.root / "ledger.sqlite") as ledger:
        for name in (SOURCE, DEPENDENT):
            folder = run.cell(0, f"AIMEBench_CoT_{name}_small")
            (cell,) = ledger.execute(
                "SELECT DISTINCT cell FROM attempts WHERE cell = json_extract(?, '$.cell_id')",
                ((folder / "cell.json").read_text(encoding="utf-8"),),
            ).fetchone()
            query = "SELECT key, outcome, started_at, started_at + coalesce(latency_s, 0) FROM attempts WHERE cell = ?"
            found[name] = ledger.execute(query, (cell,)).fetchall()
    return found


def test_the_dependent_cell_starts_when_its_source_has_ended(run: Run, api: Api) -> None:
    tasks = tasks_of(api, newest_run(api), 7)
    ended = max(task["end_time"] for task in tasks if f" {SOURCE} " in task["name"])
    started = min(task["start_time"] for task in tasks if f" {DEPENDENT} " in task["name"])
    assert started >= ended
    attempts = _attempts(run)
    assert min(start for _, _, start, _ in attempts[DEPENDENT]) >= max(end for *_, end in attempts[SOURCE])


def test_the_dependent_cell_pays_for_nothing_that_its_source_paid(run: Run) -> None:
    attempts = _attempts(run)
    paid = {name: {key for key, outcome, *_ in own if outcome == "paid"} for name, own in attempts.items()}
    asked = {key for key, *_ in attempts[DEPENDENT]}
    shared = asked & paid[SOURCE]
    assert shared, "both searches begin with the same program on the same cases"
    assert not paid[DEPENDENT] & paid[SOURCE]
    assert {outcome for key, outcome, *_ in attempts[DEPENDENT] if key in shared} == {"reused"}
    assert paid[DEPENDENT] == asked - shared, "and it pays for all else"
