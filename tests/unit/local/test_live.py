"""What the page shows of sweeps, from files and ledgers that are only read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.lm.runtime import close_runtimes
from seedbed.local.live import Live, runs_of
from seedbed.local.roots import Root, remember_root
from tests.support.cells import Prepared, prepared

CONFIG = """\
name: look
seeds: [0, 1]
models:
  reader: {model: offline/reader, temperature: 0.7, retries: 6, backoff_s: 0.0, options: {errors: {server: 0.2}}}
budget: {max_usd: 3.0}
experiments:
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 10}], systems: [direct, multi]}
"""


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prepared]:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path / "home"))
    (tmp_path / "look.yaml").write_text(CONFIG, encoding="utf-8")
    yield prepared(tmp_path / "look.yaml", tmp_path / "out")
    close_runtimes()


@pytest.fixture
def root(ready: Prepared) -> Root:
    # Not run here: no report is made while it runs.
    made = remember_root(ready.root, ran=False)
    assert made is not None
    return made


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}


def test_a_run_at_work_is_told_with_calls_errors_and_money_and_nothing_is_written(ready: Prepared, root: Root) -> None:
    ready.phase(ready.plan.cells[0], "generate")
    before = snapshot(ready.root)
    live = Live()
    told = live.run(root.id, "look").told()
    assert (told["status"], told["n_cells"], told["counts"]["running"]) == ("running", 4, 1)
    assert told["calls"]["paid"] == 10
    assert told["running"][0]["phase"] == "score"
    assert told["failures"][0]["kind"] == "server"
    assert told["failures"][0]["count"] == told["calls"]["failed"]["server"]
    assert sum(part["calls"] for part in told["series"]["slices"]) == 10 + told["failures"][0]["count"]
    assert sum(part["usd"] for part in told["series"]["slices"]) == pytest.approx(told["calls"]["spent_usd"])
    assert {call["cell"] for call in told["calls"]["latest"]} == {ready.plan.cells[0].title}
    assert not told["report"]["cells"]
    answered = next(call for call in told["calls"]["latest"] if call["outcome"] == "paid")
    shown = live.run(root.id, "look").call(int(answered["id"]))
    assert shown["sent"]
    assert shown["received"]
    [entry] = live.sweeps()
    assert (entry["sweep"], entry["status"], entry["spent_usd"]) == ("look", "running", told["calls"]["spent_usd"])
    assert snapshot(ready.root) == before


def test_cells_come_by_the_screenful_and_can_be_chosen(ready: Prepared, root: Root) -> None:
    ready.all_phases(ready.plan.cells[0])
    watched = Live().run(root.id, "look")
    assert watched.cells("", "", 0)["total"] == 4
    assert [cell["title"] for cell in watched.cells("done", "", 0)["cells"]] == [ready.plan.cells[0].title]
    assert watched.cells("", "MULTI seed 1", 0)["total"] == 1
    assert watched.cells("", "", 4)["cells"] == []


def test_a_finished_run_is_told_from_its_summary_and_has_its_report(ready: Prepared, root: Root) -> None:
    ready.finish()
    live = Live()
    told = live.run(root.id, "look").told()
    assert told["status"] == "completed"
    assert told["report"]["file"].endswith("/report.html")
    assert any("multi" in line for line in told["report"]["verdicts"])
    [entry] = live.sweeps()
    assert (entry["status"], entry["counts"]["done"]) == ("completed", 4)
    assert entry["spent_usd"] == pytest.approx(told["calls"]["spent_usd"])


def test_ten_thousand_cells_make_no_larger_page_and_are_looked_at_once(ready: Prepared, root: Root) -> None:
    """What is told of a run does not grow with it, and cells that are done are not read again."""
    ready.all_phases(ready.plan.cells[0])
    close_runtimes()
    live = Live()
    small = len(json.dumps(live.run(root.id, "look").told(), default=str))
    [first, *_] = ready.plan.cells
    many = [first, *(replace(first, system=f"s{i}", id=f"{i:064x}") for i in range(9_999))]
    plan = Path(ready.run) / "plan.json"
    data = json.loads(plan.read_text(encoding="utf-8"))
    plan.write_text(json.dumps({**data, "cells": [asdict(cell) for cell in many]}), encoding="utf-8")
    told = Live().run(root.id, "look").told()
    assert told["counts"] == {"done": 1, "cached": 0, "running": 0, "failed": 0, "waiting": 9_999}
    assert len(json.dumps(told, default=str)) < small + 500
    assert len(Live().run(root.id, "look").cells("", "", 0)["cells"]) == 100


def test_names_that_are_no_run_are_refused(ready: Prepared, root: Root) -> None:
    live = Live()
    for sweep, run in (("..", None), ("none", None), ("look", ".."), ("look", "20000101T000000-0")):
        with pytest.raises(UserError, match="there is no"):
            live.run(root.id, sweep, run)
    assert runs_of(root, "look") == [Path(ready.run).name]
