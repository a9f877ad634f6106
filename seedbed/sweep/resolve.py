"""Looking up what the names of a config stand for, each once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from seedbed.storage.paths import is_hub
from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.suite import BenchmarkOptions, BenchmarkSpec, Options, Suite, SystemSpec, resolve
from seedbed.sweep.checks import Entry, option_error
from seedbed.sweep.config import BenchmarkConfig, OptimizerConfig, ScorerConfig, SweepConfig, SystemConfig
from seedbed.sweep.identity import case_hash, scoring_of
from seedbed.sweep.optimizers import OptimizerSpec, find_optimizer
from seedbed.sweep.registry import get_scorer, get_suite
from seedbed.sweep.repeats import PassFigure, pass_figures, repeats_of
from seedbed.sweep.resolved import AddedScorer, ResolvedCell

OptionsT = TypeVar("OptionsT", bound=Options)
NamedT = TypeVar("NamedT", BenchmarkConfig, SystemConfig, OptimizerConfig, ScorerConfig)

_Names = tuple[int, str, str, str, str]
"""Number of the experiment, then the labels of benchmark, system, optimizer and the name of the model."""


class Lookup:
    """The names of a config, with what was found behind them. `source` says where a wrong option stands; a plan read
    from its file has none and needs none."""

    def __init__(
        self,
        config: SweepConfig,
        folder: Path,
        source: YamlFile | None = None,
        *,
        moved: Mapping[str, str] | None = None,
        programs: bool = True,
    ) -> None:
        self._config = config
        self._folder = folder
        self._programs = programs
        self._moved = moved or {}
        self._source = source or YamlFile(folder / "plan.json", {}, {})
        self._found: dict[_Names, ResolvedCell] = {}
        self._scoring: dict[_Names, Mapping[str, str]] = {}
        self._scorers: dict[int, tuple[AddedScorer, ...]] = {}
        self._passes: dict[int, tuple[PassFigure, ...]] = {}
        self._cases: dict[tuple[int, str], str | None] = {}
        self._lock = threading.RLock()

    def resolved(self, index: int, benchmark: str, system: str, optimizer: str, model: str) -> ResolvedCell:
        key = (index, benchmark, system, optimizer, model)
        with self._lock:
            if key not in self._found:
                self._found[key] = self._resolve(*key)
            return self._found[key]

    def scoring(self, *key: Any) -> Mapping[str, str]:
        """What scores depend on, of all seeds of a cell."""
        with self._lock:
            if key not in self._scoring:
                self._scoring[key] = scoring_of(self.resolved(*key))
            return self._scoring[key]

    def cases(self, index: int, benchmark: str, resolved: ResolvedCell) -> str | None:
        """The hash of the cases of a benchmark that is known by them; None of any other."""
        key = (index, benchmark)
        if key not in self._cases:
            known = resolved.benchmark_spec.known_by_cases
            self._cases[key] = case_hash(resolved.load()) if known else None
        return self._cases[key]

    def any_of(self, index: int) -> ResolvedCell:
        """One cell of an experiment."""
        return next(found for key, found in self._found.items() if key[0] == index)

    def scorers(self, index: int) -> tuple[AddedScorer, ...]:
        """Those that an experiment adds to its suite's own."""
        if index not in self._scorers:
            at: FieldPath = ("experiments", index, "scorers")
            entries = self._config.experiments[index].scorers
            self._scorers[index] = tuple(self._scorer(entry, (*at, i)) for i, entry in enumerate(entries))
        return self._scorers[index]

    def passes(self, index: int) -> tuple[PassFigure, ...]:
        """What the repeats of an experiment's benchmarks add to the metrics of its scorers."""
        if index not in self._passes:
            self._passes[index] = tuple(self._pass_figures(index))
        return self._passes[index]

    def _pass_figures(self, index: int) -> Iterator[PassFigure]:
        experiment = self._config.experiments[index]
        suite, metrics = get_suite(experiment.suite), [m for scorer in self.scorers(index) for m in scorer.metrics]
        for number, entry in enumerate(experiment.benchmarks):
            if "repeats" in entry.options and metrics:
                options = self._benchmark_options(suite, entry, ("experiments", index, "benchmarks", number))
                yield from pass_figures(repeats_of(options), metrics)

    @cached_property
    def declared_roles(self) -> set[str]:
        """Roles that some part of the sweep says it asks for."""
        found: set[str] = set()
        for index, experiment in enumerate(self._config.experiments):
            suite = get_suite(experiment.suite)
            found |= {*suite.score_roles, *suite.optional_roles}
            found |= {role for entry in experiment.systems for role in _system(suite, entry.name).roles}
            found |= {role for scorer in self.scorers(index) for role in scorer.spec.roles}
            found |= {role for o in experiment.optimizers if (spec := find_optimizer(o.name)) for role in spec.roles}
        return found

    def _scorer(self, entry: ScorerConfig, at: FieldPath) -> AddedScorer:
        spec = get_scorer(entry.name)
        options = self._options(resolve(spec.options), entry, "scorer", at)
        return AddedScorer(entry.name, spec, options, entry.label)

    def _resolve(self, index: int, benchmark: str, system: str, optimizer: str, model: str) -> ResolvedCell:
        experiment, at = self._config.experiments[index], ("experiments", index)
        suite = get_suite(experiment.suite)
        case_number, cases = _shown(experiment.benchmarks, benchmark)
        system_number, asked = _shown(experiment.systems, system)
        search_number, search = _shown(experiment.optimizers, optimizer)
        benchmark_spec, system_spec = _benchmark(suite, cases.name), _system(suite, asked.name)
        search_spec = find_optimizer(search.name)
        place = (*at, "benchmarks", case_number)
        options = self._benchmark_options(suite, cases, place)
        answer_roles, score_roles = self._roles(suite, system_spec.roles, search_spec, self.scorers(index))
        return ResolvedCell(
            suite=suite,
            benchmark_name=cases.name,
            benchmark_spec=benchmark_spec,
            benchmark_options=options,
            data=self._data(cases.name, options.path, benchmark_spec.data, place),
            system_name=asked.name,
            system_spec=system_spec,
            system_options=self._options(
                resolve(system_spec.options), asked, "system", (*at, "systems", system_number)
            ),
            seed_changes_system=system_spec.seed_changes_system or asked.seed_changes_system,
            normalise=tuple(asked.normalise),
            optimizer_name=search.name,
            optimizer_spec=search_spec,
            optimizer_options=self._options(
                search_spec.options if search_spec else Options, search, "optimizer", (*at, "optimizers", search_number)
            ),
            scorers=self.scorers(index),
            model_names={"task": model, **{r: self._config.roles.get(r, model) for r in (*answer_roles, *score_roles)}},
            models=self._config.models,
            answer_roles=answer_roles,
            score_roles=score_roles,
        )

    def _benchmark_options(self, suite: Suite, entry: BenchmarkConfig, at: FieldPath) -> BenchmarkOptions:
        return self._options(resolve(_benchmark(suite, entry.name).options), entry, "benchmark", at)

    def _options(self, kind: type[OptionsT], entry: Entry, what: str, at: FieldPath) -> OptionsT:
        try:
            return kind.model_validate(entry.options, context={"folder": self._folder, "programs": self._programs})
        except ValidationError as error:
            raise option_error(error, kind, f"{what} {entry.name!r}", self._source, at) from None

    def _data(self, name: str, chosen: Path | None, shipped: Path | None, at: FieldPath) -> Path:
        if chosen is not None and is_hub(chosen):
            return chosen
        data = shipped if chosen is None else self._folder / self._moved.get(str(chosen), chosen)
        if data is None:
            raise self._source.error((*at, "path"), f"benchmark {name!r} ships no data; give the path of a file.")
        if self._source.data and not data.exists():
            what = f"{data} does not exist; paths are taken from the folder of the config file."
            raise self._source.error((*at, "path"), what)
        return data

    def _roles(
        self,
        suite: Suite,
        of_system: Sequence[str],
        search: OptimizerSpec | None,
        scorers: Sequence[AddedScorer],
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Roles beside `task` of the answers and of the scores; optional ones only where a model is named. A role that
        the config names and nobody declares may be asked for by any system: it counts for all."""
        named = self._config.roles

        def played(roles: Sequence[str]) -> list[str]:
            return [role for role in roles if role in named or role not in suite.optional_roles]

        undeclared = [role for role in named if role not in self.declared_roles]
        of_scorers = [role for scorer in scorers for role in scorer.spec.roles]
        # An optimizer learns from feedback, which the models of the suite's scorer or of those added may give.
        teachers = played(suite.score_roles) if suite.feedback is not None else of_scorers
        learnt = (*search.roles, *teachers) if search else ()
        scored = (*played(suite.score_roles), *of_scorers)
        answers = (*played(of_system), *learnt, *undeclared)
        return tuple(dict.fromkeys(answers)), tuple(dict.fromkeys(scored))


def _benchmark(suite: Suite, name: str) -> BenchmarkSpec:
    spec = suite.benchmarks.get(name, suite.any_benchmark)
    assert spec is not None, "names are checked before they are looked up"
    return spec


def _system(suite: Suite, name: str) -> SystemSpec:
    spec = suite.systems.get(name, suite.any_system)
    assert spec is not None, "names are checked before they are looked up"
    return spec


def _shown(entries: Sequence[NamedT], label: str) -> tuple[int, NamedT]:
    return next((number, entry) for number, entry in enumerate(entries) if entry.shown == label)
