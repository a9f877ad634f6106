"""How many cases a cell is asked that grows look by look; and its like in earlier runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.phases.asked import asked_of, covers, to_ask
from seedbed.phases.context import SweepRun
from seedbed.phases.earlier_cells import earlier_cells
from seedbed.phases.growing import growing
from seedbed.storage.store import Store, write_json
from seedbed.sweep.cell import Cell
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

CONFIG = """\
name: grows
seeds: [0, 1]
plugins: [tests.support.contest_suite]
models: {{reader: {{model: offline/reader}}}}
roles: {{judge: reader}}
experiments:
  - suite: contest
    models: [reader]
    benchmarks: [claims]
    systems: [{{name: say, label: base}}, {{name: say, label: other, skill: 0.5}}]
    optimizers: [Baseline, BootstrapFewShot]
    {decide}
"""
LOOKS = "decide: {looks: 4, difference: 0.3}"


def run(folder: Path, decide: str = LOOKS) -> SweepRun:
    config = folder / "grows.yaml"
    config.write_text(CONFIG.format(decide=decide), encoding="utf-8")
    store = Store(folder / "out")
    return SweepRun(store.sweep_dir("grows", "s"), make_plan(*load_config(config)), store, replay=False)


def answered(made: SweepRun, cell: Cell, **result: int) -> None:
    write_json(made.store.cell_dir(cell) / "done/generate.json", {"result": result})


def test_up_to_a_look_the_cases_of_the_order_until_there_are_asked(tmp_path: Path) -> None:
    made = run(tmp_path)
    cell = made.plan.cells[0]
    # 160 cases in clusters of two, looked at four times.
    assert [to_ask(made, cell, "generate", look) for look in (1, 2, 3, 4)] == [40, 80, 120, 160]
    assert [to_ask(made, cell, "score", look) for look in (1, 4)] == [40, 160]


def test_without_a_look_all_are_asked_and_those_scored_that_have_been_answered(tmp_path: Path) -> None:
    made = run(tmp_path)
    cell = made.plan.cells[0]
    assert (to_ask(made, cell, "generate", None), to_ask(made, cell, "score", None)) == (160, None)
    answered(made, cell, asked=80)
    assert (to_ask(made, cell, "generate", None), to_ask(made, cell, "score", None)) == (160, 80)


def test_a_search_and_a_cell_that_has_all_at_once_are_not_asked_by_parts(tmp_path: Path) -> None:
    made = run(tmp_path)
    (search, *_) = [cell for cell in made.plan.cells if cell.optimised]
    assert [to_ask(made, search, "optimise", look) for look in (1, None)] == [None, None]
    whole = run(tmp_path, "")
    cell = whole.plan.cells[0]
    assert [to_ask(whole, cell, phase, look) for phase in ("generate", "score") for look in (1, None)] == [None] * 4


def test_the_answers_of_a_cell_say_of_how_many_cases_they_are(tmp_path: Path) -> None:
    made = run(tmp_path)
    cell = made.plan.cells[0]
    assert asked_of(made, cell) is None
    answered(made, cell)
    assert asked_of(made, cell) is None
    answered(made, cell, asked=40)
    assert asked_of(made, cell) == 40
    assert asked_of(made, replace(cell, in_looks=False)) is None


@pytest.mark.parametrize(
    ("result", "asked", "expected"),
    [
        ({"asked": 40}, 40, True),
        ({"asked": 41}, 40, True),
        ({"asked": 39}, 40, False),
        ({}, 1, False),
        ({}, None, True),
    ],
)
def test_a_finished_phase_covers_as_many_cases_as_it_was_asked(
    result: dict[str, int], asked: int | None, expected: bool
) -> None:
    assert covers({"result": result}, asked) is expected


def test_cells_that_grow_are_gathered_by_what_decides_them_in_the_order_of_the_plan(tmp_path: Path) -> None:
    made = run(tmp_path)
    (group,) = growing(made)
    assert (group.suite, group.metric, group.looks) == ("contest", "fine", 4)
    assert group.cells == tuple(cell.id for cell in made.plan.cells)
    assert growing(run(tmp_path, "")) == []


# -- earlier runs ------------------------------------------------------------------------------------------------------


def _plan_file(made: SweepRun, stamp: str, **ids: str) -> None:
    """A run of then, with these ids for the cells of a label."""
    rows = [
        {**{name: getattr(cell, name) for name in ("suite", "benchmark", "system", "optimizer", "model")}, "id": own}
        for label, own in ids.items()
        for cell in made.plan.cells
        if cell.label == label and cell.seed == 0
    ]
    write_json(made.store.sweep_dir("grows", stamp) / "plan.json", {"cells": rows})


def test_the_like_of_a_cell_in_earlier_runs_are_those_of_its_names_whatever_their_seed(tmp_path: Path) -> None:
    made = run(tmp_path)
    cells = {cell.label: cell.id for cell in made.plan.cells}
    assert set(map(tuple, earlier_cells(made.store, made.plan).values())) == {()}
    _plan_file(made, "20260101T000000-a", base="b1", other="o1")
    _plan_file(made, "20260102T000000-a", base="b2", other="o1")
    _plan_file(made, "20260103T000000-a.moved", base="gone")
    write_json(made.store.sweep_dir("grows", "20260104T000000-a") / "run.json", {})
    found = earlier_cells(made.store, made.plan)
    assert [found[cell.id] for cell in made.plan.cells if cell.label == "base"] == [["b1", "b2"]] * 2
    assert found[cells["other"]] == ["o1"]
    assert found[cells["base+BootstrapFewShot"]] == []


def test_only_the_thirty_newest_runs_are_looked_at(tmp_path: Path) -> None:
    made = run(tmp_path)
    for day in range(1, 32):
        _plan_file(made, f"202601{day:02d}T000000-a", base=f"b{day}")
    found = earlier_cells(made.store, made.plan)
    assert found[made.plan.cells[0].id] == [f"b{day}" for day in range(2, 32)]
