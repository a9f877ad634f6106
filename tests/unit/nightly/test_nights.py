"""Nights in a row on the offline model, without Prefect: fresh runs, resumed runs, baselines, history."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from seedbed.errors import UserError
from seedbed.lm.ledger.database import open_database
from seedbed.lm.runtime import close_runtimes
from seedbed.nightly.gate import GateResult
from seedbed.nightly.history import read_history
from seedbed.nightly.night import baseline, judge_night, start_night
from seedbed.phases.aggregate import aggregate, score_group
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.phases.run import run_phase
from seedbed.storage.store import Store, read_json, write_json
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

pytestmark = pytest.mark.slow

CONFIG = """\
name: night
seeds: [{seed}]
models:
  reader: {{model: offline/reader, temperature: 0.7, options: {{ability: {ability}, noise: 0.05}}}}
experiments:
  - suite: crosslingual
    models: [reader]
    benchmarks: [{{name: tiny, limit: 80}}]
    systems: [multi]
gate: {{min_effect: 0.1}}
{more}
"""


@pytest.fixture(autouse=True)
def _runtimes() -> Iterator[None]:
    yield
    close_runtimes()


def plan_of(folder: Path, seed: int = 0, ability: float = 0.85, more: str = "") -> Plan:
    config = folder / "night.yaml"
    config.write_text(CONFIG.format(seed=seed, ability=ability, more=more), encoding="utf-8")
    loaded, source = load_config(config)
    return make_plan(loaded, source)


def finish(folder: Path) -> None:
    """The phases of a planned run and its summary, as the flow does them."""
    run = open_run(str(folder))
    for cell in run.plan.cells:
        run_phase(str(folder), cell.id, "generate")
        run_phase(str(folder), cell.id, "score")
    for group, cells in run.plan.groups().items():
        score_group(str(folder), group, [cell.id for cell in cells])
    # Of the summary a night needs only how the run ended; tables and report have tests of their own.
    write_json(folder / "summary.json", {"status": "completed"})


def first_run(folder: Path) -> Path:
    """A run that is accepted as the baseline."""
    made = prepare(plan_of(folder), folder / "out")
    finish(made)
    baseline.accept(open_run(str(made)))
    return made


def night(folder: Path, **changes: Any) -> GateResult:
    made, resumed = start_night(plan_of(folder, **changes), folder / "out", print)
    assert not resumed
    finish(made)
    return judge_night(str(made), "completed")[0]


def paid(folder: Path) -> int:
    engine = open_database(Store(folder / "out").ledger_url)
    with engine.connect() as connection:
        found = connection.execute(text("SELECT count(*) FROM attempts WHERE outcome = 'paid'")).scalar_one()
    engine.dispose()
    return int(found)


def test_an_unchanged_night_passes_20_times_of_20_and_pays_each_time(tmp_path: Path) -> None:
    first_run(tmp_path)
    once = paid(tmp_path)
    verdicts = [night(tmp_path).verdict for _ in range(20)]
    assert verdicts == ["pass"] * 20
    assert paid(tmp_path) == 21 * once
    assert len(read_history(Store(tmp_path / "out"), "night")) == 20
    assert (tmp_path / "out/nightly/night/history.png").read_bytes().startswith(b"\x89PNG")


def test_other_draws_of_the_same_model_are_no_regression(tmp_path: Path) -> None:
    """Other seeds give other answers; a gate at 5% that cried on more than one of eight would cry for nothing."""
    first_run(tmp_path)
    results = [night(tmp_path, seed=seed) for seed in range(1, 9)]
    assert any(result.comparisons[0].difference != 0 for result in results)
    assert [result.verdict for result in results].count("fail") == 0


def test_a_weaker_model_fails(tmp_path: Path) -> None:
    first_run(tmp_path)
    assert night(tmp_path, ability=0.3).verdict == "fail"


def test_a_night_that_died_is_gone_on_with_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    first_run(tmp_path)
    once = paid(tmp_path)
    died, _ = start_night(plan_of(tmp_path), tmp_path / "out", print)
    run_phase(str(died), open_run(str(died)).plan.cells[0].id, "generate")
    made, resumed = start_night(plan_of(tmp_path), tmp_path / "out", print)
    assert resumed
    finish(made)
    assert judge_night(str(made), "completed")[0].verdict == "pass"
    assert paid(tmp_path) == 2 * once


def test_a_night_that_died_long_ago_is_left_alone(tmp_path: Path) -> None:
    died, _ = start_night(plan_of(tmp_path), tmp_path / "out", print)
    died.rename(died.with_name("20240101T030000-aaaa"))
    assert not start_night(plan_of(tmp_path), tmp_path / "out", print)[1]


def test_a_budget_that_cannot_hold_a_night_is_refused_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"field budget\.max_usd: \$1e-09 cannot hold"):
        start_night(plan_of(tmp_path, more="budget: {max_usd: 1e-9}"), tmp_path / "out", print)
    assert not (tmp_path / "out").exists()


def test_a_budget_that_may_not_hold_a_night_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    start_night(plan_of(tmp_path, more="budget: {max_usd: 0.001}"), tmp_path / "out", said.append)
    assert len(said) == 1
    assert said[0].startswith("budget.max_usd $0.001 may not be enough")


def test_a_night_in_which_nothing_finished_does_not_show_last_nights_scores(tmp_path: Path) -> None:
    first_run(tmp_path)
    made, _ = start_night(plan_of(tmp_path), tmp_path / "out", print)
    cell = open_run(str(made)).plan.cells[0].id
    aggregate(str(made), {cell: "every call failed"}, "partial")
    assert read_json(made / "summary.json")["rows"] == []
    result, _ = judge_night(str(made), "partial")
    assert result.headline == "inconclusive: the run is partial and no cell of it has a result"


def test_a_baseline_survives_the_files_it_was_made_from_and_every_version_is_kept(tmp_path: Path) -> None:
    made = first_run(tmp_path)
    store = Store(tmp_path / "out")
    before = baseline.current(store, "night")
    shutil.rmtree(tmp_path / "out/experiment_runs")
    assert baseline.current(store, "night") is not None
    finish(prepare(plan_of(tmp_path), tmp_path / "out"))
    second, path = baseline.accept(open_run(str(store.latest_sweep("night"))), "again")
    assert (second.version, path.name) == (2, "v0002.json")
    assert [number for number, _ in baseline.versions(store, "night")] == [1, 2]
    assert before is not None
    assert before.run == made.name


def test_a_run_that_did_not_complete_cannot_be_accepted(tmp_path: Path) -> None:
    made = prepare(plan_of(tmp_path), tmp_path / "out")
    with pytest.raises(UserError, match="this run is unfinished, and a baseline needs every cell"):
        baseline.accept(open_run(str(made)))
    aggregate(str(made), {open_run(str(made)).plan.cells[0].id: "broke"}, "partial")
    with pytest.raises(UserError, match="this run is partial"):
        baseline.accept(open_run(str(made)))


def test_a_run_whose_scores_were_written_over_cannot_be_accepted(tmp_path: Path) -> None:
    made = first_run(tmp_path)
    night(tmp_path)
    with pytest.raises(UserError, match="was run again since, so this run's scores are gone"):
        baseline.accept(open_run(str(made)))


def test_a_baseline_file_that_is_broken_is_named_and_decides_nothing(tmp_path: Path) -> None:
    first_run(tmp_path)
    file = tmp_path / "out/baselines/night/v0001.json"
    file.write_text('{"schema_version": 1, "version": 1}', encoding="utf-8")
    result = night(tmp_path)
    assert result.verdict == "inconclusive"
    assert "v0001.json: not a baseline" in result.headline
