"""The store on object storage: objects appear whole, markers are believed with their files only, and what belongs to
another cell survives a kill at any moment of being set aside."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.storage.markers import Wanted, done_markers
from seedbed.storage.objects import staged
from seedbed.storage.paths import as_root, filesystem
from seedbed.storage.store import Done, Store, read_json, read_jsonl, write_bytes, write_json, write_jsonl, write_text
from seedbed.sweep.cell import Cell
from tests.support.s3 import S3Server

CELL = Cell("a" * 64, 0, "crosslingual", "tiny", "multi", "Baseline", "reader", 0, {}, {})
OTHER = replace(CELL, id="b" * 64)
FOLDER = f"lab/{CELL.folder}"


@pytest.fixture
def store(bucket: str) -> Store:
    return Store(as_root(f"s3://{bucket}/lab"))


def test_what_is_written_is_read_again(store: Store) -> None:
    write_json(store.root / "a/x.json", {"名": 1})
    write_jsonl(store.root / "a/x.jsonl", [{"n": 1}, {"n": "é"}])
    assert read_json(store.root / "a/x.json")["名"] == 1
    assert list(read_jsonl(store.root / "a/x.jsonl")) == [{"n": 1}, {"n": "é"}]


def test_a_failed_write_leaves_the_old_object_and_no_rest(store: Store, s3: S3Server, bucket: str) -> None:
    write_json(store.root / "x.json", {"a": 1})
    before = s3.objects(bucket)
    with pytest.raises(ValueError, match="Out of range"):
        write_json(store.root / "x.json", {"a": float("nan")})
    assert s3.objects(bucket) == before


_WRITE = "import sys; from seedbed.storage.paths import as_root; from seedbed.storage.store import write_bytes; "
_LARGE = f"{_WRITE}write_bytes(as_root(sys.argv[1]) / 'large', b'n' * 120_000_000)"


def test_a_kill_in_the_middle_of_a_large_put_leaves_the_old_object(store: Store, s3: S3Server, bucket: str) -> None:
    write_bytes(store.root / "large", b"old")
    process = subprocess.Popen([sys.executable, "-c", _LARGE, str(store.root)])
    client, deadline = s3.client(), time.monotonic() + 600
    while not client.list_multipart_uploads(Bucket=bucket).get("Uploads"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert s3.objects(bucket) == {"lab/large": b"old"}


def test_a_staged_file_appears_only_when_the_block_has_ended_well(store: Store, s3: S3Server, bucket: str) -> None:
    def write(fails: bool) -> None:
        with staged(store.root / "samples.csv") as partial:
            partial.write_text("a,b\n")
            if fails:
                raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write(True)
    assert s3.objects(bucket) == {}
    write(False)
    assert s3.objects(bucket) == {"lab/samples.csv": b"a,b\n"}


def _finish(store: Store) -> None:
    folder = store.claim_folder(CELL)
    write_text(folder / "predictions.jsonl", "{}\n")
    write_text(folder / "metric_logs/test.jsonl", "{}\n")
    store.mark_done(CELL, "generate", Done("key", 0, {}, ["predictions.jsonl", "metric_logs/test.jsonl"], {"n": 1}))


def test_a_marker_counts_while_its_files_are_there_and_of_their_size(store: Store) -> None:
    assert store.done(CELL, "generate", "key", 0) is None
    _finish(store)
    found = store.done(CELL, "generate", "key", 0)
    assert found is not None
    assert found["result"] == {"n": 1}
    assert store.done(CELL, "generate", "another key", 0) is None
    write_text(store.cell_dir(CELL) / "metric_logs/test.jsonl", "{}\n{}\n")
    assert store.done(CELL, "generate", "key", 0) is None
    (store.cell_dir(CELL) / "metric_logs/test.jsonl").unlink()
    assert store.done(CELL, "generate", "key", 0) is None


def test_a_phase_that_lacks_one_of_its_files_is_not_marked(store: Store) -> None:
    store.claim_folder(CELL)
    with pytest.raises(FileNotFoundError):
        store.mark_done(CELL, "generate", Done("key", 0, {}, ["predictions.jsonl"], {}))
    assert store.done(CELL, "generate", "key", 0) is None


def _inside(objects: dict[str, bytes], folder: str) -> dict[str, bytes]:
    return {key.removeprefix(f"{folder}/"): body for key, body in objects.items() if key.startswith(f"{folder}/")}


def test_what_belongs_to_another_cell_is_moved_aside(store: Store, s3: S3Server, bucket: str) -> None:
    _finish(store)
    before = _inside(s3.objects(bucket), FOLDER)
    store.claim_folder(OTHER)
    after = s3.objects(bucket)
    assert _inside(after, f"{FOLDER}@aaaaaaaa") == before
    assert list(_inside(after, FOLDER)) == ["cell.json"]
    assert read_json(store.cell_dir(OTHER) / "cell.json")["cell_id"] == OTHER.id


def test_a_second_folder_of_the_same_cell_gets_a_number(store: Store, s3: S3Server, bucket: str) -> None:
    _finish(store)
    store.claim_folder(OTHER)
    write_text(store.claim_folder(CELL) / "predictions.jsonl", "another\n")
    store.claim_folder(OTHER)
    objects = s3.objects(bucket)
    assert _inside(objects, f"{FOLDER}@aaaaaaaa")["predictions.jsonl"] == b"{}\n"
    assert _inside(objects, f"{FOLDER}@aaaaaaaa.2")["predictions.jsonl"] == b"another\n"


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours catches it."""


