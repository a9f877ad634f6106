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
