"""Files as they are written and read again: their exact text, their rights, and that they are on the disk."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.storage.store import (
    json_text,
    read_json,
    read_json_if_there,
    read_jsonl,
    write_bytes,
    write_json,
    write_jsonl,
)


def test_a_json_file_has_its_version_in_front_two_spaces_and_letters_as_they_are(tmp_path: Path) -> None:
    write_json(tmp_path / "new/folder/x.json", {"b": "é", "a": [1]})
    text = '{\n  "schema_version": 1,\n  "b": "é",\n  "a": [\n    1\n  ]\n}\n'
    assert (tmp_path / "new/folder/x.json").read_text("utf-8") == text == json_text({"b": "é", "a": [1]})
    assert read_json(tmp_path / "new/folder/x.json") == {"schema_version": 1, "b": "é", "a": [1]}


def test_a_file_of_rows_has_a_line_each(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "x.jsonl", [{"n": 1}, {"n": "é"}])
    assert (tmp_path / "x.jsonl").read_text("utf-8") == '{"n": 1}\n{"n": "é"}\n'
    with pytest.raises(ValueError, match="Out of range"):
        write_jsonl(tmp_path / "y.jsonl", [{"n": float("inf")}])
    assert not (tmp_path / "y.jsonl").exists()


def test_empty_lines_between_rows_are_passed_over_and_counted(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('\n{"n": 1}\n  \n{"n": 2}\nno\n')
    rows = read_jsonl(tmp_path / "x.jsonl")
    assert [next(rows), next(rows)] == [{"n": 1}, {"n": 2}]
    with pytest.raises(UserError, match=r"x\.jsonl:5: not valid JSON \(Expecting value\); mend or remove the line\."):
        next(rows)


def test_what_is_no_object_or_of_no_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[1]")
    with pytest.raises(UserError, match=r"x\.json: holds no JSON object; it is not what Seedbed wrote\."):
        read_json(path)
    path.write_text("{}")
    with pytest.raises(UserError, match=r"x\.json: schema_version is None, this Seedbed reads 1\."):
        read_json(path)


def test_a_file_that_is_not_there_is_none_and_a_broken_one_is_not(tmp_path: Path) -> None:
    assert read_json_if_there(tmp_path / "none.json") is None
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting property name"):
        read_json_if_there(tmp_path / "x.json")


def test_a_file_takes_its_place_when_all_of_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[int, bool]] = []

    def noted(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_size, (tmp_path / "x").exists()))

    monkeypatch.setattr(os, "fsync", noted)
    write_bytes(tmp_path / "x", b"12345")
    assert synced == [(5, False)]
    assert (tmp_path / "x").read_bytes() == b"12345"


def test_all_rights_can_be_given_but_that_to_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEDBED_UMASK", "000")
    write_bytes(tmp_path / "x", b"")
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666


def test_why_a_write_failed_is_told_though_its_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        shutil.rmtree(tmp_path / "folder")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        write_bytes(tmp_path / "folder/x", b"12345")
