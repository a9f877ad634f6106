"""From a config to the list of cells: every name checked, every id computed, nothing run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from seedbed.analysis.choice import too_few
from seedbed.errors import UserError
from seedbed.storage.hashing import hash_json
from seedbed.storage.paths import is_hub, read_bytes
from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.suite import Benchmark, Metric
from seedbed.sweep.cell import BASELINE, Cell, cell_id
from seedbed.sweep.checks import (
    check_metrics,
    check_names,
    check_optimizable,
    check_roles,
    check_splits,
    refuse_clash,
)
from seedbed.sweep.config import Experiment, SweepConfig, SystemConfig
from seedbed.sweep.expand import expanded
from seedbed.sweep.identity import answers_of, case_hash, data_hash
from seedbed.sweep.looks import Looks, check_decide, looks_of
from seedbed.sweep.registry import get_suite, import_plugins, nearest, suite_names
from seedbed.sweep.resolve import Lookup
from seedbed.sweep.resolved import ResolvedCell
from seedbed.sweep.rivals import rival_of, with_rivals

PLAN_SCHEMA_VERSION = 2

GroupKey = tuple[str, str, str, int]
"""Suite, benchmark, model, seed."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sweep will do. It is written to plan.json, from which every task reads its part."""

    config: SweepConfig
    config_dir: Path
    """Where the config lies: paths in it are taken from there, and plugins are looked for."""
    cells: tuple[Cell, ...]
    generation: int = 0
    """Which fresh start of the sweep it belongs to; results of an earlier one do not count."""
    moved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Paths of data that are others here than the config says, as in an archive."""
    programs: bool = True
    """Whether programs that the config names may be started; not those of somebody whose results are looked at."""
    _loaded: dict[tuple[int, str], Benchmark] = field(default_factory=dict[tuple[int, str], Benchmark], repr=False)
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _looks: dict[tuple[int, str], Looks] = field(default_factory=dict[tuple[int, str], Looks], repr=False)

    def cell(self, cell_id: str) -> Cell:
        return self._by_id[cell_id]

    def resolve(self, cell: Cell) -> ResolvedCell:
        """All that the cell's names stand for; looked up once, whatever the seed."""
        return self._lookup.resolved(cell.experiment, cell.benchmark, cell.system, cell.optimizer, cell.model)

    def benchmark(self, cell: Cell) -> Benchmark:
        """The cases a cell is asked, loaded once: cells of all systems and seeds share them."""
        key = (cell.experiment, cell.benchmark)
        with self._loading:
            if key not in self._loaded:
                self._loaded[key] = self.resolve(cell).load()
            return self._loaded[key]

    def looks(self, cell: Cell) -> Looks | None:
        """The order in which the cell's cases are asked and the looks at them; None where all are asked at once."""
        decide = self.experiment(cell).decide
        if decide is None:
            return None
        place = cell.experiment, cell.benchmark
        if place not in self._looks:
            self._looks[place] = looks_of(self.benchmark(cell), decide.looks)
        return self._looks[place]

    def load_benchmarks(self) -> list[str]:
        """Read every file of cases now, so that a broken one is refused before anything runs; returns what their
        loaders warn of, and of which searches they are too small, the benchmark's name in front."""
        told = [f"{c.suite} · {c.benchmark}: {text}" for c in self.cells for text in self.benchmark(c).warnings]
        return list(dict.fromkeys([*told, *self._few_to_choose_by()]))

    def _few_to_choose_by(self) -> Iterator[str]:
        """Of each benchmark, the searches whose candidates its examples cannot tell apart."""
        searches: dict[tuple[str, str, str, int], dict[str, None]] = {}
        for cell in self.cells:
            resolved = self.resolve(cell)
            spec = resolved.optimizer_spec
            if spec is None or not spec.chooses_by:
                continue
            n = sum(len(getattr(self.benchmark(cell), split)) for split in spec.chooses_by)
            taken = n if spec.most_examples is None else min(n, spec.most_examples)
            key = (cell.suite, cell.benchmark, " and ".join(spec.chooses_by), taken)
            searches.setdefault(key, {})[resolved.optimizer_name] = None
        for (suite, benchmark, examples, n), names in searches.items():
            if (text := too_few(" and ".join(names), examples, n)) is not None:
                yield f"{suite} · {benchmark}: {text}."

    def experiment(self, cell: Cell) -> Experiment:
        return self.config.experiments[cell.experiment]

    def metrics(self, suite: str) -> tuple[Metric, ...]:
        """All metrics in the tables of a suite: its own, then those of scorers that experiments add, then pass@k."""
        numbers = [number for number, experiment in enumerate(self.config.experiments) if experiment.suite == suite]
        added = [m for number in numbers for scorer in self._lookup.scorers(number) for m in scorer.metrics]
        passes = [figure.metric for number in numbers for figure in self._lookup.passes(number)]
        found: dict[str, Metric] = {}
        for metric in (*get_suite(suite).metrics, *added, *passes):
            found.setdefault(metric.name, metric)
        return tuple(found.values())

    def data_hash(self, cell: Cell) -> str:
        """The hash of the files the cell's benchmark is read from; of its cases where they have no file here."""
        data = self.resolve(cell).data
        return case_hash(self.benchmark(cell)) if is_hub(data) else data_hash(data)

    def cache_source(self, cell: Cell) -> Cell | None:
        """The cell that must be done before this one, as its optimizer's `use_cache_from` asks."""
        wanted = getattr(self.resolve(cell).optimizer_options, "use_cache_from", None)
        return self._twins.get((cell.group, cell.system, wanted)) if wanted else None

    def rival(self, cell: Cell, against: str | None) -> Cell | None:
        """The cell whose answers a pairing scorer of this one compares with; None for that cell itself."""
        return rival_of(self.cells, self.experiment(cell), cell, against)

    def first(self, cell: Cell) -> list[Cell]:
        """Cells that must be done before this one."""
        source = self.cache_source(cell)
        wanted = [*([source] if source is not None else []), *self.rivals(cell)]
        return list({other.id: other for other in wanted}.values())

    def rivals(self, cell: Cell) -> list[Cell]:
        """Cells whose answers the scorers of this one compare with."""
        pairing = [scorer for scorer in self._lookup.scorers(cell.experiment) if scorer.spec.pairs]
        wanted = (self.rival(cell, scorer.options.against) for scorer in pairing)
        return [other for other in wanted if other is not None]

    def draws(self, cell: Cell) -> str:
        """Whose random draws a cell shares: an optimised cell makes its own unless `use_cache_from` names another's."""
        source = self.cache_source(cell)
        if source is not None:
            return self.draws(source)
        return cell.optimizer if cell.optimised else ""

    def groups(self) -> dict[GroupKey, list[Cell]]:
        grouped: dict[GroupKey, list[Cell]] = {}
        for cell in self.cells:
            grouped.setdefault(cell.group, []).append(cell)
        return grouped

    @property
    def simulated(self) -> bool:
        """Whether any figure of this sweep comes from the offline model."""
        return any(model.simulated for model in self.config.models.values())

    @property
    def config_hash(self) -> str:
        """Of what was asked for; not of where it goes."""
        return hash_json(self.config.model_dump(mode="json", exclude={"out"}))

    def to_json(self) -> dict[str, Any]:
        """Without `out`: where results lie is known by who reads them, and they may be moved."""
        return {
            "schema_version": PLAN_SCHEMA_VERSION,
            "config": self.config.model_dump(mode="json", exclude={"out"}),
            "cells": [asdict(cell) for cell in self.cells],
        }

    @cached_property
    def _by_id(self) -> dict[str, Cell]:
        return {cell.id: cell for cell in self.cells}

    @cached_property
    def _twins(self) -> dict[tuple[GroupKey, str, str], Cell]:
        return {(cell.group, cell.system, cell.optimizer): cell for cell in self.cells}

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.config, self.config_dir, moved=self.moved, programs=self.programs)


