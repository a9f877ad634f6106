"""How far a run has come, looked at while it is at work, after it, and from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from seedbed.cli.main import main
from seedbed.lm.ledger import schema
from seedbed.lm.ledger.batch_views import Gathering
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.read_only import ledger_to_watch
from seedbed.lm.ledger.reads import cost_rows
from seedbed.lm.ledger.recent import failures_by_kind
from seedbed.lm.ledger.repair import LOST
from seedbed.lm.runtime import close_runtimes
from seedbed.local.board import headline, troubles
from seedbed.phases.context import open_run
from seedbed.phases.standing import Standing, standing
from seedbed.storage.store import write_json
from tests.support.cells import Prepared, prepared

CONFIG = """\
name: look
seeds: [0, 1]
models:
  reader: {model: offline/reader, temperature: 0.7, retries: 4, backoff_s: 0.0, options: {errors: {server: 0.2}}}
budget: {max_usd: 3.0}
experiments:
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 20}], systems: [direct, multi]}
"""


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Prepared]:
    (tmp_path / "look.yaml").write_text(CONFIG, encoding="utf-8")
    yield prepared(tmp_path / "look.yaml", tmp_path / "out")
    close_runtimes()


def look(ready: Prepared) -> Standing:
    return standing(open_run(ready.run))


def test_a_run_before_its_first_call_is_starting_and_has_no_time_left_to_tell(ready: Prepared) -> None:
    now = look(ready)
    assert (now.status, now.share, now.left_s) == ("starting", 0.0, None)
    assert now.counts == {"done": 0, "cached": 0, "running": 0, "failed": 0, "waiting": 4}
    assert any("waiting for the Prefect server" in line for line in troubles(now))


def test_a_cell_at_work_shows_its_samples_and_the_run_what_it_spent_and_what_failed(ready: Prepared) -> None:
    first, *_ = ready.plan.cells
    ready.phase(first, "generate")
    now = look(ready)
    own = next(cell for cell in now.cells if cell.id == first.id)
    assert (own.state, list(own.phases), own.share) == ("running", ["generate"], 0.5)
    assert now.share == pytest.approx(0.5 / 4)
    assert now.samples == (20, 80)
    assert now.status == "running"
    assert now.calls.paid == 20
    assert now.calls.failed["server"] > 0
    assert now.calls.spent_usd > 0
    assert now.left_s is not None
    assert replace(now, gathering=Gathering(3, 1.0)).left_s is None, "nobody knows when a batch is answered"
    assert "0 of 4 cells (1 running)" in headline(now)
    assert "0 of 4 cells (1 begun)" in headline(replace(now, status="stopped"))
    assert "of $3" in headline(now)
    assert any(line.startswith("failed attempts: server ") for line in troubles(now))


def test_calls_that_were_in_flight_in_a_kill_are_called_lost_everywhere(ready: Prepared) -> None:
    ready.phase(ready.plan.cells[0], "generate")
    close_runtimes()
    run = open_run(ready.run)
    engine = open_database(run.ledger_url)
    with engine.begin() as connection:
        # As the next process leaves them.
        own = select(schema.attempts.c.id).where(schema.attempts.c.outcome == "paid").limit(1)
        lost = {"outcome": "lost", "error_class": LOST}
        connection.execute(update(schema.attempts).where(schema.attempts.c.id.in_(own)).values(**lost))
    name, generation = run.plan.config.name, run.generation
    assert look(ready).calls.failed["lost"] == 1
    assert "lost 1" in " ".join(troubles(look(ready)))
    assert "lost" in {row["kind"] for row in failures_by_kind(engine, name, generation)}
    engine.dispose()


def test_cells_count_once_and_those_of_an_earlier_run_as_cached(ready: Prepared, tmp_path: Path) -> None:
    for cell in ready.plan.cells[:2]:
        ready.all_phases(cell)
    assert look(ready).counts["done"] == 2
    folder = Path(ready.run)
    # A later run of the same sweep.
    folder.rename(later := folder.with_name("29990101T000000-0001"))
    write_json(later / "summary.json", {"status": "partial", "missing": [
        {"cell": ready.plan.cells[2].title, "reason": "every call failed"}]})  # fmt: skip
    now = standing(open_run(str(later)))
    assert now.counts == {"done": 0, "cached": 2, "running": 0, "failed": 1, "waiting": 1}
    assert now.status == "partial"


def test_a_run_that_nobody_works_on_any_more_says_so(ready: Prepared) -> None:
    ready.phase(ready.plan.cells[0], "generate")
    close_runtimes()
    now = look(ready)
    assert now.status == "stopped"
    assert any("no process is at work" in line for line in troubles(now))


def test_status_and_watch_tell_it(ready: Prepared, capsys: pytest.CaptureFixture[str]) -> None:
    ready.all_phases(ready.plan.cells[0])
    close_runtimes()
    out = ["--out", str(ready.root)]
    assert main(["status", "look", *out]) == 0
    said = capsys.readouterr().out
    assert said.startswith("look: stopped, 25% · 1 of 4 cells · ")
    assert "20 of 80 samples · 20 calls paid" in said
    assert "waiting" in said
    assert main(["status", "--json", *out]) == 0
    data = json.loads(capsys.readouterr().out)[0]
    assert (data["sweep"], data["counts"]["done"], data["calls"]["paid"]) == ("look", 1, 20)
    assert main(["watch", *out]) == 0
    assert "1 of 4 cells" in capsys.readouterr().out
    assert main(["watch", "--out", str(ready.root / "nowhere")]) == 2
    assert "no sweep in" in capsys.readouterr().err


def test_what_may_have_been_billed_is_told_beside_what_was_spent_and_not_as_spent(tmp_path: Path) -> None:
    timed_out = CONFIG.replace("{server: 0.2}", "{timeout: 0.3}").replace("retries: 4", "retries: 9")
    (tmp_path / "look.yaml").write_text(timed_out, encoding="utf-8")
    ready = prepared(tmp_path / "look.yaml", tmp_path / "out")
    ready.phase(ready.plan.cells[0], "generate")
    run = open_run(ready.run)
    now = standing(run)
    with ledger_to_watch(run.ledger_url) as engine:
        rows = cost_rows(engine, "look", run.generation)
    close_runtimes()
    assert now.calls.spent_usd == pytest.approx(sum(row["spent_usd"] for row in rows))
    assert now.calls.at_risk_usd > 0
    assert any(line.startswith(f"up to ${now.calls.at_risk_usd:.4f} more may have been") for line in troubles(now))
