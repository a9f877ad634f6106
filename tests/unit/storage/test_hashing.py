"""Hashes that are the same on every machine: of one value one, of another value another."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import cast

import pytest
from upath import UPath

from seedbed.storage.hashing import canonical_json, hash_file, hash_files, hash_json


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_value_has_one_sequence_of_bytes() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": {"é": True}}) == '{"a":{"é":true},"b":[1,2.5,null]}'.encode()
    assert hash_json({"b": 1, "a": 2}) == hash_json({"a": 2, "b": 1}) == sha256(b'{"a":2,"b":1}')


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_has_no_hash(value: float) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        hash_json({"n": value})


def test_a_file_has_the_hash_of_its_bytes_wherever_it_lies(tmp_path: Path) -> None:
    remote = cast("Path", UPath("memory://hashed/a"))
    for path in (tmp_path / "a", remote):
        path.write_bytes(b"text")
        assert hash_file(path) == sha256(b"text")


def test_files_and_folders_are_hashed_by_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "folder/deep").mkdir(parents=True)
    (tmp_path / "folder/b").write_bytes(b"2")
    (tmp_path / "folder/deep/a").write_bytes(b"1")
    (tmp_path / "alone").write_bytes(b"3")
    told = f"alone\0{sha256(b'3')}\nb\0{sha256(b'2')}\ndeep/a\0{sha256(b'1')}\n"
    assert hash_files([tmp_path / "alone", tmp_path / "folder"]) == sha256(told.encode())
    assert hash_files([]) == sha256(b"")
