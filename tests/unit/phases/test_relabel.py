"""Cells under another label keep the results they have, and the old folder stays as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from seedbed.phases.relabel import take_along
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import read_json, write_json
from seedbed.suite import ScoreRow
from tests.support.stored import Stored, stored

CONFIG = """\
name: toys
seeds: [0]
plugins: [tests.support.toy]
models: {reader: {model: offline/reader}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{name: sums, n: 4}]
    systems: [{name: guess, label: LABEL, skill: 0.1}, {name: guess, label: other, skill: 0.2}]
"""


def sweep(folder: Path, label: str) -> Stored:
    return stored(folder, CONFIG.replace("LABEL", label))


def publish(made: Stored, stamp: str = "20260101T000000-1") -> Path:
    path = made.store.sweep_dir("toys", stamp) / "plan.json"
    write_json(path, made.plan.to_json())
    return path


@pytest.fixture
def before(tmp_path: Path) -> Stored:
    """A finished cell `old` of the last run."""
    made = sweep(tmp_path, "old")
    cell = made.cell("old")
    made.answered(cell, [{"sample_id": "a"}])
    made.scored(cell, [ScoreRow("a", "ok")])
    folder = made.folder(cell)
    write_json(folder / "config.json", {"cell": {"system": "old"}, "kept": 1})
    write_json(folder / "metrics.json", {"metrics": {"old": {"n": 1}}, "usage": {}})
    write_json(folder / "evaluation_results/result.json", {"program": "old", "benchmark": "sums", "optimizer": None})
    made.done(cell, "score", ["scores.jsonl", "metrics.json", "evaluation_results/result.json", "config.json"], n=1)
    publish(made)
    return made


def body(path: Path) -> dict[str, Any]:
    return {name: value for name, value in read_json(path).items() if name != "schema_version"}


def test_a_cell_of_another_name_has_all_results_it_had(before: Stored, tmp_path: Path) -> None:
    old = before.folder(before.cell("old"))
    was = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    now = sweep(tmp_path, "new")
    cell = now.cell("new")
    take_along(now.store, now.plan)
    new = now.folder(cell)
    for phase in cell.phases:
        marker = now.store.done(cell, phase, cell.key(phase), 0)
        assert marker is not None
        assert {name: hash_file(new / name) for name in marker["files"]} == marker["sha256"]
    assert body(new / "metrics.json") == {"metrics": {"new": {"n": 1}}, "usage": {}}
    assert body(new / "config.json")["cell"]["system"] == "new"
    assert body(new / "config.json")["kept"] == 1
    assert body(new / "evaluation_results/result.json") == {"program": "new", "benchmark": "sums", "optimizer": None}
    assert body(new / "cell.json") == {**body(old / "cell.json"), "title": cell.title}
    assert (new / "predictions.jsonl").stat().st_ino == (old / "predictions.jsonl").stat().st_ino, "files are shared"
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == was
    assert sorted(path.name for path in new.parent.iterdir()) == sorted([new.name, old.name])


def test_a_cell_that_was_searched_for_keeps_its_optimizer(before: Stored, tmp_path: Path) -> None:
    result = before.folder(before.cell("old")) / "evaluation_results/result.json"
    write_json(result, {"program": "old", "benchmark": "sums", "optimizer": "GEPA"})
    now = sweep(tmp_path, "new")
    take_along(now.store, now.plan)
    assert body(now.folder(now.cell("new")) / "evaluation_results/result.json")["optimizer"] == "Baseline"


def test_a_cell_that_has_only_answers_is_taken_along_too(tmp_path: Path) -> None:
    made = sweep(tmp_path, "old")
    made.answered(made.cell("old"), [{"sample_id": "a"}])
    publish(made)
    left = made.folder(made.cell("old")).with_name(".sums_new_Baseline_reader.taken-along")
    (left / "of a crash").mkdir(parents=True)
    now = sweep(tmp_path, "new")
    take_along(now.store, now.plan)
    folder = now.folder(now.cell("new"))
    assert sorted(path.name for path in folder.iterdir()) == ["cell.json", "done", "predictions.jsonl"]
    assert now.store.done(now.cell("new"), "generate", now.cell("new").key("generate"), 0)


def test_files_are_copied_where_there_are_no_links(
    before: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    now = sweep(tmp_path, "new")
    take_along(now.store, now.plan)
    new, old = now.folder(now.cell("new")), before.folder(before.cell("old"))
    assert (new / "predictions.jsonl").read_bytes() == (old / "predictions.jsonl").read_bytes()
    assert (new / "predictions.jsonl").stat().st_ino != (old / "predictions.jsonl").stat().st_ino


def taken(now: Stored) -> bool:
    take_along(now.store, now.plan)
    return now.folder(now.cell("new")).exists()


def test_nothing_is_taken_that_belongs_to_another_cell_or_is_there(before: Stored, tmp_path: Path) -> None:
    now = sweep(tmp_path, "new")
    there = now.folder(now.cell("new"))
    there.mkdir(parents=True)
    take_along(now.store, now.plan)
    assert list(there.iterdir()) == [], "what is there stays"
    there.rmdir()
    owner = before.folder(before.cell("old")) / "cell.json"
    write_json(owner, {**body(owner), "cell_id": "of an earlier config"})
    assert not taken(now)
    owner.unlink()
    assert not taken(now)


def test_plans_of_another_version_and_sweeps_without_a_run_have_nothing_to_take(before: Stored, tmp_path: Path) -> None:
    now = sweep(tmp_path, "new")
    path = publish(before)
    write_json(path, {**before.plan.to_json(), "schema_version": 99})
    assert not taken(now)
    path.unlink()
    assert not taken(now)
    publish(before)
    assert taken(now)


def test_under_a_prefix_nothing_is_taken_along(before: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = sweep(tmp_path, "new")
    monkeypatch.setattr("seedbed.phases.relabel.is_local", lambda _: False)
    assert not taken(now)
