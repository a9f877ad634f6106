"""`make mutants` asks the right tests about a change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutants import switch
from tests.mutants.changes import SWITCH, Change, changes, core_files, judged_equivalent, switched
from tests.mutants.reach import Asked, Ran

ROOT = Path(__file__).resolve().parents[2]
SOURCE = '''"""A module."""
from __future__ import annotations

_PAUSES = (1, 2)

def larger(a: int, b: int = 0) -> int:
    """Docs stay docs."""
    said = []
    said.append(f"{a:03d}")
    return a if a > b and said else b + 1
'''
CHANGES = [
    ("`0` -> `1` in `def larger(a: int, b: int = 0) -> int:`", True),
    ('`said.append(f"{a:03d}")` -> `pass` in `said.append(f"{a:03d}")`', False),
    ("`a > b and said` -> `(a > b or said)` in `return a if a > b and said else b + 1`", False),
    ("`a > b` -> `(a >= b)` in `return a if a > b and said else b + 1`", False),
    ("`b + 1` -> `(b - 1)` in `return a if a > b and said else b + 1`", False),
    ("`1` -> `2` in `return a if a > b and said else b + 1`", False),
]


@pytest.fixture
def larger(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The function of the source, with all changes in it, none of them on."""
    module = ModuleType(SWITCH)
    module.on = switch.on  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, SWITCH, module)
    monkeypatch.setattr(switch, "ACTIVE", [0])
    monkeypatch.setattr(switch, "REACHED", set())
    text, number = switched("a/module.py", SOURCE, before=10)
    assert number == len(CHANGES)
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["__doc__"] == "A module."
    assert names["larger"].__doc__ == "Docs stay docs."
    return names["larger"]


@pytest.fixture
def found(tmp_path: Path) -> list[Change]:
    file = tmp_path / "seedbed" / "lm" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text(SOURCE, encoding="utf-8")
    return changes(tmp_path)


def test_what_is_changed_is_what_a_program_does(found: list[Change]) -> None:
    assert sorted((change.what, change.at_import) for change in found) == sorted(CHANGES)


def test_every_change_stands_behind_a_switch_and_tells_that_it_is_run(larger: Callable[..., int]) -> None:
    assert (larger(2, 1), larger(1, 1)) == (2, 2)
    # Numbers go on from those of the files before; the default was run when the module was.
    assert set(switch.REACHED) == set(range(11, 17))
    switch.REACHED.clear()
    assert larger(2, 1) == 2
    assert len(switch.REACHED) == 3, "the other branch was not run"


@pytest.mark.parametrize(("change", "value"), list(zip(CHANGES[1:], (4, 3, 3, 2, 5), strict=True)))
def test_a_change_that_is_on_is_another_program(
    larger: Callable[..., int],
    found: list[Change],
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[str, bool],
    value: int,
) -> None:
    number = next(each.number for each in found if each.what == change[0])
    monkeypatch.setattr(switch, "ACTIVE", [10 + number])
    assert larger(3, 3) == value


def test_the_tree_with_its_switches_can_be_read_and_nothing_is_counted_twice() -> None:
    found = [change for change in changes(ROOT) if change.file.startswith("seedbed/storage/")]
    assert len({change.number for change in found}) == len(found)
    for file in {change.file for change in found}:
        own = [change for change in found if change.file == file]
        text, count = switched(file, (ROOT / file).read_text(encoding="utf-8"), own[0].number - 1)
        assert count == len(own)
        compile(text, file, "exec")
        assert all(f"({change.number})" in text for change in own)


def test_those_that_run_a_change_are_asked_first_one_case_of_each_and_the_cheapest() -> None:
    reach = {
        "t/test_a.py::test_dear": Ran(9.0, frozenset({1})),
        "t/test_a.py::test_cases[1]": Ran(0.2, frozenset({1})),
        "t/test_a.py::test_cases[2]": Ran(0.1, frozenset({1, 2})),
        "t/test_b.py::test_other": Ran(0.3, frozenset({2})),
        "t/test_c.py::test_far": Ran(0.1, frozenset({3})),
    }
    own = [Change(number, "m.py", f"change {number}", at_import=number == 4) for number in (1, 2, 4, 5)]
    asked = Asked(reach, [*own, Change(3, "n.py", "change 3", at_import=False)], budget_s=20.0)
    first = asked.about(own[0])
    assert [test.partition("::test_")[2] for test in first.tests] == ["cases[2]", "dear", "cases[1]"]
    assert first.seconds == pytest.approx(9.3)
    assert len(asked.about(own[2]).tests) == 4, "what is run at import is asked of all that run the file"
    assert asked.about(own[3]).tests == [], "nobody runs it"
    cheap = Asked(reach, own, budget_s=1.0).about(own[0])
    assert [test.partition("::test_")[2] for test in cheap.tests] == ["cases[2]", "cases[1]"], (
        "what is too dear is left out"
    )


def test_what_is_judged_equivalent_can_still_be_made() -> None:
    assert judged_equivalent() <= {change.name for change in changes(ROOT)}


def test_the_core_is_there() -> None:
    assert {"seedbed/lm/runtime.py", "seedbed/analysis/bootstrap.py"} <= set(core_files(ROOT))
