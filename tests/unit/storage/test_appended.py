"""Files that only grow: whole lines, whoever appends and whenever somebody reads."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.storage.appended import append_row, read_rows, whole_lines


def test_a_row_is_a_line_with_its_version_in_front(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/rows.jsonl"
    append_row(path, {"n": 1, "name": "é"})
    append_row(path, {"n": 2})
    assert path.read_text("utf-8") == '{"schema_version": 1, "n": 1, "name": "é"}\n{"schema_version": 1, "n": 2}\n'
    assert [row["n"] for row in read_rows(path)] == [1, 2]


def test_a_row_that_json_has_no_word_for_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    append_row(tmp_path / "rows", {"n": 1})
    before = (tmp_path / "rows").read_bytes()
    with pytest.raises(ValueError, match="Out of range"):
        append_row(tmp_path / "rows", {"n": float("nan")})
    assert (tmp_path / "rows").read_bytes() == before


def test_a_secret_is_masked_on_its_way_into_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    append_row(tmp_path / "rows", {"told": "it is correct-horse-battery"})
    assert next(read_rows(tmp_path / "rows"))["told"] == "it is [redacted]"


@pytest.mark.parametrize(("mask", "mode"), [(None, 0o600), ("007", 0o660), ("000", 0o666)])
def test_a_new_file_is_private_unless_the_user_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: str | None, mode: int
) -> None:
    if mask is not None:
        monkeypatch.setenv("SEEDBED_UMASK", mask)
    before = os.umask(0)
    try:
        append_row(tmp_path / "rows", {})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "rows").stat().st_mode) == mode


def test_a_file_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    append_row(tmp_path / "rows", {})
    (tmp_path / "rows").chmod(0o640)
    append_row(tmp_path / "rows", {})
    assert stat.S_IMODE((tmp_path / "rows").stat().st_mode) == 0o640


def test_the_rest_of_a_line_that_a_crash_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    append_row(path, {"n": 1})
    with path.open("ab") as file:
        file.write(b'{"schema_version": 1, "n": "' + b"9" * 500)
    append_row(path, {"n": 2})
    assert path.read_bytes() == b'{"schema_version": 1, "n": 1}\n{"schema_version": 1, "n": 2}\n'


def test_a_row_is_on_the_disk_when_it_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    append_row(tmp_path / "rows", {"n": 1})
    assert synced == [len(b'{"schema_version": 1, "n": 1}\n')]


def test_a_line_that_is_being_written_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    assert whole_lines(path) == b""
    assert list(read_rows(path)) == []
    path.write_bytes(b"ab")
    assert whole_lines(path) == b""
    path.write_bytes(b"ab\ncd\nef")
    assert whole_lines(path) == b"ab\ncd\n"
    assert [whole_lines(path, n) for n in (2, 3, 5, 6)] == [b"", b"ab\n", b"ab\n", b"ab\ncd\n"]


def test_only_the_first_bytes_are_read_where_that_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    append_row(path, {"n": 1})
    size = path.stat().st_size
    append_row(path, {"n": 2})
    assert [row["n"] for row in read_rows(path, size)] == [1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "rows:2: is no line that Seedbed wrote; mend or remove it."),
        ("{}", "rows:2: is no line that Seedbed wrote; mend or remove it."),
        ("[1]", "rows:2: is no line that Seedbed wrote; mend or remove it."),
        ("", "rows:2: is no line that Seedbed wrote; mend or remove it."),
        ('{"schema_version": 2}', "rows:2: schema_version is 2, this Seedbed reads 1."),
    ],
)
def test_a_line_of_somebody_else_is_named_by_its_number(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "rows"
    append_row(path, {"n": 1})
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UserError) as told:
        list(read_rows(path))
    assert str(told.value) == f"{tmp_path}/{said}"
