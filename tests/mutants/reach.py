"""Which test runs which changes: recorded once, so that a change is put to the tests that run it, and to no others."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.asking import Question
from tests.mutants.changes import Change

_LEFT_OUT = frozenset({"seedbed_home"})
"""Fixtures that would start a server for every change."""


@dataclass(frozen=True)
class Ran:
    seconds: float
    numbers: frozenset[int]


Reach = dict[str, Ran]
"""By test."""


class Recorder:
    """A plugin of pytest. What a fixture runs is run by every test that has the fixture, though it is made once."""

    def __init__(self, to: Path, folder: Path) -> None:
        self._to = to
        self._folder = folder
        """Where programs that tests start leave what they ran."""
        self._tests: dict[str, tuple[float, set[int], list[str]]] = {}
        self._of_no_use = set[str]()
        """Skipped here, or failing without a bug."""
        self._fixtures: dict[str, set[int]] = defaultdict(set)
        self._shared_s = 0.0
        """What fixtures took that other tests have too."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not _starts_a_server(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, self._shared_s = time.monotonic(), 0.0
        with self._recorded() as reached:
            result = yield
        names: list[str] = list(getattr(item, "fixturenames", ()))
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
    def _recorded(self) -> Iterator[set[int]]:
        """Everything reached meanwhile, in all threads and in programs that ended."""
        from seedbed import _switch  # type: ignore[attr-defined]

        reached: set[int] = _switch.REACHED
        before, own = set(reached), set[int]()
        reached.clear()
        try:
            yield own
        finally:
            for path in self._folder.iterdir():
                reached.update(map(int, path.read_text().split()))
                path.unlink()
            own |= reached
            reached |= before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._of_no_use.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        told: dict[str, tuple[float, list[int]]] = {}
        for test, (seconds, reached, fixtures) in self._tests.items():
            if test not in self._of_no_use:
                numbers = reached.union(*(self._fixtures[name] for name in fixtures))
                told[test] = (round(seconds, 3), sorted(numbers))
        self._to.write_text(json.dumps(told), encoding="utf-8")


def read(paths: Iterable[Path]) -> Reach:
    told = {test: ran for path in paths for test, ran in json.loads(path.read_text(encoding="utf-8")).items()}
    return {test: Ran(seconds, frozenset(numbers)) for test, (seconds, numbers) in told.items()}


def keep(path: Path, all_changes: Sequence[Change], reach: Reach) -> None:
    """For a later tree, where other numbers stand for the same changes."""
    rows = {test: (ran.seconds, sorted(ran.numbers)) for test, ran in reach.items()}
    path.write_text(json.dumps({"changes": [change.name for change in all_changes], "tests": rows}), encoding="utf-8")


def read_kept(path: Path, all_changes: Sequence[Change]) -> Reach:
    told = json.loads(path.read_text(encoding="utf-8"))
    today: dict[str, set[int]] = defaultdict(set)
    for change in all_changes:
        today[change.name].add(change.number)
    return {
        test: Ran(seconds, frozenset(n for number in numbers for n in today.get(told["changes"][number - 1], ())))
        for test, (seconds, numbers) in told["tests"].items()
    }


class Asked:
    """The tests that a change is put to."""

    def __init__(self, reach: Reach, all_changes: Iterable[Change], budget_s: float) -> None:
        self._reach = reach
        self._budget_s = budget_s
        self._of: dict[int, list[str]] = defaultdict(list)
        for test, ran in reach.items():
            for number in ran.numbers:
                self._of[number].append(test)
        self._numbers: dict[str, list[int]] = defaultdict(list)
        for change in all_changes:
            self._numbers[change.file].append(change.number)

    def about(self, change: Change) -> Question:
        """Those that run it; of what is run at import, those that run anything of its file."""
        numbers = self._numbers[change.file] if change.at_import else [change.number]
        found = {test for number in numbers for test in self._of.get(number, ())}
        tests = _spread(self._reach, found, self._budget_s)
        return Question(change.number, tests, sum(self._reach[test].seconds for test in tests))


def _spread(reach: Reach, tests: set[str], budget_s: float) -> list[str]:
    """One case of every test first, the cheapest first, then a second case of each, and so on, for as long as the
    budget lasts; then in an order that goes through each module once."""
    cases: dict[str, int] = defaultdict(int)
    ranked: list[tuple[int, float, str]] = []
    for test in sorted(tests, key=lambda test: reach[test].seconds):
        name = test.partition("[")[0]
        ranked.append((cases[name], reach[test].seconds, test))
        cases[name] += 1
    chosen, left = list[str](), budget_s
    for _, seconds, test in sorted(ranked):
        if seconds <= left or not chosen:
            chosen.append(test)
            left -= seconds
    modules = {module: place for place, module in reversed(list(enumerate(test.partition("::")[0] for test in chosen)))}
    return sorted(chosen, key=lambda test: modules[test.partition("::")[0]])


def _starts_a_server(item: pytest.Item) -> bool:
    return bool(_LEFT_OUT & set(getattr(item, "fixturenames", ())))
