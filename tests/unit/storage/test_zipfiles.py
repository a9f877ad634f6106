"""Zips: the same bytes each time, a part of them at will, and nothing outside the folder."""

from __future__ import annotations

import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.storage import zipfiles
from seedbed.storage.zipfiles import pack, unpack


def members(folder: Path) -> dict[str, Path | bytes]:
    (folder / "rows").write_text("rows\n")
    return {"b/rows.jsonl": folder / "rows", "a.json": b"{}"}


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_equal_members_give_equal_bytes_and_come_back(tmp_path: Path) -> None:
    given = members(tmp_path)
    for name, own in (("one.zip", given), ("two.zip", dict(reversed(given.items())))):
        pack(tmp_path / name, own)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    unpack(tmp_path / "one.zip", tmp_path / "out")
    assert names(tmp_path / "out") == ["a.json", "b/rows.jsonl"]
    assert (tmp_path / "out/b/rows.jsonl").read_text() == "rows\n"
    with zipfile.ZipFile(tmp_path / "one.zip") as made:
        for entry in made.infolist():
            assert (entry.date_time, entry.external_attr >> 16) == ((1980, 1, 1, 0, 0, 0), stat.S_IFREG | 0o644)
            assert (entry.compress_type, entry.create_system) == (zipfile.ZIP_DEFLATED, 3)


def test_a_part_is_unpacked_by_its_names(tmp_path: Path) -> None:
    pack(tmp_path / "one.zip", members(tmp_path))
    unpack(tmp_path / "one.zip", tmp_path / "out", only=["b/"])
    assert names(tmp_path / "out") == ["b/rows.jsonl"]
    unpack(tmp_path / "one.zip", tmp_path / "none", only=[])
    assert not (tmp_path / "none").exists()


def hostile(folder: Path, *entries: zipfile.ZipInfo | str) -> str:
    with warnings.catch_warnings(), zipfile.ZipFile(folder / "bad.zip", "w") as made:
        warnings.simplefilter("ignore")
        made.writestr("fine.json", "{}")
        for entry in entries:
            made.writestr(entry, "x")
    with pytest.raises(UserError) as told:
        unpack(folder / "bad.zip", folder / "out")
    assert not (folder / "out").exists(), "refused before anything is written"
    return str(told.value)


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", "a\\b", "c:x", "."])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    assert "would be written outside the folder" in hostile(tmp_path, name)


def test_links_twins_and_long_names_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "is a link or a device" in hostile(tmp_path, link)
    assert "'Fine.JSON' stands in it twice" in hostile(tmp_path, "Fine.JSON")
    assert "has too long a name" in hostile(tmp_path, "a" * 1001)


def test_a_name_of_a_thousand_letters_and_entries_without_a_kind_are_fine(tmp_path: Path) -> None:
    folder = "/".join(["d" * 99] * 10)
    with zipfile.ZipFile(tmp_path / "fine.zip", "w") as made:
        made.writestr(zipfile.ZipInfo(folder + "x"), "x")
        made.writestr("folder/", "")
    assert len(folder + "x") == 1000
    unpack(tmp_path / "fine.zip", tmp_path / "out")
    assert names(tmp_path / "out") == [folder + "x"]


def test_what_grows_two_hundred_times_is_a_bomb_once_it_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(tmp_path / "grows.zip", {"zeros": b"\0" * 1_000_000})
    unpack(tmp_path / "grows.zip", tmp_path / "small")
    monkeypatch.setattr(zipfiles, "_ALWAYS", 999_999)
    with pytest.raises(UserError, match="bytes would become 1,000,000, as in a zip bomb"):
        unpack(tmp_path / "grows.zip", tmp_path / "out")
    monkeypatch.setattr(zipfiles, "_ALWAYS", 1_000_000)
    unpack(tmp_path / "grows.zip", tmp_path / "out")


def test_what_grows_less_than_two_hundred_times_is_none_however_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfiles, "_ALWAYS", 10)
    pack(tmp_path / "text.zip", {"text": b"plain text"[:10] * 10})
    unpack(tmp_path / "text.zip", tmp_path / "out")
    assert len((tmp_path / "out/text").read_bytes()) == 100


def changed(folder: Path, place: int, layout: str, value: int) -> Path:
    """A zip of one file with another number at a place of its entry in the directory at its end."""
    pack(folder / "one.zip", {"a": b"text"})
    data = bytearray((folder / "one.zip").read_bytes())
    struct.pack_into(layout, data, data.index(b"PK\x01\x02") + place, value)
    (folder / "one.zip").write_bytes(data)
    return folder / "one.zip"


_FLAGS, _PACKED_SIZE = 8, 20
"""Where they stand in an entry of the directory, by the description of the format."""


def test_an_encrypted_file_is_refused_and_other_flags_are_not(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'a' is encrypted; it is not unpacked"):
        unpack(changed(tmp_path, _FLAGS, "<H", 1), tmp_path / "out")
    unpack(changed(tmp_path, _FLAGS, "<H", 2), tmp_path / "out")
    assert names(tmp_path / "out") == ["a"]


def test_files_that_are_larger_together_than_the_zip_overlap(tmp_path: Path) -> None:
    size = changed(tmp_path, _FLAGS, "<H", 0).stat().st_size
    unpack(changed(tmp_path, _PACKED_SIZE, "<I", size), tmp_path / "out")
    with pytest.raises(UserError, match="its files overlap, as in a zip bomb; it is not unpacked"):
        unpack(changed(tmp_path, _PACKED_SIZE, "<I", size + 1), tmp_path / "more")


def test_more_files_than_any_results_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(tmp_path / "two.zip", members(tmp_path))
    monkeypatch.setattr(zipfiles, "_MAX_FILES", 2)
    unpack(tmp_path / "two.zip", tmp_path / "out")
    monkeypatch.setattr(zipfiles, "_MAX_FILES", 1)
    with pytest.raises(UserError, match="holds 2 files"):
        unpack(tmp_path / "two.zip", tmp_path / "more")


def test_what_is_no_whole_zip_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(UserError, match=r"text\.zip: not a whole zip file .* ask for it again\."):
        unpack(tmp_path / "text.zip", tmp_path / "out")
    pack(tmp_path / "cut.zip", {"a": b"abc" * 50})
    data = bytearray((tmp_path / "cut.zip").read_bytes())
    data[31:41] = b"\xff" * 10
    (tmp_path / "cut.zip").write_bytes(data)
    with pytest.raises(UserError, match="ask for it again"):
        unpack(tmp_path / "cut.zip", tmp_path / "out")
