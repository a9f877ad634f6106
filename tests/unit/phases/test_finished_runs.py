"""Whether a run is whole: every condition by itself, on a run that is written by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import start_fresh
from seedbed.phases import up_to_date as module
from seedbed.phases.prepare import prepare
from seedbed.phases.publish import Choices
from seedbed.phases.up_to_date import finished_run
from seedbed.storage.hashing import hash_file
from seedbed.storage.store import write_json
from seedbed.sweep.manifest import made_with
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
    systems: [{name: guess, label: a, skill: 0.1}, {name: guess, label: b, skill: 0.2}]
"""


@dataclass
class Run:
    made: Stored
    folder: Path
    manifest: dict[str, Any]

    def is_whole(self) -> bool:
        if self.manifest:
            write_json(self.folder / "manifest.json", self.manifest)
        found = finished_run(self.made.plan, self.made.store.root)
        assert found in (None, self.folder)
        return found is not None


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = stored(tmp_path, CONFIG)
    for cell in made.plan.cells:
        made.answered(cell)
        made.scored(cell, [])
    folder = prepare(made.plan, made.store.root)
    for name in ("summary.md", "report.html"):
        (folder / name).write_text(name)
    files = {name: hash_file(folder / name) for name in ("summary.md", "report.html")}
    return Run(made, folder, {"status": "completed", **made_with(), **asdict(Choices()), "files": files})


def test_a_run_that_is_as_it_was_written_is_whole(run: Run) -> None:
    assert run.is_whole()


def test_edits_that_are_in_no_commit_are_not_looked_for(run: Run) -> None:
    told = made_with()
    names = [name for name, field in told.items() if isinstance(field, dict)]
    for name in names:
        run.manifest[name] = {**told[name], "dirty": "maybe"}
    assert names
    assert run.is_whole()
    run.manifest[names[0]] = {**told[names[0]], "another": 1}
    assert not run.is_whole()


def _no_manifest(run: Run) -> None:
    run.manifest = {}


def _another_status(run: Run) -> None:
    run.manifest["status"] = "partial"


def _another_plan(run: Run) -> None:
    path = run.folder / "plan.json"
    path.write_text(path.read_text().replace('"skill": 0.1', '"skill": 0.3'))


def _another_generation(run: Run) -> None:
    engine = open_database(run.made.store.ledger_url)
    start_fresh(engine, "toys")
    engine.dispose()


def _file_gone(run: Run) -> None:
    (run.folder / "summary.md").unlink()


def _file_changed(run: Run) -> None:
    (run.folder / "report.html").write_text("forged")


def _phase_not_done(run: Run) -> None:
    run.made.store.forget(run.made.plan.cells[1], ["score"])


def _chosen(name: str, value: Any) -> Callable[[Run], None]:
    return lambda run: run.manifest.update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        _no_manifest, _another_status, _another_plan, _another_generation, _file_gone, _file_changed, _phase_not_done,
        _chosen("baseline", "b"), _chosen("margin", 0.5), _chosen("samples", 1), _chosen("packages", {"numpy": "0"}),
    ],
)  # fmt: skip
def test_one_thing_that_is_otherwise_is_enough(run: Run, change: Callable[[Run], None]) -> None:
    change(run)
    assert not run.is_whole()


def test_the_ledger_is_let_go_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Engine] = []

    def open_it(url: str) -> Engine:
        engine = open_database(url)
        dispose = engine.dispose
        engine.dispose = lambda *_: (closed.append(engine), dispose())[1]  # type: ignore[method-assign]
        return engine

    monkeypatch.setattr(module, "open_database", open_it)
    assert run.is_whole()
    assert len(closed) == 1
