"""The planted bugs of `make mutants` are about code and tests that are there, and tests/README.md lists them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.planted import PLANTED, Planted, table

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.rule)
def test_every_planted_bug_still_has_its_place(bug: Planted) -> None:
    ast.parse(bug.text(ROOT))
    assert bug.tests


def test_the_tests_that_must_notice_are_there() -> None:
    for test in {test for bug in PLANTED for test in bug.tests}:
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8"), test


def test_the_table_of_the_readme_is_that_of_the_list() -> None:
    readme = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    assert table() in readme, "write it anew: python -m tests.mutants --table"
