"""A test lies where a reader of the source looks for it."""

from __future__ import annotations

from pathlib import Path

UNIT = Path(__file__).parent
SEEDBED = UNIT.parents[1] / "seedbed"
OF_THE_WHOLE = {
    "test_docs_site.py",
    "test_forked.py",
    "test_mutants.py",
    "test_packages.py",
    "test_planted.py",
    "test_tooling.py",
    "test_tree.py",
}
"""Tests of the packages as such, which no room holds."""


def test_every_folder_of_unit_tests_is_a_folder_of_the_library() -> None:
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("test_*.py")} - {Path()}
    assert [str(folder) for folder in sorted(folders) if not (SEEDBED / folder / "__init__.py").is_file()] == []


def test_only_tests_of_the_whole_lie_outside_the_rooms() -> None:
    assert {path.name for path in UNIT.glob("test_*.py")} == OF_THE_WHOLE
