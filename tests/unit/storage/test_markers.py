"""The markers of many cells on object storage: those that a look at each alone would find."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from upath import UPath

from seedbed.errors import UserError
from seedbed.storage import markers
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.store import Done, Store, write_text
from seedbed.sweep.cell import Cell

CELL = Cell("a" * 64, 0, "crosslingual", "tiny", "multi", "Baseline", "reader", 0, {}, {})
WANTED = [Wanted(CELL, "generate", "key"), Wanted(CELL, "score", "key")]


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Store:
    """A root of the test's own in storage that is kept in memory."""
    return Store(cast("Path", UPath(f"memory://{abs(hash(request.node.nodeid))}/lab")))


def finish(store: Store, generation: int = 1) -> Path:
    folder = store.cell_dir(CELL)
    write_text(folder / "a.jsonl", "{}\n")
    write_text(folder / "b.jsonl", "{}\n{}\n")
    store.mark_done(CELL, "generate", Done("key", generation, {}, ["a.jsonl", "b.jsonl"], {"n": 1}))
    return folder


def found(store: Store, generation: int = 1, key: str = "key") -> list[str]:
    """Phases that are done, asked for together; one after the other they are the same."""
    wanted = [want._replace(key=key) for want in WANTED]
    made = done_markers(store, wanted, generation)
    alone = {phase: store.done(cell, phase, key, generation) for cell, phase, _ in wanted}
    assert {(CELL.id, phase): data for phase, data in alone.items() if data is not None} == made
    return [phase for _, phase in made]


def test_a_phase_counts_in_its_generation_and_in_those_before(store: Store) -> None:
    assert found(store) == []
    finish(store, generation=1)
    assert [found(store, generation) for generation in (0, 1, 2)] == [["generate"], ["generate"], []]


def test_a_phase_counts_with_its_own_key_only(store: Store) -> None:
    finish(store)
    assert found(store, key="another") == []


def test_every_file_must_be_there_in_its_size(store: Store) -> None:
    folder = finish(store)
    write_text(folder / "b.jsonl", "{}\n")
    assert found(store) == []
    write_text(folder / "b.jsonl", "[]\n[]\n")
    assert found(store) == ["generate"]
    (folder / "a.jsonl").unlink()
    assert found(store) == []


def test_a_marker_of_another_version_is_told(store: Store) -> None:
    path = finish(store) / "done/generate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 2}))
    with pytest.raises(UserError, match=r"generate\.json: schema_version is 2"):
        done_markers(store, WANTED, 1)


def test_a_marker_that_goes_while_it_is_read_is_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = finish(store) / "done/generate.json"
    own = markers.read_many

    def later(folder: Path, names: list[str]) -> dict[str, bytes]:
        path.unlink()
        return own(folder, names)

    monkeypatch.setattr(markers, "read_many", later)
    assert done_markers(store, WANTED, 1) == {}


def test_a_cell_elsewhere_is_refused(store: Store) -> None:
    class Elsewhere(Cell):
        @property
        def folder(self) -> str:
            return "elsewhere/cell"

    cell = Elsewhere(**{name: getattr(CELL, name) for name in CELL.__dataclass_fields__})
    with pytest.raises(UserError, match="elsewhere/cell: lies outside experiment_runs"):
        done_markers(store, [Wanted(cell, "generate", "key")], 1)


def test_a_cell_whose_folder_is_a_file_is_not_begun(tmp_path: Path) -> None:
    store, begun = Store(tmp_path), replace(CELL, id="b" * 64, seed=1)
    write_text(store.cell_dir(CELL) / "done", "no folder")
    write_text(store.cell_dir(begun) / "a.jsonl", "")
    store.mark_done(begun, "score", Done("key", 1, {}, ["a.jsonl"], {}))
    wanted = [Wanted(cell, phase, "key") for cell in (CELL, begun) for phase in ("generate", "score")]
    assert list(done_markers(store, wanted, 1)) == [(begun.id, "score")]
    assert list(done_markers(store, wanted, 2)) == []
