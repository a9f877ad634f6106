"""What a look at a run says, from files and calls that are written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine

from seedbed.errors import UserError
from seedbed.lm.ledger.batch_views import BatchView, Gathering
from seedbed.lm.ledger.progress import CallProgress
from seedbed.phases.context import SweepRun, size_key
from seedbed.phases.standing import CellStanding, Standing, look, started_at
from seedbed.storage.store import write_json
from tests.support.stored import Stored, stored

NO_CALLS = CallProgress({}, 0, 0, 0, 0.0, 0.0, Counter(), 0, False)
BATCH = BatchView("b1", None, "m", "packed", 3, 1, 2, 60.0, ended=False, at_work=False, sweeps=("toys",))


@pytest.mark.parametrize(
    ("cell", "generated", "share"),
    [
        (CellStanding("c", "c", "waiting", size=20), 0, 0.0),
        (CellStanding("c", "c", "done", size=20), 20, 1.0),
        (CellStanding("c", "c", "cached", size=20), 20, 1.0),
        (CellStanding("c", "c", "done"), 0, 1.0),
        (CellStanding("c", "c", "failed", answered=3, samples=20, size=20), 3, 1.0),
        (CellStanding("c", "c", "running", answered=5, samples=20, size=20), 5, 0.125),
        (CellStanding("c", "c", "running", ("generate",), 10, 20, size=20), 20, 0.75),
        (CellStanding("c", "c", "running", ("generate",), 30, 20, size=20), 20, 1.0),
        (CellStanding("c", "c", "running", answered=7, n_phases=3, size=20), 0, 0.0),
        (CellStanding("c", "c", "running", ("optimise",), 10, 20, n_phases=3, size=20), 10, 0.5),
        (CellStanding("c", "c", "running", answered=7, samples=0, size=0), 7, 0.0),
    ],
)
def test_how_much_of_a_cell_is_done(cell: CellStanding, generated: int, share: float) -> None:
    assert (cell.generated, cell.share) == (generated, share)


def run_of(*cells: CellStanding, **more: Any) -> Standing:
    known: dict[str, Any] = {"calls": NO_CALLS, "max_usd": None, "elapsed_s": 100.0, "status": "running", **more}
    return Standing("toys", "folder", cells=cells, **known)


DONE = CellStanding("d", "d", "done", size=8)
WAITS = CellStanding("w", "w", "waiting", size=4)
CACHED = CellStanding("k", "k", "cached", size=2)


def test_a_run_is_the_mean_and_the_sum_of_its_cells() -> None:
    half = CellStanding("h", "h", "running", ("generate",), 0, 4, size=4)
    now = run_of(DONE, half, WAITS, CACHED)
    assert now.share == 0.625
    assert now.samples == (14, 18)
    assert now.counts == {"done": 1, "cached": 1, "running": 1, "failed": 0, "waiting": 1}
    assert run_of().share == 1.0
    assert run_of(DONE, replace(WAITS, size=None)).samples is None
    assert run_of(replace(DONE, size=0)).samples == (0, 0)


@pytest.mark.parametrize(
    ("recent", "elapsed_s", "rate"), [(30, 120.0, 0.5), (30, 60.0, 0.5), (20, 10.0, 2.0), (3, 0.5, 3.0)]
)
def test_the_rate_is_of_the_last_minute_or_of_all_that_there_was(recent: int, elapsed_s: float, rate: float) -> None:
    assert run_of(calls=replace(NO_CALLS, recent=recent), elapsed_s=elapsed_s).rate == rate


def test_the_time_left_goes_by_what_this_run_has_done() -> None:
    assert run_of(DONE, WAITS, WAITS, WAITS, CACHED).left_s == 300.0, "what was there before took no time"
    assert run_of(DONE, DONE, WAITS).left_s == 50.0
    assert run_of(DONE).left_s == 0.0


@pytest.mark.parametrize(
    "now",
    [
        run_of(CACHED),
        run_of(WAITS),
        run_of(DONE, WAITS, status="stopped"),
        run_of(DONE, WAITS, batches=[BATCH]),
        run_of(DONE, WAITS, gathering=Gathering(3, 1.0)),
        run_of(CellStanding("r", "r", "running", answered=9, samples=10), *[WAITS] * 49),
    ],
)
def test_no_time_is_told_where_nothing_says_how_long_it_takes(now: Standing) -> None:
    assert now.left_s is None


def test_a_fiftieth_that_is_done_is_enough_to_tell_the_time_by() -> None:
    assert run_of(DONE, *[WAITS] * 49).left_s == 4900.0


def test_as_data_it_has_all_cells_or_none() -> None:
    calls = replace(NO_CALLS, paid=4, failed=Counter({"server": 2}), recent=30)
    now = run_of(DONE, calls=calls, batches=[BATCH], gathering=Gathering(3, 1.0))
    data = now.to_json()
    assert [cell["id"] for cell in data["cells"]] == ["d"]
    assert (data["calls"]["paid"], data["calls"]["failed"], data["calls"]["per_s"]) == (4, {"server": 2}, 0.5)
    assert (data["batches"][0]["id"], data["gathering"]) == ("b1", {"requests": 3, "age_s": 1.0})
    assert "cells" not in now.to_json(cells=False)
    assert run_of().to_json()["gathering"] is None


CONFIG = """\
name: toys
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
budget: {max_usd: 2.5}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, n: 20}]
    systems: [{name: guess, label: a, skill: 0.1}, {name: guess, label: b, skill: 0.2}, {name: ask, label: c}]
