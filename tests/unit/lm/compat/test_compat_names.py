"""What is said when a library no longer has what is used of its insides."""

import importlib.metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.lm.compat import LibraryChanged, PrivateFile, PrivateName


def test_a_name_that_has_gone_is_told_with_the_library_and_the_place_of_use() -> None:
    name = PrivateName("pytest", "pytest", "gone_with_an_upgrade", "seedbed/lm/lm.py")
    with pytest.raises(LibraryChanged) as told:
        name.of(SimpleNamespace())
    release = importlib.metadata.version("pytest")
    assert str(told.value) == (
        f"pytest {release} has no pytest.gone_with_an_upgrade, which seedbed/lm/lm.py needs; "
        "pin the release before it, or teach seedbed/lm/lm.py the new way."
    )


def test_a_module_that_has_gone_is_told() -> None:
    with pytest.raises(LibraryChanged, match=r"has no pytest\.gone, which seedbed/lm/lm\.py needs"):
        PrivateName("pytest", "pytest.gone", "anything", "seedbed/lm/lm.py").load()


def test_a_file_that_has_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(LibraryChanged, match=r"has no prices\.json, which seedbed/lm/prices\.py needs"):
        PrivateFile("pytest", "prices.json", "seedbed/lm/prices.py").find(tmp_path)


def test_a_library_that_is_not_there_is_told() -> None:
    with pytest.raises(LibraryChanged, match=r"no_such_library \(not installed\) has no prices\.json"):
        PrivateFile("no_such_library", "prices.json", "seedbed/lm/prices.py").find()


def test_a_module_that_lacks_what_it_needs_itself_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in_want.py").write_text("import no_such_module_of_another\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_another"):
        PrivateName("pytest", "in_want", "anything", "seedbed/lm/lm.py").module()


def test_a_file_is_found_in_the_installed_library_or_in_the_folder_given(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("", encoding="utf-8")
    file = PrivateFile("_pytest", "__init__.py", "seedbed/lm/prices.py")
    assert file.find(tmp_path) == tmp_path / "__init__.py"
    assert file.find() != tmp_path / "__init__.py"
    assert file.find().parent.name == "_pytest"


def test_a_library_of_a_single_file_has_no_folder_to_look_in() -> None:
    with pytest.raises(LibraryChanged, match=r"six .* has no six\.py|six \(not installed\) has no six\.py"):
        PrivateFile("six", "six.py", "seedbed/lm/prices.py").find()
