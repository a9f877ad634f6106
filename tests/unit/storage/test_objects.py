"""What is listed, set aside, fetched and sent under a prefix, whatever storage it lies on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from upath import UPath

from seedbed.errors import UserError
from seedbed.storage.objects import (
    download,
    download_folder,
    drop,
    fetch,
    listed,
    move_aside,
    put,
    read_many,
    send,
    sizes,
    staged,
    subfolders,
)


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> Path:
    """A prefix of the test's own in storage that is kept in memory."""
    name = f"{abs(hash(request.node.nodeid))}"
    return cast("Path", UPath(f"memory://{name}/lab"))


def filled(prefix: Path, **objects: bytes) -> Path:
    for name, data in objects.items():
        put(prefix / name.replace("__", "/"), data)
    return prefix


def held(prefix: Path) -> dict[str, bytes]:
    return {name: (prefix / name).read_bytes() for name in listed(prefix)}


def numbered(number: int) -> str:
    return f"old.{number}"


def test_every_object_below_a_prefix_is_listed_with_its_size(prefix: Path) -> None:
    filled(prefix, a=b"1", b__c=b"22", b__d__e=b"")
    assert listed(prefix) == {"a": 1, "b/c": 2, "b/d/e": 0}
    assert listed(prefix / "b") == {"c": 2, "d/e": 0}
    assert listed(prefix / "none") == {}


def test_what_lies_directly_under_a_prefix_is_named_in_order(prefix: Path) -> None:
    filled(prefix, two__x=b"1", two__y=b"1", one__deep__x=b"1", file=b"1")
    assert subfolders(prefix) == ["file", "one", "two"]
    assert subfolders(prefix / "one") == ["deep"]
    assert subfolders(prefix / "none") == []


def test_what_lies_directly_in_a_folder_is_named_in_order(tmp_path: Path) -> None:
    for name in ("two", "one", "three"):
        (tmp_path / name / "inside").mkdir(parents=True)
    assert subfolders(tmp_path) == ["one", "three", "two"]
    assert subfolders(tmp_path / "none") == []
    (tmp_path / "file").write_text("")
    assert subfolders(tmp_path / "file") == []


def test_sizes_are_those_of_the_files_that_are_there(prefix: Path, tmp_path: Path) -> None:
    filled(prefix, a=b"123", b__c=b"", d=b"1")
    assert sizes(prefix, ["a", "b/c", "none"]) == {"a": 3, "b/c": 0}
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "b/c").write_bytes(b"")
    assert sizes(tmp_path, ["a", "b/c", "none"]) == {"a": 3, "b/c": 0}


def test_a_prefix_is_moved_beside_itself(prefix: Path) -> None:
    cell = filled(prefix / "cell", a=b"1", b__c=b"2", last=b"3")
    assert move_aside(cell, numbered, "last") == prefix / "old.1"
    assert held(prefix) == {"old.1/a": b"1", "old.1/b/c": b"2", "old.1/last": b"3"}


def test_names_that_are_taken_are_passed_over(prefix: Path) -> None:
    filled(prefix / "old.1", last=b"another")
    filled(prefix / "old.2", last=b"a third")
    cell = filled(prefix / "cell", last=b"3")
    assert move_aside(cell, numbered, "last") == prefix / "old.3"
    assert held(prefix) == {"old.1/last": b"another", "old.2/last": b"a third", "old.3/last": b"3"}


@pytest.mark.parametrize("other", [{"last": b"3"}, {"a": b"other", "last": b"3"}, {"a": b"1", "last": b"other"}])
def test_what_is_not_the_same_in_every_object_is_another_prefix(prefix: Path, other: dict[str, bytes]) -> None:
    filled(prefix / "old.1", **other)
    cell = filled(prefix / "cell", a=b"1", last=b"3")
    assert move_aside(cell, numbered, "last") == prefix / "old.2"
    assert held(prefix / "old.1") == other
    assert held(prefix / "old.2") == {"a": b"1", "last": b"3"}


