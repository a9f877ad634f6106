"""Which test runs which function of the core: recorded once, so that a mutant asks all tests that run the changed
function, wherever they lie, and no others."""

from __future__ import annotations

import ast
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Reach = dict[str, "Ran"]
"""By test."""
_NAME = "_seedbed_reached"
_LEFT_OUT = frozenset({"seedbed_home", "postgres", "s3"})
"""Fixtures that start a server for every mutant."""


@dataclass(frozen=True)
class Ran:
    seconds: float
    functions: frozenset[str]
    """`file:name`; lines move."""


class Recorder:
    """A plugin of pytest. What a fixture runs is run by every test that has the fixture, though it is made once."""

    def __init__(self, to: Path) -> None:
        self._to = to
        self._reached: set[str] = sys.__dict__.setdefault(_NAME, set())
        self._tests: dict[str, tuple[float, set[str], list[str]]] = {}
        self._of_no_use = set[str]()
        """Skipped here, or failing without a bug."""
        self._fixtures: dict[str, set[str]] = defaultdict(set)
        self._shared_s = 0.0
        """What fixtures took that other tests have too."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not _starts_a_server(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, self._shared_s = time.monotonic(), 0.0
        with self._recorded() as reached:
            result = yield
        names = list(getattr(item, "fixturenames", ()))
        self._tests[item.nodeid] = (time.monotonic() - began - self._shared_s, reached, names)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        began = time.monotonic()
        with self._recorded() as reached:
            result = yield
        self._fixtures[fixturedef.argname] |= reached
        if fixturedef.scope != "function":
            self._shared_s += time.monotonic() - began
        return result

    @contextmanager
    def _recorded(self) -> Iterator[set[str]]:
        """Everything reached meanwhile, in all threads."""
        before, own = set(self._reached), set[str]()
        self._reached.clear()
        try:
            yield own
        finally:
            own |= self._reached
            self._reached |= before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._of_no_use.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if not self._tests:
            return
        told: dict[str, tuple[float, list[str]]] = {}
        for test, (seconds, reached, fixtures) in self._tests.items():
            if test in self._of_no_use:
                continue
            functions = reached.union(*(self._fixtures[name] for name in fixtures))
            told[test] = (round(seconds, 3), sorted(functions))
        self._to.write_text(json.dumps(told), encoding="utf-8")


def telling(file: str, source: str) -> str:
    """The source with every function telling first that it runs."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            node.body[said:said] = ast.parse(f"{_NAME}.add({f'{file}:{node.name}'!r})").body
    ahead = next((i for i, node in enumerate(tree.body) if not _must_be_first(node)), len(tree.body))
    tree.body[ahead:ahead] = ast.parse(f"import sys as _sys\n{_NAME} = _sys.__dict__.setdefault({_NAME!r}, set())").body
    return ast.unparse(ast.fix_missing_locations(tree))


def _must_be_first(node: ast.stmt) -> bool:
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return future or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def read(path: Path) -> Reach:
    told = json.loads(path.read_text(encoding="utf-8"))
    return {test: Ran(seconds, frozenset(functions)) for test, (seconds, functions) in told.items() if _is_there(test)}


def _is_there(test: str) -> bool:
    """A kept record may name tests that are gone."""
    module, _, name = test.partition("::")
    path = Path(__file__).parents[2] / module
    return path.exists() and f"def {name.partition('[')[0].rpartition('::')[2]}(" in path.read_text(encoding="utf-8")


def who_runs(reach: Reach, file: str, function: str | None, budget_s: float) -> tuple[str, ...]:
    """The tests that run a function (None: any of the file), then the others of their modules,
    since a module may make once what all its tests look at. Each for a time of theirs: one case of every test first,
    the cheapest first, then a second case of each, and so on."""
    place = f"{file}:{function}"
    ran = {
        test
        for test, own in reach.items()
        if (place in own.functions if function else any(at.startswith(f"{file}:") for at in own.functions))
    }
    modules = {_module(test) for test in ran}
    beside = {test for test in reach if test not in ran and _module(test) in modules}
    return (*_spread(reach, ran, budget_s), *_spread(reach, beside, budget_s))


def _spread(reach: Reach, tests: set[str], budget_s: float) -> list[str]:
    cases: dict[str, int] = defaultdict(int)
    ranked: list[tuple[int, float, str]] = []
    for test in sorted(tests, key=lambda test: reach[test].seconds):
        name = test.partition("[")[0]
        ranked.append((cases[name], reach[test].seconds, test))
        cases[name] += 1
    chosen, left = list[str](), budget_s
    for _, seconds, test in sorted(ranked):
        left -= seconds
        if left < 0 and chosen:
            break
        chosen.append(test)
    return chosen


def _module(test: str) -> str:
    return test.partition("::")[0]


def _starts_a_server(item: pytest.Item) -> bool:
    given = getattr(item, "callspec", None)
    if given is not None and given.params.get("each_ledger") == "postgresql":
        return True
    return bool(_LEFT_OUT & set(getattr(item, "fixturenames", ())))
