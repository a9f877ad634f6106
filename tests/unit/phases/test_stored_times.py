"""Times are taken out of rows into a file of their own, and put back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seedbed.phases.times import part_times, with_times, write_rows
from seedbed.suite import TIMES

PLAIN: dict[str, Any] = {"sample_id": "a", "output": {"answer": "x"}}
TIMED: dict[str, Any] = {"sample_id": "b", "output": {"answer": "y", TIMES: {"s": 1.5}}}
FAILED: dict[str, Any] = {"sample_id": "c", "error": {}}
NAMES = ("rows.jsonl", "output", "times.jsonl")


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(folder: Path, *rows: dict[str, Any]) -> list[str]:
    return write_rows(folder, "rows.jsonl", rows, "output", "times.jsonl")


def test_rows_are_written_without_their_times_which_lie_beside(tmp_path: Path) -> None:
    assert write(tmp_path, PLAIN, TIMED, FAILED) == ["rows.jsonl", "times.jsonl"]
    assert read(tmp_path / "rows.jsonl") == [PLAIN, {"sample_id": "b", "output": {"answer": "y"}}, FAILED]
    assert read(tmp_path / "times.jsonl") == [{"sample_id": "b", "times": {"s": 1.5}}]
    assert TIMED["output"][TIMES] == {"s": 1.5}, "the row at hand keeps them"


def test_what_was_taken_apart_is_put_together(tmp_path: Path) -> None:
    for rows in ([PLAIN, TIMED, FAILED], [PLAIN, FAILED], []):
        write(tmp_path, *rows)
        assert list(with_times(tmp_path, *NAMES)) == rows


def test_times_of_before_do_not_outlive_their_rows(tmp_path: Path) -> None:
    assert write(tmp_path, PLAIN) == ["rows.jsonl"], "there was none to remove"
    write(tmp_path, TIMED)
    assert write(tmp_path, PLAIN) == ["rows.jsonl"]
    assert not (tmp_path / "times.jsonl").exists()


def test_a_row_without_the_field_has_no_times() -> None:
    assert part_times([FAILED, {**PLAIN, "output": None}], "output") == ([FAILED, {**PLAIN, "output": None}], [])
