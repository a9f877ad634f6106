"""Where a phase works whose cell lies on object storage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.desk import desk
from seedbed.storage.paths import as_path
from seedbed.storage.store import Store, write_text
from seedbed.sweep.cell import Cell
from tests.support.s3 import S3Server


@pytest.fixture
def run(toy_run: Path, bucket: str) -> SweepRun:
    """A run with nothing in its bucket yet."""
    return replace(open_run(str(toy_run)), store=Store(as_path(f"s3://{bucket}/lab")), ledger="sqlite://")


def _objects(s3: S3Server, bucket: str, cell: Cell) -> dict[str, bytes]:
    prefix = f"lab/{cell.folder}/"
    return {key.removeprefix(prefix): body for key, body in s3.objects(bucket, prefix).items()}


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        write_text(folder / name.replace("__", "/"), text)


def _write_and_fail(folder: Path, text: str) -> None:
    _write(folder, predictions=text)
    raise ValueError("too many errors")


def test_a_phase_finds_what_others_left_and_leaves_what_it_made_changed_and_dropped(
    run: SweepRun, s3: S3Server, bucket: str
) -> None:
    cell = run.plan.cells[0]
    with desk(run, cell, lambda: None) as near:
        _write(near.store.cell_dir(cell), predictions="old", gone="old", done__generate="marker")
    assert _objects(s3, bucket, cell) == {"predictions": b"old", "gone": b"old", "done/generate": b"marker"}
    s3.requests(bucket)
    with desk(run, cell, lambda: None) as near:
        folder = near.store.cell_dir(cell)
        assert (folder / "predictions").read_text() == "old"
        (folder / "gone").unlink()
        _write(folder, predictions="new", scores="new")
    assert _objects(s3, bucket, cell) == {"predictions": b"new", "scores": b"new", "done/generate": b"marker"}
    puts = [line for line in s3.requests(bucket) if line.startswith("PUT")]
    assert len(puts) == 2, "what did not change is not sent again"


def test_what_a_phase_wrote_before_it_failed_can_be_read(run: SweepRun, s3: S3Server, bucket: str) -> None:
    cell = run.plan.cells[0]
    with pytest.raises(ValueError, match="too many"), desk(run, cell, lambda: None) as near:
        _write_and_fail(near.store.cell_dir(cell), "half")
    assert _objects(s3, bucket, cell) == {"predictions": b"half"}


def test_a_marker_is_not_sent_once_another_worker_has_the_cell(run: SweepRun, s3: S3Server, bucket: str) -> None:
    cell = run.plan.cells[0]

    def taken_over() -> None:
        raise TimeoutError("taken over")

    with pytest.raises(TimeoutError, match="taken over"), desk(run, cell, taken_over) as near:
        _write(near.store.cell_dir(cell), predictions="mine", done__generate="marker")
    assert _objects(s3, bucket, cell) == {"predictions": b"mine"}


def test_what_a_failed_phase_wrote_does_not_replace_what_another_worker_made(
    run: SweepRun, s3: S3Server, bucket: str, caplog: pytest.LogCaptureFixture
) -> None:
    cell = run.plan.cells[0]

    def taken_over() -> None:
        raise TimeoutError("taken over")

    with pytest.raises(ValueError, match="too many"), desk(run, cell, taken_over) as near:
        _write_and_fail(near.store.cell_dir(cell), "mine")
    assert _objects(s3, bucket, cell) == {}
    assert "could not be kept: taken over" in caplog.text
