"""Files are written whole or not at all; a folder never mixes two cells."""

from __future__ import annotations

import multiprocessing
import stat
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import cast

import pytest
from upath import UPath

from seedbed.errors import Interrupted, UserError
from seedbed.storage import store as store_module
from seedbed.storage.hashing import hash_file
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.store import Done, Store, read_json, read_jsonl, write_json, write_text
from seedbed.sweep.cell import Cell

CELL = Cell("a" * 64, 0, "crosslingual", "tiny", "multi", "Baseline", "reader", 0, {}, {})


def never() -> None:
    return None


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range"):
        write_json(path, {"a": float("nan")})
    assert read_json(path)["a"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_a_write_that_fails_on_the_disk_leaves_nothing_beside_what_was_there(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    (taken / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        write_text(taken, "a text where a folder is")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inside", "taken"]


@pytest.mark.parametrize(("mask", "mode"), [(None, 0o600), ("027", 0o640), ("022", 0o644)])
def test_a_file_is_private_unless_the_user_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: str | None, mode: int
) -> None:
    if mask is not None:
        monkeypatch.setenv("SEEDBED_UMASK", mask)
    write_text(tmp_path / "ours", "x")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == mode


def test_a_file_of_another_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema_version": 99}')
    with pytest.raises(UserError, match="schema_version is 99"):
        read_json(path)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(UserError, match=r"x\.jsonl:2: not valid JSON"):
        list(read_jsonl(path))


def test_secrets_are_masked_on_their_way_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    write_text(tmp_path / "x", "the key is correct-horse-battery, ok")
    assert (tmp_path / "x").read_text() == "the key is [redacted], ok"


def test_a_folder_of_another_cell_is_moved_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (store.claim_folder(CELL) / "old").write_text("kept")
    changed = replace(CELL, id="b" * 64)
    assert not (store.claim_folder(changed) / "old").exists()
    aside = store.cell_dir(CELL).with_name(f"{store.cell_dir(CELL).name}@{'a' * 8}")
    assert (aside / "old").read_text() == "kept"


def test_a_phase_is_done_only_with_its_key_and_files(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.claim_folder(CELL)
    (folder / "out").write_text("12345")
    store.mark_done(CELL, "generate", Done("key-1", 1, {}, ["out"], {"n": 1}))
    done = store.done(CELL, "generate", "key-1", 1)
    assert done is not None
    assert done["result"] == {"n": 1}
    assert store.done(CELL, "generate", "key-2", 1) is None
    assert store.done(CELL, "generate", "key-1", 2) is None
    (folder / "out").write_text("1234")
    assert store.done(CELL, "generate", "key-1", 1) is None


def test_a_marker_says_what_was_made_of_what(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.claim_folder(CELL)
    write_text(folder / "a", "12345")
    write_text(folder / "logs/b", "")
    store.mark_done(CELL, "score", Done("key", 2, {"data": "h"}, ["a", "logs/b"], {"n": 1}))
    marker = read_json(folder / "done/score.json")
    assert marker.pop("finished_at") > 0
    assert marker == {
        "schema_version": 1,
        "cell_id": CELL.id,
        "phase": "score",
        "key": "key",
        "generation": 2,
        "parts": {"data": "h"},
        "files": {"a": 5, "logs/b": 0},
        "sha256": {"a": hash_file(folder / "a"), "logs/b": hash_file(folder / "logs/b")},
        "result": {"n": 1},
    }
    assert [store.done(CELL, "score", "key", generation) is not None for generation in (1, 2, 3)] == [True, True, False]


def test_a_cell_keeps_its_folder_and_what_says_whose_it_is(tmp_path: Path) -> None:
    store, cell = Store(tmp_path), replace(CELL, answers={"data": "h"})
    folder = store.claim_folder(cell)
    assert folder == tmp_path / CELL.folder
    owner = {"schema_version": 1, "cell_id": CELL.id, "title": CELL.title, "answers": {"data": "h"}}
    assert read_json(folder / "cell.json") == owner
    write_text(folder / "rows", "kept")
    assert store.claim_folder(replace(CELL, answers={})) == folder
    assert read_json(folder / "cell.json") == owner
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]


def test_every_folder_that_is_moved_aside_has_a_name_of_its_own(tmp_path: Path) -> None:
    store, other = Store(tmp_path), replace(CELL, id="b" * 64)
    for number in range(3):
        write_text(store.claim_folder(CELL) / "rows", str(number))
        store.claim_folder(other)
    name = Path(CELL.folder).name
    aside = [store.cell_dir(CELL).with_name(f"{name}@aaaaaaaa{end}") for end in ("", ".2", ".3")]
    assert [(folder / "rows").read_text() for folder in aside] == ["0", "1", "2"]
    assert store.cell_dir(CELL).with_name(f"{name}@bbbbbbbb.2").is_dir()


@pytest.mark.parametrize("remote", [False, True])
def test_phases_that_are_forgotten_are_no_longer_done(tmp_path: Path, remote: bool) -> None:
    store = Store(cast("Path", UPath("memory://forgotten/lab")) if remote else tmp_path)
    write_text(store.cell_dir(CELL) / "rows", "")
    for phase in ("optimise", "generate", "score"):
        store.mark_done(CELL, phase, Done("key", 0, {}, ["rows"], {}))
    store.forget(CELL, ["generate", "never", "score"])
    done = [store.done(CELL, phase, "key", 0) is not None for phase in ("optimise", "generate", "score")]
    assert done == [True, False, False]


def test_the_places_of_results(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.group_dir(("toy", "sums", "m", 3)) == tmp_path / "experiment_runs/seed_3/groups/toy_sums_m"
    assert store.looks_dir("night") == tmp_path / "experiment_runs/looks/night"
    assert store.sweep_dir("night", "1") == tmp_path / "sweeps/night/1"
    assert store.ledger_url == f"sqlite:///{tmp_path}/ledger.sqlite"
    assert store.cache_dir == tmp_path / "cache"
    assert Store(tmp_path, tmp_path / "elsewhere").cache_dir == tmp_path / "elsewhere"


def test_the_newest_run_of_a_sweep_is_the_last_that_has_a_plan(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(UserError, match=r"there is no sweep 'three'; known: none yet\."):
        store.latest_sweep("three")
    for run, name in (
        ("a/1", "plan.json"),
        ("b/1", "plan.json"),
        ("b/2", "plan.json"),
        ("b/3", "half"),
        ("c/1", "half"),
    ):
        write_text(tmp_path / "sweeps" / run / name, "{}")
    assert store.sweeps() == ["a", "b"]
    assert store.latest_sweep("b") == tmp_path / "sweeps/b/2"
    assert store.newest("c") is None
    with pytest.raises(UserError, match=r"there is no sweep 'c'; known: a, b\."):
        store.latest_sweep("c")


def test_a_cell_is_one_workers_until_it_lets_it_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_LOCK_WAIT_S", 0.001)
    store, asked = Store(tmp_path), list[int]()

    def stop() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise Interrupted("stop")

    # Another cell of that folder waits, one of another folder does not.
    with store.lock(CELL, never), store.lock(replace(CELL, seed=1), stop), pytest.raises(Interrupted):
        store.lock(replace(CELL, id="b" * 64), stop).__enter__()
    assert len(asked) == 2
    with store.lock(CELL, stop):
        pass


def test_a_folder_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    (tmp_path / "experiment_runs/seed_0/.locks" / f"{Path(CELL.folder).name}.lock").mkdir(parents=True)
    with pytest.raises(UserError, match=r"\.locks: cannot be locked \(.*\); is the disk writable\?"):
        Store(tmp_path).lock(CELL, never).__enter__()


def _hold(root: Path, held: Event, release: Event) -> None:
    with Store(root).lock(CELL, never):
        held.set()
        release.wait()


def test_a_second_process_waits_for_a_cell_and_can_be_stopped_meanwhile(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, release = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, held, release))
    process.start()
    assert held.wait(600)

    def stop() -> None:
        raise Interrupted("stop")

    with pytest.raises(Interrupted), Store(tmp_path).lock(CELL, stop):
        pass
    # A killed process holds nothing.
    process.kill()
    process.join()
    with Store(tmp_path).lock(CELL, stop):
        pass


def test_the_markers_of_many_cells_are_those_of_one_look_each(tmp_path: Path) -> None:
    store = Store(tmp_path)
    cells = [Cell(f"{seed:064d}", 0, "crosslingual", "tiny", "multi", "B", "m", seed, {}, {}) for seed in range(3)]
    for cell in cells[:2]:
        write_text(store.cell_dir(cell) / "a.jsonl", "{}\n")
        store.mark_done(cell, "generate", Done("key", cell.seed, {}, ["a.jsonl"], {}))
    wanted = [Wanted(cell, phase, "key") for cell in cells for phase in ("generate", "score")]
    found = done_markers(store, wanted, 1)
    assert list(found) == [(cells[1].id, "generate")]
    assert found[cells[1].id, "generate"] == store.done(cells[1], "generate", "key", 1)


def test_a_cell_that_nobody_has_begun_is_looked_for_once_whatever_its_phases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell(f"{seed:064d}", 0, "crosslingual", "tiny", "multi", "B", "m", seed, {}, {}) for seed in range(3)]
    wanted = [Wanted(cell, phase, "key") for cell in cells for phase in ("optimise", "generate", "score")]
    asked: list[str] = []

    def listed(folder: str) -> list[str]:
        asked.append(folder)
        raise FileNotFoundError(folder)

    def read(path: Path) -> bytes:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("seedbed.storage.markers.os.listdir", listed)
    monkeypatch.setattr("seedbed.storage.store.read_bytes", read)
    assert done_markers(Store(tmp_path), wanted, 1) == {}
    assert len(asked) == 3
