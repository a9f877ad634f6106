"""Why a phase runs again is told in words: what of it was made then, what would be made now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.changes import Ran, read_ran, stale, summarise, write_ran
from seedbed.phases.context import SweepRun
from seedbed.storage.store import Done, Store, write_json, write_text
from seedbed.sweep.cell import Cell, Phase
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import make_plan

CONFIG = """\
name: again
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - {suite: toy, models: [reader], benchmarks: [{name: sums, n: 4}], systems: [{name: guess, label: base}]}
"""


@pytest.fixture
def run(tmp_path: Path) -> SweepRun:
    """A run of one cell, of the second fresh start, with nothing in its folder."""
    config = tmp_path / "again.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    plan = replace(make_plan(*load_config(config)), generation=2)
    store = Store(tmp_path / "out")
    return SweepRun(store.sweep_dir("again", "20260101T000000-aaaa"), plan, store, replay=False)


def finish(run: SweepRun, cell: Cell, phase: Phase = "generate", generation: int = 2, **result: Any) -> None:
    folder = run.store.claim_folder(cell)
    write_text(folder / "predictions.jsonl", "{}\n")
    files = ["predictions.jsonl"]
    run.store.mark_done(cell, phase, Done(cell.key(phase), generation, cell.parts(phase), files, result))


def other(cell: Cell, **parts: str) -> Cell:
    """The cell as it would be with other parts, under its own id."""
    return replace(cell, scoring={**cell.scoring, **parts})


def test_a_phase_whose_files_are_there_is_current(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    finish(run, cell)
    assert stale(run, cell, "generate") is None
    finish(run, cell, generation=3)
    assert stale(run, cell, "generate") is None, "what a later fresh start made is good too"


def test_a_cell_without_a_folder_is_new(run: SweepRun) -> None:
    assert stale(run, run.plan.cells[0], "generate") == "new"


def test_a_phase_without_a_marker_had_not_been_finished(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    finish(run, cell)
    assert stale(run, cell, "score") == "it had not been finished"


def test_a_phase_of_before_a_fresh_start_is_done_again(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    finish(run, cell, generation=1)
    assert stale(run, cell, "generate") == "the sweep was started afresh"


def test_a_phase_whose_file_is_gone_is_done_again(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    finish(run, cell)
    (run.store.cell_dir(cell) / "predictions.jsonl").unlink()
    assert stale(run, cell, "generate") == "its files are gone or were changed"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("benchmark", "data, options or loader of benchmark 'sums' have changed"),
        ("system", "code or options of system 'base' have changed"),
        ("model", "model 'reader' has other settings"),
        ("suite", "suite 'toy' has changed"),
        ("seed", "the seed is another"),
    ],
)
def test_another_cell_in_the_folder_is_told_apart_by_its_parts(run: SweepRun, part: str, said: str) -> None:
    (cell,) = run.plan.cells
    finish(run, replace(cell, id="f" * 64, answers={**cell.answers, part: "was"}))
    assert stale(run, cell, "generate") == said


def test_other_scoring_is_named_and_the_answers_stay(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    finish(run, cell, "generate")
    finish(run, cell, "score")
    now = other(cell, scoring="1", judges="2", mood="3")
    assert stale(run, now, "generate") is None
    # What has no words of its own is named as it is.
    told = "the scoring of suite 'toy' has changed and scores are given by another model and mood"
    assert stale(run, now, "score") == told


def test_equal_parts_behind_another_key_are_an_earlier_phase_that_has_changed(run: SweepRun) -> None:
    (cell,) = run.plan.cells
    folder = run.store.claim_folder(cell)
    write_json(
        folder / "done/score.json", {"key": "another", "generation": 2, "parts": dict(cell.parts("score")), "files": {}}
    )
    assert stale(run, cell, "score") == "an earlier phase has changed"


def test_what_was_done_before_and_after_counts_once_with_the_first_cause() -> None:
    first, second = Ran(("generate",), "new"), Ran(("generate", "score"), "the seed is another")
    assert first.and_then(second) == Ran(("generate", "score"), "new")
    assert Ran().and_then(second) == second
    assert first.and_then(Ran()) == first
    assert Ran().and_then(Ran()) == Ran()


def test_the_summary_counts_cells_by_what_ran_and_why_the_most_first() -> None:
    again = Ran(("score",), "the scoring of suite 'toy' has changed")
    new, search = Ran(("generate", "score"), "new"), Ran(("optimise", "generate", "score"), "the seed is another")
    assert summarise([new, again, Ran(), again, search, Ran(), again]) == [
        "2 of 7 cells were up to date",
        "3 cells scored again: the scoring of suite 'toy' has changed",
        "1 cell generated and scored: new",
        "1 cell optimised and generated and scored again: the seed is another",
    ]
    assert summarise([Ran()]) == ["1 of 1 cells were up to date"]
    assert summarise([new, new]) == ["0 of 2 cells were up to date", "2 cells generated and scored: new"]


def test_a_cell_of_which_nothing_was_done_has_no_line() -> None:
    assert summarise([Ran((), "new")]) == ["0 of 1 cells were up to date"]


def test_what_ran_is_kept_beside_the_summary(run: SweepRun) -> None:
    assert read_ran(run) == []
    write_ran(run, ("2 of 2 cells were up to date", "more"))
    assert read_ran(run) == ["2 of 2 cells were up to date", "more"]
    assert (run.folder / "ran.json").exists()
