"""Files are written whole or not at all; a folder never mixes two cells."""

from __future__ import annotations

import multiprocessing
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.errors import Interrupted, UserError
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


def _hold(root: Path, held: multiprocessing.synchronize.Event, release: multiprocessing.synchronize.Event) -> None:
    with Store(root).lock(CELL, never):
        held.set()
        release.wait()


def test_a_second_process_waits_for_a_cell_and_can_be_stopped_meanwhile(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, release = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, held, release))
    process.start()
    assert held.wait(60)

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