def test_the_rest_of_a_killed_copy_is_filled_up(prefix: Path) -> None:
    filled(prefix / "old.1", a=b"half")
    cell = filled(prefix / "cell", a=b"1", last=b"3")
    assert move_aside(cell, numbered, "last") == prefix / "old.1"
    assert held(prefix) == {"old.1/a": b"1", "old.1/last": b"3"}


def test_the_rest_of_a_killed_deletion_is_deleted_and_not_copied_again(prefix: Path) -> None:
    filled(prefix / "old.1", a=b"1", last=b"3")
    cell = filled(prefix / "cell", last=b"3")
    assert move_aside(cell, numbered, "last") == prefix / "old.1"
    assert held(prefix) == {"old.1/a": b"1", "old.1/last": b"3"}


def test_the_object_that_names_the_owner_is_copied_last_and_deleted_last(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = filled(prefix / "cell", a=b"1", last=b"3", z=b"2")
    fs: Any = cast("Any", cell).fs
    steps: list[str] = []
    for name in ("cp_file", "rm_file"):
        own = getattr(fs, name)

        def noted(path: str, *more: str, own: Any = own, name: str = name) -> None:
            steps.append(f"{name} {path.rpartition('/')[2]}")
            own(path, *more)

        monkeypatch.setattr(fs, name, noted)
    move_aside(cell, numbered, "last")
    assert steps == ["cp_file a", "cp_file z", "cp_file last", "rm_file a", "rm_file z", "rm_file last"]


def test_many_objects_are_read_and_those_that_are_gone_left_out(prefix: Path) -> None:
    filled(prefix, a=b"1", b__c=b"2", d=b"3")
    assert read_many(prefix, ["a", "b/c", "none"]) == {"a": b"1", "b/c": b"2"}
    assert read_many(prefix, []) == {}


def fail(target: Path) -> None:
    with staged(target) as partial:
        partial.write_text("half")
        raise RuntimeError("stopped")


def test_a_staged_file_is_put_in_place_when_the_block_has_ended_well(prefix: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "new/folder/rows.csv", prefix / "new/folder/rows.csv"):
        for text in ("first", "second"):
            with staged(target) as partial:
                partial.write_text(text)
            assert target.read_text() == text
        with pytest.raises(RuntimeError, match="stopped"):
            fail(target)
        assert target.read_text() == "second"
    assert [path.name for path in (tmp_path / "new/folder").iterdir()] == ["rows.csv"]


def test_a_block_that_fails_before_it_has_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="stopped"), staged(tmp_path / "rows.csv"):
        raise RuntimeError("stopped")


def test_objects_are_copied_into_a_local_folder(prefix: Path, tmp_path: Path) -> None:
    filled(prefix, a=b"1", b__c=b"2")
    assert download(prefix / "b/c", tmp_path / "new/one") == tmp_path / "new/one/c"
    assert (tmp_path / "new/one/c").read_bytes() == b"2"
    assert download(prefix / "a", tmp_path / "new/one").read_bytes() == b"1"
    download_folder(prefix, tmp_path / "all")
    assert (tmp_path / "all/a").read_bytes() == b"1"
    assert (tmp_path / "all/b/c").read_bytes() == b"2"


def test_only_the_objects_asked_for_are_fetched_and_none_outside_the_folder(prefix: Path, tmp_path: Path) -> None:
    filled(prefix, a=b"1", b__c=b"2", **{"d..e": b"3"})
    fetch(prefix, ["b/c", "d..e"], tmp_path / "some")
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()) == ["some/b/c", "some/d..e"]
    fetch(prefix, [], tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(UserError, match=r"b/\.\./\.\./a: would be written outside the folder; it is not fetched"):
        fetch(prefix, ["a", "b/../../a"], tmp_path / "bad")
    assert not (tmp_path / "bad").exists()


def test_files_are_sent_by_name_and_dropped_by_name(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b/c").write_bytes(b"2")
    (tmp_path / "d").write_bytes(b"3")
    send(tmp_path, [], prefix)
    assert listed(prefix) == {}
    send(tmp_path, ["a", "b/c"], prefix)
    assert held(prefix) == {"a": b"1", "b/c": b"2"}
    drop(prefix, ["a"])
    assert held(prefix) == {"b/c": b"2"}
