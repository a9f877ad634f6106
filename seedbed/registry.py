"""Which suites, benchmarks and systems exist: the built-in ones, those of entry points, those of `plugins:`."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from seedbed.errors import UserError
from seedbed.suite import (
    BenchmarkOptions,
    BenchmarkSpec,
    BuildSystem,
    LoadBenchmark,
    Options,
    Suite,
    SystemSpec,
    resolve,
)

ENTRY_POINT_GROUP = "seedbed.suites"

_BUILT_IN: dict[str, str] = {
    "contract_risk": "seedbed.suites.contract_risk:SUITE",
    "crosslingual": "seedbed.suites.crosslingual:SUITE",
    "finance_dialog": "seedbed.suites.finance_dialog:SUITE",
    "prompt_optimization": "seedbed.suites.prompt_optimization:SUITE",
    "rag_quality": "seedbed.suites.rag_quality:SUITE",
}

_loaded: dict[str, Suite] = {}

LoadT = TypeVar("LoadT", bound=LoadBenchmark)
BuildT = TypeVar("BuildT", bound=BuildSystem)


def suite_names() -> list[str]:
    """All suites that can be named in a config, without importing any of them."""
    return sorted({*_BUILT_IN, *_loaded, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))})


def get_suite(name: str) -> Suite:
    """The suite of that name; an unknown name is a UserError with the nearest known one."""
    if name not in _loaded:
        _loaded[name] = _find(name)
    return _loaded[name]


def register_suite(suite: Suite) -> Suite:
    """Make a suite of one's own known. A second registration under the same name replaces the first."""
    _loaded[suite.name] = suite
    return suite


def benchmark(
    suite: str, name: str, *, options: type[BenchmarkOptions] = BenchmarkOptions, data: Path | None = None
) -> Callable[[LoadT], LoadT]:
    """Decorator: add a benchmark to a suite. The function takes the options and returns a `Benchmark`."""

    def register(load: LoadT) -> LoadT:
        known = get_suite(suite)
        spec = BenchmarkSpec(load=load, options=options, data=data)
        _loaded[suite] = replace(known, benchmarks={**known.benchmarks, name: spec})
        return load

    return register


def system(
    suite: str, name: str, *, options: type[Options] = Options, roles: tuple[str, ...] = (), calls_per_case: float = 1.0
) -> Callable[[BuildT], BuildT]:
    """Decorator: add a system to a suite. The function takes a context and the options and returns the system."""

    def register(build: BuildT) -> BuildT:
        known = get_suite(suite)
        spec = SystemSpec(build=build, options=options, roles=roles, calls_per_case=calls_per_case)
        _loaded[suite] = replace(known, systems={**known.systems, name: spec})
        return build

    return register


def import_plugins(modules: Iterable[str], folder: Path | None = None) -> None:
    """Import the modules that a config names under `plugins:`; `folder` (the config's own) is searched too."""
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise UserError(
                f"plugins: cannot import {module!r} ({error}); install it, or put {module.split('.')[0]}.py beside the "
                "config file."
            ) from error


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known name if there is one, and the whole list."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names) or 'none'}."


def _find(name: str) -> Suite:
    if name in _BUILT_IN:
        target: Suite | str = _BUILT_IN[name]
        return resolve(target)
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        return point.load()
    raise UserError(f"unknown suite {name!r}; {nearest(name, suite_names())}")