def test_a_kill_at_any_step_of_the_move_loses_nothing(
    store: Store, s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs, _ = filesystem(store.root)
    left = 0

    def dying(method: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return method(*args, **kwargs)

        return call

    for name in ("cp_file", "rm_file"):
        monkeypatch.setattr(fs, name, dying(getattr(fs, name)))
    _finish(store)
    before = _inside(s3.objects(bucket), FOLDER)
    steps = 2 * len(before)
    for survived in range(steps):
        case = Store(as_root(f"s3://{bucket}/case{survived}"))
        _finish(case)
        folder, left = f"case{survived}/{CELL.folder}", survived
        mine = _inside(s3.objects(bucket, folder), folder)
        with pytest.raises(Killed):
            case.claim_folder(OTHER)
        objects = s3.objects(bucket, folder)
        kept = {**_inside(objects, folder), **_inside(objects, f"{folder}@aaaaaaaa")}
        assert kept == mine, f"lost after {survived} steps"
        left = steps
        case.claim_folder(OTHER)
        objects = s3.objects(bucket, folder)
        assert _inside(objects, f"{folder}@aaaaaaaa") == mine
        assert list(_inside(objects, folder)) == ["cell.json"]
        assert not any(f"{folder}@aaaaaaaa." in key for key in objects), "a second copy was begun"


def test_sweeps_and_their_newest_runs_are_found(store: Store) -> None:
    for sweep, stamp in (("one", "20260101T000000-aa"), ("one", "20260301T000000-bb"), ("two", "20260201T000000-cc")):
        write_text(store.sweep_dir(sweep, stamp) / "plan.json", "{}")
        write_text(store.root / "sweeps" / sweep / "latest", stamp)
    write_text(store.sweep_dir("one", "20260401T000000-dd") / "half.json", "{}")
    assert store.sweeps() == ["one", "two"]
    assert store.latest_sweep("one").name == "20260301T000000-bb"
    with pytest.raises(UserError, match=r"no sweep 'three'; known: one, two"):
        store.latest_sweep("three")


def test_caches_stay_on_the_disk_of_the_worker(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDBED_HOME", str(tmp_path))
    assert store.cache_dir == tmp_path / "cache"


def test_a_secret_is_masked_on_its_way_to_an_object(store: Store, s3: S3Server, bucket: str) -> None:
    write_text(store.root / "x", f"key {s3.environment['AWS_SECRET_ACCESS_KEY']}")
    assert s3.objects(bucket) == {"lab/x": b"key [redacted]"}


def test_the_markers_of_many_cells_take_one_listing_and_a_request_each(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And say what one look after the other says."""
    cells = [replace(CELL, id=f"{seed:064d}", seed=seed) for seed in range(5)]
    for cell in cells[:4]:
        write_text(store.cell_dir(cell) / "predictions.jsonl", "{}\n")
        store.mark_done(cell, "generate", Done("key", cell.seed, {}, ["predictions.jsonl"], {}))
    write_text(store.cell_dir(cells[3]) / "predictions.jsonl", "longer than the marker says\n")
    alone = [store.done(cell, "generate", "key", 1) for cell in cells]
    assert [marker is not None for marker in alone] == [False, True, True, False, False]
    asked: list[str] = []
    fs, _ = filesystem(store.root)
    own = type(fs)._call_s3

    async def counted(self: Any, method: Any, *arguments: Any, **more: Any) -> Any:
        asked.append(str(method))
        return await own(self, method, *arguments, **more)

    monkeypatch.setattr(type(fs), "_call_s3", counted)
    wanted = [Wanted(cell, phase, "key") for cell in cells for phase in ("generate", "score")]
    found = done_markers(store, wanted, 1)
    assert [found.get((cell.id, "generate")) for cell in cells] == alone
    assert len(found) == 2
    assert sorted(asked) == ["get_object"] * 4 + ["list_objects_v2"]