def read_plan(
    path: Path,
    config_dir: Path,
    generation: int,
    *,
    plugins: bool = True,
    plugins_beside: bool = True,
    moved: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of a sweep as it was written; its plugins are imported, those beside the config only if they may be.
    Without plugins, which is for who only looks on, a cell's names and keys are known but not what they stand for."""
    data = json.loads(read_bytes(path))
    if data["schema_version"] != PLAN_SCHEMA_VERSION:
        raise UserError(
            f"{path}: schema_version is {data['schema_version']}, this Seedbed reads {PLAN_SCHEMA_VERSION}."
        )
    config = SweepConfig.model_validate(data["config"])
    if plugins:
        import_plugins(config.plugins, config_dir if plugins_beside else None)
    return Plan(
        config, config_dir, tuple(Cell(**cell) for cell in data["cells"]), generation, moved or {}, plugins_beside
    )


def as_written(plan: Plan) -> SweepConfig:
    """The config of a plan without the systems that suites added to it: planned anew, it gives the same cells."""
    experiments = [
        experiment.model_copy(update={"systems": _without_added(experiment)}) for experiment in plan.config.experiments
    ]
    config = plan.config.model_copy(update={"experiments": experiments})
    try:
        again = make_plan(config, YamlFile(plan.config_dir / "plan.json", {}, {}))
    except (OSError, UserError):
        # The data is gone. A user who names such a system does so in another place than the last, or with options.
        return config
    return config if [c.id for c in again.cells] == [c.id for c in plan.cells] else plan.config


def _without_added(experiment: Experiment) -> list[SystemConfig]:
    added = [SystemConfig(name=name) for name in get_suite(experiment.suite).reference_systems]
    systems = list(experiment.systems)
    while len(systems) > 1 and systems[-1] in added:
        systems.pop()
    return systems


def make_plan(config: SweepConfig, source: YamlFile) -> Plan:
    """Check every name and option of a config against the registry and lay out its cells."""
    folder = source.path.resolve().parent
    import_plugins(config.plugins, folder)
    for index, experiment in enumerate(config.experiments):
        if experiment.suite not in suite_names():
            what = f"unknown suite {experiment.suite!r}; {nearest(experiment.suite, suite_names())}"
            raise source.error(("experiments", index, "suite"), what)
    config, source = expanded(config, source, folder)
    for index, experiment in enumerate(config.experiments):
        at: FieldPath = ("experiments", index)
        suite = get_suite(experiment.suite)
        check_names(experiment, suite, config, source, at)
        check_optimizable(suite, experiment, source, at)
    whole = _with_reference_systems(config)
    lookup = Lookup(whole, folder, source)
    check_roles(config, lookup.declared_roles, source)
    cells = tuple(_all_cells(config, whole, lookup, source))
    plan = Plan(whole, folder, tuple(with_rivals(cells, whole, lookup, source)))
    _check_fit(plan, source)
    _check_splits(plan, source)
    check_decide(config, plan.cells, plan.resolve, source)
    return plan


def _all_cells(config: SweepConfig, whole: SweepConfig, lookup: Lookup, source: YamlFile) -> Iterator[Cell]:
    """The cells of what the config names, then those of the systems that suites add."""
    seen: dict[str, Cell] = {}
    for index, experiment in enumerate(config.experiments):
        at: FieldPath = ("experiments", index)
        for cell in _cells(whole, index, experiment, lookup):
            refuse_clash(cell, at, [c for c in (seen.get(cell.folder), seen.get(cell.id)) if c], source)
            seen[cell.folder] = seen[cell.id] = cell
            yield cell
        check_metrics(get_suite(experiment.suite), experiment, source, at, lookup.any_of(index))
    for index, experiment in enumerate(config.experiments):
        added = whole.experiments[index].systems[len(experiment.systems) :]
        optimizers = [o for o in experiment.optimizers if o.name == BASELINE]
        # There is nothing in them to optimise.
        extra = experiment.model_copy(update={"systems": added, "optimizers": optimizers})
        for cell in _cells(whole, index, extra, lookup):
            if cell.folder not in seen and cell.id not in seen:
                seen[cell.folder] = seen[cell.id] = cell
                yield cell


def _cells(config: SweepConfig, index: int, experiment: Experiment, lookup: Lookup) -> Iterator[Cell]:
    for seed in config.seeds:
        for model in experiment.models:
            for benchmark in experiment.benchmarks:
                for system in experiment.systems:
                    for optimizer in experiment.optimizers:
                        names = (benchmark.shown, system.shown, optimizer.shown, model)
                        resolved = lookup.resolved(index, *names)
                        answers = answers_of(resolved, seed, lookup.cases(index, benchmark.shown, resolved))
                        yield Cell(
                            cell_id(answers), index, experiment.suite, *names, seed,
                            answers=answers, scoring=lookup.scoring(index, *names),
                            optimised=resolved.optimizer_spec is not None,
                            in_looks=experiment.decide is not None,
                        )  # fmt: skip


def _with_reference_systems(config: SweepConfig) -> SweepConfig:
    """The config with the systems that each suite wants in every table, behind those it names itself."""
    experiments: list[Experiment] = []
    for experiment in config.experiments:
        taken = {name for s in experiment.systems for name in (s.name, s.shown)}
        missing = [name for name in get_suite(experiment.suite).reference_systems if name not in taken]
        systems = [*experiment.systems, *(SystemConfig(name=name) for name in missing)]
        experiments.append(experiment.model_copy(update={"systems": systems}))
    return config.model_copy(update={"experiments": experiments})


def _check_fit(plan: Plan, source: YamlFile) -> None:
    """Options that name columns are held against the cases, of benchmarks that are read for their ids anyway."""
    seen: set[tuple[int, str, str]] = set()
    for cell in plan.cells:
        resolved, key = plan.resolve(cell), (cell.experiment, cell.benchmark, cell.system)
        if key in seen or not resolved.benchmark_spec.known_by_cases:
            continue
        seen.add(key)
        at: FieldPath = ("experiments", cell.experiment)
        shown = [system.shown for system in plan.experiment(cell).systems]
        checked = [(resolved.system_options, (*at, "systems", shown.index(cell.system)))]
        checked += [(scorer.options, (*at, "scorers", i)) for i, scorer in enumerate(resolved.scorers)]
        for options, place in checked:
            if wrong := options.misfit(plan.benchmark(cell)):
                raise source.error((*place, wrong[0]), wrong[1])


def _check_splits(plan: Plan, source: YamlFile) -> None:
    first: Mapping[tuple[int, str], Cell] = {
        (cell.experiment, cell.benchmark): cell for cell in reversed(plan.cells) if cell.optimised
    }
    for cell in first.values():
        check_splits(cell, plan.resolve(cell), plan.benchmark(cell), plan.config, source)
