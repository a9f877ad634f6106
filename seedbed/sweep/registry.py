"""Which suites, benchmarks and systems exist: the built-in ones, those of entry points, those of `plugins:`."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import TypeVar

from seedbed.errors import UserError, staying
from seedbed.storage.paths import safe_name
from seedbed.suite import (
    BenchmarkOptions,
    BenchmarkSpec,
    BuildSystem,
    LoadBenchmark,
    Metric,
    Options,
    ScorerSpec,
    ScoreSample,
    Suite,
    SystemSpec,
    resolve,
)
from seedbed.sweep.from_source import make_importable

ENTRY_POINT_GROUP = "seedbed.suites"

_BUILT_IN: dict[str, str] = {
    "contract_risk": "seedbed.suites.contract_risk:SUITE",
    "crosslingual": "seedbed.suites.crosslingual:SUITE",
    "custom": "seedbed.suites.custom:SUITE",
    "finance_dialog": "seedbed.suites.finance_dialog:SUITE",
    "prompt_optimization": "seedbed.suites.prompt_optimization:SUITE",
    "rag_quality": "seedbed.suites.rag_quality:SUITE",
}

_BUILT_IN_SCORERS: dict[str, str] = {
    "bleu": "seedbed.suites.kit.scorers.overlap:BLEU",
    "chrf": "seedbed.suites.kit.scorers.overlap:CHRF",
    "choice": "seedbed.suites.kit.scorers.matching:CHOICE",
    "code": "seedbed.suites.kit.scorers.code:CODE",
    "contains": "seedbed.suites.kit.scorers.matching:CONTAINS",
    "exact": "seedbed.suites.kit.scorers.matching:EXACT",
    "f1": "seedbed.suites.kit.scorers.overlap:F1",
    "json_fields": "seedbed.suites.kit.scorers.json_fields:JSON_FIELDS",
    "judge": "seedbed.suites.kit.scorers.judge:JUDGE",
    "numeric": "seedbed.suites.kit.scorers.matching:NUMERIC",
    "preference": "seedbed.suites.kit.scorers.preference:PREFERENCE",
    "regex": "seedbed.suites.kit.scorers.matching:REGEX",
    "rouge": "seedbed.suites.kit.scorers.overlap:ROUGE",
    "similarity": "seedbed.suites.kit.scorers.similarity:SIMILARITY",
}
"""For any suite; imported when one is named."""

_loaded: dict[str, Suite] = {}
_scorers: dict[str, ScorerSpec] = {}

LoadT = TypeVar("LoadT", bound=LoadBenchmark)
BuildT = TypeVar("BuildT", bound=BuildSystem)
ScoreT = TypeVar("ScoreT", bound=ScoreSample)


def suite_names() -> list[str]:
    """All suites that can be named in a config, without importing any of them."""
    return sorted({*_BUILT_IN, *_loaded, *(point.name for point in _installed())})


def get_suite(name: str) -> Suite:
    """The suite of that name; an unknown name is a UserError with the nearest known one."""
    if name not in _loaded:
        _loaded[name] = _find(name)
    return _loaded[name]


def suite(make: Callable[[], Suite]) -> Callable[[], Suite]:
    """Decorator: make the suite known that a function returns."""
    register_suite(make())
    return make


def register_suite(suite: Suite) -> Suite:
    """Make a suite of one's own known. A second registration under the same name replaces the first."""
    _loaded[suite.name] = _checked(suite)
    return suite


def benchmark(
    suite: str,
    name: str,
    *,
    options: type[BenchmarkOptions] = BenchmarkOptions,
    data: Path | None = None,
    version: str | None = None,
) -> Callable[[LoadT], LoadT]:
    """Decorator: add a benchmark to a suite. The function takes the options and returns a `Benchmark`."""

    def register(load: LoadT) -> LoadT:
        known = get_suite(suite)
        _check("benchmark", name)
        spec = BenchmarkSpec(load=load, options=options, data=data, version=version)
        _loaded[suite] = replace(known, benchmarks={**known.benchmarks, name: spec})
        return load

    return register


def system(
    suite: str,
    name: str,
    *,
    options: type[Options] = Options,
    roles: tuple[str, ...] = (),
    calls_per_case: float = 1.0,
    seed_changes_system: bool = False,
    version: str | None = None,
) -> Callable[[BuildT], BuildT]:
    """Decorator: add a system to a suite. The function takes a context and the options and returns the system."""

    def register(build: BuildT) -> BuildT:
        known = get_suite(suite)
        _check("system", name)
        spec = SystemSpec(
            build, options, roles, calls_per_case, seed_changes_system=seed_changes_system, version=version
        )
        _loaded[suite] = replace(known, systems={**known.systems, name: spec})
        return build

    return register


def scorer(
    name: str,
    metrics: Sequence[Metric],
    *,
    options: type[Options] = Options,
    roles: tuple[str, ...] = (),
    calls_per_case: float = 0.0,
    version: str | None = None,
) -> Callable[[ScoreT], ScoreT]:
    """Decorator: make a scorer known, for `scorers:` of any experiment. The function takes the context, the case, the
    system's output and the options, and returns the value of its metric, or a mapping with one a metric."""

    def register(score: ScoreT) -> ScoreT:
        _check("scorer", name)
        _scorers[name] = ScorerSpec(score, tuple(metrics), options, roles, calls_per_case, version=version)
        return score

    return register


def scorer_names() -> list[str]:
    """All scorers that `scorers:` may name."""
    return sorted({*_BUILT_IN_SCORERS, *_scorers})


def get_scorer(name: str) -> ScorerSpec:
    """The scorer of that name, which must be known. A plugin's comes before a built-in one of the same name."""
    if name not in _scorers and name in _BUILT_IN_SCORERS:
        target: ScorerSpec | str = _BUILT_IN_SCORERS[name]
        return resolve(target)
    return _scorers[name]


def import_plugins(modules: Iterable[str], folder: Path | None = None) -> None:
    """Import the modules that a config names under `plugins:`; `folder` (the config's own) is searched too."""
    if folder is not None:
        make_importable(folder)
    for module in modules:
        try:
            with staying():
                importlib.import_module(module)
        except ImportError as error:
            raise UserError(
                f"plugins: cannot import {module!r} ({error}); install it, or put {module.split('.')[0]}.py beside the "
                "config file."
            ) from error
        except Exception as error:
            raise UserError(
                f"plugins: {module!r} failed while it was imported ({type(error).__name__}: {error}); mend it."
            ) from error


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known name if there is one, and the whole list."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names) or 'none'}."


def _checked(suite: Suite) -> Suite:
    """Names of a plugin go into paths as those of a config do."""
    _check("suite", suite.name)
    for kind, names in (("benchmark", suite.benchmarks), ("system", suite.systems)):
        for name in names:
            _check(kind, name)
    return suite


def _check(kind: str, name: str) -> None:
    try:
        safe_name(name)
    except ValueError as error:
        raise UserError(f"plugins: the {kind} {name[:40]!r} cannot have this name: {error}.") from None


@lru_cache(maxsize=1)
def _installed() -> EntryPoints:
    """Suites of installed packages: asked once a process, since the metadata of every package is read for it."""
    return entry_points(group=ENTRY_POINT_GROUP)


def _find(name: str) -> Suite:
    if name in _BUILT_IN:
        target: Suite | str = _BUILT_IN[name]
        return resolve(target)
    for point in _installed():
        if point.name == name:
            return _checked(point.load())
    raise UserError(f"unknown suite {name!r}; {nearest(name, suite_names())}")
