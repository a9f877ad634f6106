"""`make mutants` asks the right tests about a change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.drawn import core_files, draw, judged_equivalent
from tests.mutants.reach import Ran, telling, who_runs

ROOT = Path(__file__).resolve().parents[2]
SOURCE = '''"""A module."""
from __future__ import annotations

def outer(number: int) -> int:
    """Docs stay docs."""
    def inner() -> int:
        return number
    return inner() if number else 0

class Thing:
    def method(self) -> str:
        return "said"
'''


def test_a_function_tells_that_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: set[str] = set()
    monkeypatch.setattr(sys, "_seedbed_reached", reached, raising=False)
    names: dict[str, Any] = {}
    exec(telling("a/module.py", SOURCE), names)
    assert (names["outer"](0), reached) == (0, {"a/module.py:outer"})
    assert (names["outer"](5), names["Thing"]().method()) == (5, "said")
    assert reached == {f"a/module.py:{name}" for name in ("outer", "inner", "method")}
    assert names["outer"].__doc__ == "Docs stay docs."


def test_those_that_run_a_function_are_asked_first_one_case_of_each_and_the_cheapest() -> None:
    def ran(seconds: float, *functions: str) -> Ran:
        return Ran(seconds, frozenset(functions))

    reach = {
        "t/test_a.py::test_dear": ran(9.0, "m.py:f"),
        "t/test_a.py::test_cases[1]": ran(0.2, "m.py:f"),
        "t/test_a.py::test_cases[2]": ran(0.1, "m.py:f", "m.py:g"),
        "t/test_a.py::test_beside": ran(0.1),
        "t/test_b.py::test_other": ran(0.3, "m.py:g"),
        "t/test_c.py::test_far": ran(0.1, "n.py:f"),
    }
    asked = who_runs(reach, "m.py", "f", budget_s=20.0)
    assert [test.partition("::test_")[2] for test in asked] == ["cases[2]", "dear", "cases[1]", "beside"]
    assert len(who_runs(reach, "m.py", "f", budget_s=1.0)) == 2, "what is too dear is left out"
    assert {test.partition("::")[0] for test in who_runs(reach, "m.py", None, 20.0)} == {
        "t/test_a.py", "t/test_b.py",
    }  # fmt: skip
    assert who_runs(reach, "m.py", "nobody", 20.0) == ()


def test_changes_are_drawn_by_the_seed_and_each_is_another_program() -> None:
    only = "seedbed/storage/hashing.py"
    drawn = draw(ROOT, {}, 5, 1, only)
    assert len(drawn) == 5
    assert [mutant.name for mutant in drawn[:2]] == [mutant.name for mutant in draw(ROOT, {}, 2, 1, only)]
    for mutant in drawn:
        assert mutant.text != (ROOT / mutant.file).read_text(encoding="utf-8")
        assert mutant.tests
        compile(mutant.text, mutant.file, "exec")


def test_what_is_judged_equivalent_is_about_files_that_are_there() -> None:
    assert {name.partition(": ")[0] for name in judged_equivalent()} <= set(core_files(ROOT))