"""
GROWS = """\
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, label: more, n: 40}]
    systems: [{name: guess, label: x, skill: 0.3}, {name: guess, label: y, skill: 0.4}]
    decide: {metric: right, difference: 0.4, looks: 2}
"""
STAMP = "20260102T030405-000000"
BEGAN = 1767323045.0
"""2026-01-02 03:04:05 UTC."""


class Looks:
    """Looks at a run of cells, so many seconds after it began."""

    def __init__(self, made: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = made
        sizes = {size_key(cell): len(made.plan.benchmark(cell).test) for cell in made.plan.cells}
        folder = made.store.root / "sweeps" / "toys" / STAMP
        self.run = SweepRun(folder, made.plan, made.store, replay=False, sizes=sizes)
        self.calls, self.batches = NO_CALLS, list[BatchView]()
        self.gathering: Gathering | None = None
        self.asked: tuple[float, Sequence[str]] = 0.0, ()
        self.settled: dict[str, CellStanding] = {}
        self._after_s = 0.0
        at = "seedbed.phases.standing."
        monkeypatch.setattr(f"{at}time", SimpleNamespace(time=lambda: BEGAN + self._after_s))
        monkeypatch.setattr(f"{at}view_batches", lambda _engine, _name: self.batches)
        monkeypatch.setattr(f"{at}view_gathering", lambda _engine, _name: self.gathering)
        monkeypatch.setattr(f"{at}call_progress", self._progress)

    def _progress(self, _engine: Engine, name: str, generation: int, since: float, cells: Sequence[str]) -> Any:
        assert (name, generation) == ("toys", 0)
        self.asked = since, cells
        return self.calls

    def after(self, seconds: float) -> Standing:
        self._after_s = seconds
        return look(self.run, create_engine("sqlite://"), self.settled)

    def summary(self, *failed: str) -> None:
        missing = [{"cell": self.made.cell(label).title, "reason": "why"} for label in failed]
        write_json(self.run.folder / "summary.json", {"status": "partial", "missing": missing})

    def finish(self, label: str, at: float, **result: Any) -> None:
        cell = self.made.cell(label)
        self.made.answered(cell, **result)
        self.made.scored(cell, [], **result)
        self.made.finished_at(cell, "score", BEGAN + at)


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(stored(tmp_path, CONFIG), monkeypatch)


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(stored(tmp_path, CONFIG + GROWS), monkeypatch)


def states(now: Standing) -> dict[str, str]:
    return {cell.title.partition(" ")[0]: cell.state for cell in now.cells}


def test_a_run_began_when_its_folder_says() -> None:
    assert started_at(STAMP).timestamp() == BEGAN


def test_a_run_without_a_call_is_starting_for_two_minutes(looks: Looks) -> None:
    now = looks.after(119.5)
    assert (now.status, now.elapsed_s, now.max_usd, now.missing) == ("starting", 119.5, 2.5, [])
    assert states(now) == {"a": "waiting", "b": "waiting", "c": "waiting"}
    assert [cell.answered for cell in now.cells] == [0, 0, 0]
    late = looks.after(120.0)
    assert (late.status, late.elapsed_s) == ("stopped", 0.0), "nobody knows when it died"


@pytest.mark.parametrize("at_work", [True, False])
def test_a_run_is_at_work_while_a_process_or_a_batch_of_it_is(looks: Looks, at_work: bool) -> None:
    looks.calls = replace(NO_CALLS, at_work=at_work)
    assert looks.after(500).status == ("running" if at_work else "stopped")
    looks.calls, looks.batches = NO_CALLS, [BATCH, replace(BATCH, at_work=at_work)]
    now = looks.after(500)
    assert now.status == ("running" if at_work else "stopped")
    assert now.batches == looks.batches


def test_calls_are_asked_for_of_the_last_minute_and_of_cells_that_are_not_done(looks: Looks) -> None:
    looks.finish("a", 10)
    looks.made.answered(looks.made.cell("b"))
    looks.after(100)
    assert looks.asked == (BEGAN + 40, [looks.made.cell("b").id, looks.made.cell("c").id])


def test_a_cell_that_was_done_before_the_run_began_is_cached(looks: Looks) -> None:
    looks.finish("a", -0.5)
    looks.finish("b", 0.0)
    now = looks.after(30)
    assert states(now) == {"a": "cached", "b": "done", "c": "waiting"}
    assert [cell.size for cell in now.cells] == [20, 20, 20]
    assert now.status == "stopped", "something was done, and no process is at work"
    assert list(now.cells[1].phases) == ["generate", "score"]


def test_a_run_that_ended_took_until_its_last_cell(looks: Looks) -> None:
    for label, at in (("a", 10), ("b", 40), ("c", -99)):
        looks.finish(label, at)
    looks.summary()
    now = looks.after(5000)
    assert (now.status, now.elapsed_s) == ("partial", 40.0)


def test_a_run_whose_cells_were_all_there_took_no_time(looks: Looks) -> None:
    for label in "abc":
        looks.finish(label, -50)
    looks.summary()
    assert looks.after(5000).elapsed_s == 0.0


def test_a_cell_at_work_has_what_the_ledger_counts_of_its_phase(looks: Looks) -> None:
    a, b, c = looks.made.plan.cells
    looks.made.answered(b)
    looks.made.answered(c)
    looks.calls = replace(NO_CALLS, answered={(a.id, "generate"): 3, (b.id, "score"): 2, (c.id, "generate"): 9})
    now = looks.after(30)
    assert [(cell.state, list(cell.phases), cell.answered, cell.samples) for cell in now.cells] == [
        ("running", [], 3, 20),
        ("running", ["generate"], 2, 20),
        ("running", ["generate"], 0, 20),
    ]
    assert looks.settled == {}


def test_a_cell_of_which_nothing_is_answered_yet_is_at_work(looks: Looks) -> None:
    looks.calls = replace(NO_CALLS, answered={(looks.made.cell("a").id, "generate"): 0})
    assert states(looks.after(30)) == {"a": "running", "b": "waiting", "c": "waiting"}


def test_a_cell_that_the_summary_misses_has_failed_whatever_it_has_done(looks: Looks) -> None:
    looks.made.answered(looks.made.cell("a"))
    looks.finish("b", 5)
    looks.summary("a")
    now = looks.after(30)
    assert states(now) == {"a": "failed", "b": "done", "c": "waiting"}
    assert list(now.cells[0].phases) == ["generate"]
    assert [row["reason"] for row in now.missing] == ["why"]


def test_what_was_seen_done_is_not_looked_at_again(looks: Looks) -> None:
    looks.finish("a", 5)
    looks.after(30)
    assert list(looks.settled) == [looks.made.cell("a").id]
    looks.made.store.forget(looks.made.cell("a"), ["generate", "score"])
    looks.finish("b", 35)
    now = looks.after(60)
    assert states(now) == {"a": "done", "b": "done", "c": "waiting"}
    assert looks.asked[1] == [looks.made.cell("c").id]


def test_a_search_has_no_number_of_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = (
        CONFIG.replace(
            "plugins: [tests.support.toy]\n", "plugins: [tests.support.contest_suite]\nroles: {judge: reader}\n"
        )
        .replace("suite: toy", "suite: contest")
        .replace("{name: sums, n: 20}", "{name: claims, limit: 20}")
    )
    config = config[: config.index("    systems")] + "    systems: [say]\n    optimizers: [BootstrapFewShot]\n"
    looks = Looks(stored(tmp_path, config), monkeypatch)
    (cell,) = looks.made.plan.cells
    looks.calls = replace(NO_CALLS, answered={(cell.id, "optimise"): 4})
    (searching,) = looks.after(30).cells
    assert (searching.state, searching.answered, searching.samples, searching.n_phases) == ("running", 4, None, 3)
    looks.made.store.claim_folder(cell)
    looks.made.done(cell, "optimise")
    looks.calls = replace(NO_CALLS, answered={(cell.id, "generate"): 5})
    (asking,) = looks.after(30).cells
    assert (asking.answered, asking.samples, asking.share) == (5, 20, pytest.approx((1 + 0.25) / 3))


def test_a_cell_that_grows_is_at_work_until_its_contest_has_ended(growing: Looks) -> None:
    growing.finish("a", 5)
    growing.finish("x", 5, asked=20)
    x = next(cell for cell in growing.after(30).cells if cell.title.startswith("x"))
    assert (x.state, x.answered, x.samples, x.share, x.size) == ("running", 20, 40, 0.5, 40)
    assert list(growing.settled) == [growing.made.cell("a").id]
    growing.summary()
    x = next(cell for cell in growing.after(30).cells if cell.title.startswith("x"))
    assert (x.state, x.size, x.generated) == ("done", 20, 20), "what it was asked is all that it has"


@pytest.mark.parametrize("error", [UserError("no plugin"), OSError("no data")])
def test_who_has_not_the_data_takes_a_finished_look_for_the_end(
    growing: Looks, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object) -> set[str]:
        raise error

    growing.finish("x", 5, asked=20)
    monkeypatch.setattr("seedbed.phases.standing.unfinished", refuse)
    assert states(growing.after(30))["x"] == "done"
